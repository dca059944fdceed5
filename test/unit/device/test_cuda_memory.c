/* test_cuda_memory.c: memory that is mapped by page: where it lies, what can be forbidden, and when it is not used. */
#include "cuda_fixture.h"

#include <signal.h>
#include <sys/wait.h>

enum { PAGE = FAKE_PAGE };

static struct dev *open_mapping(void)
{
    fake.maps_memory = true;
    return open_fake(NULL);
}

/* Whether reading a byte crashes. */
static bool crashes(dev_ptr at)
{
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        signal(SIGSEGV, SIG_DFL);
        _exit(*(volatile unsigned char *)(uintptr_t)at & 0);
    }
    int state = 0;
    waitpid(child, &state, 0);
    return WIFSIGNALED(state);
}

static void test_ends_at_a_page(void **state)
{
    struct dev *d = open_mapping();
    struct err e = {0};
    const uint64_t sizes[] = {0, 1, 256, 1000, PAGE, PAGE + 1, 3 * PAGE, 5 * PAGE + 12345};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t n = sizes[i], usable = n ? (n + 255) / 256 * 256 : 256;
        dev_ptr p;
        assert_int_equal(ops->alloc(d, n, &p, &e), LATHE_OK);
        assert_int_equal(p % 256, 0);
        assert_false(crashes(p));
        assert_false(crashes(p + usable - 1));
        assert_true(crashes(p + usable));
        ops->release(d, p);
        assert_int_equal(fake.reservations + fake.mapped + fake.allocations, 0);
    }
    ops->close(d);
    assert_true(fake_nothing_alive());
}

static void test_guards_are_forbidden(void **state)
{
    struct dev *d = open_mapping();
    struct err e = {0};
    assert_int_equal(ops->guard_bytes(d), PAGE);
    const uint64_t sizes[] = {1, 1000, PAGE, 4 * PAGE + 512};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t n = sizes[i];
        dev_ptr p, data;
        assert_int_equal(ops->alloc(d, n + 2 * PAGE, &p, &e), LATHE_OK);
        data = p + PAGE;
        assert_int_equal(ops->fill(d, p, 7, PAGE, &e), LATHE_OK);
        assert_int_equal(ops->forbid(d, p, PAGE, true, &e), LATHE_OK);
        assert_int_equal(ops->forbid(d, data + n, PAGE, true, &e), LATHE_OK);
        assert_true(crashes(p));
        assert_false(crashes(data));
        assert_false(crashes(data + n - 1));
        assert_true(crashes(data + (n + 255) / 256 * 256));
        assert_int_equal(ops->forbid(d, p, PAGE, true, &e), LATHE_OK);      /* again: nothing */
        assert_int_equal(ops->forbid(d, p, PAGE, false, &e), LATHE_OK);
        assert_int_equal(ops->forbid(d, data + n, PAGE, false, &e), LATHE_OK);
        uint32_t word;
        assert_int_equal(ops->copy_out(d, &word, p, sizeof word, &e), LATHE_OK);
        assert_int_equal(word, 7);
        assert_false(crashes(data + n + PAGE - 256));
        if (i == 0)
            assert_int_equal(ops->forbid(d, p, PAGE, true, &e), LATHE_OK);  /* and released like that */
        ops->release(d, p);
    }
    ops->close(d);
    assert_true(fake_nothing_alive());
}

static void test_not_used_where_it_does_not_work(void **state)
{
    struct err e = {0};
    for (int how = 0; how < 2; how++) {
        fake_reset();
        fake.maps_memory = how == 1;
        fake.forgets = how == 1;
        struct dev *d = open_fake(NULL);
        assert_int_equal(ops->guard_bytes(d), 0);
        assert_int_equal(fake.reservations + fake.mapped + fake.allocations, 0);
        dev_ptr p;
        assert_int_equal(ops->alloc(d, 3 * PAGE, &p, &e), LATHE_OK);
        assert_int_equal(fake.allocations, 1);
        assert_int_equal(fake.mapped, 0);
        assert_int_equal(ops->forbid(d, p, PAGE, true, &e), LATHE_OK);      /* there is no such thing */
        assert_false(crashes(p));
        ops->release(d, p);
        ops->close(d);
        assert_true(fake_nothing_alive());
    }
}

/* Each call fails in turn: the device opens all the same, or says so, and nothing is left. */
static void test_failures(void **state)
{
    bool without = false;
    for (int n = 1;; n++) {
        fake_reset();
        fake.maps_memory = true;
        fake.fail_at = n;
        fake.fail_with = CUDA_ERROR_NOT_SUPPORTED;
        struct cuda_tables tables = fake_tables();
        struct target t;
        struct dev *d = NULL;
        struct err e = {0};
        if (cuda_open_with(&tables, 0, &d, &t, &e)) {
            assert_null(d);
        } else {
            dev_ptr p = 0;
            without = without || !ops->guard_bytes(d);
            assert_int_equal(ops->fault(d), DEV_FAULT_NONE);
            if (ops->alloc(d, 4 * PAGE, &p, &e))
                assert_int_equal(e.code, LATHE_DEVICE);
            else if (ops->forbid(d, p, PAGE, true, &e))
                says(&e, "bytes from kernels on cuda:0: CUDA_ERROR_NOT_SUPPORTED");
            ops->release(d, p);
            ops->close(d);
        }
        assert_true(fake_nothing_alive());
        if (!fake.failed)
            break;
    }
    assert_true(without);
}

static void test_out_of_memory(void **state)
{
    struct dev *d = open_mapping();
    struct err e = {0};
    dev_ptr p;
    assert_int_equal(ops->alloc(d, (uint64_t)3 << 30, &p, &e), LATHE_DEVICE);
    says(&e, "allocating 3221225472 bytes (3.00 GiB;");
    assert_int_equal(ops->fault(d), DEV_FAULT_RESOURCES);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_ends_at_a_page, before_each),
        cmocka_unit_test_setup(test_guards_are_forbidden, before_each),
        cmocka_unit_test_setup(test_not_used_where_it_does_not_work, before_each),
        cmocka_unit_test_setup(test_failures, before_each),
        cmocka_unit_test_setup(test_out_of_memory, before_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
