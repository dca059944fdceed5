/* cuda_launch.c: modules, kernels and launches of a CUDA device.
 *
 * What a launch asks for is compared with what the kernel and the device allow before the driver sees it, because the
 * driver answers CUDA_ERROR_INVALID_VALUE to anything too large: so "too much shared memory" is told as that. */
#include "base/mem.h"
#include "base/strbuf.h"
#include "device/cuda/cuda_calls.h"
#include "device/cuda/cuda_dev.h"
#include "device/cuda/nvrtc.h"

#include <stdio.h>
#include <string.h>

/* "256x1x1"; not all: "256" where the rest is 1. */
static void extent_text(const uint32_t x[3], bool all, char out[40])
{
    if (all || x[1] > 1 || x[2] > 1)
        snprintf(out, 40, "%ux%ux%u", x[0], x[1], x[2]);
    else
        snprintf(out, 40, "%u", x[0]);
}

void cuda_launch_text(const struct last_launch *l, char *out, size_t size)
{
    const struct dev_launch *how = &l->how;
    char grid[40], block[40], cluster[40];
    extent_text(how->grid, true, grid);
    extent_text(how->block, false, block);
    extent_text(how->cluster, true, cluster);
    snprintf(out, size, "launch %.96s grid %s block %s%s%s%s%s shared %u", l->name, grid, block,
             how->cluster[0] ? " cluster " : "", how->cluster[0] ? cluster : "",
             how->programmatic ? " programmatic" : "", how->window ? " with an L2 window" : "", how->shared);
}

/* The driver refuses the image itself: the likely cause is a compiler newer than the driver. */
static void explain_image(struct dev *d, CUresult r, struct err *e)
{
    if (r != CUDA_ERROR_NO_BINARY_FOR_GPU && r != CUDA_ERROR_INVALID_IMAGE && r != CUDA_ERROR_INVALID_SOURCE &&
        r != CUDA_ERROR_INVALID_PTX && r != CUDA_ERROR_UNSUPPORTED_PTX_VERSION &&
        r != CUDA_ERROR_JIT_COMPILER_NOT_FOUND)
        return;
    char driver[16], compiler[16];
    int version = nvrtc_version();
    if (!e || !version || version <= d->driver_version)
        return;
    cuda_version_text(d->driver_version, driver);
    cuda_version_text(version, compiler);
    struct err first = *e;
    err_set(e, first.code, "%.1200s. The driver supports CUDA %s, and NVRTC is %s: update the NVIDIA driver, or point "
            "LATHE_CUDA_PATH at a CUDA toolkit up to %s", first.text, driver, compiler, driver);
}

status cuda_load(struct dev *d, const char *image_path, struct dev_module **out, struct err *e)
{
    char *image = NULL;
    d->fault = DEV_FAULT_NONE;
    status s = file_read(image_path, &image, NULL, e);      /* NUL-terminated, as PTX must be */
    if (s)
        return s;
    CUmodule handle = NULL;
    CUresult r = d->cu.cuModuleLoadData(&handle, image);
    mem_free(image);
    s = cuda_check(d, r, e, "load %s", image_path);
    if (s) {
        explain_image(d, r, e);
        return s;
    }
    struct dev_module *m = mem_zalloc(1, sizeof *m);
    m->handle = handle;
    m->next = d->modules;
    d->modules = m;
    *out = m;
    return LATHE_OK;
}

void cuda_unload(struct dev *d, struct dev_module *m)
{
    struct dev_module **at = &d->modules;
    while (*at && *at != m)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = m->next;
    while (m->functions) {
        struct dev_function *f = m->functions;
        m->functions = f->next;
        if (d->last.name == f->name)
            d->last.name = NULL;
        mem_free(f->name);
        mem_free(f);
    }
    d->cu.cuModuleUnload(m->handle);
    mem_free(m);
}

static status function_attributes(struct dev *d, struct dev_function *f, struct err *e)
{
    const struct {
        CUfunction_attribute attribute;
        int *value;
    } table[] = {
        {CU_FUNC_ATTRIBUTE_NUM_REGS, &f->registers},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &f->local_bytes},
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &f->shared_static},
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &f->max_threads},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        status s = cuda_check(d, d->cu.cuFuncGetAttribute(table[i].value, table[i].attribute, f->handle), e,
                              "asking kernel %s for its attribute %d", f->name, (int)table[i].attribute);
        if (s)
            return s;
    }
    return LATHE_OK;
}

/* Raises the kernel's limit of dynamic shared memory to all that the device has left beside its static part. */
static status raise_shared(struct dev *d, struct dev_function *f, struct err *e)
{
    int64_t room = d->max_shared_per_block - f->shared_static;
    if (room <= 0) {
        f->max_shared = 0;
        return LATHE_OK;
    }
    CUresult r = d->cu.cuFuncSetAttribute(f->handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)room);
    if (r == CUDA_SUCCESS) {
        f->max_shared = (uint32_t)room;
        return LATHE_OK;
    }
    if (cuda_fault(r) >= DEV_FAULT_CRASH)
        return cuda_check(d, r, e, "raising the shared memory limit of kernel %s", f->name);
    int limit = 0;                                  /* not raised: the kernel's own limit stands */
    r = d->cu.cuFuncGetAttribute(&limit, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f->handle);
    f->max_shared = limit > 0 ? (uint32_t)limit : 0;
    return cuda_check(d, r, e, "asking kernel %s for its shared memory limit", f->name);
}

