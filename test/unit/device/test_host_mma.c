/* test_host_mma.c: products of a warp on the host device (kernels/common/mma.cuh). */
#define HOST_KERNELS "host_mma.cu"
#include "host_fixture.h"
#include "base/rng.h"
#include <math.h>

/* Small multiples of 1/8: exact in every format, and so are all sums. */
static void fill(float *x, int n, struct rng *rng)
{
    for (int i = 0; i < n; i++) x[i] = ((float)rng_below(rng, 33) - 16) / 8;
}

static void check_product(const char *kernel, int depth)
{
    float a[16 * 16], b[16 * 8], c[16 * 8], got[16 * 8];
    struct rng rng;
    rng_seed(&rng, 5);
    fill(a, 16 * depth, &rng);
    fill(b, depth * 8, &rng);
    fill(c, 16 * 8, &rng);
    dev_ptr pa = buffer(sizeof a, 0), pb = buffer(sizeof b, 0), pc = buffer(sizeof c, 0);
    OK(ops->copy_in(fx->dev, pa, a, sizeof a, &e));
    OK(ops->copy_in(fx->dev, pb, b, sizeof b, &e));
    OK(ops->copy_in(fx->dev, pc, c, sizeof c, &e));
    run(kernel, LINE(1, 32), ARGS(&pa, &pb, &pc));
    take(got, pc, sizeof got);
    ops->release(fx->dev, pa);
    ops->release(fx->dev, pb);
    for (int row = 0; row < 16; row++)
        for (int col = 0; col < 8; col++) {
            double sum = (double)c[row * 8 + col];
            for (int k = 0; k < depth; k++) sum += (double)a[row * depth + k] * (double)b[k * 8 + col];
            if ((double)got[row * 8 + col] != sum)
                fail_msg("%s: C[%d][%d] is %g, not %g", kernel, row, col, (double)got[row * 8 + col], sum);
        }
}

static void test_products(void **state)
{
    check_product("product_bf16", 16);
    check_product("product_fp16", 16);
    check_product("product_tf32", 8);
}

static void test_half_a_warp(void **state)
{
    float out[16][4];
    dev_ptr p = buffer(sizeof out, 0);
    run("half_a_warp", LINE(1, 32), ARGS(&p));
    take(out, p, sizeof out);
    for (int t = 0; t < 16; t++)        /* rows 0 to 3 of A and columns 0 to 3 of B are there, rows 8 to 11 too */
        for (int i = 0; i < 4; i++) assert_int_equal(isnan(out[t][i]) != 0, t % 4 >= 2);
}

static void test_one_stays_away(void **state)
{
    struct err e = {0};
    dev_ptr p = buffer(128, 0);
    assert_int_equal(try("one_stays_away", LINE(1, 32), ARGS(&p), &e) || ops->sync(fx->dev, &e), 1);
    must_say(&e, "a collective operation of the warp with mask 0xffffffff");
    ops->release(fx->dev, p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_half_a_warp),
                                       cmocka_unit_test(test_one_stays_away)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
