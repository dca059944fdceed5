/* test_wgmma_run.c: kernels/linear/wgmma.cu as it stands, run on this machine: standins/ has its own hopper.cuh and
 * wgmma.cuh, for a machine whose threads take turns at random and whose copies land when they like. So indices,
 * swizzles, edges, the exchange between blocks and the barriers are tested together, on sizes that no tile divides,
 * against double arithmetic. What it does not show: fences, registers, time.
 *
 * Each configuration is one program, compiled by the system's C++ compiler. LATHE_SAMPLE=N runs all configurations, not
 * the first few, each with 3 N seeds instead of 2. With two numbers as arguments: that
 * configuration alone, with so many seeds, for scripts/check_mutants, which plants mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "model/source.h"

struct run {
    const char *format, *stream;
    int warpgroups, tiles, columns, stages, split_k, cluster;
    const char *multicast;
    int promote_k;
    const char *promote;
    int group, vec;
    const char *sizes;      /* M N K, blocks of the grid */
};
static const struct run runs[] = {
    {"fp16x3", "W", 2, 2, 32, 3, 1, 1, "shared", 256, "workspace", 2, 4, "40 300 516 2"},
    {"bf16x3", "W", 2, 2, 16, 2, 1, 2, "shared", 128, "workspace", 1, 1, "33 513 400 2"},
    {"fp16x3", "X", 2, 1, 32, 3, 2, 1, "shared", 64, "workspace", 1, 4, "200 40 580 4"},
    {"bf16x3", "W", 3, 1, 16, 3, 1, 2, "streamed", 96, "registers", 1, 4, "70 204 196 4"},
    {"bf16x3", "X", 3, 1, 16, 2, 1, 1, "shared", 96, "workspace", 4, 1, "200 50 452 2"},
    {"fp16x3s", "X", 2, 1, 32, 2, 1, 1, "shared", 64, "registers", 2, 4, "150 72 260 2"},
    {"bf16x3", "W", 2, 2, 32, 3, 2, 1, "shared", 128, "registers", 1, 1, "40 270 324 4"},
    {"fp16x3", "X", 2, 1, 16, 2, 1, 4, "streamed", 0, "registers", 1, 4, "140 70 196 4"},
    {"bf16x3", "W", 2, 1, 32, 2, 1, 4, "shared", 0, "registers", 1, 4, "33 600 132 4"},
    {"bf16x3", "W", 2, 2, 32, 2, 4, 1, "shared", 128, "workspace", 1, 4, "20 300 700 4"},
    {"fp16x1", "W", 2, 1, 16, 3, 1, 1, "shared", 0, "registers", 2, 4, "40 300 132 2"},
    {"bf16x1", "X", 2, 1, 48, 3, 1, 1, "shared", 0, "registers", 1, 1, "260 61 96 1"},
    {"bf16x3", "X", 2, 2, 256, 2, 1, 1, "shared", 0, "registers", 1, 2, "1 2 4 1"},
};
enum { RUNS = sizeof runs / sizeof *runs, FEW = 4 };

/* ---- the program */

/* The values of a parameter, by number from 0, and the one it has. */
static void define(struct strbuf *b, const char *name, const char *const *values, const char *value)
{
    for (int i = 0; values[i]; i++) sb_addf(b, "#define LATHE_%s_%s %d\n", name, values[i], i);
    sb_addf(b, "#define LATHE_%s LATHE_%s_%s\n", name, name, value);
}

