/* fake_cuda_memory.h: included by fake_cuda.c: the memory of its driver, allocated, or mapped by page. */
#ifndef LATHE_TEST_FAKE_CUDA_MEMORY_H
#define LATHE_TEST_FAKE_CUDA_MEMORY_H

#include <sys/mman.h>

enum { FAKE_PAGE = 65536, FAKE_HANDLE = 77 };

static CUresult f_cuMemGetInfo(size_t *free_bytes, size_t *total)
{
    ENTER(cuMemGetInfo);
    *free_bytes = fake.memory - fake.used;
    *total = fake.memory;
    return CUDA_SUCCESS;
}

static CUresult f_cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
    ENTER(cuMemAlloc);
    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes > fake.memory - fake.used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    void *p = aligned_alloc(256, (bytes + 255) / 256 * 256);
    *address = (CUdeviceptr)(uintptr_t)p;
    fake.allocations++;
    return CUDA_SUCCESS;
}

static CUresult f_cuMemFree(CUdeviceptr address)
{
    free((void *)(uintptr_t)address);
    fake.allocations--;
    return fake.sticky;
}

/* Memory that a driver maps by page: reserved addresses are inaccessible, what is mapped is not, and an unmapped page
 * keeps what is in it. Releases are not counted, as above. */
static CUresult f_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                                CUmemAllocationGranularity_flags option)
{
    ENTER(cuMemGetAllocationGranularity);
    *granularity = FAKE_PAGE;
    return prop->type == CU_MEM_ALLOCATION_TYPE_PINNED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult f_cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted,
                                      unsigned long long flags)
{
    ENTER(cuMemAddressReserve);
    if (bytes % FAKE_PAGE || alignment % FAKE_PAGE)
        return CUDA_ERROR_INVALID_VALUE;
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fake.reservations++;
    *address = (CUdeviceptr)(uintptr_t)p;
    return CUDA_SUCCESS;
}

static CUresult f_cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    fake.reservations--;
    return munmap((void *)(uintptr_t)address, bytes) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult f_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop,
                              unsigned long long flags)
{
    ENTER(cuMemCreate);
    if (bytes > fake.memory - fake.used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fake.allocations++;
    *handle = FAKE_HANDLE;
    return bytes && bytes % FAKE_PAGE == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult f_cuMemRelease(CUmemGenericAllocationHandle handle)
{
    fake.allocations--;
    return handle == FAKE_HANDLE ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult f_cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                           unsigned long long flags)
{
    ENTER(cuMemMap);
    fake.mapped++;
    return handle == FAKE_HANDLE && !offset ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult f_cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    fake.mapped--;
    return mprotect((void *)(uintptr_t)address, bytes, PROT_NONE) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult f_cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *desc, size_t count)
{
    ENTER(cuMemSetAccess);
    void *p = (void *)(uintptr_t)address;
    if (count != 1 || desc->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE || mprotect(p, bytes, PROT_READ | PROT_WRITE))
        return CUDA_ERROR_INVALID_VALUE;
    if (fake.forgets)
        memset(p, 0, bytes);
    return CUDA_SUCCESS;
}

#endif
