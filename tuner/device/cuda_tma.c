/* cuda_tma.c: tensor maps, by which a kernel copies boxes of a buffer, and the room for lines of the L2 that persist.
 *
 * lathe's axes go from the outermost to the innermost, the driver's the other way round. */
#include "device/cuda_dev.h"

#include <string.h>

static const CUtensorMapDataType types[DTYPE_COUNT] = {
    [DTYPE_f32] = CU_TENSOR_MAP_DATA_TYPE_FLOAT32, [DTYPE_f64] = CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    [DTYPE_i32] = CU_TENSOR_MAP_DATA_TYPE_INT32,   [DTYPE_u32] = CU_TENSOR_MAP_DATA_TYPE_UINT32,
    [DTYPE_f16] = CU_TENSOR_MAP_DATA_TYPE_FLOAT16, [DTYPE_bf16] = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    [DTYPE_u8] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
};

static CUtensorMapSwizzle swizzle_of(int bytes)
{
    switch (bytes) {
    case 32: return CU_TENSOR_MAP_SWIZZLE_32B;
    case 64: return CU_TENSOR_MAP_SWIZZLE_64B;
    case 128: return CU_TENSOR_MAP_SWIZZLE_128B;
    default: return CU_TENSOR_MAP_SWIZZLE_NONE;
    }
}

static CUtensorMapL2promotion promotion_of(int bytes)
{
    switch (bytes) {
    case 64: return CU_TENSOR_MAP_L2_PROMOTION_L2_64B;
    case 128: return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    case 256: return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
    default: return CU_TENSOR_MAP_L2_PROMOTION_NONE;
    }
}

status cuda_tensor_map(struct dev *d, const struct plan_tensor_map *m, enum dtype dtype, dev_ptr at, void *out,
                       struct err *e)
{
    cuuint64_t extents[MAX_RANK], strides[MAX_RANK], stride = (cuuint64_t)dtype_bytes(dtype);
    cuuint32_t box[MAX_RANK], ones[MAX_RANK];
    for (int i = 0; i < m->rank; i++) {
        int axis = m->rank - 1 - i;
        extents[i] = (cuuint64_t)m->shape[axis];
        strides[i] = stride *= extents[i];          /* of the next axis; the last one is not read */
        box[i] = (cuuint32_t)m->box[axis];
        ones[i] = 1;
    }
    if (!d->cu.cuTensorMapEncodeTiled) {
        d->fault = DEV_FAULT_LAUNCH;
        return err_set(e, LATHE_DEVICE, "the CUDA driver %s has no cuTensorMapEncodeTiled, and this kernel takes a "
                       "tensor map: install NVIDIA driver 525 or later", d->cu.path);
    }
    CUtensorMap map;
    status s = cuda_check(d,
                          d->cu.cuTensorMapEncodeTiled(&map, types[dtype], (cuuint32_t)m->rank, (void *)(uintptr_t)at,
                                                       extents, strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                                       swizzle_of(m->swizzle), promotion_of(m->l2),
                                                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
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
