/* test_host_gemm.c: the host device's GEMM against a triple loop in double, at sizes around its tiles. */
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "device/dev.h"
#include "device/host/host_gemm.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct dev_ops host_ops;

struct matrices {
    float *a, *b, *c;
    double *wide_a, *wide_b, *wide_c, *want;
    size_t na, nb, nc;
};

/* To so many bits of mantissa, by arithmetic: no input here is near overflow, and bits below 2^-24 (f16) matter
 * little. */
static double rounded_to(int bits, double x)
{
    int exponent;
    double mantissa = frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(mantissa, bits)), exponent - bits);
}

static void fill(float *f, double *d, size_t n, struct rng *rng, enum gemm_compute compute)
{
    int bits = compute == GEMM_BF16 ? 8 : compute == GEMM_F32 ? 24 : 11;
    for (size_t i = 0; i < n; i++) {
        f[i] = (float)(rng_unit(rng) - 0.25);
        d[i] = rounded_to(bits, (double)f[i]);
    }
}

static struct matrices make(const struct host_gemm *g)
{
    struct matrices x = {.na = (size_t)(g->m * g->k), .nb = (size_t)(g->k * g->n), .nc = (size_t)(g->m * g->n)};
    struct rng rng;
    rng_seed(&rng, (uint64_t)(g->m * 31 + g->n * 7 + g->k));
    x.a = mem_zalloc(x.na, sizeof(float));
    x.b = mem_zalloc(x.nb, sizeof(float));
    x.c = mem_zalloc(x.nc, sizeof(float));
    x.wide_a = mem_zalloc(x.na, sizeof(double));
    x.wide_b = mem_zalloc(x.nb, sizeof(double));
    x.wide_c = mem_zalloc(x.nc, sizeof(double));
    x.want = mem_zalloc(x.nc, sizeof(double));
    fill(x.a, x.wide_a, x.na, &rng, g->compute);
    fill(x.b, x.wide_b, x.nb, &rng, g->compute);
    for (size_t i = 0; i < x.nc; i++) x.c[i] = NAN, x.wide_c[i] = NAN;      /* what was there must not matter */
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            double sum = 0;
            for (int64_t k = 0; k < g->k; k++)
                sum += x.wide_a[g->trans_a ? k * g->m + i : i * g->k + k] *
                       x.wide_b[g->trans_b ? j * g->k + k : k * g->n + j];
            x.want[i * g->n + j] = sum;
        }
    return x;
}

static void drop(struct matrices *x)
{
    void *all[] = {x->a, x->b, x->c, x->wide_a, x->wide_b, x->wide_c, x->want};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mem_free(all[i]);
}

static void check(struct host_gemm g)
{
    struct matrices x = make(&g);
    host_gemm_f32(&g, x.a, x.b, x.c);
    host_gemm_f64(&g, x.wide_a, x.wide_b, x.wide_c);
    for (size_t i = 0; i < x.nc; i++) {
        double scale = sqrt((double)g.k);
        double narrow = (double)x.c[i], wide = x.wide_c[i], want = x.want[i];
        if (!(fabs(narrow - want) <= 3e-6 * scale) || !(fabs(wide - want) <= 1e-14 * scale))
            fail_msg("%dx%dx%d: element %zu is %g in f32 and %g in f64, not %g", (int)g.m, (int)g.n, (int)g.k, i,
                     narrow, wide, want);
    }
    drop(&x);
}

static void test_sizes(void **state)
{
    static const int64_t sizes[][3] = {{1, 1, 1},    {1, 7, 300},   {17, 65, 130}, {64, 256, 128}, {65, 257, 129},
                                       {3, 8, 256},  {5, 300, 1},   {130, 1, 17},  {4, 4, 257}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int t = 0; t < 4; t++)
            check((struct host_gemm){sizes[s][0], sizes[s][1], sizes[s][2], t & 1, t & 2, GEMM_F32});
}

static void test_tf32(void **state)
{
    check((struct host_gemm){17, 65, 130, false, true, GEMM_TF32});
    struct host_gemm g = {17, 65, 130, false, true, GEMM_F32};
    struct matrices x = make(&g);
    double rounded = 0, size = 0;
    g.compute = GEMM_TF32;
    host_gemm_f32(&g, x.a, x.b, x.c);
    for (size_t i = 0; i < x.nc; i++) {
        rounded += ((double)x.c[i] - x.want[i]) * ((double)x.c[i] - x.want[i]);
        size += x.want[i] * x.want[i];
    }
    assert_true(sqrt(rounded / size) > 2e-5 && sqrt(rounded / size) < 1e-3);
    drop(&x);

    const struct {
        float in, out;
    } cases[] = {{1.0f, 1.0f},           {1.0f + 0x1p-11f, 1.0f},       {1.0f + 0x1.8p-11f, 1.0f + 0x1p-10f},
                 {1.0f + 0x1.8p-10f, 1.0f + 0x1p-9f},                   {-(1.0f + 0x1p-11f), -1.0f},
                 {2.0f - 0x1p-23f, 2.0f}, {INFINITY, INFINITY},         {0x1.fffffep127f, INFINITY}};
    const struct host_gemm one = {1, 1, 1, false, false, GEMM_TF32};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float unit = 1.0f, c;
        host_gemm_f32(&one, &cases[i].in, &unit, &c);
        if (c != cases[i].out)
            fail_msg("%a rounds to %a, not %a", (double)cases[i].in, (double)c, (double)cases[i].out);
    }
    float nan = NAN, unit = 1.0f, c;
    host_gemm_f32(&one, &nan, &unit, &c);
    assert_true(isnan(c));
}

