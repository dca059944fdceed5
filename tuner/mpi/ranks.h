/* ranks.h: the processes of an MPI job: rank 0 reaches the others (hub.c) and starts the coordinator; each other has a
 * device, and a worker for it (rank.c). None of them touches a GPU or the database itself. */
#ifndef LATHE_MPI_RANKS_H
#define LATHE_MPI_RANKS_H

#include <stdbool.h>

struct link;

/* What each process tells the others once. */
struct rank_identity {
    char host[64];
    char visible[128];          /* $CUDA_VISIBLE_DEVICES: of a GPU's number the other half */
    char device[24];            /* "cuda:1", "host"; of rank 0 empty */
};

/* True: this process is one of several that mpirun or srun started, and has done its part; *code is its exit code.
 * False: it is to go on as lathe does (alone, or the coordinator). self: path of this binary. */
bool ranks_main(int argc, char **argv, const char *self, int *code);

/* hub.c: starts argv as the coordinator, and hands on between its relays and the ranks until it ends. everyone: by
 * rank. Gives the coordinator's exit code; *all_here: no rank was lost, and all have said good-bye. */
int hub_run(struct link *l, int size, const struct rank_identity *everyone, char **argv, const char *self,
            bool *all_here);
/* rank.c: serves the hub until that says that the job ends, or is silent for too long. */
void rank_run(struct link *l, int rank, const struct rank_identity *me, const char *self);

/* Seconds without a word after which a process counts as lost: $LATHE_MPI_SILENCE, default 20. */
double ranks_silence(void);

#endif
