/* test_lib.c: liblathe launches what the plan says at any size, and chooses among sizes and devices as the export in C
 * does. */
#include "guest_fixture.h"

#include "../cli/runtime/compare.h"

static const struct problem *kinds_problem;
static const struct kernel *kinds_kernel[2];

static const char *kinds(const char *function)
{
    static struct strbuf b;
    sb_free(&b);
    for (int k = 0; k < 2; k++)
        for (int i = 0; kinds_kernel[k] && i < kinds_kernel[k]->nsteps; i++)
            if (!strcmp(kinds_kernel[k]->steps[i].launch.function, function) && !b.len)
                add_kinds_of(&b, kinds_problem, &kinds_kernel[k]->steps[i].launch);
    return sb_str(&b);
}

/* A launch at a size: its lines and "done", or "refused". */
static void launch_at(lathe *l, const struct problem *p, const int64_t *dim, struct strbuf *b)
{
    lathe_kernel *k = NULL;
    uint64_t tensors[32];
    for (int t = 0; t < p->ntensors; t++)
        tensors[t] = tensor_at(t);
    lathe_result r = lathe_select(l, dim, p->ndims, NULL, 0, &k);
    if (r == LATHE_SUCCESS) {
        good(lathe_launch(k, tensors, p->ntensors, workspace_at, lathe_workspace(k), NULL));
        char *lines = guest_said();
        sb_add(b, lines);
        mem_free(lines);
    } else if (r != LATHE_ERROR_NOT_SERVED) {
        fail_msg("%s", lathe_error());
    }
    sb_add(b, k ? "done\n" : "refused\n");
    lathe_release(k);
}

static char *library_says(const struct problem *p, const struct kernel *k, const struct target *t,
                          const config_choice *choice, const struct sizes *sizes)
{
    struct strbuf b = {0};
    json_t *provenance = json_object();
    const struct export_input in = {p, k, choice, t, provenance, NULL};
    const struct export_variant v = {.in = &in, .cubin = {.data = "image", .len = 5}};
    char *path = guest_bundle(&v, 1, "one.lathe");
    lathe *l;
    guest_device(t);
    kinds_problem = p;
    kinds_kernel[0] = k, kinds_kernel[1] = NULL;
    library->kinds = kinds;
    good(lathe_open(path, p->name, &l));
    for (int i = 0; i < sizes->n; i++)
        launch_at(l, p, sizes->dim[i], &b);
    lathe_close(l);
    json_decref(provenance);
    mem_free(path);
    return sb_take(&b);
}

static void test_linear(void **state)
{
    compare_kernels("kernels/linear/spec.lua", 20, 12, library_says);
}

static void test_narrow(void **state)
{
    compare_kernels("kernels/linear_bf16/spec.lua", 10, 12, library_says);
}

static void test_all_that_a_launch_says(void **state)
{
    compare_kernels("test/specs/launch.lua", 40, 12, library_says);
}

/* --- several --- */

static void test_choice(void **state)
{
    struct choices c;
    struct target t;
    choices_open(&c);
    char *path = guest_bundle(c.v, TUNED + 1, "several.lathe");
    kinds_problem = c.p[0];
    kinds_kernel[0] = c.in[0].kernel, kinds_kernel[1] = c.fallback.in.kernel;
    library->kinds = kinds;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lathe *l;
        lathe_kernel *k;
        choice_device(&cases[i], &t);
        guest_device(&t);
        good(lathe_open(path, NULL, &l));
        lathe_result r = lathe_select(l, cases[i].dim, 3, NULL, 0, &k);
        if (cases[i].wanted ? r || !strstr(lathe_choice(k), cases[i].wanted) : !r || k)
            fail_msg("case %zu: wanted %s, got %s", i, cases[i].wanted ? cases[i].wanted : "none",
                     k ? lathe_choice(k) : lathe_error());
        lathe_close(l);                 /* what was selected stays good */
        if (k) {
            const uint64_t tensors[] = {tensor_at(0), tensor_at(1), tensor_at(2), tensor_at(3)};
            good(lathe_launch(k, tensors, 4, workspace_at, lathe_workspace(k), NULL));
        }
        lathe_release(k);
        assert_int_equal(library->loads, 0);
    }
    mem_free(path);
    choices_close(&c);
}

/* The scalars of a launch are those that were given; without any, the specification's. */
static void test_scalars(void **state)
{
    struct choices c;
    lathe *l;
    lathe_kernel *k;
    const int64_t size[] = {64, 1024, 1024};
    const uint64_t tensors[] = {tensor_at(0), tensor_at(1), tensor_at(2), tensor_at(3)};
    choices_open(&c);
    guest_device(&c.t[0]);
    char *path = guest_bundle(c.v, 1, "scalars.lathe");
    kinds_problem = c.p[0];
    kinds_kernel[0] = c.in[0].kernel, kinds_kernel[1] = NULL;
    library->kinds = kinds;
    good(lathe_open(path, NULL, &l));
    assert_string_equal(lathe_problem(l), "linear");
    assert_int_equal(lathe_tensors(l), 4);
    assert_int_equal(lathe_dims(l), 3);
    assert_int_equal(lathe_scalars(l), 1);
    assert_string_equal(lathe_tensor_name(l, 3), "Y");
    assert_string_equal(lathe_tensor_type(l, 3), "f32");
    assert_string_equal(lathe_dim_name(l, 2), "K");
    assert_string_equal(lathe_scalar_name(l, 0), "s");
    assert_null(lathe_tensor_name(l, 4));
    assert_null(lathe_dim_name(l, -1));
    for (int given = 0; given < 2; given++) {
        good(lathe_select(l, size, 3, given ? (float[]){0.25f} : NULL, given, &k));
        good(lathe_launch(k, tensors, 4, 0, 0, NULL));
        char *lines = guest_said();
        assert_non_null(strstr(lines, given ? "f32=0x1p-2" : "f32=0x1p+1"));
        mem_free(lines);
        lathe_release(k);
    }
    lathe_close(l);
    mem_free(path);
    choices_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_linear, guest_before, guest_after),
        cmocka_unit_test_setup_teardown(test_narrow, guest_before, guest_after),
        cmocka_unit_test_setup_teardown(test_all_that_a_launch_says, guest_before, guest_after),
        cmocka_unit_test_setup_teardown(test_choice, guest_before, guest_after),
        cmocka_unit_test_setup_teardown(test_scalars, guest_before, guest_after),
    };
    return cmocka_run_group_tests(tests, guest_setup, program_teardown);
}
