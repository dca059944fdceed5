/* export_c_helpers.c: the functions that launchers for CUDA's driver call, in C11; export_helpers.c has those for the
 * runtime, and the rule: one is printed only if it is used. What they do must stay the same. */
#include "export/internal.h"

const struct export_dialect export_driver = {.driver = true,
                                             .success = "CUDA_SUCCESS",
                                             .invalid = "CUDA_ERROR_INVALID_VALUE",
                                             .result = "CUresult",
                                             .attribute = "CUlaunchAttribute",
                                             .map = "CUtensorMap",
                                             .no_map = "{{0}}"};

static const char FITS[] =
    "\n"
    "// Whether this device takes a launch of this extent. cluster: 0, or its three.\n"
    "static bool lathe_fits(const struct LatheFunction *f, const long long *grid, const long long *block, long long "
    "shared,\n"
    "                       const long long *cluster)\n"
    "{\n"
    "    if (grid[0] < 1 || grid[0] > 2147483647 || grid[1] < 1 || grid[1] > 65535 || grid[2] < 1 || grid[2] > 65535)\n"
    "        return false;\n"
    "    for (int i = 0; i < 3; i++) {\n"
    "        if (block[i] < 1 || block[i] > (i < 2 ? 1024 : 64)) return false;\n"
    "        if (cluster && (cluster[i] < 1 || cluster[i] > 16 || grid[i] % cluster[i])) return false;\n"
    "    }\n"
    "    return block[0] * block[1] * block[2] <= f->threads && shared >= 0 && shared <= f->shared &&\n"
    "           (!cluster || cluster[0] * cluster[1] * cluster[2] <= 16);\n"
    "}\n";

static const char LAUNCH[] =
    "\n"
    "// One launch that fits.\n"
    "static CUresult lathe_launch(const struct LatheFunction *f, const long long *grid, const long long *block, long "
    "long shared,\n"
    "                             CUlaunchAttribute *attribute, unsigned attributes, CUstream stream, void **args)\n"
    "{\n"
    "    CUlaunchConfig config;\n"
    "    memset(&config, 0, sizeof config);\n"
    "    config.gridDimX = (unsigned)grid[0], config.gridDimY = (unsigned)grid[1], config.gridDimZ = "
    "(unsigned)grid[2];\n"
    "    config.blockDimX = (unsigned)block[0], config.blockDimY = (unsigned)block[1], config.blockDimZ = "
    "(unsigned)block[2];\n"
    "    config.sharedMemBytes = (unsigned)shared;\n"
    "    config.hStream = stream;\n"
    "    config.attrs = attribute;\n"
    "    config.numAttrs = attributes;\n"
    "    return cuLaunchKernelEx(&config, f->handle, args, 0);\n"
    "}\n";

static const char CLUSTER[] =
    "\n"
    "static CUlaunchAttribute lathe_cluster(long long x, long long y, long long z)\n"
    "{\n"
    "    CUlaunchAttribute a;\n"
    "    memset(&a, 0, sizeof a);\n"
    "    a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;\n"
    "    a.value.clusterDim.x = (unsigned)x;\n"
    "    a.value.clusterDim.y = (unsigned)y;\n"
    "    a.value.clusterDim.z = (unsigned)z;\n"
    "    return a;\n"
    "}\n";

static const char PROGRAMMATIC[] =
    "\n"
    "// The launch may begin before the one before it has ended.\n"
    "static CUlaunchAttribute lathe_programmatic(void)\n"
    "{\n"
    "    CUlaunchAttribute a;\n"
    "    memset(&a, 0, sizeof a);\n"
    "    a.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;\n"
    "    a.value.programmaticStreamSerializationAllowed = 1;\n"
    "    return a;\n"
    "}\n";

