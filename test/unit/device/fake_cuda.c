/* fake_cuda.c: included by the test that uses it (test binaries are one source each). Device addresses are host ones.
 */
#include "fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAKE_PERSISTING = 39321600, FAKE_WINDOW = 134213632 };   /* bytes, an H200's */

struct fake fake;

struct CUfunc_st {
    const char *name;
};
struct CUmod_st {
    int loaded;
};
struct CUevent_st {
    double ms;
};
struct CUstream_st {
    int unused;
};

static struct CUfunc_st kernels[] = {{"linear_simt"}, {"crash"}};
static int context_object;
static double fake_clock_ms;

void fake_reset(void)
{
    fake = (struct fake){.gpus = 1, .driver_version = 13000, .memory = (size_t)1 << 30, .static_shared = 1024,
                         .max_threads = 512};
    fake_clock_ms = 0;
}

bool fake_nothing_alive(void)
{
    return !fake.contexts && !fake.streams && !fake.events && !fake.modules && !fake.allocations &&
           !fake.blas_handles && !fake.nvml_open && !fake.graphs && !fake.capturing && !fake.reservations &&
           !fake.mapped;
}

static bool fails(const char *call)
{
    if (++fake.calls != fake.fail_at)
        return false;
    fake.failed = call;
    return true;
}

#define ENTER(call)                                                                                                    \
    do {                                                                                                               \
        if (fails(#call))                                                                                              \
            return fake.fail_with;                                                                                     \
        if (fake.sticky)                                                                                               \
            return fake.sticky;                                                                                        \
    } while (0)

static CUresult f_cuInit(unsigned int flags)
{
    ENTER(cuInit);
    return flags ? CUDA_ERROR_INVALID_VALUE : fake.init;
}

static CUresult f_cuDriverGetVersion(int *version)
{
    ENTER(cuDriverGetVersion);
    *version = fake.driver_version;
    return CUDA_SUCCESS;
}

static CUresult f_cuGetErrorName(CUresult error, const char **text)
{
    switch ((int)error) {
#define X(name, value)                                                                                                 \
    case value:                                                                                                        \
        *text = #name;                                                                                                 \
        return CUDA_SUCCESS;
        CUDA_RESULTS(X)
#undef X
    default:
        *text = NULL;
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult f_cuGetErrorString(CUresult error, const char **text)
{
    *text = "in the driver's words";
    return CUDA_SUCCESS;
}

static CUresult f_cuDeviceGetCount(int *count)
{
    ENTER(cuDeviceGetCount);
    *count = fake.gpus;
    return CUDA_SUCCESS;
}

static CUresult f_cuDeviceGet(CUdevice *device, int ordinal)
{
    ENTER(cuDeviceGet);
    *device = 70 + ordinal;
    return CUDA_SUCCESS;
}

static CUresult f_cuDeviceGetName(char *name, int size, CUdevice device)
{
    ENTER(cuDeviceGetName);
    snprintf(name, (size_t)size, "FAKE H200 %d", device - 70);
    return CUDA_SUCCESS;
}

static CUresult f_cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    ENTER(cuDeviceGetUuid);
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(0xF0 + i);
    return CUDA_SUCCESS;
}

static CUresult f_cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
    ENTER(cuDeviceGetPCIBusId);
    snprintf(id, (size_t)size, "0000:1A:00.0");
    return CUDA_SUCCESS;
}

static CUresult f_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    ENTER(cuDeviceGetAttribute);
    static const struct {
        CUdevice_attribute attribute;
        int value;
    } table[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
        {CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, FAKE_PERSISTING},
        {CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, FAKE_WINDOW},
    };
    if (fake.no_clocks &&
        (attribute == CU_DEVICE_ATTRIBUTE_CLOCK_RATE || attribute == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE ||
         attribute == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH))
        return CUDA_ERROR_INVALID_VALUE;
    if (fake.no_windows && (attribute == CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE ||
                            attribute == CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE))
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) {
        *value = fake.maps_memory;
        return CUDA_SUCCESS;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].attribute == attribute) {
            *value = table[i].value;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult f_cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    ENTER(cuDeviceTotalMem);
    *bytes = fake.memory;
    return CUDA_SUCCESS;
}

