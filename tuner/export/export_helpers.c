/* export_helpers.c: the functions that launchers call. One is printed only if it is used, and once in a file: the
 * reference's part, in a namespace of its own, calls those of the winner's. */
#include "export/internal.h"

const struct export_dialect export_runtime = {.success = "cudaSuccess", .invalid = "cudaErrorInvalidValue",
                                              .result = "cudaError_t", .attribute = "cudaLaunchAttribute",
                                              .map = "LatheTensorMap", .no_map = "{}"};

static const char FITS_HELPER[] =
    "\n"
    "// Whether any device takes a launch of this extent. cluster: 0, or its three.\n"
    "static inline bool lathe_fits(const long long *grid, const long long *block, long long shared, const long long "
    "*cluster)\n"
    "{\n"
    "    if (grid[0] < 1 || grid[0] > 2147483647 || grid[1] < 1 || grid[1] > 65535 || grid[2] < 1 || grid[2] > 65535)\n"
    "        return false;\n"
    "    for (int i = 0; i < 3; i++) {\n"
    "        if (block[i] < 1 || block[i] > (i < 2 ? 1024 : 64)) return false;\n"
    "        if (cluster && (cluster[i] < 1 || cluster[i] > 16 || grid[i] % cluster[i])) return false;\n"
    "    }\n"
    "    return block[0] * block[1] * block[2] <= 1024 && shared >= 0 && shared <= 2147483647 &&\n"
    "           (!cluster || cluster[0] * cluster[1] * cluster[2] <= 16);\n"
    "}\n";

static const char LAUNCH_HELPER[] =
    "\n"
    "// One launch that fits.\n"
    "template <typename... P, typename... A>\n"
    "static cudaError_t lathe_launch(void (*kernel)(P...), const long long *grid, const long long *block, long long "
    "shared,\n"
    "                                cudaLaunchAttribute *attribute, unsigned attributes, cudaStream_t stream, A... "
    "args)\n"
    "{\n"
    "    if (shared > 48 * 1024) {\n"
    "        cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, "
    "(int)shared);\n"
    "        if (error != cudaSuccess) return error;\n"
    "    }\n"
    "    for (unsigned i = 0; i < attributes; i++) {\n"
    "        const auto &cluster = attribute[i].val.clusterDim;\n"
    "        if (attribute[i].id != cudaLaunchAttributeClusterDimension || cluster.x * cluster.y * cluster.z <= 8) "
    "continue;\n"
    "        cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);\n"
    "        if (error != cudaSuccess) return error;\n"
    "    }\n"
    "    cudaLaunchConfig_t config = {};\n"
    "    config.gridDim = dim3((unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]);\n"
    "    config.blockDim = dim3((unsigned)block[0], (unsigned)block[1], (unsigned)block[2]);\n"
    "    config.dynamicSmemBytes = (size_t)shared;\n"
    "    config.stream = stream;\n"
    "    config.attrs = attribute;\n"
    "    config.numAttrs = attributes;\n"
    "    return cudaLaunchKernelEx(&config, kernel, static_cast<P>(args)...);\n"
    "}\n";

static const char CLUSTER_HELPER[] =
    "\n"
    "static inline cudaLaunchAttribute lathe_cluster(long long x, long long y, long long z)\n"
    "{\n"
    "    cudaLaunchAttribute a = {};\n"
    "    a.id = cudaLaunchAttributeClusterDimension;\n"
    "    a.val.clusterDim.x = (unsigned)x;\n"
    "    a.val.clusterDim.y = (unsigned)y;\n"
    "    a.val.clusterDim.z = (unsigned)z;\n"
    "    return a;\n"
    "}\n";

static const char PROGRAMMATIC_HELPER[] =
    "\n"
    "// The launch may begin before the one before it has ended.\n"
    "static inline cudaLaunchAttribute lathe_programmatic()\n"
    "{\n"
    "    cudaLaunchAttribute a = {};\n"
    "    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;\n"
    "    a.val.programmaticStreamSerializationAllowed = 1;\n"
    "    return a;\n"
    "}\n";

