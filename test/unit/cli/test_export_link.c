/* test_export_link.c: two exports of one problem in one program: each launcher has its own kernels, with nvcc's
 * separate compilation too; what a kernel includes is included outside the export's namespace; and which names are
 * refused. */
#include "runtime/program.h"

#include "device/find_lib.h"

static const char small[] =
    "TRANSPOSED=false BM=64 BN=64 TM=4 TN=4 LANES_M=8 BK=8 UNROLL=8 FRAGMENTS=1 LAYOUT=transposed "
    "FILL=register STAGES=1 VEC=4 SPLIT_K=1 SCHEDULE=tiles MIN_BLOCKS=1 STORE=direct GROUP=1";
static const char large[] =
    "TRANSPOSED=false BM=128 BN=128 TM=8 TN=8 LANES_M=4 BK=8 UNROLL=8 FRAGMENTS=1 LAYOUT=transposed "
    "FILL=register STAGES=1 VEC=4 SPLIT_K=1 SCHEDULE=tiles MIN_BLOCKS=1 STORE=direct GROUP=1";

/* A small configuration of kernels/linear's simt, or a big one. */
static void choose(const struct kernel *k, bool big, config_choice *choice)
{
    struct err e = {0};
    if (config_from_text(k, big ? large : small, choice, &e))
        fail_msg("%s", e.text);
}

static void put_file(const char *name, const char *text)
{
    char *path = path_join(program_dir, name);
    assert_int_equal(file_write_atomic(path, text, strlen(text), NULL), LATHE_OK);
    mem_free(path);
}

/* Runs a command in the directory of files; its words, to be freed, and whether it went well. */
static char *shell(char *command, bool *good)
{
    struct strbuf said = {0};
    char part[4096];
    FILE *f = popen(command, "r");
    assert_non_null(f);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        sb_addn(&said, part, n);
    *good = pclose(f) == 0;
    mem_free(command);
    return sb_take(&said);
}

static void exported(const struct problem *p, const struct kernel *k, const struct target *t,
                     const config_choice *choice, const char *name, struct strbuf *text)
{
    struct err e = {0};
    json_t *provenance = json_object();
    const struct export_input in = {p, k, choice, t, provenance, name};
    if (export_cu(&in, text, &e))
        fail_msg("%s", e.text);
    json_decref(provenance);
}

/* "launch ? grid": which kernel it was is not asked. */
static char *without_names(const char *said)
{
    struct strbuf b = {0};
    for (const char *c = said; *c;) {
        if (!strncmp(c, "launch ", 7)) {
            sb_add(&b, "launch ?");
            c += 7 + strcspn(c + 7, " ");
        } else {
            sb_addn(&b, c++, 1);
        }
    }
    return sb_take(&b);
}

static struct problem *linear(struct target *t)
{
    struct err e = {0};
    if (target_named("sm_90a", t, &e))
        fail_msg("%s", e.text);
    return program_problem(program_tree("kernels/linear/spec.lua"), "kernels/linear/spec.lua");
}

/* Two files, each with its own kernels and struct, called one after the other. */
static void test_two_in_one(void **state)
{
    static const struct sizes size = {1, {{512, 1024, 256}}};
    struct target t;
    struct problem *p = linear(&t);
    struct kernel *k = &p->kernels[problem_find_kernel(p, "simt")];
    struct strbuf main_text = {0}, wanted = {0};
    bool good;
    if (system("command -v ${CXX:-c++} >/dev/null"))
        skip();
    stub_source(k);
    sb_add(&main_text, "#include <cuda_runtime.h>\nconst char *stub_name(const void *) { return \"?\"; }\n");
    for (int i = 0; i < 2; i++) {
        config_choice choice[64];
        struct strbuf text = {0};
        int served;
        char name[24], file[32];
        snprintf(name, sizeof name, "gemm_%d", i);
        snprintf(file, sizeof file, "%s.cpp", name);
        choose(k, i == 1, choice);
        exported(p, k, &t, choice, name, &text);
        sb_addf(&text, "namespace %s_code {\nusing ::stub_put;\n", name);
        add_putters(&text, p);
        sb_add(&text, "}\n");
        put_file(file, sb_str(&text));
        sb_free(&text);
        sb_addf(
            &main_text,
            "extern \"C\" size_t %s_workspace(int64_t, int64_t, int64_t);\nextern \"C\" cudaError_t %s(const float *, "
            "const float *, const float *, float *, int64_t, int64_t, int64_t, float, void *, size_t, cudaStream_t);\n",
            name, name);
        char *plan = plans_say(p, k, &t, choice, &size, &served), *plain = without_names(plan);
        assert_int_equal(served, 1);
        sb_add(&wanted, plain);
        mem_free(plan);
        mem_free(plain);
    }
    sb_add(&main_text, "int main()\n{\n");
    for (int i = 0; i < 2; i++)
        sb_addf(
            &main_text,
            "    puts(gemm_%d((float *)0x%llx, (float *)0x%llx, (float *)0x%llx, (float *)0x%llx, 512, 1024, 256, 2, "
            "(void *)0x%llx, gemm_%d_workspace(512, 1024, 256), 0) == cudaSuccess ? \"done\" : \"refused\");\n",
            i, tensor_at(0), tensor_at(1), tensor_at(2), tensor_at(3), workspace_at, i);
    sb_add(&main_text, "}\n");
    put_file("main.cpp", sb_str(&main_text));
    char *said = shell(
        mem_printf(
            "flags='-std=c++17 -O0 -Wall -Wextra -Wno-unused -Wno-unknown-pragmas -Werror -Itest/unit/cli/runtime'; "
            "cd %s/ && d=$PWD && cd - >/dev/null && for f in gemm_0 gemm_1 main; do ${CXX:-c++} $flags -c $d/$f.cpp "
            "-o $d/$f.o 2>&1 || exit 1; done; ${CXX:-c++} $d/gemm_0.o $d/gemm_1.o $d/main.o -o $d/two 2>&1 && $d/two",
            program_dir),
        &good);
    if (!good)
        fail_msg("%s", said);
    assert_string_equal(said, sb_str(&wanted));
    assert_non_null(strstr(said, "grid"));
    mem_free(said);
    sb_free(&main_text);
    sb_free(&wanted);
    problem_free(p);
}

