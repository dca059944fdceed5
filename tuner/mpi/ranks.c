/* ranks.c: see ranks.h: who is who. */
#include "mpi/ranks.h"
#include "base/mem.h"
#include "device/dev.h"
#include "expr/value.h"
#include "mpi/link.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { SILENCE_DEFAULT = 20, SILENCE_LEAST = 2, SILENCE_MOST = 86400 };     /* seconds; pings go out every second */

/* False: $LATHE_MPI_SILENCE is no such number. */
static bool read_silence(double *seconds)
{
    const char *text = getenv("LATHE_MPI_SILENCE");
    *seconds = SILENCE_DEFAULT;
    if (!text || !*text) return true;
    return value_as_double(value_read(text), seconds) && *seconds >= SILENCE_LEAST && *seconds <= SILENCE_MOST;
}

double ranks_silence(void)
{
    double seconds;
    return read_silence(&seconds) ? seconds : SILENCE_DEFAULT;
}

static void describe_self(struct rank_identity *me)
{
    *me = (struct rank_identity){0};
    if (gethostname(me->host, sizeof me->host - 1)) snprintf(me->host, sizeof me->host, "unknown");
    for (char *c = me->host; *c; c++)
        if (*c <= ' ' || *c > '~') *c = '?';        /* it becomes part of a line */
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    snprintf(me->visible, sizeof me->visible, "%s", visible ? visible : "all");
}

/* Of the GPUs that are visible to several ranks of a host, each takes one, in their order; rank 0 takes none. Where a
 * scheduler gave each rank GPUs of its own, each takes its first. $LATHE_MPI_DEVICE: that instead. */
static void choose_device(struct rank_identity *me, int rank, const struct rank_identity *everyone, int gpus)
{
    const char *wanted = getenv("LATHE_MPI_DEVICE");
    int before = 0;
    if (!rank) return;
    for (int i = 1; i < rank; i++)
        before += !strcmp(everyone[i].host, me->host) && !strcmp(everyone[i].visible, me->visible);
    if (wanted && *wanted)
        snprintf(me->device, sizeof me->device, "%s", wanted);
    else if (gpus)              /* beyond the last: the worker there says that there is no such GPU */
        snprintf(me->device, sizeof me->device, "cuda:%d", before);
    else
        snprintf(me->device, sizeof me->device, "host");
}

bool ranks_main(int argc, char **argv, const char *self, int *code)
{
    if (argc < 2 || getenv("LATHE_RANKS") || !link_launched()) return false;
    double silence;
    if (!read_silence(&silence)) {
        fprintf(stderr, "lathe: LATHE_MPI_SILENCE is '%.100s': the seconds of silence after which a rank is lost are "
                "%d to %d\n", getenv("LATHE_MPI_SILENCE"), SILENCE_LEAST, SILENCE_MOST);
        *code = LATHE_USAGE;
        return true;
    }
    int rank, size, gpus = getenv("LATHE_MPI_DEVICE") ? 0 : dev_gpus();
    struct link *l = link_open(&rank, &size);
    if (size == 1) {
        link_close(l);
        return false;
    }
    struct rank_identity me;
    describe_self(&me);
    struct rank_identity *everyone = (struct rank_identity *)link_share(l, &me, sizeof me);
    choose_device(&me, rank, everyone, gpus);
    mem_free(everyone);
    everyone = (struct rank_identity *)link_share(l, &me, sizeof me);
    bool all_here = true;
    *code = 0;
    if (rank)
        rank_run(l, rank, &me, self);
    else
        *code = hub_run(l, size, everyone, argv, self, &all_here);
    mem_free(everyone);
    if (!all_here) link_abort(*code);
    link_close(l);
    return true;
}
