// cuda.h: the driver's tensor maps for cuda_runtime.h. A map holds what it was made of.
#ifndef STUB_CUDA
#define STUB_CUDA

#include "cuda_runtime.h"

typedef uint64_t cuuint64_t;
typedef uint32_t cuuint32_t;
enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };
enum CUtensorMapDataType {
    CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0, CU_TENSOR_MAP_DATA_TYPE_UINT32 = 2, CU_TENSOR_MAP_DATA_TYPE_INT32 = 3,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6, CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7, CU_TENSOR_MAP_DATA_TYPE_FLOAT64 = 8,
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9
};
enum CUtensorMapInterleave { CU_TENSOR_MAP_INTERLEAVE_NONE };
enum CUtensorMapSwizzle { CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B,
                          CU_TENSOR_MAP_SWIZZLE_128B };
enum CUtensorMapL2promotion { CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
                              CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B };
enum CUtensorMapFloatOOBfill { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE };

struct CUtensorMap {
    cuuint64_t at, extents[4], strides[4];
    cuuint32_t made, type, rank, swizzle, l2, box[4];
    char rest[20];
};
static_assert(sizeof(CUtensorMap) == 128, "as CUDA's");

inline void stub_put_map(const void *memory)
{
    CUtensorMap map;
    memcpy(&map, memory, sizeof map);
    printf(" map(");
    if (map.made) {
        printf("%zx type %u swizzle %u l2 %u", (size_t)map.at, map.type, map.swizzle, map.l2);
        for (unsigned i = 0; i < map.rank; i++)
            printf(" %llu:%llu/%u", (unsigned long long)map.extents[i], (unsigned long long)map.strides[i], map.box[i]);
    }
    printf(")");
}

// What the driver refuses of what differs from size to size.
inline CUresult cuTensorMapEncodeTiled(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank, void *at,
                                       const cuuint64_t *extents, const cuuint64_t *strides, const cuuint32_t *box,
                                       const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                                       CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill)
{
    CUtensorMap map = {};
    map.at = (cuuint64_t)at, map.made = 1, map.type = type, map.rank = rank, map.swizzle = swizzle, map.l2 = l2;
    if (map.at % 16 != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < rank; i++) {
        map.extents[i] = extents[i], map.box[i] = box[i];
        map.strides[i] = i + 1 < rank ? strides[i] : 0;
        if (map.strides[i] % 16 != 0 || map.strides[i] >= (cuuint64_t)1 << 40)
            return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(out, &map, sizeof map);
    return CUDA_SUCCESS;
}

enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess };
enum { cudaEnableDefault };
inline cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned, int,
                                                    cudaDriverEntryPointQueryResult *found)
{
    *out = strcmp(name, "cuTensorMapEncodeTiled") == 0 ? (void *)cuTensorMapEncodeTiled : 0;
    *found = cudaDriverEntryPointSuccess;
    return cudaSuccess;
}

#endif
