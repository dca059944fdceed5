/* test_final_sort.c: the order of a final's entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "campaign/final/final_impl.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 8 };

/* ids of the order, as text */
static void assert_order(struct leader *leaders, int n, enum objective o, const char *wanted)
{
    struct entry list[MOST] = {0};
    char got[64] = "";
    for (int i = 0; i < n; i++) list[i].leader = &leaders[i];
    final_sort(list, n, o);
    for (int i = 0; i < n; i++) snprintf(got + strlen(got), sizeof got - strlen(got), "%d ", (int)list[i].leader->id);
    assert_string_equal(got, wanted);
}

static void test_the_cold_median_decides(void **state)
{
    struct leader l[] = {{.id = 1, .cold_ms = 1.02, .sustained_ms = 1.0},
                         {.id = 2, .cold_ms = 1.0, .sustained_ms = 2.0},
                         {.id = 3, .cold_ms = 1.01, .sustained_ms = 1.5}};
    assert_order(l, 3, OBJECTIVE_TIME, "2 3 1 ");
}

static void test_those_that_it_cannot_tell_apart_are_placed_by_both(void **state)
{
    /* as measured at 128 x 32768 x 32768 on an H200 */
    struct leader l[] = {{.id = 1, .cold_ms = 1.255, .sustained_ms = 1.513},
                         {.id = 2, .cold_ms = 1.255, .sustained_ms = 1.515},
                         {.id = 3, .cold_ms = 1.256, .sustained_ms = 1.494},
                         {.id = 4, .cold_ms = 1.27, .sustained_ms = 1.4}};
    assert_order(l, 4, OBJECTIVE_TIME, "3 1 2 4 ");
    /* what cold says weighs as much: noise of the one regime does not turn them over */
    struct leader near[] = {{.id = 1, .cold_ms = 1.0, .sustained_ms = 1.001},
                            {.id = 2, .cold_ms = 1.002, .sustained_ms = 1.0}};
    assert_order(near, 2, OBJECTIVE_TIME, "1 2 ");
}

static void test_a_group_reaches_from_its_quickest_not_from_one_to_the_next(void **state)
{
    struct leader l[] = {{.id = 1, .cold_ms = 1.0, .sustained_ms = 3.0},
                         {.id = 2, .cold_ms = 1.004, .sustained_ms = 2.0},
                         {.id = 3, .cold_ms = 1.008, .sustained_ms = 1.0}};
    assert_order(l, 3, OBJECTIVE_TIME, "2 1 3 ");
}

static void test_without_the_sustained_regime_it_is_cold_alone(void **state)
{
    struct leader l[] = {{.id = 1, .cold_ms = 1.001, .sustained_ms = NAN},
                         {.id = 2, .cold_ms = 1.0, .sustained_ms = NAN},
                         {.id = 3, .cold_ms = NAN, .sustained_ms = NAN},
                         {.id = 4, .cold_ms = 0.5, .refused = true}};
    assert_order(l, 4, OBJECTIVE_TIME, "2 1 3 4 ");
}

static void test_energy_is_placed_by_energy(void **state)
{
    struct leader l[] = {{.id = 1, .cold_ms = 1.0, .sustained_ms = 1.0, .energy_mj = 5},
                         {.id = 2, .cold_ms = 2, .energy_mj = 4}};
    assert_order(l, 2, OBJECTIVE_ENERGY, "2 1 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_cold_median_decides),
        cmocka_unit_test(test_those_that_it_cannot_tell_apart_are_placed_by_both),
        cmocka_unit_test(test_a_group_reaches_from_its_quickest_not_from_one_to_the_next),
        cmocka_unit_test(test_without_the_sustained_regime_it_is_cold_alone),
        cmocka_unit_test(test_energy_is_placed_by_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
