/* cuda_memory.c: memory of a CUDA device, mapped page by page where the driver does that, so that what is beside a
 * tensor can be taken away from kernels: one that reads out of bounds then crashes, whatever it would have found there.
 * Where the driver does not, memory is what cuMemAlloc gives, and nothing can be forbidden.
 *
 * Method: CUDA's virtual memory management (CUDA Driver API, "Virtual Memory Management"): addresses are reserved,
 * memory is created, and mapped to them. The first and the last page of an allocation are memory of their own, as only
 * what was mapped as a whole can be unmapped; the memory keeps its contents while it is.
 */
#include "base/mem.h"
#include "device/cuda/cuda_dev.h"

#include <string.h>

enum { ALIGNMENT = 256 };

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

static CUmemAllocationProp properties(const struct dev *d)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, d->device}};
}

static CUresult map_part(struct dev *d, struct cuda_allocation *a, int i)
{
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, d->device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUresult r = d->cu.cuMemMap(a->part[i].at, a->part[i].bytes, 0, a->part[i].memory, 0);
    if (r != CUDA_SUCCESS)
        return r;
    a->part[i].mapped = true;
    return d->cu.cuMemSetAccess(a->part[i].at, a->part[i].bytes, &access, 1);
}

static CUresult unmap_part(struct dev *d, struct cuda_allocation *a, int i)
{
    CUresult r = d->cu.cuMemUnmap(a->part[i].at, a->part[i].bytes);
    if (r == CUDA_SUCCESS)
        a->part[i].mapped = false;
    return r;
}

static void unmap(struct dev *d, struct cuda_allocation *a)
{
    for (int i = 0; i < 3; i++) {
        if (a->part[i].mapped)
            unmap_part(d, a, i);
        if (a->part[i].bytes)
            d->cu.cuMemRelease(a->part[i].memory);
    }
    if (a->reserved)
        d->cu.cuMemAddressFree(a->reserved, a->reserved_bytes);
}

/* bytes > 0. On failure nothing is left. */
static CUresult map(struct dev *d, uint64_t bytes, struct cuda_allocation *a)
{
    const CUmemAllocationProp p = properties(d);
    uint64_t usable = round_up(bytes, ALIGNMENT), body = round_up(usable, d->page);
    uint64_t size[3] = {d->page, body - 2 * d->page, d->page};
    if (body < 3 * d->page) {
        size[0] = body;
        size[1] = size[2] = 0;
    }
    *a = (struct cuda_allocation){.reserved_bytes = body + 2 * d->page};
    CUresult r = d->cu.cuMemAddressReserve(&a->reserved, a->reserved_bytes, d->page, 0, 0);
    CUdeviceptr at = a->reserved + d->page;
    for (int i = 0; i < 3 && r == CUDA_SUCCESS && size[i]; i++) {
        r = d->cu.cuMemCreate(&a->part[i].memory, size[i], &p, 0);
        if (r != CUDA_SUCCESS)
            break;
        a->part[i].at = at;
        a->part[i].bytes = size[i];
        at += size[i];
        r = map_part(d, a, i);
    }
    if (r != CUDA_SUCCESS)
        unmap(d, a);
    a->at = at - usable;
    return r;
}

status cuda_alloc(struct dev *d, uint64_t bytes, dev_ptr *out, struct err *e)
{
    CUdeviceptr p = 0;
    struct cuda_allocation a;
    CUresult r = d->page ? map(d, bytes ? bytes : 1, &a)
                         : d->cu.cuMemAlloc(&p, bytes ? bytes : 1);     /* the driver aligns to 256 bytes and more */
    if (r == CUDA_SUCCESS) {
        *out = d->page ? a.at : p;
        if (d->page) {
            MEM_GROW(d->allocations, d->nallocations, d->cap);
            d->allocations[d->nallocations++] = a;
        }
        return LATHE_OK;
    }
    size_t free_bytes = 0, total = 0;
    const double gib = 1024.0 * 1024 * 1024;
    if (r == CUDA_ERROR_OUT_OF_MEMORY && d->cu.cuMemGetInfo(&free_bytes, &total) == CUDA_SUCCESS)
        return cuda_check(d, r, e,
                          "allocating %llu bytes (%.2f GiB; %llu bytes, %.2f GiB, of %.2f GiB are free on cuda:%d)",
                          (unsigned long long)bytes, (double)bytes / gib, (unsigned long long)free_bytes,
                          (double)free_bytes / gib, (double)total / gib, d->number);
    return cuda_check(d, r, e, "allocating %llu bytes on cuda:%d", (unsigned long long)bytes, d->number);
}

