/* guest.c: see guest.h. The table of the driver's functions is the process's, as the driver is: filled once. */
#include "device/guest.h"
#include "device/cuda/cuda_calls.h"
#include "device/find_lib.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct guest_api {
#define X(name, symbol, args) CUresult(*name) args;
    CUDA_GUEST_FUNCTIONS(X)
    CUDA_GUEST_OPTIONAL_FUNCTIONS(X)
    CUDA_OPTIONAL_FUNCTIONS(X)
#undef X
} cu;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static bool opened;

static const struct lib_symbol symbols[] = {
#define X(name, symbol, args) {#symbol, offsetof(struct guest_api, name), false},
    CUDA_GUEST_FUNCTIONS(X)
#undef X
#define X(name, symbol, args) {#symbol, offsetof(struct guest_api, name), true},
    CUDA_GUEST_OPTIONAL_FUNCTIONS(X) CUDA_OPTIONAL_FUNCTIONS(X)
#undef X
};

static status fill_table(struct err *e)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    const struct lib_query query = {.names = names, .driver = true};
    struct lib lib;
    struct strbuf tried = {0};
    if (!find_lib(&query, &lib, &tried)) {
        err_set(e, LATHE_DEVICE, "no CUDA driver: libcuda.so.1 could not be opened (%s). Install the NVIDIA driver",
                sb_str(&tried)[0] == ' ' ? sb_str(&tried) + 1 : sb_str(&tried));
        sb_free(&tried);
        return LATHE_DEVICE;
    }
    sb_free(&tried);
    const char *missing = lib_bind(lib.handle, symbols, sizeof symbols / sizeof *symbols, &cu);
    if (missing)
        return err_set(e, LATHE_DEVICE, "the CUDA driver %s has no %s: it is older than CUDA 12. Install NVIDIA driver "
                       "525 or later", lib.path, missing);
    return LATHE_OK;
}

status guest_open(struct err *e)
{
    pthread_mutex_lock(&opening);
    status s = opened ? LATHE_OK : fill_table(e);
    opened = !s;
    pthread_mutex_unlock(&opening);
    return s;
}

static status check(CUresult r, const char *doing, struct err *e)
{
    const char *name = NULL, *text = NULL;
    if (r == CUDA_SUCCESS)
        return LATHE_OK;
    cu.cuGetErrorName(r, &name);
    cu.cuGetErrorString(r, &text);
    return err_set(e, LATHE_DEVICE, "%s: %s %d (%s)", doing, name ? name : "CUDA error", (int)r,
                   text ? text : "no description");
}

/* --- the context --- */

status guest_current(struct guest_context *out, struct err *e)
{
    CUcontext context = NULL;
    unsigned long long id = 0;
    CUresult r = cu.cuCtxGetCurrent(&context);
    if (r == CUDA_ERROR_NOT_INITIALIZED || (r == CUDA_SUCCESS && !context))
        return err_set(e, LATHE_NOTHING,
                       "the calling thread has no current CUDA context: cuCtxSetCurrent, or cudaSetDevice "
                       "and cudaFree(0), makes one current");
    status s = check(r, "cuCtxGetCurrent", e);
    if (s)
        return s;
    if (cu.cuCtxGetId && cu.cuCtxGetId(context, &id) != CUDA_SUCCESS)
        id = 0;
    out->handle = context;
    out->id = id;
    return LATHE_OK;
}

static int64_t optional(CUdevice device, CUdevice_attribute attribute)
{
    int value = 0;
    return cu.cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS && value > 0 ? value : 0;
}

