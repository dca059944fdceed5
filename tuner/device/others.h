/* others.h: the processes beside lathe's own that compute on a GPU: times suffer from what they do. */
#ifndef LATHE_DEVICE_OTHERS_H
#define LATHE_DEVICE_OTHERS_H

#include "device/nvml.h"

enum { OTHERS_MOST = 32 };

/* Of the processes on NVML's device those that are neither this one nor have its parent: their numbers, at most
 * OTHERS_MOST. Gives how many; 0 also where that is not known.
 * NOTE: to be asked before this process has a context on the device: in a container its own number may be another
 * there. */
int others_find(const struct nvml *n, int pids[OTHERS_MOST]);

/* "another process (pid 12) uses cuda:0", "3 other processes (pids 7, 9, 12) use cuda:0"; n > 0. */
void others_say(const int *pids, int n, const char *device, char *out, size_t size);

#endif