void cuda_release(struct dev *d, dev_ptr p)
{
    for (size_t i = 0; i < d->nallocations; i++) {
        if (d->allocations[i].at != p)
            continue;
        d->cu.cuStreamSynchronize(d->stream);           /* as cuMemFree does */
        unmap(d, &d->allocations[i]);
        d->allocations[i] = d->allocations[--d->nallocations];
        return;
    }
    if (p)
        d->cu.cuMemFree(p);
}

uint64_t cuda_guard_bytes(struct dev *d)
{
    return d->page;
}

static struct cuda_allocation *allocation_of(struct dev *d, dev_ptr p)
{
    for (size_t i = 0; i < d->nallocations; i++)
        if (p >= d->allocations[i].at && p < d->allocations[i].reserved + d->allocations[i].reserved_bytes - d->page)
            return &d->allocations[i];
    return NULL;
}

status cuda_forbid(struct dev *d, dev_ptr p, uint64_t bytes, bool on, struct err *e)
{
    struct cuda_allocation *a = allocation_of(d, p);
    if (!a)
        return LATHE_OK;
    dev_ptr from = p == a->at ? a->reserved : p, to = round_up(p + bytes, ALIGNMENT);
    CUresult r = d->cu.cuStreamSynchronize(d->stream);
    for (int i = 0; i < 3 && r == CUDA_SUCCESS; i++)
        if (a->part[i].bytes && a->part[i].at >= from && a->part[i].at + a->part[i].bytes <= to &&
            a->part[i].mapped == on)
            r = on ? unmap_part(d, a, i) : map_part(d, a, i);
    return cuda_check(d, r, e, "taking %llu bytes %s kernels on cuda:%d", (unsigned long long)bytes,
                      on ? "from" : "back for", d->number);
}

/* Three pages of which the first and the last go and come back with what was in them. */
static bool works(struct dev *d)
{
    const uint64_t page = d->page;
    uint32_t word[3] = {0};
    dev_ptr p;
    if (cuda_alloc(d, 3 * page, &p, NULL))
        return false;
    bool good = d->cu.cuMemsetD32Async(p, 0x5a5a5a5au, 3 * page / 4, d->stream) == CUDA_SUCCESS &&
                !cuda_forbid(d, p, page, true, NULL) && !cuda_forbid(d, p + 2 * page, page, true, NULL) &&
                !d->allocations[0].part[0].mapped && d->allocations[0].part[1].mapped &&
                !d->allocations[0].part[2].mapped && !cuda_forbid(d, p, page, false, NULL) &&
                !cuda_forbid(d, p + 2 * page, page, false, NULL);
    for (uint64_t i = 0; i < 3 && good; i++)
        good = d->cu.cuMemcpyDtoHAsync(&word[i], p + i * page, sizeof word[i], d->stream) == CUDA_SUCCESS;
    good = good && d->cu.cuStreamSynchronize(d->stream) == CUDA_SUCCESS;
    for (int i = 0; i < 3; i++)
        good = good && word[i] == 0x5a5a5a5au;
    cuda_release(d, p);
    return good;
}

void cuda_memory_open(struct dev *d)
{
    const struct cuda_api *cu = &d->cu;
    const CUmemAllocationProp p = properties(d);
    int supported = 0;
    size_t page = 0;
    if (!cu->cuMemGetAllocationGranularity || !cu->cuMemAddressReserve || !cu->cuMemAddressFree || !cu->cuMemCreate ||
        !cu->cuMemRelease || !cu->cuMemMap || !cu->cuMemUnmap || !cu->cuMemSetAccess)
        return;
    if (cu->cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, d->device) !=
            CUDA_SUCCESS || !supported)
        return;
    if (cu->cuMemGetAllocationGranularity(&page, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS ||
        page < ALIGNMENT || page % ALIGNMENT)
        return;
    d->page = page;
    if (!works(d))
        d->page = 0;
    d->fault = DEV_FAULT_NONE;
}

void cuda_memory_close(struct dev *d)
{
    for (size_t i = 0; i < d->nallocations; i++)
        unmap(d, &d->allocations[i]);
    mem_free(d->allocations);
}
