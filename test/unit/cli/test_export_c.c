/* test_export_c.c: the exported C for CUDA's driver, compiled as strict C11 against a driver that runs nothing: it
 * launches what the plan says at any size. test_export_c_choice.c: which of several configurations it chooses. */
#include "driver/exported.h"

#include "runtime/compare.h"

static char *c_says(const struct problem *p, const struct kernel *k, const struct target *t,
                    const config_choice *choice, const struct sizes *sizes)
{
    struct strbuf header = {0}, source = {0}, b = {0};
    struct err e = {0};
    json_t *provenance = json_object();
    const struct export_input in = {p, k, choice, t, provenance, NULL};
    const struct export_variant v = {.in = &in, .cubin = {.data = "image", .len = 5}};
    if (export_c(&v, 1, "w.h", &header, &source, &e))
        fail_msg("%s", e.text);
    add_head(&b);
    sb_add(&b, "struct fake_device fake_device = ");
    add_device(&b, t);
    sb_add(&b, ";\n");
    add_kinds(&b, p, &k, 1);
    sb_addf(&b, "int main(void)\n{\n    struct lathe_%s *w;\n    size_t bytes;\n    if (lathe_%s_open(&w)) return 1;\n",
            p->name, p->name);
    for (int i = 0; i < sizes->n; i++) {
        sb_addf(&b, "    puts(lathe_%s_workspace(w, ", p->name);
        for (int d = 0; d < p->ndims; d++)
            sb_addf(&b, "%lld, ", (long long)sizes->dim[i][d]);
        sb_add(&b, "&bytes) == CUDA_SUCCESS && ");
        add_call(&b, p, sizes->dim[i], "bytes");
        sb_add(&b, " == CUDA_SUCCESS ? \"done\" : \"refused\");\n");
    }
    sb_addf(&b, "    lathe_%s_close(w);\n    return fake_modules;\n}\n", p->name);
    char *said = run_c(&header, &source, &b);
    sb_free(&header);
    sb_free(&source);
    sb_free(&b);
    json_decref(provenance);
    return said;
}

static void test_linear(void **state)
{
    needs_compiler();
    compare_kernels("kernels/linear/spec.lua", 2, 11, c_says);
}

static void test_narrow(void **state)
{
    needs_compiler();
    compare_kernels("kernels/linear_bf16/spec.lua", 1, 11, c_says);
}

static void test_all_that_a_launch_says(void **state)
{
    needs_compiler();
    compare_kernels("test/specs/launch.lua", 6, 11, c_says);
}

/* Results of different problems have no common parameters. */
static void test_different(void **state)
{
    struct target t;
    struct err e = {0};
    json_t *provenance = json_object();
    struct strbuf header = {0}, source = {0};
    struct problem *a = program_problem(program_tree("kernels/linear/spec.lua"), "kernels/linear/spec.lua");
    struct problem *b = program_problem(program_tree("test/specs/launch.lua"), "test/specs/launch.lua");
    config_choice choice[64] = {0};
    if (target_named("sm_90a", &t, &e))
        fail_msg("%s", e.text);
    const struct export_input in[] = {{a, &a->kernels[0], choice, &t, provenance, NULL},
                                      {b, &b->kernels[0], choice, &t, provenance, NULL}};
    const struct export_variant v[] = {{.in = &in[0], .cubin = {.data = "a", .len = 1}},
                                       {.in = &in[1], .cubin = {.data = "b", .len = 1}}};
    assert_int_equal(export_c(v, 2, "w.h", &header, &source, &e), LATHE_USAGE);
    assert_non_null(strstr(e.text, "different problems"));
    sb_free(&header);
    sb_free(&source);
    json_decref(provenance);
    problem_free(a);
    problem_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_all_that_a_launch_says),
        cmocka_unit_test(test_different),
    };
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