static CUresult f_cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    ENTER(cuDevicePrimaryCtxSetFlags);
    fake.context_flags = flags;
    return CUDA_SUCCESS;
}

static CUresult f_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    ENTER(cuDevicePrimaryCtxRetain);
    fake.contexts++;
    *context = (CUcontext)&context_object;
    return CUDA_SUCCESS;
}

static CUresult f_cuDevicePrimaryCtxRelease(CUdevice device)
{
    fake.contexts--;
    return CUDA_SUCCESS;
}

static CUresult f_cuCtxSetCurrent(CUcontext context)
{
    if (!context)
        return CUDA_SUCCESS;
    ENTER(cuCtxSetCurrent);
    return context == (CUcontext)&context_object ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

#include "fake_cuda_memory.h"

static CUresult f_cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    ENTER(cuMemcpyHtoDAsync);
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CUDA_SUCCESS;
}

static CUresult f_cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    ENTER(cuMemcpyDtoHAsync);
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return CUDA_SUCCESS;
}

static CUresult f_cuMemsetD32Async(CUdeviceptr to, unsigned int word, size_t words, CUstream stream)
{
    ENTER(cuMemsetD32Async);
    for (size_t i = 0; i < words; i++)
        ((unsigned int *)(uintptr_t)to)[i] = word;
    return CUDA_SUCCESS;
}

static CUresult f_cuStreamCreate(CUstream *stream, unsigned int flags)
{
    ENTER(cuStreamCreate);
    *stream = malloc(sizeof **stream);
    fake.stream_flags = flags;
    fake.streams++;
    return CUDA_SUCCESS;
}

static CUresult f_cuStreamDestroy(CUstream stream)
{
    free(stream);
    fake.streams--;
    return CUDA_SUCCESS;
}

static CUresult f_cuStreamSynchronize(CUstream stream)
{
    ENTER(cuStreamSynchronize);
    fake.capture_broken |= fake.capturing;
    return fake.capturing ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

/* --- graphs: how many launches they hold --- */

struct CUgraph_st {
    int launches;
};

struct CUgraphExec_st {
    int launches;
};

static CUresult f_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    ENTER(cuStreamBeginCapture);
    fake.capturing = true;
    fake.capture_broken = false;
    fake.captured = 0;
    return CUDA_SUCCESS;
}

static CUresult f_cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    fake.capturing = false;         /* also where it fails */
    *graph = NULL;
    ENTER(cuStreamEndCapture);
    if (fake.capture_broken)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    *graph = calloc(1, sizeof **graph);
    (*graph)->launches = fake.captured;
    fake.graphs++;
    return CUDA_SUCCESS;
}

static CUresult f_cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    ENTER(cuGraphInstantiate);
    *exec = calloc(1, sizeof **exec);
    (*exec)->launches = graph->launches;
    fake.graphs++;
    return CUDA_SUCCESS;
}

static CUresult f_cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    ENTER(cuGraphLaunch);
    fake.graph_launches++;
    fake.launches += exec->launches;
    return CUDA_SUCCESS;
}

static CUresult f_cuGraphDestroy(CUgraph graph)
{
    free(graph);
    fake.graphs--;
    return CUDA_SUCCESS;
}

static CUresult f_cuGraphExecDestroy(CUgraphExec exec)
{
    free(exec);
    fake.graphs--;
    return CUDA_SUCCESS;
}

static CUresult f_cuEventCreate(CUevent *event, unsigned int flags)
{
    ENTER(cuEventCreate);
    *event = calloc(1, sizeof **event);
    fake.events++;
    return CUDA_SUCCESS;
}

static CUresult f_cuEventDestroy(CUevent event)
{
    free(event);
    fake.events--;
    return CUDA_SUCCESS;
}

