/* test_nvrtc.c: jit_compile for GPUs: real sources to real cubins where there is an NVRTC, and what is said when there
 * is none, or a broken one. The broken ones are small libraries that the system's compiler makes. */
#include "base/mem.h"
#include "base/strbuf.h"
#include "device/find_lib.h"
#include "device/jit.h"
#include "device/cuda/nvrtc.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[64], image[96];
static bool have_nvrtc;

static int make_dir(void **state)
{
    snprintf(dir, sizeof dir, "/tmp/lathe-nvrtc-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(image, sizeof image, "%s/k.cubin", dir);
    have_nvrtc = nvrtc_version() != 0;
    return 0;
}

static int remove_dir(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

static void says(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("text lacks '%s': %s", part, text ? text : "(none)");
}

/* A tile kernel in the manner of kernels/: parameters as macros, dynamic shared memory, a struct argument. */
static const char tile[] =
    "struct Epilogue {\n"
    "    const float *b; float s;\n"
    "    __device__ float operator()(float z, int n) const { z += b[n]; return s * z / (1.0f + expf(-z)); }\n"
    "};\n"
    "extern \"C\" __global__ void __launch_bounds__(LATHE_BM * LATHE_BN)\n"
    "tile_kernel(const float *X, const float *W, float *Y, int M, int N, int K, Epilogue epilogue) {\n"
    "    extern __shared__ float smem[];\n"
    "    int tx = threadIdx.x, m = blockIdx.y * LATHE_BM + threadIdx.y, n = blockIdx.x * LATHE_BN + tx;\n"
    "    float acc = 0, *row = smem + threadIdx.y * LATHE_BN;\n"
    "    for (int k0 = 0; k0 < K; k0 += LATHE_BN) {\n"
    "        row[tx] = m < M && k0 + tx < K ? X[(size_t)m * K + k0 + tx] : 0;\n"
    "        __syncthreads();\n"
    "        for (int k = 0; k < LATHE_BN && k0 + k < K; k++) acc += row[k] * W[(size_t)n * K + k0 + k];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if (m < M && n < N) Y[(size_t)m * N + n] = epilogue(acc, n);\n"
    "}\n";
static char *tile_defines[] = {"LATHE_BM=8", "LATHE_BN=32"};

static status run(const char *arch, const char *source, char *const *defines, int n, struct jit_outcome *out,
                  struct err *e)
{
    const struct jit_request r = {.source = source, .name = "linear/tile.cu", .defines = defines, .ndefines = n,
                                  .arch = arch, .image_path = image};
    unlink(image);
    *out = (struct jit_outcome){0};
    return jit_compile(&r, out, e);
}

/* The image is a CUDA ELF file that defines the kernel. */
static void check_cubin(const char *kernel)
{
    char *data = NULL, text[100];
    size_t size = 0;
    assert_int_equal(file_read(image, &data, &size, NULL), LATHE_OK);
    assert_true(size > sizeof(Elf64_Ehdr));
    Elf64_Ehdr header;
    memcpy(&header, data, sizeof header);
    assert_memory_equal(header.e_ident, ELFMAG, SELFMAG);
    assert_int_equal(header.e_machine, EM_CUDA);
    snprintf(text, sizeof text, ".text.%s", kernel);
    assert_non_null(memmem(data, size, text, strlen(text) + 1));
    assert_null(memmem(data, size, ".debug_info", 11));
    assert_null(memmem(data, size, ".debug_line", 11));
    mem_free(data);
}

static void check_cuobjdump(const char *arch)
{
    char command[200], words[400] = "", wanted[40];
    if (system("command -v cuobjdump >/dev/null 2>&1"))
        return;
    snprintf(command, sizeof command, "cuobjdump -elf %s 2>&1 | grep -m1 -o 'sm_[0-9]*[af]*'", image);
    FILE *p = popen(command, "r");
    assert_non_null(p);
    if (!fgets(words, sizeof words, p))
        words[0] = 0;
    pclose(p);
    snprintf(wanted, sizeof wanted, "%.*s", (int)strspn(arch, "sm_0123456789"), arch);
    says(words, wanted);
}

static void test_targets(void **state)
{
    static const char *const arches[] = {"sm_80", "sm_90a", "sm_100"};
    if (!have_nvrtc)
        skip();
    for (size_t i = 0; i < sizeof arches / sizeof *arches; i++) {
        struct jit_outcome out;
        struct err e = {0};
        if (run(arches[i], tile, tile_defines, 2, &out, &e))
            fail_msg("%s: %s", arches[i], e.text);
        if (!out.ok)
            fail_msg("%s: %s", arches[i], out.log);
        assert_null(out.log);
        check_cubin("tile_kernel");
        check_cuobjdump(arches[i]);
    }
}

static void test_headers(void **state)
{
    static const char source[] =
        "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <mma.h>\n#include <cuda_pipeline.h>\n"
        "extern \"C\" __global__ void cast(const float *x, __nv_bfloat16 *y) {\n"
        "    y[threadIdx.x] = __float2bfloat16(x[threadIdx.x]);\n"
        "}\n";
    struct nvrtc *n = mem_alloc(sizeof *n);
    bool headers = have_nvrtc && !nvrtc_open(n, NULL) && n->include[0];
    mem_free(n);
    if (!headers)
        skip();
    struct jit_outcome out;
    struct err e = {0};
    assert_int_equal(run("sm_90a", source, NULL, 0, &out, &e), LATHE_OK);
    if (!out.ok)
        fail_msg("%s", out.log);
    mem_free(out.log);
    check_cubin("cast");
}

static void test_refused_source(void **state)
{
    if (!have_nvrtc)
        skip();
    struct jit_outcome out;
    struct err e = {0};
    assert_int_equal(run("sm_80", tile, tile_defines, 1, &out, &e), LATHE_OK);      /* LATHE_BN is not defined */
    assert_false(out.ok);
    says(out.log, "linear/tile.cu(5): error");
    says(out.log, "LATHE_BN");
    assert_false(file_exists(image));
    mem_free(out.log);
    assert_int_equal(run("sm_80", "#include \"beside.cuh\"\n", NULL, 0, &out, &e), LATHE_OK);
    assert_false(out.ok);
    says(out.log, "beside.cuh");
    mem_free(out.log);
}

static void test_long_log(void **state)
{
    if (!have_nvrtc)
        skip();
    struct strbuf source = {0};
    struct jit_outcome out;
    struct err e = {0};
    sb_add(&source, "#pragma nv_diag_suppress 1\n__device__ void f() {\n");
    for (int i = 0; i < 90; i++)
        sb_addf(&source, "    undeclared_%d = 1; /* %s */\n", i,
                "two-byte characters: äääääääääääääääääääääääääääääääääääääääääääääääääää");
    sb_add(&source, "}\n");
    assert_int_equal(run("sm_80", source.s, NULL, 0, &out, &e), LATHE_OK);
    sb_free(&source);
    assert_false(out.ok);
    assert_in_range(strlen(out.log), 16000, 16 * 1024);
    says(out.log, "more bytes)\n");
    mem_free(out.log);
}

static void test_defines(void **state)
{
    static char *defines[] = {"LATHE_TEXT=3 + 4", "LATHE_FLAG=1", "LATHE_F=0.5f"};
    if (!have_nvrtc)
        skip();
    struct jit_outcome out;
    struct err e = {0};
    assert_int_equal(run("sm_80",
                         "static_assert(LATHE_TEXT == 7 && LATHE_FLAG && LATHE_F == 0.5f, \"defines\");\n"
                         "static_assert(__CUDA_ARCH__ == 800 && __cplusplus == 201703L, \"options\");\n"
                         "extern \"C\" __global__ void k() {}\n", defines, 3, &out, &e), LATHE_OK);
    if (!out.ok)
        fail_msg("%s", out.log);
    mem_free(out.log);
}

static void test_unknown_target(void **state)
{
    static const char *const arches[] = {"sm_42", "sm_80a", "sm_",    "compute_9",  "sm_90x",
                                         "",      "SM_90",  "sm_90b", "sm_9000"};
    if (!have_nvrtc)
        skip();
    for (size_t i = 0; i < sizeof arches / sizeof *arches; i++) {
        struct jit_outcome out;
        struct err e = {0};
        char quoted[40];
        assert_int_equal(run(arches[i], tile, tile_defines, 2, &out, &e), LATHE_COMPILER);
        assert_false(out.ok);
        assert_null(out.log);
        snprintf(quoted, sizeof quoted, "'%s'", arches[i]);
        says(e.text, quoted);
        says(e.text, " 80 ");
        says(e.text, "newer CUDA toolkit");
        assert_false(file_exists(image));
    }
}

/* A virtual architecture gives PTX, which names the kernel and the target. */
static void test_ptx(void **state)
{
    struct jit_outcome out;
    struct err e = {0};
    char *text = NULL;
    size_t n = 0;
    if (!have_nvrtc)
        skip();
    if (run("compute_80", tile, tile_defines, 2, &out, &e))
        fail_msg("%s", e.text);
    assert_true(out.ok);
    assert_int_equal(file_read(image, &text, &n, &e), LATHE_OK);
    says(text, ".target sm_80");
    says(text, ".entry ");
    mem_free(text);
    mem_free(out.log);
    unlink(image);
}

static void test_unwritable_image(void **state)
{
    if (!have_nvrtc)
        skip();
    struct jit_outcome out = {0};
    struct err e = {0};
    const struct jit_request r = {.source = tile,
                                  .name = "t.cu",
                                  .defines = tile_defines,
                                  .ndefines = 2,
                                  .arch = "sm_80",
                                  .image_path = "/nonexistent/dir/k.cubin"};
    assert_int_equal(jit_compile(&r, &out, &e), LATHE_IO);
    says(e.text, "/nonexistent/dir/k.cubin");
    assert_false(out.ok);
    assert_null(out.log);
}

static void test_toolchain(void **state)
{
    if (!have_nvrtc)
        skip();
    char text[128], appended[256];
    struct err e = {0};
    int version = nvrtc_version();
    char start[40];
    snprintf(start, sizeof start, "NVRTC %d.%d", version / 1000, version % 1000 / 10);
    assert_int_equal(jit_toolchain("sm_90a", text, sizeof text, &e), LATHE_OK);
    assert_memory_equal(text, start, strlen(start));
    says(text, "-std=c++17");
    assert_null(strchr(text, '/'));                 /* no path: it is part of a cubin's identity */
    assert_in_range(strlen(text), 20, sizeof text - 2);
    setenv("NVRTC_APPEND_FLAGS", "--maxrregcount=32", 1);           /* NVRTC obeys it, so it must show */
    assert_int_equal(jit_toolchain("sm_90a", appended, sizeof appended, &e), LATHE_OK);
    unsetenv("NVRTC_APPEND_FLAGS");
    says(appended, "--maxrregcount=32");
}

/* --- libraries that are not right: each in a child, since a library once loaded stays --- */

static void make_library(const char *name, const char *source)
{
    char file[128], command[400];
    snprintf(file, sizeof file, "%s/lib.c", dir);
    assert_int_equal(file_write_atomic(file, source, strlen(source), NULL), LATHE_OK);
    snprintf(command, sizeof command, "cc -shared -fPIC -o %s/%s %s", dir, name, file);
    assert_int_equal(system(command), 0);
}

/* In a child with LATHE_CUDA_PATH: jit_compile must fail with LATHE_COMPILER and words that have all the parts. */
static void fails_in_child(const char *cuda_path, const char *const *parts)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        static const char *const unset[] = {"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH"};
        struct jit_outcome out;
        struct err e = {0};
        for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
            unsetenv(unset[i]);
        setenv("LATHE_CUDA_PATH", cuda_path, 1);
        int code = run("sm_80", tile, tile_defines, 2, &out, &e) == LATHE_COMPILER ? 0 : 1;
        for (int i = 0; !code && parts[i]; i++)
            if (!strstr(e.text, parts[i])) {
                fprintf(stderr, "message lacks '%s': %s\n", parts[i], e.text);
                code = 2;
            }
        _exit(code);
    }
    int status_word = 0;
    assert_int_equal(waitpid(child, &status_word, 0), child);
    assert_true(WIFEXITED(status_word));
    assert_int_equal(WEXITSTATUS(status_word), 0);
}

