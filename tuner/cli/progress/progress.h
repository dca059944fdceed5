/* progress.h: what a running campaign shows on stderr.
 *
 * On a terminal: lines for what happens (a baseline, a new best, the first failure of each kind) and below them a live
 * block of three or four lines, redrawn at most five times a second; on one of less than eight rows only its first
 * line. Elsewhere: the same lines, and one with the counts every ten seconds; never a control character. */
#ifndef LATHE_CLI_PROGRESS_H
#define LATHE_CLI_PROGRESS_H

#include "campaign/campaign.h"
#include <stdio.h>

struct progress_step { /* a new best */
    int64_t trials;    /* how many had ended */
    double value;
};

enum progress_shade { PROGRESS_PLAIN, PROGRESS_GOOD, PROGRESS_BAD, PROGRESS_FAINT };

/* Who shows it in place of this process: each line as it comes, and how far the campaign is, as often as it would be
 * shown. */
struct progress_sink {
    void (*line)(void *ctx, enum progress_shade shade, const char *text);
    void (*counts)(void *ctx, const char *text);
    void *ctx;
};

struct progress {
    FILE *out;
    const struct progress_sink *sink; /* NULL: out; borrowed */
    bool quiet; /* nothing at all */
    bool live, colour, utf8;
    int columns, rows;   /* of the terminal; rows 0: not known */
    double (*now)(void); /* monotonic seconds */

    double drawn_at;        /* of the live block, or of the last line of counts */
    int lines_open;         /* lines of the live block that stand on the screen */
    int signals;            /* signals_count() when it was drawn */
    double best;            /* time, or energy where trials have one; NaN until a configuration was right */
    unsigned outcomes_seen; /* bit o: a trial with outcome o was told of */
    struct telemetry telemetry; /* of the last trial that has any */
    struct progress_step *steps;
    int nsteps, steps_cap;
};

/* For stderr as it is. */
void progress_init(struct progress *p, FILE *out, bool quiet);
void progress_event(void *progress, const struct campaign_event *ev); /* struct campaign_request's on_event */
void progress_end(struct progress *p);                                /* removes the live block; frees what p holds */

/* How many trials there will be at most: the budget, or the configurations that there are; 0: no budget of trials. A
 * strategy's proposals that are no configurations count as trials too: where they are more, the budget. */
int64_t progress_most(const struct campaign_progress *c);
/* "37/100 trials  ok 29  best 4.913 ms (1.07x)  2 compiling, 1 running  12 s, about 20 s left" */
void progress_counts(struct strbuf *b, const struct campaign_progress *c);
/* "12 s, about 20 s left", the last part of it */
void progress_time(struct strbuf *b, const struct campaign_progress *c);
/* A line; the live block is away then. */
void progress_say(struct progress *p, enum progress_shade shade, const char *text);
/* progress_live.c: the block as it is now; any other block: lines that are empty are left out, the others cut to the
 * terminal's width, shades[i] is what goes before line i on one with colours; and away with it */
void progress_draw(struct progress *p, const struct campaign_progress *c);
void progress_block(struct progress *p, const struct strbuf *lines, const char *const *shades, int count);
void progress_look(struct progress *p); /* at the terminal's size: it may have changed */
void progress_erase(struct progress *p);
/* "0.8 s", "42 s", "2 min 5 s", "1 h 3 min" */
void progress_duration(struct strbuf *b, double seconds);

#endif
