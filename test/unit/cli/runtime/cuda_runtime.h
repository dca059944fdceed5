// cuda_runtime.h: a CUDA runtime, driver and cuBLAS that run nothing: each writes what it is asked to standard output,
// a line a call, so that the launcher of an exported file, compiled as plain C++ against them, says what it would do.
// test_export_plan.c writes the same lines from the plan. With -DSTUB_REFUSES it refuses to set memory. The program
// that includes this defines stub_name.
#ifndef STUB_CUDA_RUNTIME
#define STUB_CUDA_RUNTIME

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define CUDART_VERSION 13000

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorInitializationError = 3,
    cudaErrorNotSupported = 801,
    cudaErrorUnknown = 999
};
typedef struct stub_stream *cudaStream_t;
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a, unsigned b, unsigned c) : x(a), y(b), z(c) {}
    dim3() : x(1), y(1), z(1) {}
};

// The name of a kernel.
const char *stub_name(const void *kernel);

// ---- memory: the self-test's is there, a launch's is not

enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
extern "C" void *malloc(size_t);
extern "C" void free(void *);
inline cudaError_t cudaMalloc(void **out, size_t bytes) { return *out = malloc(bytes), cudaSuccess; }
inline cudaError_t cudaFree(void *at) { return free(at), cudaSuccess; }
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    return memcpy(to, from, bytes), cudaSuccess;
}
inline cudaError_t cudaMemset(void *at, int value, size_t bytes) { return memset(at, value, bytes), cudaSuccess; }
inline cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t)
{
#ifdef STUB_REFUSES
    return cudaErrorInvalidValue;
#endif
    return printf("set %zx to %d, %zu bytes\n", (size_t)at, value, bytes), cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char *cudaGetErrorString(cudaError_t) { return "an error"; }

// ---- attributes of a launch

enum cudaAccessProperty { cudaAccessPropertyNormal, cudaAccessPropertyStreaming, cudaAccessPropertyPersisting };
enum cudaLaunchAttributeID { cudaLaunchAttributeAccessPolicyWindow = 1, cudaLaunchAttributeClusterDimension = 4,
                             cudaLaunchAttributeProgrammaticStreamSerialization = 6 };
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    struct {    // a union in CUDA: here what is not set is zeros
        struct { unsigned x, y, z; } clusterDim;
        int programmaticStreamSerializationAllowed;
        struct {
            void *base_ptr;
            size_t num_bytes;
            float hitRatio;
            cudaAccessProperty hitProp, missProp;
        } accessPolicyWindow;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
                         cudaFuncAttributeNonPortableClusterSizeAllowed = 14 };
inline const void *stub_opened;     // the kernel that may have more shared memory, and how much
inline int stub_shared;
template <typename F> cudaError_t cudaFuncSetAttribute(F *kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
        stub_opened = (const void *)kernel, stub_shared = value;
    return cudaSuccess;
}

enum cudaDeviceAttr { cudaDevAttrMaxPersistingL2CacheSize = 108, cudaDevAttrMaxAccessPolicyWindowSize = 109 };
enum cudaLimit { cudaLimitPersistingL2CacheSize = 6 };
inline cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int) { return *value = INT_MAX, cudaSuccess; }
inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }

// ---- launches

inline void stub_put(int x) { printf(" i32=%d", x); }
inline void stub_put(long long x) { printf(" i64=%lld", x); }
inline void stub_put(float x) { printf(" f32=%a", x); }
inline void stub_put(double x) { printf(" f64=%a", x); }
inline void stub_put(const void *at) { printf(" at=%zx", (size_t)at); }

template <typename... P, typename... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *c, void (*kernel)(P...), A... args)
{
    dim3 cluster(0, 0, 0);
    int programmatic = 0;
    const cudaLaunchAttribute *window = 0;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const auto &value = c->attrs[i].val;
        switch (c->attrs[i].id) {
        case cudaLaunchAttributeClusterDimension:
            cluster = dim3(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z);
            break;
        case cudaLaunchAttributeProgrammaticStreamSerialization:
            programmatic = value.programmaticStreamSerializationAllowed;
            break;
        case cudaLaunchAttributeAccessPolicyWindow: window = &c->attrs[i]; break;
        }
    }
    const bool opened = stub_opened == (const void *)kernel && (size_t)stub_shared >= c->dynamicSmemBytes;
    printf("launch %s grid %u %u %u block %u %u %u cluster %u %u %u shared %zu%s%s", stub_name((const void *)kernel),
           c->gridDim.x, c->gridDim.y, c->gridDim.z, c->blockDim.x, c->blockDim.y, c->blockDim.z, cluster.x, cluster.y,
           cluster.z, c->dynamicSmemBytes, c->dynamicSmemBytes <= 48 * 1024 || opened ? "" : " (not allowed)",
           programmatic ? " programmatic" : "");
    if (window) {
        const auto &w = window->val.accessPolicyWindow;
        printf(" window %zx %zu %a %d %d", (size_t)w.base_ptr, w.num_bytes, w.hitRatio, w.hitProp, w.missProp);
    }
    (stub_put(static_cast<P>(args)), ...);
    printf("\n");
    return cudaSuccess;
}

#endif
