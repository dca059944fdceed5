/* cuda.c: a CUDA device: context, the queue, copies, marks. Memory is in cuda_memory.c, modules and launches in
 * cuda_launch.c.
 *
 * 1. The device's primary context is used, current on the one thread that calls: cuBLAS, which lives on the runtime's
 *    primary context, then sees the same memory. After a fault every call fails, and the process is expected to end:
 *    the context goes with it.
 * 2. All work is on one non-blocking stream, in order. Waiting spins: the times measured are shorter than a wake-up.
 * 3. d->fault is of the last operation that failed. NONE: the failure was no doing of the kernel's (a missing library,
 *    an unreadable file). CRASH: the context is gone.
 */
#include "device/cuda/cuda_dev.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- opening --- */

static status choose(struct dev *d, struct err *e)
{
    int count = 0;
    status s = cuda_check(d, d->cu.cuDeviceGetCount(&count), e, "counting the GPUs");
    if (s)
        return s;
    if (count < 1)
        return err_set(e, LATHE_DEVICE, "cuda:%d: the CUDA driver finds no GPU: check nvidia-smi and "
                       "CUDA_VISIBLE_DEVICES, or use --device host", d->number);
    if (d->number >= count && count == 1)
        return err_set(e, LATHE_DEVICE, "cuda:%d: there is one GPU here, cuda:0", d->number);
    if (d->number < 0 || d->number >= count)
        return err_set(e, LATHE_DEVICE, "cuda:%d: there are %d GPUs here, cuda:0 to cuda:%d", d->number, count,
                       count - 1);
    return cuda_check(d, d->cu.cuDeviceGet(&d->device, d->number), e, "opening cuda:%d", d->number);
}

static void open_nvml(struct dev *d, const struct nvml_api *with)
{
    char pci[64] = "", uuid[64] = "";
    CUuuid raw;
    if (d->cu.cuDeviceGetPCIBusId(pci, (int)sizeof pci, d->device) != CUDA_SUCCESS)
        pci[0] = 0;
    if (d->cu.cuDeviceGetUuid(&raw, d->device) == CUDA_SUCCESS)
        cuda_uuid_text(&raw, uuid);
    nvml_open(&d->nvml, with, pci[0] ? pci : NULL, uuid[0] ? uuid : NULL, NULL, 0);
}

status cuda_open_with(const struct cuda_tables *tables, int number, struct dev **out, struct target *target,
                      struct err *e)
{
    struct dev *d = mem_zalloc(1, sizeof *d);
    d->cu = *tables->cuda;
    d->number = number;
    d->has_blas_table = tables->cublas != NULL;
    if (tables->cublas)
        d->blas_table = *tables->cublas;
    CUcontext context = NULL;
    CUresult r;

    status s = cuda_init(&d->cu, e);
    if (s)
        goto free_struct;
    s = choose(d, e);
    if (s)
        goto free_struct;
    s = cuda_check(d, d->cu.cuDriverGetVersion(&d->driver_version), e, "asking the driver for its version");
    if (s)
        goto free_struct;
    open_nvml(d, tables->nvml);
    d->nothers = others_find(&d->nvml, d->others);
    s = cuda_describe(d, target, e);
    if (s)
        goto close_nvml;
    d->max_threads_per_sm = target->limit[LIMIT_max_threads_per_sm];
    d->max_shared_per_block = target->limit[LIMIT_max_shared_per_block];

    r = d->cu.cuDevicePrimaryCtxSetFlags(d->device, CU_CTX_SCHED_SPIN);
    if (r != CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE)     /* an active one keeps the flags that it has */
        s = cuda_check(d, r, e, "setting the context flags of cuda:%d", number);
    if (s)
        goto close_nvml;
    s = cuda_check(d, d->cu.cuDevicePrimaryCtxRetain(&context, d->device), e, "making a context on cuda:%d", number);
    if (s)
        goto close_nvml;
    s = cuda_check(d, d->cu.cuCtxSetCurrent(context), e, "using the context of cuda:%d", number);
    if (s)
        goto release_context;
    s = cuda_check(d, d->cu.cuStreamCreate(&d->stream, CU_STREAM_NON_BLOCKING), e, "making a stream on cuda:%d",
                   number);
    if (s)
        goto unset_context;
    cuda_memory_open(d);
    *out = d;
    return LATHE_OK;

unset_context:
    d->cu.cuCtxSetCurrent(NULL);
release_context:
    d->cu.cuDevicePrimaryCtxRelease(d->device);
close_nvml:
    nvml_close(&d->nvml);
free_struct:
    mem_free(d);
    return s;
}

static status cuda_open(int number, struct dev **out, struct target *target, struct err *e)
{
    struct cuda_api *api = mem_zalloc(1, sizeof *api);
    const struct cuda_tables tables = {.cuda = api};
    status s = cuda_api_open(api, e);
    if (!s)
        s = cuda_open_with(&tables, number, out, target, e);
    mem_free(api);
    return s;
}

static void cuda_close(struct dev *d)
{
    if (!d)
        return;
    cublas_close(d->blas);
    while (d->modules)
        cuda_unload(d, d->modules);
    for (int i = 0; i < DEV_MARKS; i++)
        if (d->mark[i])
            d->cu.cuEventDestroy(d->mark[i]);
    cuda_memory_close(d);
    d->cu.cuStreamDestroy(d->stream);
    d->cu.cuCtxSetCurrent(NULL);
    d->cu.cuDevicePrimaryCtxRelease(d->device);
    nvml_close(&d->nvml);
    mem_free(d);
}

/* --- memory: cuda_memory.c; here what is copied --- */

