/* link.h: frames between the processes of an MPI job; the only file that speaks MPI. Nothing here waits for another
 * process, except link_open, link_share and link_close: what is sent to one that does not listen any more lies about
 * until the end. */
#ifndef LATHE_MPI_LINK_H
#define LATHE_MPI_LINK_H

#include "mpi/frame.h"
#include <stdbool.h>

struct link;

/* Was this process started by mpirun, or srun with PMI, as one of several or alone? */
bool link_launched(void);
/* MPI_Init; *rank and *size of the job. */
struct link *link_open(int *rank, int *size);
/* `mine` (size bytes) of every rank, by rank, to every rank; mem_free it. Waits for all: at the start only. */
char *link_share(struct link *l, const void *mine, int size);
void link_send(struct link *l, int rank, enum frame_kind kind, uint32_t session, const void *body, size_t len);
/* Hands over what has come, of each rank in the order sent, to `take`. */
void link_poll(struct link *l, void (*take)(void *ctx, int rank, const struct frame *f), void *ctx);
/* Waits until what was sent is on its way, so many seconds at most. */
void link_flush(struct link *l, double seconds);
/* MPI_Finalize: every rank has to come to it. */
void link_close(struct link *l);
/* Ends every process of the job that still runs, this one too, with that exit code. */
void link_abort(int code) __attribute__((noreturn));

#endif
