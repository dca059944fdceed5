/* cuda_calls.c: see cuda_calls.h. */
#include "device/cuda/cuda_calls.h"

#include <stdio.h>

enum { MAX_REGISTERS_PER_THREAD = 255 }; /* since compute capability 3.5; the driver has no attribute for it */

unsigned cuda_attributes(int64_t max_window, const struct dev_launch *how, CUlaunchAttribute out[CUDA_MAX_ATTRIBUTES])
{
    static const CUaccessProperty properties[] = {[L2_normal] = CU_ACCESS_PROPERTY_NORMAL,
                                                  [L2_streaming] = CU_ACCESS_PROPERTY_STREAMING,
                                                  [L2_persisting] = CU_ACCESS_PROPERTY_PERSISTING};
    unsigned n = 0;
    if (how->cluster[0])
        out[n++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                       .value.clusterDim = {how->cluster[0], how->cluster[1], how->cluster[2]}};
    if (how->programmatic)
        out[n++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                       .value.programmaticStreamSerializationAllowed = 1};
    uint64_t most = (uint64_t)max_window, bytes = how->window_bytes < most ? how->window_bytes : most;
    if (how->window && bytes)
        out[n++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                       .value.accessPolicyWindow = {.base_ptr = (void *)(uintptr_t)how->window,
                                                                    .num_bytes = bytes, .hitRatio = how->ratio,
                                                                    .hitProp = properties[how->hit],
                                                                    .missProp = properties[how->miss]}};
    return n;
}

CUlaunchConfig cuda_config(const struct dev_launch *how, CUlaunchAttribute *attribute, unsigned count, CUstream stream)
{
    return (CUlaunchConfig){.gridDimX = how->grid[0], .gridDimY = how->grid[1], .gridDimZ = how->grid[2],
                            .blockDimX = how->block[0], .blockDimY = how->block[1], .blockDimZ = how->block[2],
                            .sharedMemBytes = how->shared, .hStream = stream, .attrs = attribute, .numAttrs = count};
}

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

/* lathe's axes go from the outermost to the innermost, the driver's the other way round. */
void cuda_map_of(const struct plan_tensor_map *m, enum dtype dtype, struct cuda_map *out)
{
    cuuint64_t stride = (cuuint64_t)dtype_bytes(dtype);
    *out = (struct cuda_map){.type = types[dtype], .rank = (cuuint32_t)m->rank, .swizzle = swizzle_of(m->swizzle),
                             .l2 = promotion_of(m->l2)};
    for (int i = 0; i < m->rank; i++) {
        int axis = m->rank - 1 - i;
        out->extents[i] = (cuuint64_t)m->shape[axis];
        out->strides[i] = stride *= out->extents[i];    /* of the next axis; the last one is not read */
        out->box[i] = (cuuint32_t)m->box[axis];
        out->ones[i] = 1;
    }
}

CUresult cuda_limits(CUresult (*ask)(int *value, CUdevice_attribute attribute, CUdevice device), CUdevice device,
                     int64_t limit[LIMIT_COUNT], int *major, int *minor, CUdevice_attribute *asked)
{
    static const struct {
        CUdevice_attribute attribute;
        enum limit limit;
    } table[] = {
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, LIMIT_sm_count},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, LIMIT_warp_size},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, LIMIT_max_threads_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, LIMIT_max_threads_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, LIMIT_max_shared_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, LIMIT_max_shared_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, LIMIT_max_registers_per_sm},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, LIMIT_l2_bytes},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, LIMIT_sm},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, LIMIT_sm},
    };
    *major = *minor = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int value = 0;
        *asked = table[i].attribute;
        CUresult r = ask(&value, *asked, device);
        if (r != CUDA_SUCCESS)
            return r;
        if (*asked == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
            *major = value;
        else if (*asked == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
            *minor = value;
        else
            limit[table[i].limit] = value;
    }
    limit[LIMIT_sm] = 10 * *major + *minor;
    limit[LIMIT_max_registers_per_thread] = MAX_REGISTERS_PER_THREAD;
    return CUDA_SUCCESS;
}

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

/* NOTE: a driver that refuses already the first index may know nothing of this kernel; it is not believed that it has
 * no parameters at all. */
bool cuda_takes(CUresult (*ask)(CUfunction function, size_t index, size_t *offset, size_t *bytes), CUfunction function,
                const struct plan_step *step, char *why, size_t size)
{
    size_t offset, bytes, n = (size_t)step->nargs;
    for (size_t i = 0; ask && i < n; i++) {
        CUresult r = ask(function, i, &offset, &bytes);
        if (r != CUDA_SUCCESS && (r != CUDA_ERROR_INVALID_VALUE || i == 0))
            return true;
        size_t passed = plan_arg_bytes(&step->args[i]);
        if (r != CUDA_SUCCESS)
            snprintf(why, size, "the launch passes %zu arguments, and the kernel has %zu parameter%s", n, i, plural(i));
        else if (bytes != passed)
            snprintf(why, size, "args[%zu] has %zu byte%s, and the kernel's parameter %zu", i + 1, passed,
                     plural(passed), bytes);
        if (r != CUDA_SUCCESS || bytes != passed)
            return false;
    }
    if (!ask || ask(function, n, &offset, &bytes) != CUDA_SUCCESS)
        return true;
    snprintf(why, size, "the launch passes %zu argument%s, and the kernel has more parameters", n, plural(n));
    return false;
}
