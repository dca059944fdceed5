/* ranks.c: see ranks.h. */
#include "campaign/ranks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char PREFIX[] = "mpi:";

/* The line of a rank, up to its end; NULL: there is none. rank 0 gives the first line. */
static const char *line_of(int rank)
{
    const char *at = getenv("LATHE_RANKS");
    for (; at && rank > 0; rank--)
        if ((at = strchr(at, '\n'))) at++;
    return at && *at ? at : NULL;
}

int ranks_count(void)
{
    int n = 0;
    while (line_of(n + 1)) n++;
    return n;
}

bool ranks_names(const char *device) { return !strncmp(device, PREFIX, sizeof PREFIX - 1); }

status ranks_find(const char *device, int *rank, char *name, size_t size, struct err *e)
{
    const char *digits = device + sizeof PREFIX - 1;
    size_t n = strspn(digits, "0123456789");
    int count = ranks_count();
    *rank = n && n <= 4 && !digits[n] ? atoi(digits) : 0;
    if (*rank < 1)
        return err_set(e, LATHE_USAGE, "no device '%.100s': expected mpi:N, the device of MPI rank N, or mpi:all",
                       device);
    if (!count)
        return err_set(e, LATHE_USAGE,
                       "%.100s: only where mpirun or srun starts a lathe that is built with MPI are there ranks: "
                       "`make mpi`, then mpirun -n %d build/lathe-mpi tune ... (docs/mpi.md)",
                       device, *rank + 1);
    if (*rank > count)
        return err_set(e, LATHE_USAGE, "%.100s: the last rank is %d; start %d processes: mpirun -n %d", device, count,
                       *rank + 1, *rank + 1);
    const char *line = line_of(*rank);
    snprintf(name, size, "%s (%.*s)", device, (int)strcspn(line, "\n"), line);
    return LATHE_OK;
}
