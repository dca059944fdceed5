/* ranks.h: the devices of other processes of an MPI job, as the coordinator knows them.
 *
 * The job's first process (tuner/mpi) starts the coordinator with $LATHE_RANKS: a line that is the relay's business,
 * then one for each further process, rank 1 first: "HOST DEVICE". Their devices are mpi:1, mpi:2, ... here; a device
 * worker of such a name is a relay to a worker there, so nothing else of a campaign knows of MPI. */
#ifndef LATHE_CAMPAIGN_RANKS_H
#define LATHE_CAMPAIGN_RANKS_H

#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

/* Ranks with a device; 0: this is no MPI job, or one of a single process. */
int ranks_count(void);
/* Is it the name of a rank's device, right or wrong: "mpi:..."? */
bool ranks_names(const char *device);
/* The rank of "mpi:K" in *rank, and what messages call its device: "mpi:1 (node7 cuda:0)". LATHE_USAGE: there is
 * none. */
status ranks_find(const char *device, int *rank, char *name, size_t size, struct err *e);

#endif
