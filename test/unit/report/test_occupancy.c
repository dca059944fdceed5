/* test_occupancy.c: resident blocks against examples worked out by hand from the rules. */
#include "report/occupancy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct target gpu(int64_t sm)
{
    struct target t = {.arch = "sm"};
    t.limit[LIMIT_sm] = sm;
    t.limit[LIMIT_sm_count] = 132;
    t.limit[LIMIT_warp_size] = 32;
    t.limit[LIMIT_max_threads_per_sm] = 2048;
    t.limit[LIMIT_max_registers_per_sm] = 65536;
    t.limit[LIMIT_max_shared_per_sm] = 233472;
    return t;
}

static void expect(int64_t sm, int threads, int registers, int64_t shared, int blocks, enum occupancy_limit limiter)
{
    struct target t = gpu(sm);
    struct occupancy o;
    assert_true(occupancy_of(&t, threads, registers, shared, &o));
    assert_int_equal(o.blocks, blocks);
    assert_int_equal(o.limiter, limiter);
    assert_true(o.share == blocks * ((threads + 31) / 32) / 64.0);
}

static void test_limits(void **state)
{
    expect(90, 256, 32, 0, 8, OCCUPANCY_threads);
    expect(90, 32, 16, 0, 32, OCCUPANCY_blocks);
    expect(75, 32, 16, 0, 16, OCCUPANCY_blocks);
    expect(90, 256, 255, 0, 1, OCCUPANCY_registers);    /* 8192 a warp: 2 in a quarter of 16384, 8 in all */
    expect(90, 256, 33, 0, 6, OCCUPANCY_registers);     /* 40 x 32 = 1280 a warp: 12 in a quarter, 48 in all */
    expect(90, 128, 168, 0, 3, OCCUPANCY_registers);    /* 5376 a warp: 3 in a quarter, 12 in all */
    expect(90, 128, 32, 100 * 1024, 2, OCCUPANCY_shared);
    expect(90, 128, 32, 115712, 2, OCCUPANCY_shared);   /* and 1024: exactly half */
    expect(90, 128, 32, 115713, 1, OCCUPANCY_shared);
    expect(75, 128, 32, 116736, 2, OCCUPANCY_shared);   /* nothing is taken before compute capability 8.0 */
    expect(90, 33, 32, 0, 32, OCCUPANCY_threads);       /* two warps */
}

static void test_unknown(void **state)
{
    struct target t = gpu(0);
    struct occupancy o;
    assert_false(occupancy_of(&t, 128, 32, 0, &o));
    t = gpu(90);
    t.limit[LIMIT_max_registers_per_sm] = 0;
    assert_false(occupancy_of(&t, 128, 32, 0, &o));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits), cmocka_unit_test(test_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
