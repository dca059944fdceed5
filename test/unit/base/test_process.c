/* test_process.c: whether a process still runs is told from its identity alone, and doubt is told as doubt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/process.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Replaces word `i` (from 0) of an identity. */
static void with_word(const char *identity, int i, const char *word, struct strbuf *out)
{
    out->len = 0;
    for (int k = 0; k < 5; k++) {
        size_t n = strcspn(identity, " ");
        sb_add(out, k ? " " : "");
        if (k == i)
            sb_add(out, word);
        else
            sb_addn(out, identity, n);
        identity += n + (identity[n] == ' ');
    }
}

static void test_self(void **state)
{
    struct strbuf me = {0}, other = {0};
    process_identity(&me);
    assert_int_equal(process_state(sb_str(&me)), PROCESS_RUNS);
    static const struct {
        int word;
        const char *text;
        enum process_state state;
    } cases[] = {
        {0, "elsewhere", PROCESS_UNKNOWN},      {1, "another-boot", PROCESS_GONE}, {1, "-", PROCESS_RUNS},
        {2, "pid:[1]", PROCESS_UNKNOWN},        {3, "-", PROCESS_GONE},            {4, "1", PROCESS_GONE},
        {4, "-", PROCESS_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        with_word(sb_str(&me), cases[i].word, cases[i].text, &other);
        if (process_state(sb_str(&other)) != cases[i].state)
            fail_msg("%s: %d", sb_str(&other), process_state(sb_str(&other)));
    }
    sb_free(&me);
    sb_free(&other);
}

static void test_a_process_that_ends(void **state)
{
    struct strbuf me = {0};
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        process_identity(&me);
        if (write(fds[1], sb_str(&me), me.len) < 0)
            _exit(1);
        pause();
        _exit(0);
    }
    char text[1024] = "";
    assert_true(read(fds[0], text, sizeof text - 1) > 0);
    assert_int_equal(process_state(text), PROCESS_RUNS);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(process_state(text), PROCESS_GONE);
    close(fds[0]);
    close(fds[1]);
}

static void test_no_identity(void **state)
{
    assert_int_equal(process_state(NULL), PROCESS_UNKNOWN);
    assert_int_equal(process_state(""), PROCESS_UNKNOWN);
    assert_int_equal(process_state("a b c"), PROCESS_UNKNOWN);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self), cmocka_unit_test(test_a_process_that_ends), cmocka_unit_test(test_no_identity)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