/* f32 matrices rounded to 16 bits, and matrices that are of 16 bits, to themselves and to f32. */
static void test_narrow(void **state)
{
    for (int t = 0; t < 4; t++) {
        const enum dtype from = t & 1 ? DTYPE_f16 : DTYPE_bf16, to = t & 2 ? from : DTYPE_f32;
        struct host_gemm g = {17, 65, 131, t & 1, t & 2, from == DTYPE_f16 ? GEMM_F16 : GEMM_BF16};
        check(g);
        struct matrices x = make(&g);
        uint16_t *a = mem_zalloc(x.na, sizeof *a), *b = mem_zalloc(x.nb, sizeof *b), *c = mem_zalloc(x.nc, sizeof *c);
        for (size_t i = 0; i < x.na; i++) a[i] = t & 1 ? f16_from_float(x.a[i]) : bf16_from_float(x.a[i]);
        for (size_t i = 0; i < x.nb; i++) b[i] = t & 1 ? f16_from_float(x.b[i]) : bf16_from_float(x.b[i]);
        g.compute = GEMM_F32;
        host_gemm_narrow(&g, from, to, a, b, to == DTYPE_f32 ? (void *)x.c : c);
        for (size_t i = 0; i < x.nc; i++) {
            double got = to == DTYPE_f32 ? (double)x.c[i] : dtype_read(to, c, (int64_t)i);
            double limit = 3e-5 + (to == DTYPE_f32 ? 0 : dtype_roundoff(to) * fabs(x.want[i]));
            if (!(fabs(got - x.want[i]) <= limit))
                fail_msg("%s to %s: element %zu is %g, not %g", dtype_name(from), dtype_name(to), i, got, x.want[i]);
        }
        mem_free(a);
        mem_free(b);
        mem_free(c);
        drop(&x);
    }
}

/* The error is a plain running sum's, no better: a kernel that is as exact as SGEMM must not be held to more. */
static void test_error(void **state)
{
    const int64_t k = 100000;
    float *a = mem_zalloc((size_t)k, sizeof *a), *b = mem_zalloc((size_t)k, sizeof *b), c, naive = 0;
    double want = 0;
    struct rng rng;
    rng_seed(&rng, 5);
    for (int64_t i = 0; i < k; i++) {
        a[i] = (float)rng_unit(&rng);
        b[i] = (float)rng_unit(&rng);
        want += (double)a[i] * (double)b[i];
        naive += a[i] * b[i];
    }
    const struct host_gemm g = {1, 1, k, false, false, GEMM_F32};
    host_gemm_f32(&g, a, b, &c);
    double plain = fabs((double)naive - want) / want, error = fabs((double)c - want) / want;
    assert_true(error > plain / 4 && error < plain * 4);
    mem_free(a);
    mem_free(b);
}

static void test_device(void **state)
{
    struct dev *d;
    struct target target;
    struct err e = {0};
    if (host_ops.open(0, &d, &target, &e)) fail_msg("%s", e.text);
    float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 2, 0, 1, 1}, c[4];
    double wide = 3, square;
#define AT(x) ((dev_ptr)(uintptr_t)(x))
    struct plan_step step = {.kind = STEP_GEMM, .trans_b = true, .compute = GEMM_F32, .m = 2, .n = 2, .k = 3};
    if (host_ops.gemm(d, &step, DTYPE_f32, DTYPE_f32, AT(a), AT(b), AT(c), &e)) fail_msg("%s", e.text);
    const float want[4] = {7, 5, 16, 11};
    assert_memory_equal(c, want, sizeof want);
    assert_int_equal(host_ops.gemm(d, &step, DTYPE_f64, DTYPE_f64, AT(a), AT(b), AT(c), &e), LATHE_DEVICE);
    assert_non_null(strstr(e.text, "f64 to f64 in this precision is not supported"));
    assert_int_equal(host_ops.fault(d), DEV_FAULT_LAUNCH);
    assert_int_equal(host_ops.gemm(d, &step, DTYPE_bf16, DTYPE_f16, AT(a), AT(b), AT(c), &e), LATHE_DEVICE);
    assert_int_equal(host_ops.gemm(d, &step, DTYPE_f32, DTYPE_bf16, AT(a), AT(b), AT(c), &e), LATHE_DEVICE);
    const uint16_t half_a[2] = {0x4000, 0x4200}, half_b[2] = {0x3c00, 0x4400};      /* 2 3, 1 4 */
    uint16_t half_c;
    struct plan_step narrow = {.kind = STEP_GEMM, .compute = GEMM_F32, .m = 1, .n = 1, .k = 2};
    if (host_ops.gemm(d, &narrow, DTYPE_f16, DTYPE_f16, AT(half_a), AT(half_b), AT(&half_c), &e))
        fail_msg("%s", e.text);
    assert_int_equal(half_c, 0x4b00);                                               /* 14 */
    narrow.compute = GEMM_F16;
    assert_int_equal(host_ops.gemm(d, &narrow, DTYPE_f16, DTYPE_f16, AT(half_a), AT(half_b), AT(&half_c), &e),
                     LATHE_DEVICE);
    step.k = 0;
    assert_int_equal(host_ops.gemm(d, &step, DTYPE_f32, DTYPE_f32, AT(a), AT(b), AT(c), &e), LATHE_DEVICE);
    assert_non_null(strstr(e.text, "k=0, each must be at least 1"));
    struct plan_step one = {.kind = STEP_GEMM, .compute = GEMM_F64, .m = 1, .n = 1, .k = 1};
    if (host_ops.gemm(d, &one, DTYPE_f64, DTYPE_f64, AT(&wide), AT(&wide), AT(&square), &e)) fail_msg("%s", e.text);
    assert_true(square == 9);
    host_ops.close(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_tf32),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
