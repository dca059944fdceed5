/* test_memo.c: the table of configurations already proposed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "campaign/replay/memo.h"

static void test_empty_finds_nothing(void **state)
{
    struct memo m = {0};
    assert_int_equal(memo_find(&m, 0, 0), -1);
    memo_free(&m);
}

static void test_many_pairs_are_kept_apart(void **state)
{
    struct memo m = {0};
    enum { SPACES = 3, EACH = 20000 };
    for (int s = 0; s < SPACES; s++)
        for (int64_t i = 0; i < EACH; i++) memo_put(&m, s, (uint64_t)i * 4099, s * EACH + i);
    assert_int_equal(m.count, SPACES * EACH);
    for (int s = 0; s < SPACES; s++)
        for (int64_t i = 0; i < EACH; i++) assert_int_equal(memo_find(&m, s, (uint64_t)i * 4099), s * EACH + i);
    assert_int_equal(memo_find(&m, 0, 1), -1);
    assert_int_equal(memo_find(&m, SPACES, 0), -1);
    memo_free(&m);
}

static void test_put_replaces(void **state)
{
    struct memo m = {0};
    memo_put(&m, 0, 7, 1);
    memo_put(&m, 0, 7, 2);
    assert_int_equal(m.count, 1);
    assert_int_equal(memo_find(&m, 0, 7), 2);
    memo_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_finds_nothing),
        cmocka_unit_test(test_many_pairs_are_kept_apart),
        cmocka_unit_test(test_put_replaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
