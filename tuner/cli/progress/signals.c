/* signals.c: see signals.h. */
#include "cli/progress/signals.h"

#include "campaign/campaign.h"
#include <errno.h>
#include <unistd.h>

/* Signals that arrived. Global because a signal handler has no other memory. */
static volatile sig_atomic_t signals_seen;

static void on_signal(int number)
{
    static const char ending[] = "\nending: what is running is finished or dropped; once more to end at once\n";
    int kept = errno;           /* of what the signal came into */
    if (++signals_seen > 1)
        _exit(130);
    campaign_interrupt();
    int from = isatty(STDERR_FILENO) ? 0 : 1;   /* a terminal may be in the middle of its live line */
    ssize_t written = write(STDERR_FILENO, ending + from, sizeof ending - 1 - (size_t)from);
    (void)written;              /* nothing to be done about a terminal that is gone */
    errno = kept;
}

static const int caught[SIGNALS_CAUGHT] = {SIGINT, SIGTERM, SIGHUP};

void signals_catch(struct signals_before *before)
{
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&a.sa_mask);
    for (int i = 0; i < SIGNALS_CAUGHT; i++) {
        sigaction(caught[i], NULL, &before->actions[i]);
        if (before->actions[i].sa_handler != SIG_IGN)
            sigaction(caught[i], &a, NULL);
    }
}

static void on_request(int number)
{
    campaign_interrupt();
}

void signals_obey(void)
{
    struct sigaction request = {.sa_handler = on_request, .sa_flags = SA_RESTART};
    sigemptyset(&request.sa_mask);
    for (int i = 0; i < SIGNALS_CAUGHT; i++) signal(caught[i], SIG_IGN);
    sigaction(SIGUSR1, &request, NULL);
}

int signals_count(void)
{
    return signals_seen;
}

void signals_forget(void)
{
    signals_seen = 0;
}

void signals_restore(const struct signals_before *before)
{
    for (int i = 0; i < SIGNALS_CAUGHT; i++)
        sigaction(caught[i], &before->actions[i], NULL);
}
