/* host_image.h: a compiled .cu as a shared object in this process, and the launch of its kernels block by block.
 *
 * A module owns its functions; they live until host_image_close. One thread uses a module, from open to close: shared
 * memory is that thread's. */
#ifndef LATHE_DEVICE_HOST_IMAGE_H
#define LATHE_DEVICE_HOST_IMAGE_H

#include "device/dev.h"
#include "device/host/host_fibre.h"

enum { HOST_MAX_SHARED = 232448 };  /* bytes of dynamic shared memory a block */

/* A block's dynamic shared memory, ending at an inaccessible page. */
struct host_shared {
    unsigned char *map;
    size_t bytes;               /* of the usable part */
};
status host_shared_open(struct host_shared *s, struct err *e);
void host_shared_close(struct host_shared *s);

/* LATHE_DEVICE: no file, not an image, of another version, or sanitized while this program is not. The module keeps
 * `block`. */
status host_image_open(const char *path, struct host_block *block, struct dev_module **out, struct err *e);
void host_image_close(struct dev_module *m);
status host_image_function(struct dev_module *m, const char *name, struct dev_function **out, struct err *e);

/* Runs grid[0] x grid[1] x grid[2] blocks, x fastest, each to its end. The sizes are legal (host.c), and bytes at most
 * HOST_MAX_SHARED. Fails as host_block_run does, naming kernel and block. Every other launch of a function lets the
 * last thread of each block go first, so that threads that forgot a barrier differ from one launch to the next. */
status host_image_launch(struct dev_function *f, const struct host_shared *shared, const uint32_t grid[3],
                         const uint32_t block[3], uint32_t bytes, void **args, struct err *e);

#endif
