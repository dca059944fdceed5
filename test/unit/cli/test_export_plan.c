/* test_export_plan.c: "a launch is never written twice": the exported launcher, at any size, launches what the plan of
 * its configuration at that size says, and refuses what that refuses. For random configurations of every kernel of
 * kernels/linear, and of launches that say all they can. */
#include "runtime/program.h"

#include "search/space/space.h"

/* The sizes of the exported file's self-test. */
static void read_sizes(const char *text, int ndims, struct sizes *out)
{
    static const char call[] = "lathe_count(lathe_check";      /* or lathe_check_both */
    for (out->n = 0; (text = strstr(text, call)); out->n++) {
        text = strchr(text + sizeof call - 1, '(') + 1;
        assert_true(out->n < MOST_SIZES);
        for (int d = 0; d < ndims; d++, text++)
            out->dim[out->n][d] = strtoll(text, (char **)&text, 10);
    }
}

/* Those of the self-test, which the configuration must serve, whose tiles they must not fit. */
static void compare_selftest(struct problem *p, struct kernel *k, const struct target *t, const config_choice *choice)
{
    struct strbuf text = {0};
    struct sizes sizes;
    int served, ragged = 0;
    add_export(&text, p, k, t, choice);
    read_sizes(sb_str(&text), p->ndims, &sizes);
    sb_free(&text);
    mem_free(plans_say(p, k, t, choice, &sizes, &served));
    for (int i = 0; i < sizes.n; i++)
        ragged += sizes.dim[i][0] % 32 != 0 && sizes.dim[i][1] % 32 != 0;
    if (served != sizes.n || served < 4 || !ragged)
        fail_msg("kernel %s tests itself at %d sizes, %d of which it serves, %d of them ragged", k->name, sizes.n,
                 served, ragged);
}

/* The tuned size, then others: each dimension one of these, at random. */
static void choose_sizes(const struct problem *p, struct rng *r, struct sizes *out)
{
    static const int64_t some[] = {1,    3,    8,    60,   64,   96,   100,   128,   129,    256,       512,
                                   1000, 1024, 2048, 4096, 8192, 8200, 16384, 32768, 100000, 2147483647};
    out->n = MOST_SIZES;
    for (int i = 0; i < out->n; i++)
        for (int d = 0; d < p->ndims; d++)
            out->dim[i][d] = i == 0 ? p->dims[d].value : some[rng_below(r, sizeof some / sizeof *some)];
}

/* One configuration, its launcher against its plans. Gives at how many sizes it ran. */
static int compare(struct problem *p, struct kernel *k, const struct target *t, const config_choice *choice,
                   const struct sizes *sizes)
{
    int served;
    char *wanted = plans_say(p, k, t, choice, sizes, &served), *got = program_says(p, k, t, choice, sizes);
    struct strbuf what = {0};
    sb_addf(&what, "kernel %s, choices", k->name);
    for (int i = 0; i < k->nparams; i++) {
        sb_addf(&what, " %s=", k->params[i].name);
        value_print(&what, k->params[i].values[choice[i]]);
    }
    same_text(got, wanted, sb_str(&what), sizes, p->ndims);
    sb_free(&what);
    mem_free(wanted);
    mem_free(got);
    return served;
}

static void compare_kernels(const char *path, const char *target, const int64_t *tuned, int configurations)
{
    struct problem *p = program_problem(program_tree(path), path);
    struct target t;
    struct err e = {0};
    struct rng r;
    rng_seed(&r, 7);
    if (target_named(target, &t, &e))
        fail_msg("%s", e.text);
    for (int d = 0; tuned && d < p->ndims; d++)
        p->dims[d].value = tuned[d];
    for (int i = 0; i < p->nkernels; i++) {
        struct kernel *k = &p->kernels[i];
        struct space *space;
        int served = 0;
        if (k->baseline)
            continue;
        if (space_open(p, k, &t, &space, &e))
            fail_msg("%s", e.text);
        stub_source(k);
        config_choice *choice = mem_zalloc((size_t)k->nparams + 1, sizeof *choice);
        for (int c = 0; c < configurations; c++) {
            struct sizes sizes;
            choose_sizes(p, &r, &sizes);
            space_at(space, space_random(space, &r), choice);
            served += compare(p, k, &t, choice, &sizes);
            compare_selftest(p, k, &t, choice);
        }
        if (served < 2 * configurations)
            fail_msg("%s: kernel %s: %d configurations ran at %d sizes in all", path, k->name, configurations, served);
        mem_free(choice);
        space_close(space);
    }
    problem_free(p);
}

static void needs_compiler(void)
{
    if (system("command -v ${CXX:-c++} >/dev/null"))
        skip();
}

static const int64_t large[] = {1024, 8192, 8192};

static void test_float(void **state)
{
    needs_compiler();
    compare_kernels("kernels/linear/spec.lua", "sm_90a", large, 4);
    compare_kernels("kernels/linear/spec.lua", "sm_90a", NULL, 2);
}

