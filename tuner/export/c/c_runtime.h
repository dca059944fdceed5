/* What every launcher of lathe's has: the device that it runs on, what of the tuned configurations it can run there,
 * and which of them serves a size. Nothing changes after lathe_open. */

struct LatheFunction {
    CUfunction handle;
    long long threads, shared;          /* the most that a block may have; shared: dynamic, bytes */
};

struct LatheVariant {                  /* one configuration */
    const char *text;
    const char *device;                 /* tuned on a device of this name ... */
    int sm;                             /* ... of this compute capability, 90; 0: on no GPU */
    int fallback;                       /* serves what no other does */
    int persists;                       /* has lines of the L2 that persist */
    int cubin, exact;                   /* its image, -1: none; whether it is for that very capability */
    int ptx, ptx_sm;                    /* likewise; from which capability on */
    int first, count;                   /* its kernels in lathe_names and in function[] */
    int64_t size[LATHE_DIMS];
};

struct LatheDevice {
    long long limit[LATHE_LIMITS];
    long long window, persisting;       /* bytes: the largest access policy window, the largest set-aside of the L2 */
    int rank[LATHE_VARIANTS];           /* 0: cannot run here; the smaller, the better */
    CUmodule module[LATHE_IMAGES];
    struct LatheFunction function[LATHE_FUNCTIONS];
};

static const struct LatheVariant lathe_variants[LATHE_VARIANTS];
static const unsigned char *const lathe_images[LATHE_IMAGES];
static const char *const lathe_names[LATHE_FUNCTIONS];
static const int lathe_asked[LATHE_LIMITS];

static CUresult lathe_ask(struct LatheDevice *lathe, CUdevice device)
{
    CUresult error = CUDA_SUCCESS;
    int value = 0, minor = 0;
    size_t bytes = 0;
    for (int i = 0; i < LATHE_LIMITS && error == CUDA_SUCCESS; i++) {
        if (!lathe_asked[i]) continue;
        error = cuDeviceGetAttribute(&value, (CUdevice_attribute)lathe_asked[i], device);
        lathe->limit[i] = value;
    }
    if (error == CUDA_SUCCESS)
        error = cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    if (error == CUDA_SUCCESS) error = cuDeviceTotalMem(&bytes, device);
    lathe->limit[LATHE_sm] = 10 * lathe->limit[LATHE_sm] + minor;
    lathe->limit[LATHE_max_registers_per_thread] = 255;
    lathe->limit[LATHE_memory_bytes] = (long long)bytes;
    if (cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, device) == CUDA_SUCCESS)
        lathe->window = value;
    if (cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, device) == CUDA_SUCCESS)
        lathe->persisting = value;
    return error;
}

static CUresult lathe_find(struct LatheDevice *lathe, CUmodule module, int function)
{
    struct LatheFunction *f = &lathe->function[function];
    int threads = 0, still = 0, shared = 0;
    CUresult error = cuModuleGetFunction(&f->handle, module, lathe_names[function]);
    if (error == CUDA_SUCCESS) error = cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f->handle);
    if (error == CUDA_SUCCESS) error = cuFuncGetAttribute(&still, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f->handle);
    if (error != CUDA_SUCCESS) return error;
    shared = (int)lathe->limit[LATHE_max_shared_per_block] - still;
    if (shared < 0) shared = 0;
    if (cuFuncSetAttribute(f->handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared) != CUDA_SUCCESS)
        error = cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f->handle);
    if (lathe->limit[LATHE_sm] >= 90) /* clusters of more than 8 blocks, where the device has them */
        (void)cuFuncSetAttribute(f->handle, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    f->threads = threads;
    f->shared = shared;
    return error;
}

/* Loads an image. *module is 0 where the driver does not take it: another may serve. */
static CUresult lathe_module(struct LatheDevice *lathe, int image, CUmodule *module)
{
    CUresult error = CUDA_SUCCESS;
    if (!lathe->module[image]) error = cuModuleLoadData(&lathe->module[image], lathe_images[image]);
    if (error != CUDA_SUCCESS) lathe->module[image] = 0;
    *module = lathe->module[image];
    switch (error) {
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND: return CUDA_SUCCESS;
    default: return error;
    }
}

/* Loads a variant where the device can run it: the cubin, or where it is not for this device, or its driver does not
 * take it, the PTX. */
static CUresult lathe_load(struct LatheDevice *lathe, int variant, const char *name)
{
    const struct LatheVariant *v = &lathe_variants[variant];
    const int sm = (int)lathe->limit[LATHE_sm];
    CUmodule module = 0;
    CUresult error = CUDA_SUCCESS;
    if (v->cubin >= 0 && lathe_cubin_runs(v->sm, v->exact, sm)) error = lathe_module(lathe, v->cubin, &module);
    if (error == CUDA_SUCCESS && !module && v->ptx >= 0 && sm >= v->ptx_sm)
        error = lathe_module(lathe, v->ptx, &module);
    if (!module) return error;
    for (int i = 0; i < v->count && error == CUDA_SUCCESS; i++) error = lathe_find(lathe, module, v->first + i);
    if (error == CUDA_SUCCESS)
        lathe->rank[variant] = lathe_rank(v->fallback, v->sm, v->device, sm, name);
    return error;
}

static void lathe_close(struct LatheDevice *lathe)
{
    for (int i = 0; i < LATHE_IMAGES; i++)
        if (lathe->module[i]) (void)cuModuleUnload(lathe->module[i]);
}

/* CUDA_ERROR_NOT_SUPPORTED: nothing here can run on the device. If it fails there is nothing to close. */
static CUresult lathe_open(struct LatheDevice *lathe)
{
    CUdevice device = 0;
    char name[256] = "";
    int some = 0, persists = 0;
    CUresult error = cuCtxGetDevice(&device);
    if (error == CUDA_SUCCESS) error = cuDeviceGetName(name, (int)sizeof name, device);
    if (error == CUDA_SUCCESS) error = lathe_ask(lathe, device);
    for (int i = 0; i < LATHE_VARIANTS && error == CUDA_SUCCESS; i++) {
        error = lathe_load(lathe, i, name);
        some |= lathe->rank[i];
        persists |= lathe->rank[i] && lathe_variants[i].persists;
    }
    if (error == CUDA_SUCCESS && persists && lathe->persisting > 0) /* as it was tuned */
        error = cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, (size_t)lathe->persisting);
    if (error == CUDA_SUCCESS && !some) error = CUDA_ERROR_NOT_SUPPORTED;
    if (error != CUDA_SUCCESS) lathe_close(lathe);
    return error;
}
