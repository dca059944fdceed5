/* cuda_api.h: the CUDA driver as a table of functions, filled from libcuda.so.1 by dlopen, or by a fake in tests.
 *
 * The declarations are lathe's own, of just what it uses, with the names and layouts of NVIDIA's documentation: no CUDA
 * header is needed to build. Calls are made through the table: api->cuInit(0).
 */
#ifndef LATHE_DEVICE_CUDA_API_H
#define LATHE_DEVICE_CUDA_API_H

#include "base/err.h"
#include "device/cuda/cuda_functions.h"
#include "device/dev.h"
#include <stddef.h>

#define X(name, value) name = value,
typedef enum { CUDA_RESULTS(X) } CUresult;
typedef enum { CUDA_DEVICE_ATTRIBUTES(X) } CUdevice_attribute;
typedef enum { CUDA_FUNCTION_ATTRIBUTES(X) } CUfunction_attribute;
typedef enum { CUDA_LIMITS(X) } CUlimit;
typedef enum { CUDA_CAPTURE_MODES(X) } CUstreamCaptureMode;
typedef enum { CUDA_ACCESS_PROPERTIES(X) } CUaccessProperty;
typedef enum { CUDA_TENSOR_MAP_TYPES(X) } CUtensorMapDataType;
typedef enum { CUDA_TENSOR_MAP_INTERLEAVES(X) } CUtensorMapInterleave;
typedef enum { CUDA_TENSOR_MAP_SWIZZLES(X) } CUtensorMapSwizzle;
typedef enum { CUDA_TENSOR_MAP_PROMOTIONS(X) } CUtensorMapL2promotion;
typedef enum { CUDA_TENSOR_MAP_FILLS(X) } CUtensorMapFloatOOBfill;
typedef enum { CUDA_ALLOCATION_TYPES(X) } CUmemAllocationType;
typedef enum { CUDA_ALLOCATION_HANDLES(X) } CUmemAllocationHandleType;
typedef enum { CUDA_LOCATION_TYPES(X) } CUmemLocationType;
typedef enum { CUDA_ACCESS_FLAGS(X) } CUmemAccess_flags;
typedef enum { CUDA_GRANULARITIES(X) } CUmemAllocationGranularity_flags;
enum { CUDA_FLAGS(X) };
#undef X

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;

typedef struct {
    char bytes[16];
} CUuuid;

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

/* NOTE: the headers of CUDA 13 align it to 128 bytes, those of CUDA 12 to 64, which the driver wants. */
typedef struct {
    _Alignas(64) cuuint64_t opaque[16];
} CUtensorMap;

typedef struct {
    void *base_ptr;
    size_t num_bytes;
    float hitRatio;
    CUaccessProperty hitProp, missProp;
} CUaccessPolicyWindow;

/* The union is 64 bytes and aligned as a pointer, whatever is in it; these are the ones that are used here. */
typedef struct {
    unsigned int id;
    char pad[4];
    union {
        char pad[64];
        CUaccessPolicyWindow accessPolicyWindow;
        struct {
            unsigned int x, y, z;
        } clusterDim;
        int programmaticStreamSerializationAllowed;
    } value;
} CUlaunchAttribute;

typedef struct {
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned int numAttrs;
} CUlaunchConfig;

typedef unsigned long long CUmemGenericAllocationHandle;

typedef struct {
    CUmemLocationType type;
    int id;                         /* the device's ordinal */
} CUmemLocation;

typedef struct {
    CUmemAllocationType type;
    CUmemAllocationHandleType requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType, gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} CUmemAllocationProp;

typedef struct {
    CUmemLocation location;
    CUmemAccess_flags flags;
} CUmemAccessDesc;

struct cuda_api {
#define X(name, symbol, args) CUresult(*name) args;
    CUDA_FUNCTIONS(X)
    CUDA_OPTIONAL_FUNCTIONS(X)
#undef X
    char path[4096];                /* of the library; "" for a fake */
};

/* Opens the driver's library and fills the table; does not initialise CUDA. LATHE_DEVICE when there is none, or one
 * that lacks a function, with what to do. Nothing to close. */
status cuda_api_open(struct cuda_api *api, struct err *e);

/* "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)": the driver's own words. */
void cuda_error_text(const struct cuda_api *api, CUresult r, char *out, size_t size);

/* cuInit, with advice for each way in which it fails. */
status cuda_init(const struct cuda_api *api, struct err *e);

/* What a failure means for a trial. CRASH: the context is gone, every later call fails too. */
enum dev_fault cuda_fault(CUresult r);

/* The compiler's exact target for a compute capability: "sm_80"; from 9.0 on with the suffix of the instructions that
 * only this chip has, "sm_90a". */
void cuda_arch(int major, int minor, char out[24]);

/* "13.0" for 13000. */
void cuda_version_text(int version, char out[16]);

#endif
