/* test_host_split.c: the host's twins of the conversions in kernels/common/split.cuh, against their definition: every
 * number of 16 bits, and what lies around the middle between it and the next. */
#define HOST_KERNELS "host_split.cu"
#include "host_fixture.h"
#include <math.h>

struct format {
    const char *name;
    int mantissa, min_exponent;     /* bits after the point; exponent of the least normal number */
    uint32_t infinity;
    int shift;                      /* of its bits in what `pack` gives */
};
static const struct format bf16 = {"bf16", 7, -126, 0x7f80, 0}, fp16 = {"fp16", 10, -14, 0x7c00, 16};

/* The number that 15 bits mean; for infinity the one that would follow the largest. */
static double value_of(const struct format *f, uint32_t bits)
{
    int exponent = (int)(bits >> f->mantissa);
    double m = bits & ((1u << f->mantissa) - 1);
    return exponent ? ldexp(m + (1 << f->mantissa), exponent - 1 + f->min_exponent - f->mantissa)
                    : ldexp(m, f->min_exponent - f->mantissa);
}

static void packed(const float *x, uint32_t *out, int n)
{
    uint64_t bytes = (uint64_t)n * 4;
    dev_ptr px = buffer(bytes, 0), po = buffer(bytes, 0);
    OK(ops->copy_in(fx->dev, px, x, bytes, &e));
    run("pack", LINE(((uint32_t)n + 255) / 256, 256), ARGS(&px, &po, &n));
    take(out, po, bytes);
    ops->release(fx->dev, px);
}

static void check_rounding(const struct format *f)
{
    int n = 0, count = (int)f->infinity * 8;
    float *x = mem_alloc((size_t)count * sizeof *x);
    uint32_t *want = mem_alloc((size_t)count * sizeof *want), *got = mem_alloc((size_t)count * sizeof *got);
    for (uint32_t h = 0; h < f->infinity; h++) {
        float v = (float)value_of(f, h), middle = (float)((value_of(f, h) + value_of(f, h + 1)) / 2);
        float at[4] = {v, nextafterf(middle, 0.0f), middle, nextafterf(middle, INFINITY)};
        uint32_t is[4] = {h, h, h + (h & 1), h + 1};
        for (int i = 0; i < 4; i++) {
            x[n] = at[i], want[n++] = is[i];
            x[n] = -at[i], want[n++] = is[i] | 0x8000;
        }
    }
    packed(x, got, n);
    for (int i = 0; i < n; i++)
        if ((got[i] >> f->shift & 0xffff) != want[i])
            fail_msg("%s of %a is %04x, not %04x", f->name, (double)x[i], got[i] >> f->shift & 0xffff, want[i]);
    mem_free(x);
    mem_free(want);
    mem_free(got);
}

static void test_rounds_to_nearest(void **state)
{
    check_rounding(&bf16);
    check_rounding(&fp16);
}

static void test_not_finite(void **state)
{
    float x[] = {INFINITY, -INFINITY, NAN, 65519.996f, 65520.0f, 3.4e38f};
    uint32_t out[6];
    packed(x, out, 6);
    assert_int_equal(out[0], 0x7c007f80);
    assert_int_equal(out[1], 0xfc00ff80);
    assert_int_equal(out[2], 0x7fff7fff);
    assert_int_equal(out[3] >> 16, 0x7bff);
    assert_int_equal(out[4] >> 16, 0x7c00);
    assert_int_equal(out[5], 0x7c007f80);
}

static void test_unpacks(void **state)
{
    enum { N = 0x10000 };
    float *out = mem_alloc(2 * N * sizeof *out);
    int n = N;
    dev_ptr p = buffer(2 * N * sizeof *out, 0);
    run("unpack", LINE(N / 256, 256), ARGS(&p, &n));
    take(out, p, 2 * N * sizeof *out);
    for (uint32_t i = 0; i < N; i++)
        for (int which = 0; which < 2; which++) {
            const struct format *f = which ? &fp16 : &bf16;
            uint32_t magnitude = i & 0x7fff;
            float got = out[2 * i + (uint32_t)which];
            double v = copysign(magnitude == f->infinity ? INFINITY : value_of(f, magnitude), i >> 15 ? -1 : 1);
            if (magnitude > f->infinity) assert_true(isnan(got));
            else assert_true((double)got == v && !!signbit(got) == i >> 15);
        }
    mem_free(out);
}

