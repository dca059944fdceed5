/* cuda_functions.h: the functions of the CUDA driver that lathe calls, as a table: name in the documentation, symbol in
 * libcuda.so.1, parameters. The symbol is the version that cuda.h of CUDA 12 and 13 gives the name, or the one before
 * it with the same parameters; every driver since 525 (CUDA 12.0) has all of them. No type is defined here, so a test
 * can check each line against a real cuda.h.
 */
#ifndef LATHE_DEVICE_CUDA_FUNCTIONS_H
#define LATHE_DEVICE_CUDA_FUNCTIONS_H

#define CUDA_FUNCTIONS(X)                                                                                              \
    X(cuInit, cuInit, (unsigned int flags))                                                                            \
    X(cuDriverGetVersion, cuDriverGetVersion, (int *version))                                                          \
    X(cuGetErrorName, cuGetErrorName, (CUresult error, const char **text))                                             \
    X(cuGetErrorString, cuGetErrorString, (CUresult error, const char **text))                                         \
    X(cuDeviceGetCount, cuDeviceGetCount, (int *count))                                                                \
    X(cuDeviceGet, cuDeviceGet, (CUdevice * device, int ordinal))                                                      \
    X(cuDeviceGetName, cuDeviceGetName, (char *name, int size, CUdevice device))                                       \
    X(cuDeviceGetUuid, cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device))                                           \
    X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, (char *id, int size, CUdevice device))                                 \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device))         \
    X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                                        \
    X(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2, (CUdevice device, unsigned int flags))                \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                      \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                      \
    X(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext context))                                                           \
    X(cuMemGetInfo, cuMemGetInfo_v2, (size_t * free, size_t * total))                                                  \
    X(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                                                \
    X(cuMemFree, cuMemFree_v2, (CUdeviceptr address))                                                                  \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))      \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))            \
    X(cuMemsetD32Async, cuMemsetD32Async, (CUdeviceptr to, unsigned int word, size_t words, CUstream stream))          \
    X(cuStreamCreate, cuStreamCreate, (CUstream * stream, unsigned int flags))                                         \
    X(cuStreamDestroy, cuStreamDestroy_v2, (CUstream stream))                                                          \
    X(cuStreamSynchronize, cuStreamSynchronize, (CUstream stream))                                                     \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode))                      \
    X(cuStreamEndCapture, cuStreamEndCapture, (CUstream stream, CUgraph * graph))                                      \
    X(cuEventCreate, cuEventCreate, (CUevent * event, unsigned int flags))                                             \
    X(cuEventDestroy, cuEventDestroy_v2, (CUevent event))                                                              \
    X(cuEventRecord, cuEventRecord, (CUevent event, CUstream stream))                                                  \
    X(cuEventSynchronize, cuEventSynchronize, (CUevent event))                                                         \
    X(cuEventElapsedTime, cuEventElapsedTime, (float *ms, CUevent from, CUevent to))                                   \
    X(cuModuleLoadData, cuModuleLoadData, (CUmodule * module, const void *image))                                      \
    X(cuModuleUnload, cuModuleUnload, (CUmodule module))                                                               \
    X(cuModuleGetFunction, cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))            \
    X(cuFuncGetAttribute, cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction function))       \
    X(cuFuncSetAttribute, cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value))        \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor,                        \
      (int *blocks, CUfunction function, int threads, size_t shared))                                                  \
    X(cuLaunchKernel, cuLaunchKernel,                                                                                  \
      (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,       \
       unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream, void **args, void **extra))   \
    X(cuLaunchKernelEx, cuLaunchKernelEx,                                                                              \
      (const CUlaunchConfig *config, CUfunction function, void **args, void **extra))                                  \
    X(cuGraphInstantiate, cuGraphInstantiateWithFlags,                                                                 \
      (CUgraphExec * exec, CUgraph graph, unsigned long long flags))                                                   \
    X(cuGraphLaunch, cuGraphLaunch, (CUgraphExec exec, CUstream stream))                                               \
    X(cuGraphExecDestroy, cuGraphExecDestroy, (CUgraphExec exec))                                                      \
    X(cuGraphDestroy, cuGraphDestroy, (CUgraph graph))                                                                 \
    X(cuCtxSetLimit, cuCtxSetLimit, (CUlimit limit, size_t value))                                                     \
    X(cuCtxResetPersistingL2Cache, cuCtxResetPersistingL2Cache, (void))