/* Waits: the caller may reuse or free its memory at once. */
static status copied(struct dev *d, CUresult r, const char *direction, uint64_t bytes, struct err *e)
{
    if (r == CUDA_SUCCESS)
        r = d->cu.cuStreamSynchronize(d->stream);
    return cuda_check(d, r, e, "copying %llu bytes %s cuda:%d", (unsigned long long)bytes, direction, d->number);
}

static status cuda_copy_in(struct dev *d, dev_ptr to, const void *from, uint64_t bytes, struct err *e)
{
    return bytes ? copied(d, d->cu.cuMemcpyHtoDAsync(to, from, bytes, d->stream), "to", bytes, e) : LATHE_OK;
}

static status cuda_copy_out(struct dev *d, void *to, dev_ptr from, uint64_t bytes, struct err *e)
{
    CUresult r = bytes ? d->cu.cuMemcpyDtoHAsync(to, from, bytes, d->stream) : CUDA_SUCCESS;
    return copied(d, r, "from", bytes, e);
}

static status cuda_fill(struct dev *d, dev_ptr p, uint32_t word, uint64_t bytes, struct err *e)
{
    if (bytes % 4 || p % 4) {
        d->fault = DEV_FAULT_NONE;
        return err_set(e, LATHE_INTERNAL, "fill of %llu bytes at %#llx: address and size must be multiples of 4",
                       (unsigned long long)bytes, (unsigned long long)p);
    }
    if (!bytes)
        return LATHE_OK;
    return cuda_check(d, d->cu.cuMemsetD32Async(p, word, bytes / 4, d->stream), e, "filling %llu bytes on cuda:%d",
                      (unsigned long long)bytes, d->number);
}

/* --- the queue --- */

static status cuda_gemm(struct dev *d, const struct plan_step *step, enum dtype from, enum dtype to, dev_ptr a,
                        dev_ptr b, dev_ptr c, struct err *e)
{
    enum dev_fault fault = DEV_FAULT_NONE;
    status s = LATHE_OK;
    if (!d->blas)
        s = cublas_open(d->has_blas_table ? &d->blas_table : NULL, d->stream, &d->blas, &fault, e);
    if (!s)
        s = cublas_gemm(d->blas, step, from, to, a, b, c, &fault, e);
    if (s)
        d->fault = fault;
    return s;
}

static status cuda_sync(struct dev *d, struct err *e)
{
    CUresult r = d->cu.cuStreamSynchronize(d->stream);
    if (r == CUDA_SUCCESS)
        return LATHE_OK;
    char what[256] = "nothing";
    if (d->last.name)
        cuda_launch_text(&d->last, what, sizeof what);
    return cuda_check(d, r, e, "waiting for the queue of cuda:%d (last: %s)", d->number, what);
}

/* A mark that fails is not reported here: its times are NaN, and the next sync tells why. */
static void cuda_mark(struct dev *d, int slot)
{
    if (slot < 0 || slot >= DEV_MARKS)
        return;
    CUresult r = CUDA_SUCCESS;
    if (!d->mark[slot])
        r = d->cu.cuEventCreate(&d->mark[slot], CU_EVENT_DEFAULT);
    if (r == CUDA_SUCCESS)
        r = d->cu.cuEventRecord(d->mark[slot], d->stream);
    else
        d->mark[slot] = NULL;
    d->marked[slot] = r == CUDA_SUCCESS;
    if (r != CUDA_SUCCESS)
        d->fault = cuda_fault(r);
}

static double cuda_elapsed_ms(struct dev *d, int from, int to)
{
    float ms = NAN;
    if (from < 0 || from >= DEV_MARKS || to < 0 || to >= DEV_MARKS || !d->marked[from] || !d->marked[to])
        return NAN;
    CUresult r = d->cu.cuEventSynchronize(d->mark[to]);
    if (r == CUDA_SUCCESS)
        r = d->cu.cuEventElapsedTime(&ms, d->mark[from], d->mark[to]);
    if (r == CUDA_SUCCESS)
        return ms;
    d->fault = cuda_fault(r);
    return NAN;
}

static void cuda_telemetry(struct dev *d, struct telemetry *out)
{
    nvml_read(&d->nvml, out);
}

static bool cuda_pulse(struct dev *d, double *sm_mhz, uint64_t *reasons)
{
    unsigned long long bits = 0;
    *sm_mhz = nvml_sm_mhz(&d->nvml);
    bool known = nvml_reasons(&d->nvml, &bits);
    *reasons = bits;
    return known;
}

static double cuda_energy_mj(struct dev *d)
{
    return nvml_energy_mj(&d->nvml);
}

static int cuda_others(struct dev *d, const int **pids)
{
    *pids = d->others;
    return d->nothers;
}

static enum dev_fault cuda_last_fault(struct dev *d)
{
    return d->fault;
}

const struct dev_ops cuda_ops = {
    .kind = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .copy_in = cuda_copy_in,
    .copy_out = cuda_copy_out,
    .fill = cuda_fill,
    .guard_bytes = cuda_guard_bytes,
    .forbid = cuda_forbid,
    .load = cuda_load,
    .unload = cuda_unload,
    .function = cuda_function,
    .takes = cuda_takes_args,
    .resources = cuda_resources,
    .tensor_map = cuda_tensor_map,
    .persist = cuda_persist,
    .launch = cuda_launch,
    .gemm = cuda_gemm,
    .sync = cuda_sync,
    .mark = cuda_mark,
    .elapsed_ms = cuda_elapsed_ms,
    .graph_begin = cuda_graph_begin,
    .graph_end = cuda_graph_end,
    .graph_launch = cuda_graph_launch,
    .graph_free = cuda_graph_free,
    .telemetry = cuda_telemetry,
    .pulse = cuda_pulse,
    .energy_mj = cuda_energy_mj,
    .others = cuda_others,
    .fault = cuda_last_fault,
};
