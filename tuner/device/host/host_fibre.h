/* host_fibre.h: the threads of one block, as fibres of the calling thread: they run one at a time, and give way only
 * where they wait for each other.
 *
 * A block is run to its end by host_block_run; the threads wait in host_block_wait, which is what barriers and warp
 * operations call. Stacks are kept for the next block. Warps are 32 threads in linear order.
 */
#ifndef LATHE_DEVICE_HOST_FIBRE_H
#define LATHE_DEVICE_HOST_FIBRE_H

#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

enum { HOST_MAX_THREADS = 1024 };

struct host_block;

struct host_block *host_block_new(void);
void host_block_free(struct host_block *b);

struct host_threads {
    const uint32_t *dim;        /* of the block, x y z; the product is 1 .. HOST_MAX_THREADS */
    uint32_t *index;            /* x y z of the thread that runs, written whenever another one gets its turn */
    void (*body)(void *);
    void *arg;
    bool backwards;             /* let the last warp and lane go first; the last block too */
};

/* LATHE_DEVICE: the threads wait for each other for ever, or misuse a mask; the message says who waits where. What they
 * held is then lost. LATHE_NOMEM: no memory for stacks. */
status host_block_run(struct host_block *b, const struct host_threads *t, struct err *e);

/* For the running thread only; kind is an enum lathe_host_wait (host_shim.h, also for the rest). */
uint64_t host_block_wait(void *block, int kind, uint32_t mask, uint64_t value, uint32_t source);
uint32_t host_block_active(void *block);

#endif
