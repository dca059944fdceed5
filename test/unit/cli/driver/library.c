/* library.c: driver.c as a libcuda.so.1 of its own, for what opens the driver at run time: what it is told goes through
 * struct fake_library, and it has contexts, of which each thread has one current. */
#include "library.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static struct fake_library *state(void);
#define printf(...) fprintf(state()->out, __VA_ARGS__)
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuModuleGetFunction inner_get_function
#define cuModuleLoadData inner_load
#define cuModuleUnload inner_unload
#define cuLaunchKernelEx inner_launch
#include "driver.c"
#undef cuModuleGetFunction
#undef cuModuleLoadData
#undef cuModuleUnload
#undef cuLaunchKernelEx

struct fake_device fake_device;
struct fake_library fake_library;
static _Thread_local void *contexts[8];       /* a stack: the last is current */
static _Thread_local int top;

static struct fake_library *state(void) { return &fake_library; }
const char *fake_kinds(const char *kernel) { return fake_library.kinds ? fake_library.kinds(kernel) : ""; }

/* Counts a call; the code that it is to fail with, 0: none. */
static CUresult entered(const char *function)
{
    pthread_mutex_lock(&one);
    int fail = fake_library.fail && !strcmp(fake_library.fail, function);
    pthread_mutex_unlock(&one);
    return fail ? (CUresult)fake_library.fail_with : CUDA_SUCCESS;
}
#define ENTER(name) do { CUresult fail_ = entered(#name); if (fail_ != CUDA_SUCCESS) return fail_; } while (0)

CUresult cuGetErrorName(CUresult error, const char **text)
{
    (void)error;
    *text = "CUDA_ERROR_FAKE";
    return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char **text)
{
    (void)error;
    *text = "as was asked";
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) { contexts[top] = context; return CUDA_SUCCESS; }
CUresult cuCtxGetCurrent(void **context) { ENTER(cuCtxGetCurrent); *context = contexts[top]; return CUDA_SUCCESS; }
CUresult cuCtxPushCurrent_v2(void *context) { contexts[++top] = context; return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent_v2(void **context) { *context = contexts[top--]; return CUDA_SUCCESS; }
/* A context is the address of its number. */
CUresult cuCtxGetId(void *context, unsigned long long *id)
{
    *id = *(unsigned long long *)context;
    return CUDA_SUCCESS;
}

/* A module that is never unloaded, since its context is gone, is no leak of the fake's. */
CUmodule fake_loaded[4096];
int fake_count;

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    ENTER(cuModuleLoadData);
    pthread_mutex_lock(&one);
    CUresult r = inner_load(module, image);
    if (r == CUDA_SUCCESS) fake_loaded[fake_count++ % 4096] = *module;
    fake_library.loads += r == CUDA_SUCCESS;
    pthread_mutex_unlock(&one);
    return r;
}

CUresult cuModuleUnload(CUmodule module)
{
    pthread_mutex_lock(&one);
    CUresult r = inner_unload(module);
    fake_library.loads -= r == CUDA_SUCCESS;
    pthread_mutex_unlock(&one);
    return r;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    ENTER(cuModuleGetFunction);
    pthread_mutex_lock(&one);
    CUresult r = inner_get_function(function, module, name);
    pthread_mutex_unlock(&one);
    return r;
}

/* Of one parameter, at its beginning in the list of kinds; gives what follows. */
static const char *one_size(const char *kinds, size_t *bytes)
{
    size_t at = 0, most = 1;
    const int whole = *kinds == '[';
    for (kinds += whole; *kinds && *kinds != ']'; kinds++) {
        size_t n = *kinds == 'm' ? sizeof(CUtensorMap) : strchr("if", *kinds) ? 4 : 8;
        at = whole ? (at + n - 1) / n * n + n : n;
        most = n > most ? n : most;
        if (!whole) break;
    }
    *bytes = whole ? (at + most - 1) / most * most + !at : at;
    return kinds + 1;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    ENTER(cuFuncGetParamInfo);
    const char *kinds = fake_kinds(function->name);
    *offset = 0;
    for (size_t i = 0; *kinds; i++) {
        kinds = one_size(kinds, bytes);
        if (i == index) return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **args, void **extra)
{
    ENTER(cuLaunchKernelEx);
    pthread_mutex_lock(&one);
    CUresult r = inner_launch(config, function, args, extra);
    pthread_mutex_unlock(&one);
    return r;
}