static void test_splits(void **state)
{
    static const float x[] = {0.0f,         1.0f,   -0.1f,      3.14159274f, 1.00195312f,
                              -1234.56787f, 0.001f, 8388609.0f, 1e-30f,      -6e4f};
    enum { N = sizeof x / sizeof *x };
    float out[N][8], scale = 16;
    int n = N;
    dev_ptr px = buffer(sizeof x, 0), po = buffer(sizeof out, 0);
    OK(ops->copy_in(fx->dev, px, x, sizeof x, &e));
    run("split", LINE(1, 32), ARGS(&px, &po, &scale, &n));
    take(out, po, sizeof out);
    ops->release(fx->dev, px);
    for (int i = 0; i < N; i++) {
        double v = (double)x[i], magnitude = fabs(v);
        const float *o = out[i];
        assert_true(fabs(v - ((double)o[0] + (double)o[1])) <= ldexp(magnitude, -16));
        assert_true(fabs(v - ((double)o[6] + (double)o[7])) <= ldexp(magnitude, -22));
        if (magnitude < 65520) {
            assert_true(fabs(v - ((double)o[2] + (double)o[3])) <= ldexp(magnitude, -22) + ldexp(1, -25));
        } else {
            assert_true(isinf(o[2]));
        }
        if (magnitude < 4095) {
            assert_true(fabs(16 * v - ((double)o[4] + (double)o[5])) <= ldexp(magnitude, -18) + ldexp(1, -25));
        } else {
            assert_true(isinf(o[4]));
        }
        uint32_t bits;
        memcpy(&bits, &o[6], 4);
        assert_int_equal(bits & 0x1fff, 0);
    }
}

/* Parts of 9 bits: hi to nearest or cut off, lo to nearest of what is left or all of its 11 bits. */
static void test_splits_short(void **state)
{
    float x[] = {0.0f,  1.0f,   -0.1f,   3.14159274f,   1.00195312f, -1234.56787f,
                 0.37f, 1.998f, -1.998f, 0x1.00ffffp0f, INFINITY,    NAN};
    enum { N = sizeof x / sizeof *x };
    float out[N][4], scale = 16;
    int n = N;
    dev_ptr px = buffer(sizeof x, 0), po = buffer(sizeof out, 0);
    OK(ops->copy_in(fx->dev, px, x, sizeof x, &e));
    run("split_short", LINE(1, 32), ARGS(&px, &po, &scale, &n));
    take(out, po, sizeof out);
    ops->release(fx->dev, px);
    for (int i = 0; i < N; i++) {
        double v = 16 * (double)x[i], magnitude = fabs(v);
        if (!isfinite(v)) {
            assert_true(isnan(out[i][1]) && isnan(out[i][3]));
            continue;
        }
        for (int part = 0; part < 4; part++) {
            int exponent;
            double bits = ldexp(frexp((double)out[i][part], &exponent), part == 3 ? 11 : 9);
            assert_true(bits == rint(bits));
        }
        assert_true(fabs(v - (double)out[i][0]) <= ldexp(magnitude, -9));
        assert_true(fabs(v - ((double)out[i][0] + (double)out[i][1])) <= ldexp(magnitude, -18));
        assert_true(fabs((double)out[i][2]) <= magnitude && fabs(v - (double)out[i][2]) <= ldexp(magnitude, -8));
        assert_true(fabs(v - ((double)out[i][2] + (double)out[i][3])) <= ldexp(magnitude, -19));
    }
}

/* tf32: ties go away from zero. */
static void test_tf32(void **state)
{
    float x[] = {1.0f + 0x1p-11f, -1.0f - 0x1p-11f, 1.0f + 0x1.8p-12f, INFINITY, NAN, 0x1.fffffep127f};
    float want[] = {1.0f + 0x1p-10f, -1.0f - 0x1p-10f, 1.0f, INFINITY, NAN, INFINITY};
    enum { N = sizeof x / sizeof *x };
    float out[N][8], scale = 1;
    int n = N;
    dev_ptr px = buffer(sizeof x, 0), po = buffer(sizeof out, 0);
    OK(ops->copy_in(fx->dev, px, x, sizeof x, &e));
    run("split", LINE(1, 32), ARGS(&px, &po, &scale, &n));
    take(out, po, sizeof out);
    ops->release(fx->dev, px);
    for (int i = 0; i < N; i++) {
        if (isnan(want[i])) assert_true(isnan(out[i][6]));
        else assert_true(out[i][6] == want[i]);
        if (!isfinite(want[i])) assert_false(isfinite(out[i][7]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounds_to_nearest), cmocka_unit_test(test_not_finite),
                                       cmocka_unit_test(test_unpacks), cmocka_unit_test(test_splits),
                                       cmocka_unit_test(test_splits_short),
                                       cmocka_unit_test(test_tf32)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