/* The same of functions that a driver may lack: the table has NULL then. */
#define CUDA_OPTIONAL_FUNCTIONS(X)                                                                                     \
    X(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled,                                                                  \
      (CUtensorMap * map, CUtensorMapDataType type, cuuint32_t rank, void *address, const cuuint64_t *extents,         \
       const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *element_strides,                            \
       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,                 \
       CUtensorMapFloatOOBfill fill))                                                                                  \
    X(cuFuncGetParamInfo, cuFuncGetParamInfo,                                                                          \
      (CUfunction function, size_t index, size_t *offset, size_t *bytes))                                              \
    X(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity,                                                    \
      (size_t * granularity, const CUmemAllocationProp *prop, CUmemAllocationGranularity_flags option))                \
    X(cuMemAddressReserve, cuMemAddressReserve,                                                                        \
      (CUdeviceptr * address, size_t bytes, size_t alignment, CUdeviceptr wanted, unsigned long long flags))           \
    X(cuMemAddressFree, cuMemAddressFree, (CUdeviceptr address, size_t bytes))                                         \
    X(cuMemCreate, cuMemCreate,                                                                                        \
      (CUmemGenericAllocationHandle * handle, size_t bytes, const CUmemAllocationProp *prop,                           \
       unsigned long long flags))                                                                                      \
    X(cuMemRelease, cuMemRelease, (CUmemGenericAllocationHandle handle))                                               \
    X(cuMemMap, cuMemMap,                                                                                              \
      (CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,                          \
       unsigned long long flags))                                                                                      \
    X(cuMemUnmap, cuMemUnmap, (CUdeviceptr address, size_t bytes))                                                     \
    X(cuMemSetAccess, cuMemSetAccess, (CUdeviceptr address, size_t bytes, const CUmemAccessDesc *desc, size_t count))

/* What a guest in another program's context calls (guest.h). */
#define CUDA_GUEST_FUNCTIONS(X)                                                                                        \
    X(cuGetErrorName, cuGetErrorName, (CUresult error, const char **text))                                             \
    X(cuGetErrorString, cuGetErrorString, (CUresult error, const char **text))                                         \
    X(cuCtxGetCurrent, cuCtxGetCurrent, (CUcontext * context))                                                         \
    X(cuCtxGetDevice, cuCtxGetDevice, (CUdevice * device))                                                             \
    X(cuCtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext context))                                                      \
    X(cuCtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext * context))                                                      \
    X(cuCtxSetLimit, cuCtxSetLimit, (CUlimit limit, size_t value))                                                     \
    X(cuDeviceGetName, cuDeviceGetName, (char *name, int size, CUdevice device))                                       \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device))         \
    X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                                        \
    X(cuModuleLoadData, cuModuleLoadData, (CUmodule * module, const void *image))                                      \
    X(cuModuleUnload, cuModuleUnload, (CUmodule module))                                                               \
    X(cuModuleGetFunction, cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))            \
    X(cuFuncGetAttribute, cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction function))       \
    X(cuFuncSetAttribute, cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value))        \
    X(cuMemsetD8Async, cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream))          \
    X(cuLaunchKernelEx, cuLaunchKernelEx,                                                                              \
      (const CUlaunchConfig *config, CUfunction function, void **args, void **extra))

/* The same of what drivers before CUDA 12 lack, beside CUDA_OPTIONAL_FUNCTIONS. */
#define CUDA_GUEST_OPTIONAL_FUNCTIONS(X)                                                                               \
    X(cuCtxGetId, cuCtxGetId, (CUcontext context, unsigned long long *id))

/* Values that the driver's interface fixes, by their names in the documentation. */
#define CUDA_RESULTS(X)                                                                                                \
    X(CUDA_SUCCESS, 0)                                                                                                 \
    X(CUDA_ERROR_INVALID_VALUE, 1)                                                                                     \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2)                                                                                     \
    X(CUDA_ERROR_NOT_INITIALIZED, 3)                                                                                   \
    X(CUDA_ERROR_DEINITIALIZED, 4)                                                                                     \
    X(CUDA_ERROR_STUB_LIBRARY, 34)                                                                                     \
    X(CUDA_ERROR_DEVICE_UNAVAILABLE, 46)                                                                               \
    X(CUDA_ERROR_NO_DEVICE, 100)                                                                                       \
    X(CUDA_ERROR_INVALID_DEVICE, 101)                                                                                  \
    X(CUDA_ERROR_DEVICE_NOT_LICENSED, 102)                                                                             \
    X(CUDA_ERROR_INVALID_IMAGE, 200)                                                                                   \
    X(CUDA_ERROR_INVALID_CONTEXT, 201)                                                                                 \
    X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                                                               \
    X(CUDA_ERROR_ECC_UNCORRECTABLE, 214)                                                                               \
    X(CUDA_ERROR_INVALID_PTX, 218)                                                                                     \
    X(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220)                                                                            \
    X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)                                                                          \
    X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                                                                         \
    X(CUDA_ERROR_INVALID_SOURCE, 300)                                                                                  \
    X(CUDA_ERROR_OPERATING_SYSTEM, 304)                                                                                \
    X(CUDA_ERROR_NOT_FOUND, 500)                                                                                       \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                                                                 \
    X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                                                                         \
    X(CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                                                                  \
    X(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, 708)                                                                          \
    X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                                                                            \
    X(CUDA_ERROR_ASSERT, 710)                                                                                          \
    X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                                                                            \
    X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)                                                                             \
    X(CUDA_ERROR_MISALIGNED_ADDRESS, 716)                                                                              \
    X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)                                                                           \
    X(CUDA_ERROR_INVALID_PC, 718)                                                                                      \
    X(CUDA_ERROR_LAUNCH_FAILED, 719)                                                                                   \
    X(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720)                                                                    \
    X(CUDA_ERROR_NOT_SUPPORTED, 801)                                                                                   \
    X(CUDA_ERROR_SYSTEM_NOT_READY, 802)                                                                                \
    X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                                                                          \
    X(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804)                                                                  \
    X(CUDA_ERROR_MPS_CONNECTION_FAILED, 805)                                                                           \
    X(CUDA_ERROR_MPS_RPC_FAILURE, 806)                                                                                 \
    X(CUDA_ERROR_MPS_SERVER_NOT_READY, 807)                                                                            \
    X(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, 808)                                                                         \
    X(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, 809)                                                                     \
    X(CUDA_ERROR_MPS_CLIENT_TERMINATED, 810)                                                                           \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)                                                                      \
    X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901)                                                                      \
    X(CUDA_ERROR_EXTERNAL_DEVICE, 911)                                                                                 \
    X(CUDA_ERROR_INVALID_CLUSTER_SIZE, 912)                                                                            \
    X(CUDA_ERROR_UNKNOWN, 999)

