/* probe.h: what `lathe doctor` shows: each foreign thing lathe can use, where it was found, or what to do. Safe on any
 * machine; CUDA is looked at in a child process. */
#ifndef LATHE_DEVICE_PROBE_H
#define LATHE_DEVICE_PROBE_H

#include <stdbool.h>

struct cuda_api;
struct nvml_api;

struct probe {
    char what[32];                  /* "CUDA driver", "GPU 0", "NVRTC", "cuBLAS", "NVML", "host compiler" */
    bool found;
    char detail[400];               /* version and path, or what is missing */
    char advice[400];               /* "" when found */
};

/* A GPU's entry: what it is, and who uses it. nvml: a table to use instead of the library (tests), or NULL. To be
 * called in a process that may open CUDA's libraries. */
void probe_gpu(const struct cuda_api *cu, const struct nvml_api *nvml, int number, struct probe *p);

/* Fills up to max entries; returns how many. */
int probe_all(struct probe *out, int max);

#endif
