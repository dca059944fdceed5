/* progress.h: what a running campaign shows on stderr.
 *
 * On a terminal: lines for what happens (a baseline, a new best, the first failure of each kind) and below them one
 * live line, redrawn at most five times a second. Elsewhere: the same lines, and one with the counts every ten seconds;
 * never a control character. */
#ifndef LATHE_CLI_PROGRESS_H
#define LATHE_CLI_PROGRESS_H

#include "campaign/campaign.h"
#include <stdio.h>

struct progress {
    FILE *out;
    bool quiet; /* nothing at all */
    bool live, colour;
    int columns;         /* of the terminal */
    double (*now)(void); /* monotonic seconds */

    double drawn_at;        /* of the live line, or of the last line of counts */
    bool line_open;         /* the live line stands on the screen */
    double best;            /* time, or energy where trials have one; NaN until a configuration was right */
    unsigned outcomes_seen; /* bit o: a trial with outcome o was told of */
};

/* For stderr as it is. */
void progress_init(struct progress *p, FILE *out, bool quiet);
void progress_event(void *progress, const struct campaign_event *ev); /* struct campaign_request's on_event */
void progress_end(struct progress *p);                                /* removes the live line */

/* "37/100 trials  ok 29  best 4.913 ms (1.07x)  2 compiling, 1 running  12 s, about 20 s left" */
void progress_counts(struct strbuf *b, const struct campaign_progress *c);
/* "0.8 s", "42 s", "2 min 5 s", "1 h 3 min" */
void progress_duration(struct strbuf *b, double seconds);

#endif