static void write_program(const struct run *r, const char *path)
{
    static const char *const include_dirs[] = {"test/unit/kernels/standins", "kernels/common", NULL};
    static const char *const formats[] = {"bf16x3", "fp16x3", "fp16x3s", "bf16x1", "fp16x1", NULL};
    static const char *const matrices[] = {"W", "X", NULL}, *const shares[] = {"streamed", "shared", NULL};
    static const char *const places[] = {"registers", "workspace", NULL};
    struct err e = {0};
    struct strbuf b = {0};
    char *text;
    if (source_assemble("kernels/linear/wgmma.cu", include_dirs, &text, &e)) fail_msg("%s", e.text);
    sb_add(&b, "#define LATHE_HOST_SANITIZE 0\n#define lathe_host_global__\n"
               "#include \"tuner/device/host/host_shim.h\"\n");
    define(&b, "FORMAT", formats, r->format);
    define(&b, "STREAM", matrices, r->stream);
    define(&b, "MULTICAST", shares, r->multicast);
    define(&b, "PROMOTE", places, r->promote);
    const struct {
        const char *name;
        int value;
    } numbers[] = {{"WARPGROUPS", r->warpgroups}, {"TILES", r->tiles},     {"COLUMNS", r->columns},
                   {"LET_stages", r->stages},     {"SPLIT_K", r->split_k}, {"CLUSTER", r->cluster},
                   {"PROMOTE_K", r->promote_k},   {"GROUP", r->group},     {"VEC", r->vec},
                   {"EVICT_FIRST", 0},            {"EVICT_LAST", 0}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sb_addf(&b, "#define LATHE_%s %d\n", numbers[i].name, numbers[i].value);
    sb_add(&b, "#define LATHE_LET_smem 232448\n#include \"kernels/common/types.cuh\"\n"
               "struct LatheEpilogue {\n    float s;\n"
               "    float operator()(float z, int m, int n) const { return s * z + static_cast<float>(m - n); }\n};\n");
    sb_add(&b, text);
    sb_add(&b, "\n#include \"test/unit/kernels/standins/main.h\"\n");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(sb_str(&b), 1, b.len, f), b.len);
    assert_int_equal(fclose(f), 0);
    mem_free(text);
    sb_free(&b);
}

/* ---- tests */

static int shell(const char *command, char *output, size_t size)
{
    FILE *p = popen(command, "r");
    assert_non_null(p);
    output[fread(output, 1, size - 1, p)] = 0;
    int rc = pclose(p);
    return WIFEXITED(rc) ? WEXITSTATUS(rc) : 255;
}

/* Builds it and runs it with other last rows, then with `seeds` seeds. The number of the run that failed, or 0; text:
 * what it said. */
static int fails(const struct run *r, int seeds, char text[400])
{
    enum { ROWS = 4 };
    static const char *const last_rows[ROWS] = {"zero", "small", "nan", "inf"};
    char dir[] = "/tmp/lathe-wgmma-XXXXXX";
    int failed = 0;
    assert_non_null(mkdtemp(dir));
    char *source = mem_printf("%s/run.cpp", dir), *program = mem_printf("%s/run", dir);
    write_program(r, source);
    char *command = mem_printf("${CXX:-c++} -std=c++17 -O1 -w -I. -o %s %s 2>&1", program, source);
    if (shell(command, text, 400)) fail_msg("%s: %s", command, text);
    for (int i = 1; i <= seeds + ROWS && !failed; i++) {
        mem_free(command);
        command = mem_printf("timeout 300 %s %s %d %s 2>&1", program, r->sizes, i,
                             i <= ROWS ? last_rows[i - 1] : "random");
        if (shell(command, text, 400)) failed = i;
    }
    unlink(source);
    unlink(program);
    rmdir(dir);
    mem_free(command);
    mem_free(source);
    mem_free(program);
    return failed;
}

static void test_right(void **state)
{
    const char *sample = getenv("LATHE_SAMPLE");
    char text[400];
    if (system("${CXX:-c++} --version >/dev/null 2>&1")) skip();
    for (int i = 0; i < (sample ? RUNS : FEW); i++) {
        const struct run *r = &runs[i];
        int failed = fails(r, sample ? 3 * atoi(sample) : 2, text);
        if (failed)
            fail_msg("%s stream %s, %d warpgroups, %d tiles, %d columns, %d stages, split %d, cluster %d (%s), "
                     "promote %d (%s), sizes %s, run %d: %s",
                     r->format, r->stream, r->warpgroups, r->tiles, r->columns, r->stages, r->split_k, r->cluster,
                     r->multicast, r->promote_k, r->promote, r->sizes, failed, text);
    }
}

static int chosen, seeds;

static void test_chosen(void **state)
{
    char text[400];
    int failed = fails(&runs[chosen], seeds, text);
    if (failed) fail_msg("run %d: %s", failed, text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_right)}, one[] = {cmocka_unit_test(test_chosen)};
    if (argc < 3) return cmocka_run_group_tests(tests, NULL, NULL);
    chosen = atoi(argv[1]);
    seeds = atoi(argv[2]);
    return chosen < 0 || chosen >= RUNS ? 2 : cmocka_run_group_tests(one, NULL, NULL);
}
