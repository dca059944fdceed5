/* host.c: the device "host": the operations of dev.h on this machine's processor and memory. Every operation is done
 * when it returns, so the queue is always empty, and marks are points in time.
 *
 * Invariants: each allocation is its own mapping that ends, up to the 256-byte alignment, at an inaccessible page;
 * `used` is the sum of their sizes. What a kernel does wrong in memory ends the process by a signal: no handler is
 * installed, the coordinator reads the signal. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "device/dev.h"
#include "device/host/host_compile.h"
#include "device/host/host_context.h"
#include "device/host/host_gemm.h"
#include "device/host/host_image.h"
#include "device/host/host_target.h"
#include "device/powercap.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if HOST_ASAN
#include <sanitizer/asan_interface.h>
#endif

extern const struct dev_ops host_ops;

enum { ALIGNMENT = 256, MAX_GRID_YZ = 65535, MAX_GRID_X = 0x7fffffff, MAX_BLOCK_Z = 64 };

struct allocation {
    dev_ptr at;
    uint64_t bytes;
    void *map;
    size_t map_bytes;
};

struct dev {
    struct host_block *block;
    struct host_shared shared;
    struct allocation *allocations;
    size_t count, cap;
    uint64_t used, limit;       /* bytes */
    double marks[DEV_MARKS];    /* clock_seconds; NaN: not set */
    struct powercap *powercap;
    enum dev_fault fault;
};

static void *memory(dev_ptr p) { return (void *)(uintptr_t)p; }

