/* test_wgmma_shared_run.c: kernels/linear/wgmma_shared.cu as it stands, run on this machine (standins/, as in
 * test_wgmma_run.c): random configurations for a GPU so small that blocks have several tiles, and some by name. Sums of
 * small integers are exact, so results are compared bit by bit.
 *
 * LATHE_SAMPLE=N takes N random configurations of each type of tensors instead of a few. With two numbers as
 * arguments: that named configuration alone, in so many orders, for scripts/check_mutants, which plants mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "model/source.h"
#include "search/space/space.h"
#include "search/spec/spec.h"

static struct problem *problem;
static const struct kernel *kernel;
static struct target target;
static struct value *slots;

static void open_problem(const char *type, int m, int n, int k)
{
    static const char *const include_dirs[] = {"test/unit/kernels/standins", "kernels/common", NULL};
    struct err e = {0};
    json_t *j;
    char *spec = mem_printf("test/specs/integers_%s.lua", type);
    if (spec_read(spec, &j, &e) || problem_from_json(j, spec, include_dirs, &problem, &e) ||
        problem_set_dim(problem, "M", m, &e) || problem_set_dim(problem, "N", n, &e) ||
        problem_set_dim(problem, "K", k, &e) || target_named("sm_90a", &target, &e))
        fail_msg("%s", e.text);
    json_decref(j);
    mem_free(spec);
    target.limit[LIMIT_sm_count] = 5;
    kernel = &problem->kernels[problem_find_kernel(problem, "wgmma_shared")];
    slots = mem_zalloc((size_t)kernel->scope.count, sizeof *slots);
    kernel_slots_fixed(problem, kernel, &target, slots);
}

static void close_problem(void)
{
    mem_free(slots);
    problem_free(problem);
}

/* The program of one configuration. */
static void write_text(const config_choice *choice, const char *path)
{
    struct strbuf b = {0};
    struct err e = {0};
    char **defines;
    int n;
    if (kernel_slots_config(kernel, choice, slots, &e) || source_defines(kernel, slots, &defines, &n, &e))
        fail_msg("%s", e.text);
    for (int i = 0; i < n; i++)
        sb_addf(&b, "#define %.*s %s\n", (int)strcspn(defines[i], "="), defines[i], strchr(defines[i], '=') + 1);
    source_defines_free(defines, n);
    for (int i = 0; i < problem->ndims; i++)
        sb_addf(&b, "#define SIZE_%s %lld\n", problem->dims[i].name, (long long)problem->dims[i].value);
    sb_add(&b, "#define LATHE_HOST_SANITIZE 0\n#define lathe_host_global__\n#include \"tuner/device/host/host_shim.h\"\n");
    if (source_epilogue(problem, &b, &e)) fail_msg("%s", e.text);
    source_print_plain(&b, kernel->source);
    sb_add(&b, "\n#include \"test/unit/kernels/standins/main_shared.h\"\n");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(sb_str(&b), 1, b.len, f), b.len);
    assert_int_equal(fclose(f), 0);
    sb_free(&b);
}

/* What the program says when it fails, or NULL: in up to `seeds` orders. */
static char *run(const config_choice *choice, int seeds)
{
    char path[] = "/tmp/lathe-wgmma-XXXXXX.cpp", line[512] = "";
    char *command, *said = NULL;
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    write_text(choice, path);
    command = mem_printf("${CXX:-c++} -std=c++17 -O1 -w -Wno-psabi -I. %s -o %.*s", path,
                         (int)sizeof path - 5, path);
    if (system(command) != 0) fail_msg("it does not compile: %s", command);
    mem_free(command);
    unlink(path);
    path[sizeof path - 5] = '\0';
    for (int seed = 1; seed <= seeds && !said; seed++) {
        command = mem_printf("timeout 120 %s %d 2>&1", path, seed);
        FILE *p = popen(command, "r");
        assert_non_null(p);
        if (!fgets(line, sizeof line, p)) snprintf(line, sizeof line, "nothing, but took long or crashed");
        if (pclose(p) != 0) said = mem_printf("%s", line);
        mem_free(command);
    }
    unlink(path);
    return said;
}

static void choose(const char *text, config_choice *choice)
{
    struct err e = {0};
    struct strbuf why = {0};
    if (config_from_text(kernel, text, choice, &e) || kernel_slots_config(kernel, choice, slots, &e))
        fail_msg("%s: %s", text, e.text);
    config_normalise(kernel, slots, choice);
    if (kernel_slots_config(kernel, choice, slots, &e)) fail_msg("%s: %s", text, e.text);
    if (!kernel_allows(kernel, slots, &why)) fail_msg("%s: %s", text, sb_str(&why));
    sb_free(&why);
}

