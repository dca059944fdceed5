/* test_host_guard.c: kernels/linear/guard.cuh on the host: scales from samples of any floats; rows that are too small,
 * also in linear_wgmma_split; and the fallback, which computes all of Y if the guard is raised, lowers it, and touches
 * nothing otherwise. */
#define HOST_KERNELS "host_guard.cu"
#include "host_fixture.h"
#include "base/rng.h"
#include <math.h>

/* ---- the scale */

enum { COUNT = 3000 };
static float matrix[COUNT];

static void fill(float value)
{
    for (int i = 0; i < COUNT; i++) matrix[i] = i % 2 ? -value : value;
}

static int exponent_of(long long count)
{
    int out[33];
    dev_ptr p = buffer(sizeof matrix, 0), o = buffer(sizeof out, 0x12345);
    OK(ops->copy_in(fx->dev, p, matrix, sizeof matrix, &e));
    run("sample", LINE(1, 64), ARGS(&p, &o, &count));
    take(out, o, sizeof out);
    ops->release(fx->dev, p);
    for (int i = 1; i < 33; i++) assert_int_equal(out[i], out[0]);
    return out[0];
}

/* The largest comes to [2^11, 2^12), as far as a scale of 2^60 or 2^-60 can bring it. */
static void test_scale(void **state)
{
    static const struct {
        float value;
        int exponent;
    } cases[] = {{0.0f, 0},       {1.0f, 11},      {1.999f, 11},     {2.0f, 10},      {0.01f, 18},
                 {2048.0f, 0},    {1e38f, -60},    {0x1p71f, -60},   {0x1p70f, -59},  {0x1p-49f, 60},
                 {0x1p-50f, 60},  {0x1p-126f, 60}, {0x1p-149f, 60},  {1e-40f, 60},    {0x1.fffffep127f, -60},
                 {INFINITY, 0},   {NAN, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fill(cases[i].value);
        assert_int_equal(exponent_of(COUNT), cases[i].exponent);
        if (isfinite(cases[i].value) && fabs(log2((double)cases[i].value)) < 49) {
            double largest = ldexp((double)cases[i].value, cases[i].exponent);
            assert_true(cases[i].value == 0 || (largest >= 2048 && largest < 4096));
        }
    }
}

/* NaN and infinities are no magnitudes, whatever stands beside them. */
static void test_scale_beside_others(void **state)
{
    fill(3.0f);
    for (int i = 0; i < COUNT; i += 2) matrix[i] = i % 4 ? NAN : INFINITY;
    assert_int_equal(exponent_of(COUNT), 10);
    fill(0.0f);
    for (int i = 0; i < COUNT; i += 3) matrix[i] = 1e-42f;
    for (int i = 0; i < COUNT; i += 5) matrix[i] = -96.0f;
    assert_int_equal(exponent_of(COUNT), 5);
}

/* Of the first `count` elements only, down to one. */
static void test_scale_of_few(void **state)
{
    for (int count = 1; count <= 40; count++) {
        fill(1e30f);
        for (int i = 0; i < count; i++) matrix[i] = 5.0f;
        assert_int_equal(exponent_of(count), 9);
    }
    fill(0.0f);         /* and of as many all are looked at, nearly: at least one in two */
    for (int i = 0; i < 100; i += 2) matrix[i] = 5.0f;
    assert_int_equal(exponent_of(100), 9);
}

static void test_powers(void **state)
{
    float out[254];
    dev_ptr o = buffer(sizeof out, 0);
    run("powers", LINE(1, 256), ARGS(&o));
    take(out, o, sizeof out);
    for (int i = 0; i < 254; i++) assert_true(out[i] == (float)ldexp(1, i - 126));
}

/* ---- what is too small */

static void test_too_small(void **state)
{
    enum { N = 0x10000 };
    int *out = mem_alloc(2 * N * sizeof *out);
    dev_ptr o = buffer(2 * N * sizeof *out, 0);
    run("too_small", LINE(N / 256, 256), ARGS(&o));
    take(out, o, 2 * N * sizeof *out);
    for (int i = 0; i < N; i++) {
        int magnitude = i & 0x7fff;
        assert_int_equal(out[2 * i], magnitude > 0 && magnitude < (127 - 95) << 7);       /* bf16: below 2^-95 */
        assert_int_equal(out[2 * i + 1], magnitude > 0 && magnitude < (15 + 1) << 10);    /* fp16: below 2 */
    }
    mem_free(out);
}

/* ---- what the split of a matrix notices */

enum { ROWS = 21, LENGTH = 300, PADDED = 32, CHUNKS = 10 };     /* two parts of k, the second one short */
static float rows[ROWS][LENGTH];

static void ordinary(void)
{
    struct rng rng;
    rng_seed(&rng, 5);
    for (int i = 0; i < ROWS * LENGTH; i++) rows[i / LENGTH][i % LENGTH] = (float)rng_normal(&rng) * 1e-5f;
}

/* Whether linear_wgmma_split raises the guard. All of the tiles is written, finite, and zero beyond the matrix. */
static bool split_raises(void)
{
    int n = ROWS, padded = PADDED, k = LENGTH;
    uint16_t tiles[PADDED / 16][CHUNKS][16][64];
    uint32_t guard[2];
    dev_ptr x = buffer(sizeof rows, 0), t = buffer(sizeof tiles, 0xffffffff), g = buffer(8, 0);
    dev_ptr exponent = buffer(4, 0);
    OK(ops->copy_in(fx->dev, x, rows, sizeof rows, &e));
    run("linear_wgmma_split", LINE(1, 256), ARGS(&x, &t, &exponent, &g, &n, &padded, &k));
    take(tiles, t, sizeof tiles);
    take(guard, g, sizeof guard);
    ops->release(fx->dev, x);
    ops->release(fx->dev, exponent);
    for (int i = 0; i < PADDED * CHUNKS * 64; i++) {
        int row = i / (CHUNKS * 16 * 64) * 16 + i / 64 % 16;
        uint16_t bits = (&tiles[0][0][0][0])[i];
        assert_true((bits & 0x7fff) < 0x7c00);
        if (row >= ROWS) assert_int_equal(bits, 0);
    }
    assert_int_equal(guard[1], 0);
    return guard[0];
}

static void scale_part(int row, int from, int to, float factor)
{
    for (int k = from; k < to; k++) rows[row][k] *= factor;
}

static void test_split_notices_small_rows(void **state)
{
    ordinary();
    assert_false(split_raises());
    scale_part(0, 0, LENGTH, 0);            /* zeros are no small numbers */
    scale_part(20, 0, 256, -0.0f);
    assert_false(split_raises());
    scale_part(3, 7, LENGTH, 1e-6f);        /* a few large ones beside them are enough, of each part of k */
    assert_true(split_raises());
    rows[3][299] = 1e-5f;
    assert_false(split_raises());
    ordinary();
    scale_part(20, 0, LENGTH, 1e-4f);       /* high parts there are, low ones not */
    assert_true(split_raises());
    ordinary();
    scale_part(19, 0, LENGTH, 1e-10f);      /* neither */
    assert_true(split_raises());
    ordinary();
    scale_part(8, 256, LENGTH, 0);
    rows[8][297] = -1e-44f;                 /* one alone, denormal */
    assert_true(split_raises());
}

/* ---- the fallback */

enum { M = 67, N = 130, K = 75 };
static float X[M][K], W[N][K], Y[M][N];
static const uint32_t untouched = 0xffffffffu;

/* Of Y, which was `untouched`; the guard as it is afterwards. */
static void fall_back(uint32_t grid, uint32_t raised, int m, int n, int k)
{
    float scale = 0.5f;
    uint32_t guard[2];
    dev_ptr x = buffer(sizeof X, 0), w = buffer(sizeof W, 0), y = buffer(sizeof Y, untouched), g = buffer(8, 0);
    OK(ops->copy_in(fx->dev, x, X, sizeof X, &e));
    OK(ops->copy_in(fx->dev, w, W, sizeof W, &e));
    OK(ops->copy_in(fx->dev, g, &raised, sizeof raised, &e));
    run("linear_fallback", LINE(grid, 256), ARGS(&x, &w, &y, &g, &m, &n, &k, &scale));
    take(Y, y, sizeof Y);
    take(guard, g, sizeof guard);
    ops->release(fx->dev, x);
    ops->release(fx->dev, w);
    assert_int_equal(guard[0], 0);
    assert_int_equal(guard[1], 0);
}

static bool is_untouched(const float *y)
{
    uint32_t bits;
    memcpy(&bits, y, 4);
    return bits == untouched;
}

static void random_inputs(void)
{
    struct rng rng;
    rng_seed(&rng, 4);
    for (int i = 0; i < M * K; i++) X[i / K][i % K] = (float)(rng_normal(&rng) * 1e-30);
    for (int i = 0; i < N * K; i++) W[i / K][i % K] = (float)(rng_normal(&rng) * 1e36);
}

static void must_be_right(int m, int n, int k)
{
    const float *y = &Y[0][0];
    for (int i = 0; i < m * n; i++) {
        double sum = 0, size = 0;
        for (int j = 0; j < k; j++) {
            double product = (double)(&X[0][0])[i / n * k + j] * (double)(&W[0][0])[i % n * k + j];
            sum += product;
            size += fabs(product);
        }
        sum = 0.5 * sum + (i % n == 0 ? i / n : 0);
        if (!(fabs((double)y[i] - sum) <= ldexp(size + fabs(sum), -22)))
            fail_msg("Y[%d][%d] of %d x %d x %d is %g, not %g", i / n, i % n, m, n, k, (double)y[i], sum);
    }
    for (int i = m * n; i < M * N; i++) assert_true(is_untouched(&y[i]));
}

static void test_fallback(void **state)
{
    random_inputs();
    for (uint32_t grid = 1; grid <= 20; grid += grid < 7 ? 3 : 13) {    /* fewer blocks than tiles, as many, more */
        fall_back(grid, 1, M, N, K);
        must_be_right(M, N, K);
    }
    fall_back(2, 1, 1, 1, 1);
    must_be_right(1, 1, 1);
    fall_back(2, 1, 64, 128, 64);
    must_be_right(64, 128, 64);
    fall_back(5, 1, 65, 1, 17);
    must_be_right(65, 1, 17);
}

static void test_nothing_to_do(void **state)
{
    random_inputs();
    fall_back(4, 0, M, N, K);
    for (int i = 0; i < M * N; i++) assert_true(is_untouched(&Y[i / N][i % N]));
}

/* NaN and infinities are where a float32 GEMM has them. */
static void test_fallback_not_finite(void **state)
{
    random_inputs();
    X[3][5] = NAN;
    W[7][70] = INFINITY;
    X[8][70] = 0;
    fall_back(3, 1, M, N, K);
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            if (m == 3 || (m == 8 && n == 7)) assert_true(isnan(Y[m][n]));
            else if (n == 7) assert_true(isinf(Y[m][n]));
            else assert_true(isfinite(Y[m][n]));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_scale_beside_others),
        cmocka_unit_test(test_scale_of_few),
        cmocka_unit_test(test_powers),
        cmocka_unit_test(test_too_small),
        cmocka_unit_test(test_split_notices_small_rows),
        cmocka_unit_test(test_fallback),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_fallback_not_finite),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