status guest_describe(struct guest_context *c, struct err *e)
{
    CUdevice device = 0;
    CUdevice_attribute asked;
    size_t memory = 0;
    int major, minor;
    c->target = (struct target){0};
    status s = check(cu.cuCtxGetDevice(&device), "cuCtxGetDevice", e);
    if (!s)
        s = check(cu.cuDeviceGetName(c->target.name, (int)sizeof c->target.name, device), "cuDeviceGetName", e);
    if (!s)
        s = check(cuda_limits(cu.cuDeviceGetAttribute, device, c->target.limit, &major, &minor, &asked),
                  "cuDeviceGetAttribute", e);
    if (!s)
        s = check(cu.cuDeviceTotalMem(&memory, device), "cuDeviceTotalMem", e);
    if (s)
        return s;
    c->target.limit[LIMIT_memory_bytes] = (int64_t)memory;
    c->max_window = optional(device, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
    c->max_persisting = optional(device, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
    return LATHE_OK;
}

status guest_persist(const struct guest_context *c, struct err *e)
{
    if (!c->max_persisting)
        return LATHE_OK;
    return check(cu.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, (size_t)c->max_persisting),
                 "cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE)", e);
}

/* --- modules and kernels --- */

status guest_load(const char *image, void **module, struct err *e)
{
    CUmodule handle = NULL;
    CUresult r = cu.cuModuleLoadData(&handle, image);
    status s = check(r, "cuModuleLoadData", e);
    *module = handle;
    switch (r) {
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND: return LATHE_NOTHING;
    default: return s;
    }
}

void guest_unload(const struct guest_context *c, void *module)
{
    CUcontext was;
    unsigned long long id = 0;
    if (c->id && (cu.cuCtxGetId(c->handle, &id) != CUDA_SUCCESS || id != c->id))
        return;
    if (cu.cuCtxPushCurrent(c->handle) != CUDA_SUCCESS)
        return;
    (void)cu.cuModuleUnload(module);
    (void)cu.cuCtxPopCurrent(&was);
}

status guest_function(const struct guest_context *c, void *module, const char *name, struct guest_function *out,
                      struct err *e)
{
    CUfunction f = NULL;
    int threads = 0, still = 0, room = 0;
    status s = check(cu.cuModuleGetFunction(&f, module, name), name, e);
    if (!s)
        s = check(cu.cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f), "cuFuncGetAttribute", e);
    if (!s)
        s = check(cu.cuFuncGetAttribute(&still, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f), "cuFuncGetAttribute", e);
    if (s)
        return s;
    room = (int)c->target.limit[LIMIT_max_shared_per_block] - still;
    room = room > 0 ? room : 0;
    if (cu.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, room) != CUDA_SUCCESS)
        s = check(cu.cuFuncGetAttribute(&room, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f),
                  "cuFuncGetAttribute", e);
    if (c->target.limit[LIMIT_sm] >= 90)    /* clusters of more than 8 blocks, where the device has them */
        (void)cu.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    *out = (struct guest_function){f, threads, room};
    return s;
}

status guest_fits(const struct guest_function *f, const struct plan_step *step, struct err *e)
{
    char why[200];
    if (!cuda_takes(cu.cuFuncGetParamInfo, f->handle, step, why, sizeof why))
        return err_set(e, LATHE_NOTHING, "%s: %s", step->function, why);
    int64_t threads = (int64_t)step->block[0] * step->block[1] * step->block[2];
    if (threads > f->max_threads)
        return err_set(e, LATHE_NOTHING, "%s: %lld threads a block, and this device allows it %lld", step->function,
                       (long long)threads, (long long)f->max_threads);
    if ((int64_t)step->shared > f->max_shared)
        return err_set(e, LATHE_NOTHING, "%s: %u bytes of dynamic shared memory, and this device allows it %lld",
                       step->function, step->shared, (long long)f->max_shared);
    return LATHE_OK;
}

/* --- launches --- */

status guest_zero(uint64_t at, uint64_t bytes, void *stream, struct err *e)
{
    return check(cu.cuMemsetD8Async(at, 0, (size_t)bytes, stream), "cuMemsetD8Async", e);
}

status guest_tensor_map(const struct plan_tensor_map *m, enum dtype dtype, uint64_t at, void *out, struct err *e)
{
    CUtensorMap map;
    struct cuda_map how;
    if (!cu.cuTensorMapEncodeTiled)
        return err_set(e, LATHE_DEVICE,
                       "the CUDA driver has no cuTensorMapEncodeTiled: install NVIDIA driver 525 or later");
    cuda_map_of(m, dtype, &how);
    status s = check(cu.cuTensorMapEncodeTiled(&map, how.type, how.rank, (void *)(uintptr_t)at, how.extents,
                                               how.strides, how.box, how.ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                               how.swizzle, how.l2, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                     "cuTensorMapEncodeTiled", e);
    if (!s)
        memcpy(out, &map, DEV_TENSOR_MAP_BYTES);
    return s;
}

status guest_launch(const struct guest_context *c, const struct guest_function *f, const struct dev_launch *how,
                    void **args, void *stream, struct err *e)
{
    CUlaunchAttribute attribute[CUDA_MAX_ATTRIBUTES];
    unsigned n = cuda_attributes(c->max_window, how, attribute);
    CUlaunchConfig config = cuda_config(how, attribute, n, stream);
    return check(cu.cuLaunchKernelEx(&config, f->handle, args, NULL), "cuLaunchKernelEx", e);
}