static const char WINDOW_HELPER[] =
    "\n"
    "// What the L2 keeps of a buffer during a launch, cut to what the device takes; gives how many attributes that "
    "is, 0 or\n"
    "// 1. The first time that lines are to persist, the device's set-aside for them (cudaLimitPersistingL2CacheSize) "
    "is raised\n"
    "// to its maximum; it stays so.\n"
    "static inline unsigned lathe_window(cudaLaunchAttribute *out, const void *at, size_t bytes, double ratio,\n"
    "                                    cudaAccessProperty hit, cudaAccessProperty miss)\n"
    "{\n"
    "    static thread_local int raised = -1;\n"
    "    int device = 0, most = 0, room = 0;\n"
    "    if (cudaGetDevice(&device) != cudaSuccess ||\n"
    "        cudaDeviceGetAttribute(&most, cudaDevAttrMaxAccessPolicyWindowSize, device) != cudaSuccess || most <= 0 "
    "||\n"
    "        !bytes || !(ratio >= 0 && ratio <= 1))\n"
    "        return 0;\n"
    "    if (hit == cudaAccessPropertyPersisting && raised != device &&\n"
    "        cudaDeviceGetAttribute(&room, cudaDevAttrMaxPersistingL2CacheSize, device) == cudaSuccess &&\n"
    "        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)room) == cudaSuccess)\n"
    "        raised = device;\n"
    "    *out = {};\n"
    "    out->id = cudaLaunchAttributeAccessPolicyWindow;\n"
    "    out->val.accessPolicyWindow.base_ptr = const_cast<void *>(at);\n"
    "    out->val.accessPolicyWindow.num_bytes = bytes < (size_t)most ? bytes : (size_t)most;\n"
    "    out->val.accessPolicyWindow.hitRatio = (float)ratio;\n"
    "    out->val.accessPolicyWindow.hitProp = hit;\n"
    "    out->val.accessPolicyWindow.missProp = miss;\n"
    "    return 1;\n"
    "}\n";

static const char TENSOR_MAP_HELPER[] =
    "\n"
    "// The driver's function of that name; 0 if it has none. Found at run time, so that nothing needs -lcuda.\n"
    "static inline void *lathe_driver_function(const char *name)\n"
    "{\n"
    "    void *function = 0;\n"
    "    cudaDriverEntryPointQueryResult found;\n"
    "#if CUDART_VERSION >= 12050\n"
    "    cudaError_t error = cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);\n"
    "#else\n"
    "    cudaError_t error = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);\n"
    "#endif\n"
    "    return error == cudaSuccess && found == cudaDriverEntryPointSuccess ? function : 0;\n"
    "}\n"
    "\n"
    "// The tensor map of row-major memory: axes from the outermost to the innermost, sizes in elements, of `size` "
    "bytes each.\n"
    "// `count` elements are there.\n"
    "template <typename M>\n"
    "static cudaError_t lathe_tensor_map(M *out, CUtensorMapDataType type, int size, const void *at, long long count, "
    "int rank,\n"
    "                                    const long long *shape, const long long *box, long long swizzle, long long "
    "l2)\n"
    "{\n"
    "    typedef CUresult (*function)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,\n"
    "                                 const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, "
    "CUtensorMapInterleave,\n"
    "                                 CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);\n"
    "    static_assert(sizeof(M) == sizeof(CUtensorMap), \"a tensor map has 128 bytes\");\n"
    "    static void *const encode = lathe_driver_function(\"cuTensorMapEncodeTiled\");\n"
    "    cuuint64_t extents[4], strides[4], stride = (cuuint64_t)size;\n"
    "    cuuint32_t boxes[4], ones[4];\n"
    "    for (int i = 0; i < rank; i++) {\n"
    "        const int axis = rank - 1 - i;\n"
    "        if (shape[axis] < 1 || shape[axis] > 4294967295ll || shape[axis] > count || box[axis] < 1 || box[axis] > "
    "256)\n"
    "            return cudaErrorInvalidValue;\n"
    "        count /= shape[axis];\n"
    "        extents[i] = (cuuint64_t)shape[axis];\n"
    "        strides[i] = stride *= extents[i];\n"
    "        boxes[i] = (cuuint32_t)box[axis];\n"
    "        ones[i] = 1;\n"
    "    }\n"
    "    if ((swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128) ||\n"
    "        (l2 != 0 && l2 != 64 && l2 != 128 && l2 != 256))\n"
    "        return cudaErrorInvalidValue;\n"
    "    if (!encode) return cudaErrorNotSupported;\n"
    "    CUtensorMap map;\n"
    "    const CUresult result = ((function)encode)(\n"
    "        &map, type, (cuuint32_t)rank, const_cast<void *>(at), extents, strides, boxes, ones, "
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
    "    if (result != CUDA_SUCCESS) return result == CUDA_ERROR_INVALID_VALUE ? cudaErrorInvalidValue : "
    "cudaErrorUnknown;\n"
    "    memcpy(out, &map, sizeof map);\n"
    "    return cudaSuccess;\n"
    "}\n";

