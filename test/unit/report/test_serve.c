/* test_serve.c: which Host headers are this machine's own, and which addresses may be listened on. */
#include "report/serve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void test_own(void **state)
{
    static const char *const own[] = {"localhost",   "localhost:8042", "LOCALHOST", "127.0.0.1",
                                      "127.0.0.1:1", "127.1.2.3",      "[::1]",     "[::1]:80"};
    static const char *const others[] = {"",
                                         "evil.example",
                                         "localhost.evil.example",
                                         "127.0.0.1.evil.example",
                                         "127.0.0.1:",
                                         "127.0.0.1:x",
                                         "localhost:",
                                         "localhost:80a",
                                         "192.168.1.1",
                                         "128.0.0.1",
                                         "[::1",
                                         "[::2]",
                                         "127.0.0.1 ",
                                         "0.0.0.0",
                                         "127.1",
                                         "1127.0.0.1",
                                         "user@localhost"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!serve_host_is_own(own[i]))
            fail_msg("'%s' is refused", own[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (serve_host_is_own(others[i]))
            fail_msg("'%s' is answered", others[i]);
    assert_false(serve_host_is_own(NULL));
}

static void test_addresses(void **state)
{
    static const char *const refused[] = {"0.0.0.0", "192.168.1.1", "localhost", "::1", "127.0.0.1.1", ""};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct serve_request r = {.address = refused[i]};
        struct err e = {0};
        assert_int_equal(serve_run(&r, &e), LATHE_USAGE);
        assert_non_null(strstr(e.text, "--listen"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_own), cmocka_unit_test(test_addresses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
