/* test_cuda_abi.c: lathe's own declarations of CUDA's interfaces against NVIDIA's headers, where those are installed:
 * every value, every prototype, and the layout of what is passed by address. The comparison is a C file of static
 * assertions that the compiler checks. */
#include "base/mem.h"
#include "device/cuda/cublas.h"
#include "device/find_lib.h"
#include "device/cuda/nvrtc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char include[4096];

static bool header(const char *name)
{
    char path[5000];
    snprintf(path, sizeof path, "%s/%s", include, name);
    return file_exists(path);
}

/* Compiles `source` and fails with the compiler's words. */
static void compiles(const char *source)
{
    char file[64], command[9000], words[4096] = "";
    snprintf(file, sizeof file, "/tmp/lathe-abi-%d.c", (int)getpid());
    assert_int_equal(file_write_atomic(file, source, strlen(source), NULL), LATHE_OK);
    snprintf(command, sizeof command, "cc -std=gnu11 -fsyntax-only -isystem '%s' -Ituner %s 2>&1", include, file);
    FILE *p = popen(command, "r");
    assert_non_null(p);
    size_t n = fread(words, 1, sizeof words - 1, p);
    words[n] = 0;
    int code = pclose(p);
    unlink(file);
    if (code)
        fail_msg("%s", words);
}

#define ASSERTS                                                                                                        \
    "#define VALUE(name, value) _Static_assert((long long)(name) == (value), #name);\n"                                \
    "#define TEXT2(x) #x\n"                                                                                            \
    "#define TEXT(x) TEXT2(x)\n"                                                                                       \
    "#define LAYOUT(expression, value) _Static_assert((expression) == (value), #expression);\n"

static void layout(struct strbuf *b, const char *expression, size_t value)
{
    sb_addf(b, "LAYOUT(%s, %zu)\n", expression, value);
}

static void test_driver(void **state)
{
    if (!header("cuda.h"))
        skip();
    struct strbuf b = {0};
    sb_add(&b,
           "#include <cuda.h>\n#include <stddef.h>\n#include \"device/cuda/cuda_functions.h\"\n" ASSERTS
           "CUDA_RESULTS(VALUE) CUDA_DEVICE_ATTRIBUTES(VALUE) CUDA_FUNCTION_ATTRIBUTES(VALUE) CUDA_FLAGS(VALUE)\n"
           "CUDA_LIMITS(VALUE) CUDA_CAPTURE_MODES(VALUE) CUDA_ACCESS_PROPERTIES(VALUE) CUDA_TENSOR_MAP_TYPES(VALUE)\n"
           "CUDA_TENSOR_MAP_INTERLEAVES(VALUE) CUDA_TENSOR_MAP_SWIZZLES(VALUE) CUDA_TENSOR_MAP_PROMOTIONS(VALUE)\n"
           "CUDA_TENSOR_MAP_FILLS(VALUE) CUDA_ALLOCATION_TYPES(VALUE) CUDA_ALLOCATION_HANDLES(VALUE)\n"
           "CUDA_LOCATION_TYPES(VALUE) CUDA_ACCESS_FLAGS(VALUE) CUDA_GRANULARITIES(VALUE)\n"
           "#define SAME(name, symbol, args) _Static_assert(__builtin_types_compatible_p(__typeof__(name), "
           "CUresult args), "
           "#name);\n"
           "CUDA_FUNCTIONS(SAME) CUDA_OPTIONAL_FUNCTIONS(SAME) CUDA_GUEST_FUNCTIONS(SAME) "
           "CUDA_GUEST_OPTIONAL_FUNCTIONS(SAME)\n");
    sb_add(&b, "#if CUDA_VERSION >= 13000\n" /* the symbol is the current one, but for one that is newer than CUDA 12 */
               "#define SYMBOL(name, symbol, args) _Static_assert(!__builtin_strcmp(TEXT(name), #symbol) || "
               "!__builtin_strcmp(#symbol, \"cuEventElapsedTime\"), #name);\n"
               "CUDA_FUNCTIONS(SYMBOL) CUDA_OPTIONAL_FUNCTIONS(SYMBOL) CUDA_GUEST_FUNCTIONS(SYMBOL)\n"
               "CUDA_GUEST_OPTIONAL_FUNCTIONS(SYMBOL)\n#endif\n");
#define SIZE(type) layout(&b, "sizeof(" #type ")", sizeof(type))
#define OFFSET(type, member) layout(&b, "offsetof(" #type ", " #member ")", offsetof(type, member))
    SIZE(CUdevice);
    SIZE(CUdeviceptr);
    SIZE(CUresult);
    SIZE(CUuuid);
    SIZE(CUmemGenericAllocationHandle);
    SIZE(CUmemAllocationProp);
    OFFSET(CUmemAllocationProp, location.id);
    OFFSET(CUmemAllocationProp, allocFlags.usage);
    SIZE(CUmemAccessDesc);
    OFFSET(CUmemAccessDesc, flags);
    SIZE(CUlaunchAttribute);
    OFFSET(CUlaunchAttribute, value);
    OFFSET(CUlaunchAttribute, value.clusterDim);
    OFFSET(CUlaunchAttribute, value.accessPolicyWindow);
    OFFSET(CUlaunchAttribute, value.programmaticStreamSerializationAllowed);
    layout(&b, "_Alignof(CUlaunchAttribute)", _Alignof(CUlaunchAttribute));
    SIZE(CUaccessPolicyWindow);
    OFFSET(CUaccessPolicyWindow, base_ptr);
    OFFSET(CUaccessPolicyWindow, num_bytes);
    OFFSET(CUaccessPolicyWindow, hitRatio);
    OFFSET(CUaccessPolicyWindow, hitProp);
    OFFSET(CUaccessPolicyWindow, missProp);
    SIZE(CUtensorMap);
    SIZE(CUtensorMapDataType);
    SIZE(CUtensorMapInterleave);
    SIZE(CUtensorMapSwizzle);
    SIZE(CUtensorMapL2promotion);
    SIZE(CUtensorMapFloatOOBfill);
    SIZE(CUlimit);
    SIZE(CUlaunchConfig);
    OFFSET(CUlaunchConfig, gridDimX);
    OFFSET(CUlaunchConfig, gridDimZ);
    OFFSET(CUlaunchConfig, blockDimX);
    OFFSET(CUlaunchConfig, blockDimZ);
    OFFSET(CUlaunchConfig, sharedMemBytes);
    OFFSET(CUlaunchConfig, hStream);
    OFFSET(CUlaunchConfig, attrs);
    OFFSET(CUlaunchConfig, numAttrs);
    compiles(b.s);
    sb_free(&b);
}