static const char GEMM_HELPER[] =
    "\n// Row-major C[m,n] = op(A) op(B) by cuBLAS, whose matrices are column-major: the transposed product is asked "
    "for.\n"
    "static cudaError_t lathe_gemm(bool trans_a, bool trans_b, long long m, long long n, long long k, const void *a,\n"
    "                              const void *b, void *c, cudaDataType_t from, cudaDataType_t to,\n"
    "                              cublasComputeType_t compute, cudaStream_t stream)\n"
    "{\n"
    "    static thread_local cublasHandle_t handle;\n"
    "    if (m > INT_MAX || n > INT_MAX || k > INT_MAX) return cudaErrorInvalidValue;\n"
    "    if (!handle && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return cudaErrorInitializationError;\n"
    "    if (cublasSetStream(handle, stream) != CUBLAS_STATUS_SUCCESS) return cudaErrorUnknown;\n"
    "    const float one = 1.0f, zero = 0.0f;\n"
    "    const double one64 = 1.0, zero64 = 0.0;\n"
    "    const bool wide = compute == CUBLAS_COMPUTE_64F;\n"
    "    cublasStatus_t s = cublasGemmEx(handle, trans_b ? CUBLAS_OP_T : CUBLAS_OP_N, trans_a ? CUBLAS_OP_T : "
    "CUBLAS_OP_N,\n"
    "        (int)n, (int)m, (int)k, wide ? (const void *)&one64 : &one, b, from, (int)(trans_b ? k : n), a, from,\n"
    "        (int)(trans_a ? m : k), wide ? (const void *)&zero64 : &zero, c, to, (int)n, compute, "
    "CUBLAS_GEMM_DEFAULT);\n"
    "    return s == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;\n"
    "}\n";

static const char SIZE_HELPER[] =
    "\n"
    "// Bytes of a buffer of that extent; SIZE_MAX: more than 2^60, or one axis is below 0.\n"
    "static inline size_t lathe_room(size_t bytes, const long long *extent, int rank)\n"
    "{\n"
    "    const size_t most = (size_t)1 << 60;\n"
    "    bool none = false;\n"
    "    for (int i = 0; i < rank; i++) {\n"
    "        if (extent[i] < 0) return SIZE_MAX;\n"
    "        none = none || extent[i] == 0;\n"
    "    }\n"
    "    for (int i = 0; i < rank && !none; i++) {\n"
    "        if ((size_t)extent[i] > most / bytes) return SIZE_MAX;\n"
    "        bytes *= (size_t)extent[i];\n"
    "    }\n"
    "    return none ? 0 : bytes;\n"
    "}\n";

static const char INT_HELPER[] =
    "\n"
    "// Whether an int argument can have the value.\n"
    "static inline bool lathe_is_int(long long value)\n"
    "{\n"
    "    return value >= INT_MIN && value <= INT_MAX;\n"
    "}\n";

/* both: the same in C for the driver. */
static const struct {
    const char *name, *text;
    bool both;
} helpers[] = {
    [HELPER_FITS] = {"lathe_fits", FITS_HELPER},
    [HELPER_LAUNCH] = {"lathe_launch", LAUNCH_HELPER},
    [HELPER_CLUSTER] = {"lathe_cluster", CLUSTER_HELPER},
    [HELPER_PROGRAMMATIC] = {"lathe_programmatic", PROGRAMMATIC_HELPER},
    [HELPER_WINDOW] = {"lathe_window", WINDOW_HELPER},
    [HELPER_TENSOR_MAP] = {"lathe_tensor_map", TENSOR_MAP_HELPER},
    [HELPER_GEMM] = {"lathe_gemm", GEMM_HELPER},
    [HELPER_INT] = {"lathe_is_int", INT_HELPER, true},
    [HELPER_SIZE] = {"lathe_room", SIZE_HELPER, true},
    [HELPER_UNDEFINED] = {EXPORT_UNDEFINED, NULL, true},        /* several: expr_c_guards() */
};

static const char *text_of(enum export_helper helper, bool driver)
{
    if (driver && !helpers[helper].both) return export_driver_helper(helper);
    return helpers[helper].text ? helpers[helper].text : expr_c_guards();
}

const char *export_helper(struct exporter *x, enum export_helper helper)
{
    x->uses |= 1u << helper;
    return helpers[helper].name;
}

void export_helpers(struct exporter *x)
{
    for (unsigned i = 0; i < sizeof helpers / sizeof *helpers; i++)
        if (x->uses & ~x->printed & 1u << i) sb_add(x->out, text_of(i, x->say->driver));
    x->printed |= x->uses;
}

void export_all_helpers(struct strbuf *b)
{
    for (unsigned i = 0; i < sizeof helpers / sizeof *helpers; i++) sb_add(b, text_of(i, false));
}

bool export_has_gemm(const struct kernel *k)
{
    for (int i = 0; i < k->nsteps; i++)
        if (k->steps[i].kind == STEP_GEMM) return true;
    return false;
}

static bool has_tensor_map(const struct kernel *k)
{
    for (int i = 0; i < k->nsteps; i++)
        for (int a = 0; a < k->steps[i].launch.nargs; a++)
            if (k->steps[i].launch.args[a].kind == ARG_TENSOR_MAP) return true;
    return false;
}

void export_includes(struct exporter *x)
{
    const struct kernel *reference = x->p->reference.kernel;
    if (export_has_gemm(x->k)) sb_add(x->out, "#include <cublas_v2.h>\n");
    if (has_tensor_map(x->k) || (reference && has_tensor_map(reference)))
        sb_add(x->out, "#include <cuda.h>\n#include <string.h>\n");
}