static const char whole[] =
    "int nvrtcVersion(int *a, int *b) { *a = 13; *b = 99; return 0; }\n"
    "int nvrtcGetNumSupportedArchs(int *n) { *n = 2; return 0; }\n"
    "int nvrtcGetSupportedArchs(int *n) { n[0] = 80; n[1] = 90; return 0; }\n"
    "int nvrtcCreateProgram(void **p) { *p = p; return CREATE; }\n"
    "int nvrtcDestroyProgram(void **p) { return 0; }\n"
    "int nvrtcCompileProgram(void *p) { return COMPILE; }\n"
    "int nvrtcGetCUBINSize(void *p, unsigned long *n) { *n = 0; return 0; }\n"
    "int nvrtcGetCUBIN(void *p, char *c) { return 0; }\n"
    "int nvrtcGetPTXSize(void *p, unsigned long *n) { *n = 0; return 0; }\n"
    "int nvrtcGetPTX(void *p, char *c) { return 0; }\n"
    "int nvrtcGetProgramLogSize(void *p, unsigned long *n) { *n = 4; return 0; }\n"
    "int nvrtcGetProgramLog(void *p, char *c) { c[0] = 'l'; c[1] = 'o'; c[2] = 'g'; c[3] = 0; return 0; }\n";

static void make_whole(const char *create, const char *compile)
{
    char source[2000];
    snprintf(source, sizeof source, "#define CREATE %s\n#define COMPILE %s\n%s", create, compile, whole);
    make_library("libnvrtc.so.13", source);
}