static void test_narrow(void **state)
{
    needs_compiler();
    compare_kernels("kernels/linear_f16/spec.lua", "sm_90a", large, 2);
    compare_kernels("kernels/linear_bf16/spec.lua", "sm_90a", large, 2);
}

static void test_all_that_a_launch_says(void **state)
{
    needs_compiler();
    compare_kernels("test/specs/launch.lua", "sm_90a", NULL, 6);
}

/* Lets and workspace that depend on scalars. */
static void test_scalars(void **state)
{
    needs_compiler();
    compare_kernels("test/specs/scalars.lua", "sm_90a", NULL, 2);
}

/* A let that the source was compiled with: other sizes are refused where it would be another. */
static void test_compiled_let(void **state)
{
    static const struct sizes sizes = {4, {{40, 24, 16}, {36, 24, 16}, {41, 24, 16}, {36, 8, 16}}};
    struct problem *p = program_problem(program_tree("test/specs/names.lua"), "test/specs/names.lua");
    struct kernel *k = &p->kernels[0];
    struct target t;
    struct err e = {0};
    config_choice choice[4];
    needs_compiler();
    if (target_named("sm_90a", &t, &e) || config_from_text(k, "TILE=8 EARLY=true", choice, &e))
        fail_msg("%s", e.text);
    stub_source(k);
    static const char *const sources[] = {
        "%s// LATHE_LET_wide_ is another\nconst int ROWS_HERE = LATHE_LET_rows;\n",
        "%s#define LET(name) LATHE_LET_##name\n", "%s#define OF(name) LATHE_##name\n"};
    char *plain = mem_strdup(k->source);
    for (int v = 0; v < 3; v++) {       /* a name that is pasted together may be any */
        mem_free(k->source);
        k->source = mem_printf(sources[v], plain);
        char *said = program_says(p, k, &t, choice, &sizes);
        const char *at = said, *results[4];
        for (int i = 0; i < 4; i++) {
            const char *done = strstr(at, "done\n"), *refused = strstr(at, "refused\n");
            results[i] = !done || (refused && refused < done) ? refused : done;
            assert_non_null(results[i]);
            at = results[i] + 1;
        }
        assert_true(*results[0] == 'd' && *results[1] == 'd' && *results[2] == 'r');
        assert_true(*results[3] == (v ? 'r' : 'd'));            /* `wide`, too, is another there */
        mem_free(said);
    }
    mem_free(plain);
    problem_free(p);
}

/* Formulas that have no value at a size: it is refused, as the plan refuses it, and the program goes on. Divisors of 0
 * in a constraint, a let, a workspace and arguments; log2 of no power of two; a workspace of less than nothing; and an
 * int argument below all ints. */
static void test_no_value(void **state)
{
    static const struct sizes sizes = {
        10, {{40, 24, 16}, {15, 24, 16}, {8, 24, 16}, {9, 24, 16}, {40, 3, 16}, {40, 8, 16}, {40, 20, 16}, {40, 24, 17},
             {10, 24, 16}, {15, 9, 512}}};
    needs_compiler();
    json_t *tree = program_tree("test/specs/names.lua");
    json_t *kernel = json_array_get(json_object_get(tree, "kernels"), 0);
    json_t *steps = json_object_get(kernel, "steps"), *last = json_array_get(steps, json_array_size(steps) - 1);
    json_t *args = json_object_get(last, "args");
    json_array_append_new(json_object_get(kernel, "constraints"), json_pack("[s, s]", "M < 9 or K % (M // 10) >= 0",
                                                                          "a reason\nof two lines \\"));
    json_array_append_new(json_object_get(kernel, "let"), json_pack("[s, s]", "share", "ceil_div(K, N - 8)"));
    json_array_append_new(json_object_get(kernel, "let"), json_pack("[s, s]", "depth", "log2(K)"));
    json_array_append_new(json_object_get(kernel, "workspace"),
                          json_pack("{s:[s, s, [s]]}", "#", "part", "f32", "1000 // (N % 10)"));
    json_array_append_new(json_object_get(kernel, "workspace"),
                          json_pack("{s:[s, s, [s]]}", "#", "less", "f32", "1 + (M - 14) * 2"));
    json_array_append_new(args, json_pack("{s:s, s:[s]}", "tag", "i64", "#", "K // (M - 8) + 7 % (M - 8)"));
    json_array_append_new(args, json_pack("{s:s, s:[s]}", "tag", "f32", "#", "N / (M - 8)"));
    json_array_append_new(args, json_pack("{s:s, s:[s]}", "tag", "i32", "#", "-4000000 * depth * share"));
    struct problem *p = program_problem(tree, "test/specs/names.lua");
    struct target t;
    struct err e = {0};
    config_choice choice[4];
    if (target_named("sm_90a", &t, &e) || config_from_text(&p->kernels[0], "TILE=8 EARLY=true", choice, &e))
        fail_msg("%s", e.text);
    stub_source(&p->kernels[0]);
    assert_int_equal(compare(p, &p->kernels[0], &t, choice, &sizes), 2);
    problem_free(p);
}

