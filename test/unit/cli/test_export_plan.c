/* test_export_plan.c: "a launch is never written twice": the exported launcher, at any size, launches what the plan of
 * its configuration at that size says, and refuses what that refuses. For random configurations of every kernel of
 * kernels/linear, and of launches that say all they can. */
#include "runtime/program.h"

#include "search/space.h"

/* The tuned size, then others: each dimension one of these, at random. */
static void choose_sizes(const struct problem *p, struct rng *r, struct sizes *out)
{
    static const int64_t some[] = {1, 3, 8, 60, 64, 96, 100, 128, 129, 256, 512, 1000, 1024, 2048, 4096, 8192, 8200, 16384,
                                   32768, 100000, 2147483647};
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
        }
        if (served < configurations)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_all_that_a_launch_says),
    };
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
