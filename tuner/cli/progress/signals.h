/* signals.h: Ctrl-C while something long runs. The first SIGINT, SIGTERM or SIGHUP asks what runs to end
 * (campaign_interrupt), the second ends the process. */
#ifndef LATHE_CLI_SIGNALS_H
#define LATHE_CLI_SIGNALS_H

#include <signal.h>

enum { SIGNALS_CAUGHT = 3 };
struct signals_before {
    struct sigaction actions[SIGNALS_CAUGHT];
};

/* A signal that is ignored (nohup, a shell's background job) stays so. */
void signals_catch(struct signals_before *before);
/* How many signals arrived. */
int signals_count(void);
void signals_restore(const struct signals_before *before);

#endif
