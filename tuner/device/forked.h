/* forked.h: runs a function of this program in a forked child, so that what it loads, starts or crashes stays there.
 * CUDA in particular must never be started in a process that later forks. */
#ifndef LATHE_DEVICE_FORKED_H
#define LATHE_DEVICE_FORKED_H

#include <stdbool.h>
#include <stddef.h>

/* Calls work(ctx, fd) in a child and collects what it writes to fd: at most `cap` bytes, *len of them. The child has no
 * input and its own outputs are discarded; it is killed after `seconds`. false when it did not end well, and why says
 * how. */
bool forked(void (*work)(void *ctx, int fd), void *ctx, double seconds, void *out, size_t cap, size_t *len, char *why,
            size_t why_size);

#endif