static void test_missing_builtins(void **state)
{
    make_whole("0", "0");
    fails_in_child(dir,
                   (const char *const[]){"libnvrtc-builtins.so.13.99", "not beside it", dir, "LATHE_CUDA_PATH", NULL});
}

static void test_broken_compilers(void **state)
{
    make_library("libnvrtc-builtins.so.13.99", "int nothing;\n");
    make_whole("0", "7");
    fails_in_child(dir, (const char *const[]){"NVRTC 13.99", "builtins library: log", NULL});
    make_whole("0", "0");
    fails_in_child(dir, (const char *const[]){"gave no cubin (result 0, 0 bytes)", NULL});
    make_whole("0", "5");
    fails_in_child(dir, (const char *const[]){"did not compile linear/tile.cu (result 5): log", NULL});
    make_whole("1", "0");
    fails_in_child(dir, (const char *const[]){"ran out of memory", NULL});
    make_library("libnvrtc.so.13", "int nvrtcVersion(int *a, int *b) { return 0; }\n");
    fails_in_child(dir, (const char *const[]){"has no nvrtcGetNumSupportedArchs", "CUDA 12 or 13", dir, NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_refused_source),
        cmocka_unit_test(test_long_log),
        cmocka_unit_test(test_defines),
        cmocka_unit_test(test_unknown_target),
        cmocka_unit_test(test_ptx),
        cmocka_unit_test(test_unwritable_image),
        cmocka_unit_test(test_toolchain),
        cmocka_unit_test(test_missing_builtins),
        cmocka_unit_test(test_broken_compilers),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
