/* kind_process.h: the campaign of one kind of devices in a process of its own, a fork of this one, so that the kinds'
 * campaigns run at the same time and the death of one is not that of the others. It is spoken to by a signal
 * (signals_obey), and says what happens by a pipe that is its stdout: one JSON object a line, the events of --json
 * among them. It ends with this process, whatever that one's end. */
#ifndef LATHE_CLI_KIND_PROCESS_H
#define LATHE_CLI_KIND_PROCESS_H

#include "base/strbuf.h"
#include "cli/tune/tune_run.h"
#include <sys/types.h>

struct kind_process {
    pid_t pid;                  /* 0: it is not there, or no more */
    int from;                   /* its pipe, while it is there */
    struct strbuf in;           /* what came and is not yet a line */
    bool told;                  /* it has said how its campaign ended */
    status code;                /* how tune_run_campaign ended there, or the process itself; and why */
    struct err err;
    struct campaign_summary summary;    /* id, winner_trial, interrupted, measured; id: as soon as it is known */
};

/* What becomes of what it says. */
struct kind_shown {
    void (*event)(void *ctx, const char *line, size_t len);     /* of --json: whole, with its end */
    void (*line)(void *ctx, enum progress_shade shade, const char *text);
    void (*counts)(void *ctx, const char *text);
    void *ctx;
};

/* Signals must be caught (signals_catch). LATHE_IO: there can be no such process; code and err say so too. */
status kind_process_start(struct kind_process *p, const struct tune_args *args,
                          const struct campaign_request *request, struct err *e);
/* Its campaign is to end cleanly; may be asked for more than once, and has to be: a campaign that only begins does not
 * hear it. */
void kind_process_ask(const struct kind_process *p);
/* Waits for more that it says, and shows it. False: it has ended, with code, err and summary; it is over. */
bool kind_process_read(struct kind_process *p, const struct kind_shown *shown);

#endif
