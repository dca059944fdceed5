/* host_target.h: this machine as the target of the host device. */
#ifndef LATHE_DEVICE_HOST_TARGET_H
#define LATHE_DEVICE_HOST_TARGET_H

#include "model/target.h"

/* All of *t; the limits are the CUDA shim's, memory_bytes half of the machine's. compiler: its version, as the driver
 * and the toolchain. */
void host_describe(struct target *t, const char *compiler);
/* Bytes that programs can have now without others losing theirs. */
int64_t host_available_memory(void);

#endif
