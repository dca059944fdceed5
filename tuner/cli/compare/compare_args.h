/* compare_args.h: what `lathe compare` and `lathe tune-strategy` have in common: recordings, a cutoff, a line on stderr
 * that shows how far they are. */
#ifndef LATHE_CLI_COMPARE_ARGS_H
#define LATHE_CLI_COMPARE_ARGS_H

#include "contest/contest.h"
#include "console/options.h"
#include <stdio.h>

/* "0.95"; LATHE_USAGE unless it is above SCORE_START and below 1. */
status parse_cutoff(const char *text, double *out, struct err *e);

/* Opens the recordings; two of one file name get their whole paths as names. *out and its members are freed with
 * contest_spaces_free. LATHE_USAGE: there is none, or one is there twice. */
status contest_spaces_open(const struct text_list *places, const char *kernel, double cutoff,
                           struct contest_space **out, struct err *e);
void contest_spaces_free(struct contest_space *spaces, int n);

int count_cores(void);          /* at least 1 */
/* LATHE_USAGE: the last of so many seeds from the first one on is above what --seed may be. */
status check_last_seed(int64_t seed, int64_t seeds, struct err *e);

/* On a terminal a line that is redrawn, elsewhere one every ten seconds. */
struct run_progress {
    FILE *out;
    bool quiet, live, line_open;
    const char *what;           /* shown last; borrowed */
    double started, drawn;      /* when that began; when the line was drawn */
};
void run_progress_init(struct run_progress *p, FILE *out, bool quiet);
/* what: "runs"; another than before begins anew, so that the time left follows from its own pace. */
void run_progress_show(struct run_progress *p, const char *what, int done, int n);
void run_progress_end(struct run_progress *p);      /* removes the live line */

#endif
