/* relay.h: a device worker that is none itself: `lathe worker device mpi:K NAME` speaks the worker protocol on its
 * descriptors 3 and 4 and hands everything on to rank K, through the hub (ranks.h) of this machine. It ends when the
 * worker there does; where the rank is gone, it says so to whatever is asked. */
#ifndef LATHE_MPI_RELAY_H
#define LATHE_MPI_RELAY_H

#include <stdbool.h>

/* argv as for worker_main: is it for a relay? */
bool relay_wanted(int argc, char **argv);
/* Gives the process's exit code. */
int relay_main(int argc, char **argv);

#endif