static CUresult f_cuEventRecord(CUevent event, CUstream stream)
{
    ENTER(cuEventRecord);
    event->ms = fake_clock_ms += 0.25;
    return CUDA_SUCCESS;
}

static CUresult f_cuEventSynchronize(CUevent event)
{
    ENTER(cuEventSynchronize);
    return CUDA_SUCCESS;
}

static CUresult f_cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
    ENTER(cuEventElapsedTime);
    *ms = (float)(to->ms - from->ms);
    return CUDA_SUCCESS;
}

static CUresult f_cuModuleLoadData(CUmodule *module, const void *image)
{
    ENTER(cuModuleLoadData);
    if (fake.load)
        return fake.load;
    if (strcmp(image, "image of a fake"))
        return CUDA_ERROR_INVALID_IMAGE;
    *module = malloc(sizeof **module);
    fake.modules++;
    return CUDA_SUCCESS;
}

static CUresult f_cuModuleUnload(CUmodule module)
{
    free(module);
    fake.modules--;
    return CUDA_SUCCESS;
}

static CUresult f_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    ENTER(cuModuleGetFunction);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (!strcmp(kernels[i].name, name)) {
            *function = &kernels[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

static CUresult f_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    ENTER(cuFuncGetAttribute);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = fake.max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = fake.static_shared; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = 16; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 128; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = 48 * 1024; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult f_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    ENTER(cuFuncSetAttribute);
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        fake.raised_shared = value;
    else if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
        fake.non_portable = value;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult f_cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    ENTER(cuFuncGetParamInfo);
    if (!function || index >= sizeof fake.parameters / sizeof *fake.parameters || !fake.parameters[index])
        return CUDA_ERROR_INVALID_VALUE;
    *offset = 0;
    *bytes = fake.parameters[index];
    return CUDA_SUCCESS;
}

static CUresult f_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                              size_t shared)
{
    ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    *blocks = 2;
    return CUDA_SUCCESS;
}

static CUresult f_cuCtxSetLimit(CUlimit limit, size_t value)
{
    ENTER(cuCtxSetLimit);
    if (limit != CU_LIMIT_PERSISTING_L2_CACHE_SIZE || value > FAKE_PERSISTING)
        return CUDA_ERROR_INVALID_VALUE;
    fake.persisting = value;
    return CUDA_SUCCESS;
}

static CUresult f_cuCtxResetPersistingL2Cache(void)
{
    ENTER(cuCtxResetPersistingL2Cache);
    fake.persisting_resets++;
    return CUDA_SUCCESS;
}

#include "fake_cuda_launch.h"
#include "fake_cuda_libraries.h"

static const struct cuda_api fake_cuda = {
#define X(name, symbol, args) .name = f_##name,
    CUDA_FUNCTIONS(X)
    CUDA_OPTIONAL_FUNCTIONS(X)
#undef X
    .path = "libcuda.fake"};

static const struct cublas_api fake_cublas = {
#define X(symbol, args) .symbol = f_##symbol,
    CUBLAS_FUNCTIONS(X)
#undef X
    .path = "libcublas.fake"};

static const struct nvml_api fake_nvml = {
#define X(symbol, args, optional) .symbol = f_##symbol,
    NVML_FUNCTIONS(X)
#undef X
    .path = "libnvidia-ml.fake"};

struct cuda_tables fake_tables(void)
{
    static struct cuda_api older;
    static struct nvml_api older_nvml;
    older = fake_cuda;
    older_nvml = fake_nvml;
    if (fake.no_processes)
        older_nvml.nvmlDeviceGetComputeRunningProcesses_v3 = NULL;
    if (fake.no_tensor_maps)
        older.cuTensorMapEncodeTiled = NULL;
    if (fake.no_parameters)
        older.cuFuncGetParamInfo = NULL;
    return (struct cuda_tables){&older, &fake_cublas, &older_nvml};
}
