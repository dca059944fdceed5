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
/* In a process that a `lathe` started to run a campaign: those three are ignored, since a terminal sends them to it and
 * to that other one, which sends SIGUSR1 in their stead. That asks what runs to end, says nothing, and may come more
 * than once. */
void signals_obey(void);
/* How many signals arrived. */
int signals_count(void);
/* Those that arrived are not counted any more: what ends now is something else, which the next one asks to end. */
void signals_forget(void);
void signals_restore(const struct signals_before *before);

#endif
