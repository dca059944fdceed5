/* libcuda.c: a libcuda.so.1 that runs nothing: it writes what it is asked, a line a call, to the file $FAKE_CUDA_LOG.
 *
 * $FAKE_CUDA_ARGS says what a kernel's parameters are: "NAME=ppi[pif] NAME=..."; p a pointer, i an int, q a long long,
 * f a float, d a double, [ ] the members of a struct, m a tensor map. Structures are device/cuda/cuda_api.h's, which
 * test_cuda_abi compares with CUDA's own. */
#include "device/cuda/cuda_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *names[64];
static int nnames;
static _Thread_local void *current;    /* the context; of the first thread that asks there is one */
static int asked;

static CUresult say(const char *function, const char *text)
{
    FILE *f = fopen(getenv("FAKE_CUDA_LOG"), "a");
    fprintf(f, "%s%s%s\n", function, *text ? " " : "", text);
    fclose(f);
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **text)
{
    *text = "an error";
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    if (!asked++)
        current = &names;
    *context = current;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 7;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    *value = device == 7 ? 1000 * (int)attribute : -1;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    char text[80];
    snprintf(text, sizeof text, "%d %zu", (int)limit, value);
    return say("cuCtxSetLimit", text);
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *extents, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill)
{
    char text[600];
    int n = snprintf(text, sizeof text,
                     "aligned %d type %d at %p swizzle %d promotion %d others %d %d:", (size_t)map % 64 == 0, (int)type,
                     address, (int)swizzle, (int)promotion, (int)interleave, (int)fill);
    for (cuuint32_t i = 0; i < rank; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %llu/%u/%u", (unsigned long long)extents[i], box[i],
                      element_strides[i]);
    for (cuuint32_t i = 0; i + 1 < rank; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " pitch %llu", (unsigned long long)strides[i]);
    map->opaque[0] = (cuuint64_t)(size_t)address;
    map->opaque[15] = 15;
    return say("cuTensorMapEncodeTiled", text);
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    current = context;
    return say("cuCtxSetCurrent", "");
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    *module = (CUmodule)&names;
    return say("cuModuleLoadData", memcmp(image, "\177ELF", 4) == 0 ? "an ELF file" : "something else");
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    names[nnames] = strdup(name);
    *function = (CUfunction)&names[nnames++];
    return say("cuModuleGetFunction", module == (CUmodule)&names ? name : "of another module");
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    char text[200];
    snprintf(text, sizeof text, "%s %d %d", *(const char **)function, (int)attribute, value);
    return say("cuFuncSetAttribute", text);
}

/* One value at `at`, which is moved behind it. */
static int print_value(char *to, size_t size, char kind, const char **at)
{
    size_t bytes = kind == 'i' || kind == 'f' ? 4 : 8;
    *at = (const char *)(((size_t)*at + bytes - 1) / bytes * bytes);
    const void *value = *at;
    *at += bytes;
    switch (kind) {
    case 'p': return snprintf(to, size, " %p", *(void *const *)value);
    case 'i': return snprintf(to, size, " %d", *(const int *)value);
    case 'q': return snprintf(to, size, " %lld", *(const long long *)value);
    case 'f': return snprintf(to, size, " %g", (double)*(const float *)value);
    default: return snprintf(to, size, " %g", *(const double *)value);
    }
}

static void print_args(char *to, size_t size, const char *name, void **args)
{
    char key[200];
    const char *all = getenv("FAKE_CUDA_ARGS");
    snprintf(key, sizeof key, "%s=", name);
    const char *form = all ? strstr(all, key) : NULL, *at = NULL;
    size_t n = 0;
    for (form = form ? form + strlen(key) : ""; *form && *form != ' '; form++) {
        if (*form == ']') {
            at = NULL;
        } else if (*form == '[') {
            at = *args++;
        } else if (*form == 'm') {
            const CUtensorMap *map = *args++;
            n += (size_t)snprintf(to + n, size - n, " map of %p, %llu", (void *)(size_t)map->opaque[0],
                                  (unsigned long long)map->opaque[15]);
        } else if (at) {
            n += (size_t)print_value(to + n, size - n, *form, &at);
        } else {
            const char *one = *args++;
            n += (size_t)print_value(to + n, size - n, *form, &one);
        }
    }
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **args, void **extra)
{
    char values[1000] = "", text[1600];
    const char *name = *(const char **)function;
    print_args(values, sizeof values, name, args);
    int n = snprintf(text, sizeof text, "%s grid %u %u %u block %u %u %u shared %u stream %p:%s", name, c->gridDimX,
                     c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes,
                     (void *)c->hStream, values);
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const CUlaunchAttribute *a = &c->attrs[i];
        const CUaccessPolicyWindow *w = &a->value.accessPolicyWindow;
        size_t room = sizeof text - (size_t)n;
        if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            n += snprintf(text + n, room, " cluster %u %u %u", a->value.clusterDim.x, a->value.clusterDim.y,
                          a->value.clusterDim.z);
        else if (a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            n += snprintf(text + n, room, " programmatic %d", a->value.programmaticStreamSerializationAllowed);
        else if (a->id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
            n += snprintf(text + n, room, " window %p %zu %g %d %d", w->base_ptr, w->num_bytes, (double)w->hitRatio,
                          (int)w->hitProp, (int)w->missProp);
    }
    return say("cuLaunchKernelEx", text);
}
