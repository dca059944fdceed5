/* cuda_calls.h: what a launch, a tensor map and a device's limits are in the CUDA driver's own structures. Calls
 * nothing and keeps nothing: the CUDA device uses it, and the guest of another program's context (guest.h). */
#ifndef LATHE_DEVICE_CUDA_CALLS_H
#define LATHE_DEVICE_CUDA_CALLS_H

#include "device/cuda/cuda_api.h"

/* The attributes that a launch has; how many. max_window: of an access policy, bytes; 0: the device has no such
 * thing. */
enum { CUDA_MAX_ATTRIBUTES = 3 };
unsigned cuda_attributes(int64_t max_window, const struct dev_launch *how, CUlaunchAttribute out[CUDA_MAX_ATTRIBUTES]);
/* how, with these attributes, in a stream; borrows the attributes. */
CUlaunchConfig cuda_config(const struct dev_launch *how, CUlaunchAttribute *attribute, unsigned count, CUstream stream);

/* The arguments of cuTensorMapEncodeTiled, but the first, the address, and those that are always the same. m->rank >
 * 0. */
struct cuda_map {
    CUtensorMapDataType type;
    cuuint32_t rank, box[MAX_RANK], ones[MAX_RANK];
    cuuint64_t extents[MAX_RANK], strides[MAX_RANK];
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion l2;
};
void cuda_map_of(const struct plan_tensor_map *m, enum dtype dtype, struct cuda_map *out);

/* A device's limits, all but memory_bytes; the compute capability apart, too. On failure *asked is the attribute. */
CUresult cuda_limits(CUresult (*ask)(int *value, CUdevice_attribute attribute, CUdevice device), CUdevice device,
                     int64_t limit[LIMIT_COUNT], int *major, int *minor, CUdevice_attribute *asked);

/* Whether a kernel's parameters are as many and as large as what a launch passes; false: `why` says what is not. ask:
 * cuFuncGetParamInfo; where it does not know, or is NULL, as before CUDA 12.4, nothing is said against it. This is what
 * can be asked of an image that comes without a source, and of a kernel that model/signature.h lets pass. */
bool cuda_takes(CUresult (*ask)(CUfunction function, size_t index, size_t *offset, size_t *bytes), CUfunction function,
                const struct plan_step *step, char *why, size_t size);

#endif
