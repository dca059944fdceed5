/* host_driver.c: a libcuda.so.1 whose GPU is the host device: an image is a shared object of the host's compiler, and
 * launches really run. So a program that uses liblathe is tested with the results that it gets. */
#include "device/cuda/cuda_api.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
extern const struct dev_ops host_ops;

static struct dev *host;
static struct target gpu;               /* what it says of itself */

EXPORTED CUresult cuInit(unsigned flags)
{
    struct target unread;
    struct err e;
    (void)flags;
    if (host)
        return CUDA_SUCCESS;
    if (target_named("sm_80", &gpu, &e) || host_ops.open(0, &host, &unread, &e))
        return CUDA_ERROR_NO_DEVICE;
    return CUDA_SUCCESS;
}

static CUresult failed(const struct err *e)
{
    fprintf(stderr, "host_driver: %s\n", e->text);
    return CUDA_ERROR_LAUNCH_FAILED;
}

EXPORTED CUresult cuGetErrorName(CUresult error, const char **text)
{
    *text = error ? "an error" : "none";
    return CUDA_SUCCESS;
}
EXPORTED CUresult cuGetErrorString(CUresult error, const char **text) { return cuGetErrorName(error, text); }
EXPORTED CUresult cuDeviceGet(CUdevice *device, int number) { *device = number; return CUDA_SUCCESS; }

/* --- the only context there is --- */

static _Thread_local CUcontext current;
EXPORTED CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    *context = (CUcontext)&host;
    return CUDA_SUCCESS;
}
EXPORTED CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return CUDA_SUCCESS; }
EXPORTED CUresult cuCtxSetCurrent(CUcontext context) { current = context; return CUDA_SUCCESS; }
EXPORTED CUresult cuCtxGetCurrent(CUcontext *context) { *context = current; return CUDA_SUCCESS; }
EXPORTED CUresult cuCtxPushCurrent_v2(CUcontext context) { return CUDA_SUCCESS; }
EXPORTED CUresult cuCtxPopCurrent_v2(CUcontext *context) { *context = current; return CUDA_SUCCESS; }
EXPORTED CUresult cuCtxGetDevice(CUdevice *device) { *device = 0; return CUDA_SUCCESS; }
EXPORTED CUresult cuCtxSetLimit(CUlimit limit, size_t value) { return CUDA_SUCCESS; }
EXPORTED CUresult cuCtxSynchronize(void) { return CUDA_SUCCESS; }

EXPORTED CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    snprintf(name, (size_t)size, "%s", gpu.name);
    return CUDA_SUCCESS;
}

EXPORTED CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    *bytes = (size_t)gpu.limit[LIMIT_memory_bytes];
    return CUDA_SUCCESS;
}

EXPORTED CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    static const struct { CUdevice_attribute attribute; enum limit limit; } table[] = {
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, LIMIT_sm_count}, {CU_DEVICE_ATTRIBUTE_WARP_SIZE, LIMIT_warp_size},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, LIMIT_max_threads_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, LIMIT_max_threads_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, LIMIT_max_shared_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, LIMIT_max_shared_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, LIMIT_max_registers_per_sm},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, LIMIT_l2_bytes},
    };
    *value = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].attribute == attribute)
            *value = (int)gpu.limit[table[i].limit];
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        *value = (int)gpu.limit[LIMIT_sm] / 10;
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        *value = (int)gpu.limit[LIMIT_sm] % 10;
    return CUDA_SUCCESS;
}

/* --- memory --- */

EXPORTED CUresult cuMemAlloc(CUdeviceptr *at, size_t bytes)
{
    struct err e;
    dev_ptr p;
    if (host_ops.alloc(host, bytes, &p, &e))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *at = p;
    return CUDA_SUCCESS;
}

EXPORTED CUresult cuMemFree(CUdeviceptr at) { host_ops.release(host, at); return CUDA_SUCCESS; }
EXPORTED CUresult cuMemsetD8(CUdeviceptr at, unsigned char value, size_t bytes)
{
    memset((void *)at, value, bytes);
    return CUDA_SUCCESS;
}
EXPORTED CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream)
{
    return cuMemsetD8(at, value, bytes);
}
EXPORTED CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    memcpy((void *)to, from, bytes);
    return CUDA_SUCCESS;
}
EXPORTED CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    memcpy(to, (void *)from, bytes);
    return CUDA_SUCCESS;
}

/* --- kernels --- */

/* The image's end is that of its table of sections, which stands last. */
EXPORTED CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    char path[] = "/tmp/lathe-host-driver-XXXXXX";
    const Elf64_Ehdr *head = image;
    struct dev_module *m;
    struct err e;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG))
        return CUDA_ERROR_INVALID_IMAGE;
    size_t len = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
    int fd = mkstemp(path);
    CUresult r = fd >= 0 && write(fd, image, len) == (ssize_t)len ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    if (fd >= 0)
        close(fd);
    if (r == CUDA_SUCCESS && host_ops.load(host, path, &m, &e))
        r = failed(&e);
    unlink(path);
    *module = (CUmodule)m;
    return r;
}

EXPORTED CUresult cuModuleUnload(CUmodule module)
{
    host_ops.unload(host, (struct dev_module *)module);
    return CUDA_SUCCESS;
}

EXPORTED CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    struct dev_function *f;
    struct err e;
    if (host_ops.function(host, (struct dev_module *)module, name, &f, &e))
        return failed(&e);
    *function = (CUfunction)f;
    return CUDA_SUCCESS;
}

EXPORTED CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
    return CUDA_SUCCESS;
}

EXPORTED CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    return CUDA_SUCCESS;
}

EXPORTED CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **args, void **extra)
{
    const struct dev_launch how = {.grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                                   .block = {c->blockDimX, c->blockDimY, c->blockDimZ}, .shared = c->sharedMemBytes};
    struct err e;
    if (c->numAttrs)
        return CUDA_ERROR_NOT_SUPPORTED;
    return host_ops.launch(host, (struct dev_function *)function, &how, args, &e) ? failed(&e) : CUDA_SUCCESS;
}