#define CUDA_DEVICE_ATTRIBUTES(X)                                                                                      \
    X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                                                                    \
    X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                                                               \
    X(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                                                              \
    X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                                    \
    X(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                                                                       \
    X(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37)                                                                 \
    X(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                                                           \
    X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39)                                                          \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                                                \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                                                \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)                                                    \
    X(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 82)                                                        \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                                                       \
    X(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 102)                                                    \
    X(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, 108)                                                           \
    X(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 109)

#define CUDA_FUNCTION_ATTRIBUTES(X)                                                                                    \
    X(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                                                                      \
    X(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                                                          \
    X(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                                                                           \
    X(CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                                                                   \
    X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                                                              \
    X(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 14)

#define CUDA_FLAGS(X)                                                                                                  \
    X(CU_CTX_SCHED_SPIN, 1)                                                                                            \
    X(CU_STREAM_NON_BLOCKING, 1)                                                                                       \
    X(CU_EVENT_DEFAULT, 0)                                                                                             \
    X(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, 1)                                                                     \
    X(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 4)                                                                        \
    X(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 6)

#define CUDA_CAPTURE_MODES(X) X(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1)

#define CUDA_LIMITS(X) X(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 6)

#define CUDA_ACCESS_PROPERTIES(X)                                                                                      \
    X(CU_ACCESS_PROPERTY_NORMAL, 0)                                                                                    \
    X(CU_ACCESS_PROPERTY_STREAMING, 1)                                                                                 \
    X(CU_ACCESS_PROPERTY_PERSISTING, 2)

#define CUDA_TENSOR_MAP_TYPES(X)                                                                                       \
    X(CU_TENSOR_MAP_DATA_TYPE_UINT8, 0)                                                                                \
    X(CU_TENSOR_MAP_DATA_TYPE_UINT32, 2)                                                                               \
    X(CU_TENSOR_MAP_DATA_TYPE_INT32, 3)                                                                                \
    X(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 6)                                                                              \
    X(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 7)                                                                              \
    X(CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8)                                                                              \
    X(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 9)

#define CUDA_TENSOR_MAP_INTERLEAVES(X) X(CU_TENSOR_MAP_INTERLEAVE_NONE, 0)

#define CUDA_TENSOR_MAP_SWIZZLES(X)                                                                                    \
    X(CU_TENSOR_MAP_SWIZZLE_NONE, 0)                                                                                   \
    X(CU_TENSOR_MAP_SWIZZLE_32B, 1)                                                                                    \
    X(CU_TENSOR_MAP_SWIZZLE_64B, 2)                                                                                    \
    X(CU_TENSOR_MAP_SWIZZLE_128B, 3)

#define CUDA_TENSOR_MAP_PROMOTIONS(X)                                                                                  \
    X(CU_TENSOR_MAP_L2_PROMOTION_NONE, 0)                                                                              \
    X(CU_TENSOR_MAP_L2_PROMOTION_L2_64B, 1)                                                                            \
    X(CU_TENSOR_MAP_L2_PROMOTION_L2_128B, 2)                                                                           \
    X(CU_TENSOR_MAP_L2_PROMOTION_L2_256B, 3)

#define CUDA_TENSOR_MAP_FILLS(X) X(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, 0)

#define CUDA_ALLOCATION_TYPES(X) X(CU_MEM_ALLOCATION_TYPE_PINNED, 1)
#define CUDA_ALLOCATION_HANDLES(X) X(CU_MEM_HANDLE_TYPE_NONE, 0)
#define CUDA_LOCATION_TYPES(X) X(CU_MEM_LOCATION_TYPE_DEVICE, 1)
#define CUDA_ACCESS_FLAGS(X) X(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 3)
#define CUDA_GRANULARITIES(X) X(CU_MEM_ALLOC_GRANULARITY_MINIMUM, 0)

#endif