static void test_cublas(void **state)
{
    if (!header("cublas_v2.h"))
        skip();
    compiles("#include <cublas_v2.h>\n#include \"device/cuda/cublas_functions.h\"\n" ASSERTS "CUBLAS_VALUES(VALUE)\n"
             "#define SAME(symbol, args) _Static_assert(__builtin_types_compatible_p(__typeof__(symbol), "
             "cublasStatus_t args), "
             "#symbol);\n"
             "CUBLAS_FUNCTIONS(SAME)\n"
             "LAYOUT(sizeof(cublasOperation_t), sizeof(int)) LAYOUT(sizeof(cudaDataType), sizeof(int))\n"
             "LAYOUT(MAJOR_VERSION, 0) LAYOUT(MINOR_VERSION, 1) LAYOUT(PATCH_LEVEL, 2)\n");
}

static void test_nvrtc(void **state)
{
    if (!header("nvrtc.h"))
        skip();
    compiles("#include <nvrtc.h>\n#include \"device/cuda/nvrtc_functions.h\"\n" ASSERTS "NVRTC_RESULTS(VALUE)\n"
             "#define SAME(symbol, args) _Static_assert(__builtin_types_compatible_p(__typeof__(symbol), nvrtcResult "
             "args), "
             "#symbol);\n"
             "NVRTC_FUNCTIONS(SAME)\n");
}

/* The comparison itself can fail. */
static void test_a_difference_is_seen(void **state)
{
    if (!header("cuda.h"))
        skip();
    char command[9000];
    snprintf(command, sizeof command,
             "printf '#include <cuda.h>\\n_Static_assert(__builtin_types_compatible_p(__typeof__(cuInit), "
             "CUresult(int)), \"\");"
             "\\n' | cc -std=gnu11 -fsyntax-only -isystem '%s' -x c - 2>/dev/null",
             include);
    assert_int_not_equal(system(command), 0);
}

int main(void)
{
    if (!find_cuda_include("/nonexistent/lib/libnvrtc.so", include, sizeof include))
        include[0] = 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_driver),
        cmocka_unit_test(test_cublas),
        cmocka_unit_test(test_nvrtc),
        cmocka_unit_test(test_a_difference_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