/* The kernels as they are, by nvcc: their device functions, too, are two. */
static void test_device_code(void **state)
{
    static const char *const how[] = {"", "-rdc=true"};
    char nvcc[4096];
    struct target t;
    bool good;
    if (!find_nvcc(nvcc, sizeof nvcc))
        skip();
    struct problem *p = linear(&t);
    struct kernel *k = &p->kernels[problem_find_kernel(p, "simt")];
    for (int i = 0; i < 2; i++) {
        config_choice choice[64];
        struct strbuf text = {0};
        choose(k, i == 1, choice);
        exported(p, k, &t, choice, i ? "gemm_1" : "gemm_0", &text);
        put_file(i ? "gemm_1.cu" : "gemm_0.cu", sb_str(&text));
        sb_free(&text);
    }
    put_file(
        "main.cu",
        "#include <cstdint>\n#include <cstddef>\nextern \"C\" size_t gemm_0_workspace(int64_t, int64_t, int64_t);\n"
        "extern \"C\" size_t gemm_1_workspace(int64_t, int64_t, int64_t);\nextern \"C\" int gemm_0();\n"
        "extern \"C\" int gemm_1();\n"
        "int main(int n, char **) { if (n > 1) return gemm_0() + gemm_1();\n"
        "return gemm_0_workspace(128, 128, 128) + gemm_1_workspace(128, 128, 128) == SIZE_MAX; }\n");
    for (int i = 0; i < 2; i++) {
        char *said =
            shell(mem_printf("cd %s && '%s' -std=c++17 -arch=sm_80 %s gemm_0.cu gemm_1.cu main.cu -o two 2>&1 && ./two",
                             program_dir, nvcc, how[i]),
                  &good);
        if (!good)
            fail_msg("%s\n%s", how[i], said);
        mem_free(said);
    }
    problem_free(p);
}

/* A header of <> within the namespace would declare its things there. */
static void test_includes(void **state)
{
    static const char source[] =
        "  # include <type_traits>\n#if 0\n#include <no_such_header>\n#endif\n"
        "extern  \"C\" { __device__ int of_c(std::true_type) { return 1; } }\n"
        "// no extern \"C\" here\nextern \"C\" __global__ void launch_factor(void *) {}\n"
        "struct LatheTensorMap { alignas(64) char bytes[128]; };\nextern \"C\" __global__ void launch_scale("
        "LatheTensorMap, LatheTensorMap, void *, void *, int, int) { of_c(std::true_type()); }\n";
    struct target t;
    struct err e = {0};
    struct problem *p = program_problem(program_tree("test/specs/launch.lua"), "test/specs/launch.lua");
    struct kernel *k = &p->kernels[0];
    struct strbuf text = {0};
    config_choice choice[16];
    bool compiled;
    if (system("command -v ${CXX:-c++} >/dev/null"))
        skip();
    if (target_named("sm_90a", &t, &e) ||
        config_from_text(k, "ROWS=8 COLS=16 SWIZZLE=0 L2=0 CLUSTER=1 PREPARE=true OVERLAP=false STORE=tma VIEW=false "
                         "PERSIST=false", choice, &e))
        fail_msg("%s", e.text);
    mem_free(k->source);
    k->source = mem_strdup(source);
    exported(p, k, &t, choice, "boxy", &text);
    assert_null(strstr(sb_str(&text), "extern \"C\" {"));
    sb_add(&text, "namespace boxy_code {\nusing ::stub_put;\n");
    add_putters(&text, p);
    sb_add(
        &text,
        "}\nconst char *stub_name(const void *) { return 0; }\nextern \"C\" __global__ void launch_factor(void *) {}\n"
        "int of_c() { return 0; }\nint main() { return of_c(); }\n");
    char *said = program_run(sb_str(&text), "", &compiled);
    if (!compiled)
        fail_msg("%s", said);
    mem_free(said);
    sb_free(&text);
    problem_free(p);
}

static void test_names(void **state)
{
    static const char *const bad[] = {
        "",  "1st", "a-b",    "a b",  "_x",         "a__b",          "while",           "cudaFree",   "X",
        "M", "BM",  "stream", "main", "lathe_fits", "LatheEpilogue", "lathe_floor_div", "linear_simt"};
    static const char *const good[] = {"gemm", "lathe_gemm_2", "lathe_linear", "G"};
    struct target t;
    struct problem *p = linear(&t);
    struct kernel *k = &p->kernels[problem_find_kernel(p, "simt")];
    config_choice choice[64];
    json_t *provenance = json_object();
    choose(k, false, choice);
    for (size_t i = 0; i < sizeof bad / sizeof *bad + sizeof good / sizeof *good; i++) {
        bool refused = i < sizeof bad / sizeof *bad;
        const char *name = refused ? bad[i] : good[i - sizeof bad / sizeof *bad];
        const struct export_input in = {p, k, choice, &t, provenance, name};
        struct strbuf text = {0};
        struct err e = {0};
        if ((export_cu(&in, &text, &e) == LATHE_USAGE) != refused)
            fail_msg("'%s': %s", name, e.text);
        sb_free(&text);
    }
    json_decref(provenance);
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_in_one),
        cmocka_unit_test(test_device_code),
        cmocka_unit_test(test_includes),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