__attribute__((format(printf, 4, 5))) static status fail(struct dev *d, enum dev_fault fault, struct err *e,
                                                         const char *fmt, ...)
{
    char text[1000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    d->fault = fault;
    return err_set(e, LATHE_DEVICE, "%s", text);
}

/* For a failure whose message is in *e already. */
static status failed(struct dev *d, enum dev_fault fault, status s)
{
    d->fault = fault;
    return s;
}

/* --- opening --- */

static status host_open(int number, struct dev **out, struct target *target, struct err *e)
{
    char compiler[200];
    status s = host_compiler_version(compiler, sizeof compiler, e);
    if (s) return s;
    struct dev *d = mem_zalloc(1, sizeof *d);
    s = host_shared_open(&d->shared, e);
    if (s) {
        mem_free(d);
        return s;
    }
    d->powercap = powercap_open();
    host_describe(target, compiler);
    d->block = host_block_new();
    int64_t most = target->limit[LIMIT_memory_bytes], available = host_available_memory() / 2;
    d->limit = (uint64_t)(available < most ? available : most);
    for (int i = 0; i < DEV_MARKS; i++) d->marks[i] = NAN;
    *out = d;
    return LATHE_OK;
}

/* --- memory --- */

/* What the mapping has beside the allocation's bytes: forbidden to sanitized kernels, or forgotten about. */
static void guard_slack(const struct allocation *a, bool forbid)
{
#if HOST_ASAN
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *first = (char *)a->map + page, *at = memory(a->at), *end = (char *)a->map + a->map_bytes - page;
    void (*change)(void const volatile *, size_t) = __asan_unpoison_memory_region;
    if (forbid) change = __asan_poison_memory_region;
    change(first, (size_t)(at - first));
    change(at + a->bytes, (size_t)(end - at) - a->bytes);
#endif
}

static status host_alloc(struct dev *d, uint64_t bytes, dev_ptr *out, struct err *e)
{
    *out = 0;
    if (bytes > d->limit - d->used)
        return fail(d, DEV_FAULT_RESOURCES, e,
                    "out of memory: %llu bytes more with %llu in use, and the host device "
                    "allows %llu (half of what there is, or was free)",
                    (unsigned long long)bytes, (unsigned long long)d->used, (unsigned long long)d->limit);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), usable = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t body = usable ? (usable + page - 1) / page * page : page;
    char *map = mmap(NULL, body + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool mapped = map != MAP_FAILED && !mprotect(map + page, body, PROT_READ | PROT_WRITE);
    if (!mapped && map != MAP_FAILED) munmap(map, body + 2 * page);
    if (!mapped)
        return fail(d, DEV_FAULT_RESOURCES, e, "out of memory: the system refuses %llu bytes",
                    (unsigned long long)bytes);
    struct allocation a = {(uintptr_t)map + page + body - (usable ? usable : ALIGNMENT), bytes, map, body + 2 * page};
    guard_slack(&a, true);
    *out = a.at;
    MEM_GROW(d->allocations, d->count, d->cap);
    d->allocations[d->count++] = a;
    d->used += bytes;
    return LATHE_OK;
}

static void host_release(struct dev *d, dev_ptr p)
{
    for (size_t i = 0; i < d->count; i++) {
        if (d->allocations[i].at != p) continue;
        guard_slack(&d->allocations[i], false);
        munmap(d->allocations[i].map, d->allocations[i].map_bytes);
        d->used -= d->allocations[i].bytes;
        d->allocations[i] = d->allocations[--d->count];
        return;
    }
}

static void host_close(struct dev *d)
{
    if (!d) return;
    while (d->count) host_release(d, d->allocations[0].at);
    mem_free(d->allocations);
    host_block_free(d->block);
    host_shared_close(&d->shared);
    powercap_close(d->powercap);
    mem_free(d);
}

static status host_copy_in(struct dev *d, dev_ptr to, const void *from, uint64_t bytes, struct err *e)
{
    if (bytes) memcpy(memory(to), from, bytes);
    return LATHE_OK;
}

static status host_copy_out(struct dev *d, void *to, dev_ptr from, uint64_t bytes, struct err *e)
{
    if (bytes) memcpy(to, memory(from), bytes);
    return LATHE_OK;
}

static status host_fill(struct dev *d, dev_ptr p, uint32_t word, uint64_t bytes, struct err *e)
{
    uint32_t *to = memory(p);
    for (uint64_t i = 0; i < bytes / 4; i++) to[i] = word;
    return LATHE_OK;
}

/* The whole pages in it; past an allocation's end they go on to the inaccessible one. */
static status host_forbid(struct dev *d, dev_ptr p, uint64_t bytes, bool on, struct err *e)
{
    dev_ptr page = (dev_ptr)sysconf(_SC_PAGESIZE), end = (p + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    dev_ptr from = (p + page - 1) / page * page, to = end / page * page;
    if (to > from && mprotect(memory(from), to - from, on ? PROT_NONE : PROT_READ | PROT_WRITE))
        return fail(d, DEV_FAULT_RESOURCES, e, "the system does not protect %llu bytes: %s",
                    (unsigned long long)(to - from), strerror(errno));
    return LATHE_OK;
}

/* --- kernels --- */

static status host_load(struct dev *d, const char *image_path, struct dev_module **out, struct err *e)
{
    status s = host_image_open(image_path, d->block, out, e);
    return s ? failed(d, DEV_FAULT_LAUNCH, s) : LATHE_OK;
}

static void host_unload(struct dev *d, struct dev_module *m) { host_image_close(m); }

static status host_function(struct dev *d, struct dev_module *m, const char *name, struct dev_function **out,
                            struct err *e)
{
    status s = host_image_function(m, name, out, e);
    return s ? failed(d, DEV_FAULT_LAUNCH, s) : LATHE_OK;
}

/* A processor has no such figures. */
static status host_resources(struct dev *d, struct dev_function *f, uint32_t threads, uint32_t shared,
                             struct resources *out, struct err *e)
{
    /* a compiler tells none */
    *out = (struct resources){.local_bytes = -1, .shared_static = -1, .shared_dynamic = (int)shared};
    return LATHE_OK;
}

/* Kernels see no tensor memory accelerator here: a kernel that needs it says so with `requires`. */
static status host_tensor_map(struct dev *d, const struct plan_tensor_map *m, enum dtype dtype, dev_ptr at, void *out,
                              struct err *e)
{
    return fail(d, DEV_FAULT_LAUNCH, e, "the host device has no tensor memory accelerator, and this launch takes a "
                "tensor map: say requires = { { \"sm >= 90\", \"needs TMA\" } } in the kernel's specification");
}

static status host_persist(struct dev *d, bool on, struct err *e) { return LATHE_OK; }

static status check_launch(struct dev *d, const struct dev_launch *l, struct err *e)
{
    const uint32_t *grid = l->grid, *block = l->block, *cluster = l->cluster;
    for (int i = 0; i < 3; i++)
        if (!grid[i] || !block[i])
            return fail(d, DEV_FAULT_LAUNCH, e, "invalid configuration argument: grid %u x %u x %u of blocks %u x %u x "
                        "%u is empty", grid[0], grid[1], grid[2], block[0], block[1], block[2]);
    if (grid[0] > MAX_GRID_X || grid[1] > MAX_GRID_YZ || grid[2] > MAX_GRID_YZ)
        return fail(d, DEV_FAULT_LAUNCH, e, "invalid configuration argument: grid %u x %u x %u, at most %d x %d x %d",
                    grid[0], grid[1], grid[2], MAX_GRID_X, MAX_GRID_YZ, MAX_GRID_YZ);
    uint64_t threads = (uint64_t)block[0] * block[1];
    if (threads > HOST_MAX_THREADS || block[2] > MAX_BLOCK_Z || threads * block[2] > HOST_MAX_THREADS)
        return fail(d, DEV_FAULT_RESOURCES, e, "too many resources requested for launch: block %u x %u x %u, at most "
                    "%d threads and %d in z", block[0], block[1], block[2], HOST_MAX_THREADS, MAX_BLOCK_Z);
    if (l->shared > HOST_MAX_SHARED)
        return fail(d, DEV_FAULT_RESOURCES, e, "too many resources requested for launch: %u bytes of dynamic shared "
                    "memory, at most %d", l->shared, HOST_MAX_SHARED);
    if (cluster[0] > 1 || cluster[1] > 1 || cluster[2] > 1)
        return fail(d, DEV_FAULT_LAUNCH, e, "invalid cluster size %u x %u x %u: the host device has no thread block "
                    "clusters", cluster[0], cluster[1], cluster[2]);
    return LATHE_OK;
}

/* One launch ends before the next begins, and there is no L2 to be told about: what is left of `how` means nothing. */
static status host_launch(struct dev *d, struct dev_function *f, const struct dev_launch *how, void **args,
                          struct err *e)
{
    status s = check_launch(d, how, e);
    if (s) return s;
    s = host_image_launch(f, &d->shared, how->grid, how->block, how->shared, args, e);
    return s ? failed(d, s == LATHE_NOMEM ? DEV_FAULT_RESOURCES : DEV_FAULT_CRASH, s) : LATHE_OK;
}

static status host_gemm(struct dev *d, const struct plan_step *step, enum dtype from, enum dtype to, dev_ptr a,
                        dev_ptr b, dev_ptr c, struct err *e)
{
    struct host_gemm g = {step->m, step->n, step->k, step->trans_a, step->trans_b, step->compute};
    if (g.m < 1 || g.n < 1 || g.k < 1)
        return fail(d, DEV_FAULT_LAUNCH, e, "invalid GEMM size: m=%lld n=%lld k=%lld, each must be at least 1",
                    (long long)g.m, (long long)g.n, (long long)g.k);
    if (from == DTYPE_f32 && to == DTYPE_f32 && step->compute != GEMM_F64) {
        host_gemm_f32(&g, memory(a), memory(b), memory(c));
    } else if (from == DTYPE_f64 && to == DTYPE_f64 && step->compute == GEMM_F64) {
        host_gemm_f64(&g, memory(a), memory(b), memory(c));
    } else if (dtype_is_16_bit_float(from) && (to == from || to == DTYPE_f32) && step->compute == GEMM_F32) {
        host_gemm_narrow(&g, from, to, memory(a), memory(b), memory(c));
    } else {
        return fail(d, DEV_FAULT_LAUNCH, e, "a GEMM of %s to %s in this precision is not supported: f32 in f32, tf32, "
                    "bf16 or f16, f64 in f64, f16 or bf16 to itself or f32 in f32", dtype_name(from), dtype_name(to));
    }
    return LATHE_OK;
}

/* --- queue and time --- */

static status host_sync(struct dev *d, struct err *e) { return LATHE_OK; }

static void host_mark(struct dev *d, int slot) { d->marks[slot] = clock_seconds(); }

static double host_elapsed_ms(struct dev *d, int from, int to) { return (d->marks[to] - d->marks[from]) * 1e3; }

static void host_telemetry(struct dev *d, struct telemetry *out)
{
    *out = (struct telemetry){.sm_mhz = NAN, .mem_mhz = NAN, .power_w = NAN, .temperature_c = NAN,
                              .sm_mhz_low = NAN};
}

static double host_energy_mj(struct dev *d) { return powercap_energy_mj(d->powercap); }

static enum dev_fault host_fault(struct dev *d) { return d->fault; }

const struct dev_ops host_ops = {
    .kind = "host",
    .open = host_open,
    .close = host_close,
    .alloc = host_alloc,
    .release = host_release,
    .copy_in = host_copy_in,
    .copy_out = host_copy_out,
    .fill = host_fill,
    .forbid = host_forbid,
    .load = host_load,
    .unload = host_unload,
    .function = host_function,
    .resources = host_resources,
    .tensor_map = host_tensor_map,
    .persist = host_persist,
    .launch = host_launch,
    .gemm = host_gemm,
    .sync = host_sync,
    .mark = host_mark,
    .elapsed_ms = host_elapsed_ms,
    .telemetry = host_telemetry,
    .energy_mj = host_energy_mj,
    .fault = host_fault,
};