static void must_hold(const config_choice *choice, int seeds)
{
    struct strbuf b = {0};
    char *said = run(choice, seeds);
    config_print(&b, kernel, slots, choice);
    if (said)
        fail_msg("%s, M=%lld N=%lld K=%lld, %s: %s", problem->name, (long long)problem->dims[0].value,
                 (long long)problem->dims[1].value, (long long)problem->dims[2].value, sb_str(&b), said);
    sb_free(&b);
}

static void test_random(void **state)
{
    static const char *const types[] = {"f32", "f16", "bf16"};
    const char *sample = getenv("LATHE_SAMPLE");
    struct rng r;
    if (system("${CXX:-c++} --version >/dev/null 2>&1")) skip();
    rng_seed(&r, 1);
    for (int i = 0, n = 3 * (sample ? atoi(sample) : 2); i < n; i++) {
        struct err e = {0};
        struct space *space;
        config_choice choice[64] = {0};
        open_problem(types[i % 3], 260 + (int)rng_below(&r, 100), 260 + (int)rng_below(&r, 100),
                     8 * (16 + (int)rng_below(&r, 32)));
        if (space_open(problem, kernel, &target, &space, &e)) fail_msg("%s", e.text);
        space_at(space, space_random(space, &r), choice);
        must_hold(choice, 2);
        space_close(space);
        close_problem();
    }
}

/* Blocks with several tiles each, clusters, and all that shares or splits. */
#define PINGPONG                                                                                                       \
    "SCHEDULE=pingpong,WARPGROUPS=2,TILES=1,COLUMNS=192,STAGES=4,CLUSTER=2,MULTICAST=X,GROUP=1,STORE=shared,"          \
    "SWAP=false,"
#define TOGETHER                                                                                                       \
    "SCHEDULE=cooperative,WARPGROUPS=2,TILES=1,COLUMNS=128,STAGES=4,SPLIT_K=1,CLUSTER=2,MULTICAST=W,GROUP=2,"          \
    "STORE=registers,SWAP=false,"
#define SPLIT                                                                                                          \
    "SCHEDULE=cooperative,WARPGROUPS=2,TILES=1,COLUMNS=128,STAGES=4,SPLIT_K=4,GROUP=1,STORE=shared,"                   \
    "EVICT_FIRST=false,EVICT_LAST=false,SWAP=false,"
static const struct {
    const char *type;
    int m, n, k;
    const char *text;
} named[] = {
    {"f32", 300, 380, 1100, "FORMAT=tf32x1,VEC=4," PINGPONG},
    {"bf16", 300, 380, 1096, "VEC=4," PINGPONG},
    {"f16", 500, 330, 1000, "VEC=2," TOGETHER},
    {"f32", 500, 331, 300, "FORMAT=fp16x1,PROGRAMMATIC=true,VEC=1," TOGETHER},
    {"f32", 500, 332, 908, "FORMAT=fp16x3,PROMOTE_K=256,PROGRAMMATIC=true,VEC=2," TOGETHER},
    {"f32", 100, 256, 160, "FORMAT=tf32x1,VEC=4," SPLIT},
};

static void must_hold_named(int i, int seeds)
{
    config_choice choice[64] = {0};
    open_problem(named[i].type, named[i].m, named[i].n, named[i].k);
    choose(named[i].text, choice);
    must_hold(choice, seeds);
    close_problem();
}

enum { NAMED = sizeof named / sizeof *named };

static void test_named(void **state)
{
    if (system("${CXX:-c++} --version >/dev/null 2>&1")) skip();
    for (int i = 0; i < NAMED; i++) must_hold_named(i, 2);
}

static int chosen, seeds;
static void test_chosen(void **state) { must_hold_named(chosen, seeds); }

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_named), cmocka_unit_test(test_random)};
    const struct CMUnitTest one[] = {cmocka_unit_test(test_chosen)};
    if (argc < 3) return cmocka_run_group_tests(tests, NULL, NULL);
    chosen = atoi(argv[1]);
    seeds = atoi(argv[2]);
    return chosen < 0 || chosen >= NAMED ? 2 : cmocka_run_group_tests(one, NULL, NULL);
}
