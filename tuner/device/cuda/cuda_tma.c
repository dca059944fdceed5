/* cuda_tma.c: tensor maps, by which a kernel copies boxes of a buffer, and the room for lines of the L2 that
 * persist. */
#include "device/cuda/cuda_calls.h"
#include "device/cuda/cuda_dev.h"

#include <string.h>

status cuda_tensor_map(struct dev *d, const struct plan_tensor_map *m, enum dtype dtype, dev_ptr at, void *out,
                       struct err *e)
{
    if (!d->cu.cuTensorMapEncodeTiled) {
        d->fault = DEV_FAULT_LAUNCH;
        return err_set(e, LATHE_DEVICE, "the CUDA driver %s has no cuTensorMapEncodeTiled, and this kernel takes a "
                       "tensor map: install NVIDIA driver 525 or later", d->cu.path);
    }
    CUtensorMap map;
    struct cuda_map how;
    cuda_map_of(m, dtype, &how);
    status s = cuda_check(d,
                          d->cu.cuTensorMapEncodeTiled(&map, how.type, how.rank, (void *)(uintptr_t)at, how.extents,
                                                       how.strides, how.box, how.ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                                       how.swizzle, how.l2, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                          e, "making a tensor map of rank %d for %s elements at %#llx (TMA needs compute capability "
                          "9.0)", m->rank, dtype_name(dtype), (unsigned long long)at);
    if (!s)
        memcpy(out, &map, DEV_TENSOR_MAP_BYTES);
    return s;
}

status cuda_persist(struct dev *d, bool on, struct err *e)
{
    if (d->max_persisting <= 0)
        return LATHE_OK;
    status s = cuda_check(d, d->cu.cuStreamSynchronize(d->stream), e, "waiting for the queue of cuda:%d", d->number);
    if (!s && !on)
        s = cuda_check(d, d->cu.cuCtxResetPersistingL2Cache(), e, "ending the L2 lines that persist on cuda:%d",
                       d->number);
    if (s)
        return s;
    size_t bytes = on ? (size_t)d->max_persisting : 0;
    return cuda_check(d, d->cu.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, bytes), e,
                      "setting %zu bytes of the L2 aside for lines that persist on cuda:%d", bytes, d->number);
}