static const char WINDOW[] =
    "\n"
    "// What the L2 keeps of a buffer during a launch, cut to what the device takes; gives how many attributes that "
    "is, 0 or 1.\n"
    "static unsigned lathe_window(const struct LatheDevice *lathe, CUlaunchAttribute *out, CUdeviceptr at, size_t "
    "bytes,\n"
    "                             double ratio, CUaccessProperty hit, CUaccessProperty miss)\n"
    "{\n"
    "    if (lathe->window <= 0 || !bytes || !(ratio >= 0 && ratio <= 1)) return 0;\n"
    "    memset(out, 0, sizeof *out);\n"
    "    out->id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;\n"
    "    out->value.accessPolicyWindow.base_ptr = (void *)(uintptr_t)at;\n"
    "    out->value.accessPolicyWindow.num_bytes = bytes < (size_t)lathe->window ? bytes : (size_t)lathe->window;\n"
    "    out->value.accessPolicyWindow.hitRatio = (float)ratio;\n"
    "    out->value.accessPolicyWindow.hitProp = hit;\n"
    "    out->value.accessPolicyWindow.missProp = miss;\n"
    "    return 1;\n"
    "}\n";

static const char TENSOR_MAP[] =
    "\n"
    "// The tensor map of row-major memory: axes from the outermost to the innermost, sizes in elements, of `size` "
    "bytes each.\n"
    "// `count` elements are there. out NULL: only whether it could be made.\n"
    "static CUresult lathe_tensor_map(CUtensorMap *out, CUtensorMapDataType type, int size, CUdeviceptr at, long long "
    "count,\n"
    "                                 int rank, const long long *shape, const long long *box, long long swizzle, long "
    "long l2)\n"
    "{\n"
    "    cuuint64_t extents[4], strides[4], stride = (cuuint64_t)size;\n"
    "    cuuint32_t boxes[4], ones[4];\n"
    "    for (int i = 0; i < rank; i++) {\n"
    "        const int axis = rank - 1 - i;\n"
    "        if (shape[axis] < 1 || shape[axis] > 4294967295ll || shape[axis] > count || box[axis] < 1 || box[axis] > "
    "256)\n"
    "            return CUDA_ERROR_INVALID_VALUE;\n"
    "        count /= shape[axis];\n"
    "        extents[i] = (cuuint64_t)shape[axis];\n"
    "        strides[i] = stride *= extents[i];\n"
    "        if (i < rank - 1 && (stride % 16 || stride >> 40)) return CUDA_ERROR_INVALID_VALUE;\n"
    "        boxes[i] = (cuuint32_t)box[axis];\n"
    "        ones[i] = 1;\n"
    "    }\n"
    "    if ((swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128) ||\n"
    "        (l2 != 0 && l2 != 64 && l2 != 128 && l2 != 256) || box[rank - 1] * size % 16 ||\n"
    "        (swizzle && box[rank - 1] * size > swizzle))\n"
    "        return CUDA_ERROR_INVALID_VALUE;\n"
    "    if (!out) return CUDA_SUCCESS;\n"
    "    return cuTensorMapEncodeTiled(\n"
    "        out, type, (cuuint32_t)rank, (void *)(uintptr_t)at, extents, strides, boxes, ones, "
    "CU_TENSOR_MAP_INTERLEAVE_NONE,\n"
    "        swizzle == 32   ? CU_TENSOR_MAP_SWIZZLE_32B\n"
    "        : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B\n"
    "        : swizzle       ? CU_TENSOR_MAP_SWIZZLE_128B\n"
    "                        : CU_TENSOR_MAP_SWIZZLE_NONE,\n"
    "        l2 == 64    ? CU_TENSOR_MAP_L2_PROMOTION_L2_64B\n"
    "        : l2 == 128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B\n"
    "        : l2        ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B\n"
    "                    : CU_TENSOR_MAP_L2_PROMOTION_NONE,\n"
    "        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);\n"
    "}\n";

const char *export_driver_helper(enum export_helper helper)
{
    switch (helper) {
    case HELPER_FITS: return FITS;
    case HELPER_LAUNCH: return LAUNCH;
    case HELPER_CLUSTER: return CLUSTER;
    case HELPER_PROGRAMMATIC: return PROGRAMMATIC;
    case HELPER_WINDOW: return WINDOW;
    case HELPER_TENSOR_MAP: return TENSOR_MAP;
    case HELPER_GEMM: break;        /* export_c leaves pipelines with GEMM steps out */
    case HELPER_INT:
    case HELPER_SIZE:
    case HELPER_UNDEFINED: break;   /* the same in both: export_helpers.c */
    }
    return "";
}
