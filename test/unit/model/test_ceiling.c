/* test_ceiling.c: peaks of units are the published ones, and a configuration's ceiling is that of its own units. */
#include "spec_fixture.h"

#include "model/ceiling.h"
#include "model/plan.h"
#include <math.h>

/* At the clocks that NVIDIA gives them at. */
static void published_peaks(void **state)
{
    static const struct {
        const char *name;
        int sm, sms;
        double ghz, f32, tf32, f16, bf16;
    } chips[] = {
        {"Tesla V100-SXM2-32GB", 70, 80, 1.53, 15.7, 0, 125, 0},
        {"Tesla T4", 75, 40, 1.59, 8.1, 0, 65, 0},
        {"NVIDIA GeForce RTX 2080 Ti", 75, 68, 1.545, 13.4, 0, 53.8, 0},
        {"NVIDIA A100-SXM4-80GB", 80, 108, 1.41, 19.5, 156, 312, 312},
        {"NVIDIA RTX A6000", 86, 84, 1.80, 38.7, 77.4, 154.8, 154.8},
        {"NVIDIA GeForce RTX 3090", 86, 82, 1.695, 35.6, 35.6, 71.2, 71.2},
        {"NVIDIA L40S", 89, 142, 2.49, 90.5, 181, 362, 362},
        {"NVIDIA GeForce RTX 4090", 89, 128, 2.52, 82.6, 82.6, 165.2, 165.2},
        {"NVIDIA H100 80GB HBM3", 90, 132, 1.83, 61.8, 494.7, 989.4, 989.4},
        {"NVIDIA H100 PCIe", 90, 114, 1.62, 47.3, 378, 756, 756},
        {"NVIDIA B200", 100, 148, 1.855, 70.3, 1125, 2250, 2250},
        {"NVIDIA GeForce RTX 5090", 120, 170, 2.407, 104.8, 104.8, 209.5, 209.5},
        {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 120, 188, 2.617, 126, 251.9, 503.8, 503.8},
        {"unheard of", 190, 100, 1, 25.6, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        struct target t = {0};
        double wanted[] = {chips[i].f32, chips[i].tf32, chips[i].f16, chips[i].bf16};
        snprintf(t.name, sizeof t.name, "%s", chips[i].name);
        t.limit[LIMIT_sm] = chips[i].sm;
        t.limit[LIMIT_sm_count] = chips[i].sms;
        t.peak_tflops_f32 = chips[i].sms * unit_flops_per_clock(chips[i].sm, t.name, UNIT_f32) * chips[i].ghz / 1000;
        for (int u = 0; u < UNIT_COUNT; u++)
            if (!(fabs(unit_peak_tflops(&t, (enum unit)u) - wanted[u]) <= 0.01 * wanted[u]))
                fail_msg("%s, %s: %g, not %g", t.name, unit_name((enum unit)u), unit_peak_tflops(&t, (enum unit)u),
                         wanted[u]);
    }
    struct target host;
    struct err e;
    assert_int_equal(target_named("host", &host, &e), LATHE_OK);
    for (int u = 0; u < UNIT_COUNT; u++)
        assert_true(unit_peak_tflops(&host, (enum unit)u) == 0);
}

/* Of a configuration on an H200 whose float32 peak is 66.9. computes: what kernel 0 says, NULL: nothing. */
static struct ceiling of(const char *kernel, const char *computes, const char *config)
{
    json_t *tree = fixture_tree();
    struct ceiling c;
    struct target t;
    struct err e = {0};
    config_choice choice[8];
    fixture_set(tree, "kernels/0/computes", computes);
    struct problem *p = fixture_problem(tree);
    const struct kernel *k = &p->kernels[problem_find_kernel(p, kernel)];
    struct value *slots = fixture_slots(p, k, config, choice);
    assert_int_equal(target_named("sm_90a", &t, &e), LATHE_OK);
    if (ceiling_of(p, k, &t, slots, &c, &e))
        fail_msg("%s", e.text);
    mem_free(slots);
    problem_free(p);
    return c;
}

static void close_to(double got, double wanted) { assert_true(fabs(got / wanted - 1) < 1e-9); }

#define PLAIN "BM=32 SPLIT_K=1 PADDED=false ALPHA=0.5"
#define SPLIT "BM=64 SPLIT_K=2 REDUCE=last_block PADDED=true ALPHA=0.5"

static void the_specification_says(void **state)
{
    (void)state;
    static const char computes[] =
        "[{\"#\": [\"bf16\"], \"products\": \"SPLIT_K + 1\", \"when\": \"PADDED\"}, [\"tf32\"], [\"f16\"]]";
    struct ceiling c = of("simt", computes, SPLIT);
    assert_true(c.from == CEILING_SPECIFICATION && c.unit == UNIT_bf16 && c.products == 3);
    close_to(c.unit_tflops, 66.9 * 16);
    close_to(c.tflops, 66.9 * 16 / 3);
    ceiling_measured(&c, 1e4);                      /* what is said is believed */
    assert_int_equal(c.from, CEILING_SPECIFICATION);
    c = of("simt", computes, PLAIN);                /* the first that holds */
    assert_true(c.unit == UNIT_tf32 && c.products == 1);
    close_to(c.tflops, 66.9 * 8);
    c = of("simt", "[{\"#\": [\"bf16\"], \"products\": 1.5}]", PLAIN);
    close_to(c.tflops, 66.9 * 16 / 1.5);
}

static void nobody_says(void **state)
{
    (void)state;
    static const char other[] = "[{\"#\": [\"bf16\"], \"when\": \"PADDED\"}]";
    for (int i = 0; i < 2; i++) {
        struct ceiling c = of("simt", i ? other : NULL, PLAIN);
        assert_true(c.from == CEILING_ASSUMED && c.unit == UNIT_f32 && c.products == 1);
        close_to(c.tflops, 66.9);
        ceiling_measured(&c, NAN);
        ceiling_measured(&c, 66.8);
        assert_int_equal(c.from, CEILING_ASSUMED);
        ceiling_measured(&c, 67);
        assert_true(c.from == CEILING_UNKNOWN && c.tflops == 0 && c.unit_tflops == 0);
    }
}

static void a_gemm_says(void **state)
{
    (void)state;
    struct ceiling c = of("cublas_tf32", NULL, "");
    assert_true(c.from == CEILING_GEMM && c.unit == UNIT_tf32 && c.products == 1);
    close_to(c.tflops, 66.9 * 8);
    c = of("cublas_alone", NULL, "");
    assert_true(c.from == CEILING_GEMM && c.unit == UNIT_f32);
}

static void no_products(void **state)
{
    (void)state;
    static const struct {
        const char *products, *message;
    } cases[] = {
        {"\"SPLIT_K - 1\"", "kernel simt: computes: `SPLIT_K - 1` gives 0 products, and it takes more than 0"},
        {"\"1 // (SPLIT_K - 1)\"", "kernel simt: computes: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char computes[100];
        config_choice choice[8];
        struct plan plan;
        struct err e = {0};
        snprintf(computes, sizeof computes, "[{\"#\": [\"bf16\"], \"products\": %s}]", cases[i].products);
        struct problem *p = fixture_changed("kernels/0/computes", computes);
        struct value *slots = fixture_slots(p, &p->kernels[0], PLAIN, choice);
        assert_int_equal(plan_build(p, &p->kernels[0], slots, &plan, &e), LATHE_SPEC);
        assert_has(e.text, cases[i].message);
        mem_free(slots);
        problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_peaks), cmocka_unit_test(the_specification_says), cmocka_unit_test(nobody_says),
        cmocka_unit_test(a_gemm_says),     cmocka_unit_test(no_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