status cuda_function(struct dev *d, struct dev_module *m, const char *name, struct dev_function **out, struct err *e)
{
    CUfunction handle = NULL;
    status s = cuda_check(d, d->cu.cuModuleGetFunction(&handle, m->handle, name), e,
                          "finding kernel %s (it must be declared extern \"C\" __global__)", name);
    if (s)
        return s;
    struct dev_function *f = mem_zalloc(1, sizeof *f);
    f->handle = handle;
    f->name = mem_strdup(name);
    s = function_attributes(d, f, e);
    if (!s)
        s = raise_shared(d, f, e);
    if (s) {
        mem_free(f->name);
        mem_free(f);
        return s;
    }
    f->next = m->functions;
    m->functions = f;
    *out = f;
    return LATHE_OK;
}

status cuda_takes_args(struct dev *d, struct dev_function *f, const struct plan_step *step, struct err *e)
{
    char why[200];
    if (cuda_takes(d->cu.cuFuncGetParamInfo, f->handle, step, why, sizeof why))
        return LATHE_OK;
    d->fault = DEV_FAULT_LAUNCH;
    return err_set(e, LATHE_DEVICE, "kernel %s: %s", f->name, why);
}

static bool shared_fits(const struct dev *d, const struct dev_function *f, uint32_t shared)
{
    return shared <= f->max_shared && f->shared_static <= d->max_shared_per_block;
}

status cuda_resources(struct dev *d, struct dev_function *f, uint32_t threads, uint32_t shared, struct resources *out,
                      struct err *e)
{
    *out = (struct resources){.registers = f->registers, .local_bytes = f->local_bytes,
                              .shared_static = f->shared_static, .shared_dynamic = (int)shared};
    if (threads < 1 || threads > (uint32_t)f->max_threads || !shared_fits(d, f, shared))
        return LATHE_OK;                            /* the launch will be refused, with the reason */
    int blocks = 0;
    status s =
        cuda_check(d, d->cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f->handle, (int)threads, shared), e,
                   "occupancy of kernel %s", f->name);
    if (!s && d->max_threads_per_sm > 0)
        out->occupancy = (double)blocks * threads / (double)d->max_threads_per_sm;
    return s;
}

/* RESOURCES, before the driver is asked. */
static status refuse_large(struct dev *d, const struct dev_function *f, const struct last_launch *l, struct err *e)
{
    char what[256];
    const struct dev_launch *how = &l->how;
    uint64_t threads = (uint64_t)how->block[0] * how->block[1] * how->block[2];
    if (threads <= (uint64_t)f->max_threads && shared_fits(d, f, how->shared))
        return LATHE_OK;
    cuda_launch_text(l, what, sizeof what);
    d->fault = DEV_FAULT_RESOURCES;
    if (threads > (uint64_t)f->max_threads)
        return err_set(e, LATHE_DEVICE,
                       "%s: %llu threads a block; with %d registers a thread, or by its __launch_bounds__, this kernel "
                       "can have %d",
                       what, (unsigned long long)threads, f->registers, f->max_threads);
    return err_set(e, LATHE_DEVICE,
                   "%s: needs %u bytes of dynamic shared memory a block beside %d static; cuda:%d allows this kernel "
                   "%u, and any block %lld",
                   what, how->shared, f->shared_static, d->number, f->max_shared, (long long)d->max_shared_per_block);
}

static CUresult queue(struct dev *d, struct dev_function *f, const struct dev_launch *how, void **args)
{
    CUlaunchAttribute attribute[CUDA_MAX_ATTRIBUTES];
    unsigned n = cuda_attributes(d->max_window, how, attribute);
    if (n == 0)
        return d->cu.cuLaunchKernel(f->handle, how->grid[0], how->grid[1], how->grid[2], how->block[0], how->block[1],
                                    how->block[2], how->shared, d->stream, args, NULL);
    if ((uint64_t)how->cluster[0] * how->cluster[1] * how->cluster[2] > 8) {    /* what every chip with clusters has */
        CUresult r = d->cu.cuFuncSetAttribute(f->handle, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
        if (r != CUDA_SUCCESS)
            return r;
    }
    CUlaunchConfig config = cuda_config(how, attribute, n, d->stream);
    return d->cu.cuLaunchKernelEx(&config, f->handle, args, NULL);
}

status cuda_launch(struct dev *d, struct dev_function *f, const struct dev_launch *how, void **args, struct err *e)
{
    struct last_launch before = d->last;
    d->last = (struct last_launch){.name = f->name, .how = *how};
    status s = refuse_large(d, f, &d->last, e);
    if (s)
        return s;
    CUresult r = queue(d, f, how, args);
    if (r == CUDA_SUCCESS)
        return LATHE_OK;
    char what[256], earlier[256];
    cuda_launch_text(&d->last, what, sizeof what);
    if (cuda_fault(r) < DEV_FAULT_CRASH || !before.name)
        return cuda_check(d, r, e, "%s", what);
    cuda_launch_text(&before, earlier, sizeof earlier);     /* a fault is told at the next call after it */
    return cuda_check(d, r, e, "%s, after %s", what, earlier);
}
