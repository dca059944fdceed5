/* driver.c: a CUDA driver that runs nothing: it writes launches and fills to standard output, a line each, as program.h
 * writes them of a plan. The program that links it says what device it is, and what kernels take. */
#include "cuda.h"
#include "driver.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUmod_st { const char *image; };
struct CUfunc_st { char name[100]; int shared; };

int fake_modules, fake_functions;      /* alive; found */

CUresult cuCtxGetDevice(CUdevice *device) { *device = 3; return CUDA_SUCCESS; }
CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)size, "%s", fake_device.name);
    return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = (size_t)fake_device.limit[10];
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = (int)fake_device.limit[0] / 10; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = (int)fake_device.limit[0] % 10; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = (int)fake_device.limit[1]; break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = (int)fake_device.limit[2]; break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)fake_device.limit[3]; break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: *value = (int)fake_device.limit[4]; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = (int)fake_device.limit[5]; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: *value = (int)fake_device.limit[6]; break;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: *value = (int)fake_device.limit[7]; break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = (int)fake_device.limit[9]; break;
    default: *value = 2147483647;
    }
    return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) { return limit && value ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

/* "bad": an image that this driver does not take. */
CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    if (!strcmp(image, "bad")) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    *module = malloc(sizeof **module);
    (*module)->image = image;
    fake_modules++;
    return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) { free(module); fake_modules--; return CUDA_SUCCESS; }

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    static struct CUfunc_st found[1000];
    *function = &found[fake_functions++ % 1000];
    (void)module;
    snprintf((*function)->name, sizeof (*function)->name, "%s", name);
    (*function)->shared = 48 * 1024;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
             : attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES   ? 0
                                                                  : function->shared;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
    if (value > fake_device.limit[5]) return CUDA_ERROR_INVALID_VALUE;
    function->shared = value;
    return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream)
{
    (void)stream;
    printf("set %llx to %d, %zu bytes\n", at, value, bytes);
    return CUDA_SUCCESS;
}

struct fake_map {
    unsigned long long at, extents[4], strides[4];
    unsigned made, type, rank, swizzle, l2, box[4];
};

CUresult cuTensorMapEncodeTiled(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *extents, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill)
{
    struct fake_map map = {(uintptr_t)address,  {0}, {0}, 1, (unsigned)type, rank, (unsigned)swizzle,
                           (unsigned)promotion, {0}};
    (void)interleave, (void)fill, (void)element_strides;
    for (unsigned i = 0; i < rank; i++) {
        map.extents[i] = extents[i], map.box[i] = box[i];
        map.strides[i] = i + 1 < rank ? strides[i] : 0;
        if (map.strides[i] % 16 || map.strides[i] >> 40 || map.at % 16) return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(out, &map, sizeof map);
    return CUDA_SUCCESS;
}

static void put_map(const void *memory)
{
    struct fake_map map;
    memcpy(&map, memory, sizeof map);
    printf(" map(");
    if (map.made) printf("%llx type %u swizzle %u l2 %u", map.at, map.type, map.swizzle, map.l2);
    for (unsigned i = 0; map.made && i < map.rank; i++)
        printf(" %llu:%llu/%u", map.extents[i], map.strides[i], map.box[i]);
    printf(")");
}

/* One value of a kind; gives its size. */
static size_t put(char kind, const char *at)
{
    unsigned long long p;
    long long q;
    int i;
    float f;
    double d;
    switch (kind) {
    case 'p': memcpy(&p, at, sizeof p); printf(" at=%llx", p); return sizeof p;
    case 'i': memcpy(&i, at, sizeof i); printf(" i32=%d", i); return sizeof i;
    case 'q': memcpy(&q, at, sizeof q); printf(" i64=%lld", q); return sizeof q;
    case 'f': memcpy(&f, at, sizeof f); printf(" f32=%a", (double)f); return sizeof f;
    case 'd': memcpy(&d, at, sizeof d); printf(" f64=%a", d); return sizeof d;
    case 'm': put_map(at); return sizeof(CUtensorMap);
    default: printf(" ?"); return 0;
    }
}

/* "pm[pif]": a pointer, a tensor map, a struct of three */
static void put_args(const char *kinds, void **args)
{
    for (; *kinds; kinds++) {
        const char *at = *args++;
        if (*kinds != '[') {
            put(*kinds, at);
            continue;
        }
        printf(" {");
        for (kinds++; *kinds != ']'; kinds++) at += put(*kinds, at);
        printf(" }");
    }
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **args, void **extra)
{
    unsigned cluster[3] = {0, 0, 0};
    int programmatic = 0;
    const CUlaunchAttribute *window = 0;
    (void)extra;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const CUlaunchAttribute *a = &c->attrs[i];
        if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            cluster[0] = a->value.clusterDim.x, cluster[1] = a->value.clusterDim.y, cluster[2] = a->value.clusterDim.z;
        if (a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            programmatic = a->value.programmaticStreamSerializationAllowed;
        if (a->id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW) window = a;
    }
    printf("launch %s grid %u %u %u block %u %u %u cluster %u %u %u shared %u%s%s", function->name, c->gridDimX,
           c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ, cluster[0], cluster[1], cluster[2],
           c->sharedMemBytes, c->sharedMemBytes <= (unsigned)function->shared ? "" : " (not allowed)",
           programmatic ? " programmatic" : "");
    if (window)
        printf(" window %llx %zu %a %d %d", (unsigned long long)(uintptr_t)window->value.accessPolicyWindow.base_ptr,
               window->value.accessPolicyWindow.num_bytes, (double)window->value.accessPolicyWindow.hitRatio,
               (int)window->value.accessPolicyWindow.hitProp, (int)window->value.accessPolicyWindow.missProp);
    put_args(fake_kinds(function->name), args);
    printf("\n");
    return CUDA_SUCCESS;
}
