/* fake_cuda_launch.h: included by fake_cuda.c: tensor maps and launches of its driver. */
#ifndef LATHE_TEST_FAKE_CUDA_LAUNCH_H
#define LATHE_TEST_FAKE_CUDA_LAUNCH_H

static CUresult f_cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                         const cuuint64_t *extents, const cuuint64_t *strides, const cuuint32_t *box,
                                         const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
                                         CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                         CUtensorMapFloatOOBfill fill)
{
    ENTER(cuTensorMapEncodeTiled);
    if ((uintptr_t)map % 64 || (uintptr_t)address % 16 || rank < 1 || rank > 5 || interleave || fill)
        return CUDA_ERROR_INVALID_VALUE;
    fake.last_map = (struct fake_map){.type = type, .rank = rank, .address = address, .swizzle = swizzle,
                                      .promotion = promotion};
    for (cuuint32_t i = 0; i < rank; i++) {
        if (element_strides[i] != 1)
            return CUDA_ERROR_INVALID_VALUE;
        fake.last_map.extents[i] = extents[i];
        fake.last_map.box[i] = box[i];
        if (i + 1 < rank)
            fake.last_map.strides[i] = strides[i];
    }
    fake.maps++;
    memset(map, 0, sizeof *map);
    map->opaque[0] = (cuuint64_t)(uintptr_t)address;
    map->opaque[15] = (cuuint64_t)fake.maps;
    return CUDA_SUCCESS;
}

static CUresult launched(CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                         unsigned int by, unsigned int bz, unsigned int shared, void **args)
{
    if (fake.capturing)
        fake.captured++;
    else
        fake.launches++;
    memcpy(fake.last_grid, (unsigned int[]){gx, gy, gz}, sizeof fake.last_grid);
    memcpy(fake.last_block, (unsigned int[]){bx, by, bz}, sizeof fake.last_block);
    fake.last_shared = shared;
    fake.last_args = args;
    if (!strcmp(function->name, "crash"))
        fake.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
    return CUDA_SUCCESS;
}

static CUresult f_cuLaunchKernel(CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz,
                                 unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
                                 CUstream stream, void **args, void **extra)
{
    ENTER(cuLaunchKernel);
    return launched(function, gx, gy, gz, bx, by, bz, shared, args);
}

static CUresult f_cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **args, void **extra)
{
    ENTER(cuLaunchKernelEx);
    memset(fake.last_cluster, 0, sizeof fake.last_cluster);
    fake.last_programmatic = 0;
    fake.last_window = (CUaccessPolicyWindow){0};
    if (c->numAttrs < 1)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < c->numAttrs; i++)
        switch (c->attrs[i].id) {
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            fake.last_cluster[0] = c->attrs[i].value.clusterDim.x;
            fake.last_cluster[1] = c->attrs[i].value.clusterDim.y;
            fake.last_cluster[2] = c->attrs[i].value.clusterDim.z;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
            fake.last_programmatic = c->attrs[i].value.programmaticStreamSerializationAllowed;
            break;
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: fake.last_window = c->attrs[i].value.accessPolicyWindow; break;
        default: return CUDA_ERROR_INVALID_VALUE;
        }
    if (fake.last_cluster[0] && c->gridDimX % fake.last_cluster[0])
        return (CUresult)912;
    return launched(function, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ,
                    c->sharedMemBytes, args);
}

#endif