/* What the self-test of an export of test/specs/names.lua's first kernel says, compiled with the options, where nothing
 * is computed. tree: the specification, taken. with: stands in the export's text; NULL: no matter. mem_free it. */
static char *selftest_says(json_t *tree, const char *options, const char *with)
{
    struct target t;
    struct err e = {0};
    struct strbuf text = {0};
    config_choice choice[4];
    bool compiled;
    struct problem *p = program_problem(tree, "test/specs/names.lua");
    if (target_named("sm_90a", &t, &e) || config_from_text(&p->kernels[0], "TILE=8 EARLY=true", choice, &e))
        fail_msg("%s", e.text);
    stub_source(&p->kernels[0]);
    add_export(&text, p, &p->kernels[0], &t, choice);
    if (with && !strstr(sb_str(&text), with))
        fail_msg("the export does not have %s", with);
    add_support(&text, p, &p->kernels[0]);
    char *got = program_run(sb_str(&text), options, &compiled);
    if (!compiled)
        fail_msg("%s", got);
    sb_free(&text);
    problem_free(p);
    return got;
}

/* A self-test whose launcher serves none of its sizes fails, and so does one that has none. */
static void test_no_size(void **state)
{
    static const char *const constraints[] = {"M > 100000000", "M > 100000000 or M < 100"};
    static const char *const said[] = {"0 of 0 sizes run, 0 right\nFAIL", "0 of 4 sizes run, 0 right\nFAIL"};
    needs_compiler();
    for (int i = 0; i < 2; i++) {
        json_t *tree = program_tree("test/specs/names.lua");
        json_t *kernel = json_array_get(json_object_get(tree, "kernels"), 0);
        json_array_append_new(json_object_get(kernel, "constraints"), json_string(constraints[i]));
        char *got = selftest_says(tree, i ? "-DLATHE_SELFTEST -DSTUB_REFUSES" : "-DLATHE_SELFTEST", NULL);
        if (!strstr(got, said[i]))
            fail_msg("the self-test says\n%s", got);
        mem_free(got);
    }
}

/* A kernel for one size alone, as one that was compiled for it: that is what its self-test tries. */
static void test_one_size(void **state)
{
    json_t *tree = program_tree("test/specs/names.lua");
    json_t *kernel = json_array_get(json_object_get(tree, "kernels"), 0);
    struct target t;
    struct err e = {0};
    struct strbuf text = {0};
    struct sizes sizes;
    config_choice choice[4];
    json_array_append_new(json_object_get(kernel, "constraints"), json_string("M == 41 and N == 28 and K == 19"));
    struct problem *p = program_problem(tree, "test/specs/names.lua");
    for (int d = 0; d < 3; d++)
        p->dims[d].value = (int64_t[]){41, 28, 19}[d];
    if (target_named("sm_90a", &t, &e) || config_from_text(&p->kernels[0], "TILE=8 EARLY=true", choice, &e))
        fail_msg("%s", e.text);
    add_export(&text, p, &p->kernels[0], &t, choice);
    read_sizes(sb_str(&text), p->ndims, &sizes);
    assert_int_equal(sizes.n, 1);
    assert_true(sizes.dim[0][0] == 41 && sizes.dim[0][1] == 28 && sizes.dim[0][2] == 19);
    sb_free(&text);
    problem_free(p);
}

/* Where the reference is a NaN, one that was there before is none of the kernel's. */
static void test_nothing_is_written(void **state)
{
    needs_compiler();
    json_t *tree = program_tree("test/specs/names.lua");
    json_object_set_new(tree, "epilogue", json_string("sqrt(0 - 1 - z * z)"));
    char *got = selftest_says(tree, "-DLATHE_SELFTEST", NULL);
    if (!strstr(got, "4 of 4 sizes run, 0 right\nFAIL"))
        fail_msg("the self-test says\n%s", got);
    mem_free(got);
}

/* Axes of the reference's matrices that are formulas: the self-test has them as C, where `//` begins a comment. */
static void test_axes(void **state)
{
    needs_compiler();
    json_t *tree = program_tree("test/specs/names.lua"), *tensor;
    size_t i;
    json_array_foreach(json_object_get(tree, "tensors"), i, tensor)
    {
        json_t *shape = json_array_get(json_object_get(tensor, "#"), 2);
        if (i < 3) json_array_set_new(shape, 1, json_string("ceil_div(K // 1, 1)"));
    }
    mem_free(selftest_says(tree, "-DLATHE_SELFTEST", "lathe_k < (lathe_ceil_div_i("));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_all_that_a_launch_says),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_nothing_is_written),
        cmocka_unit_test(test_compiled_let),
        cmocka_unit_test(test_no_value),
        cmocka_unit_test(test_no_size),
        cmocka_unit_test(test_one_size),
        cmocka_unit_test(test_axes),
    };
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
