/* test_process.c: whether a process still runs is told from its identity alone, and doubt is told as doubt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/process.h"

#include <sched.h>
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

static void test_parent(void **state)
{
    assert_int_equal(process_parent(getpid()), getppid());
    assert_int_equal(process_parent(0), 0);
    assert_int_equal(process_parent(999999999), 0);
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
    siginfo_t ended;
    assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
    assert_int_equal(process_state(text), PROCESS_GONE);    /* though its parent has not waited for it */
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

/* In a child, so that the test itself keeps its cores. */
static void test_leaving_cores(void **state)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        cpu_set_t before, after;
        sched_getaffinity(0, sizeof before, &before);
        int all = CPU_COUNT(&before), last = CPU_SETSIZE - 1;
        while (!CPU_ISSET((size_t)last, &before))
            last--;
        if (process_leave_cores(0, 0) != all || process_leave_cores(1, all) != all ||
            process_leave_cores(all, 1) != all)
            _exit(1);               /* none, or too few would be left */
        sched_getaffinity(0, sizeof after, &after);
        if (!CPU_EQUAL(&before, &after))
            _exit(2);
        if (all == 1)
            _exit(0);               /* nothing to be left here */
        if (process_leave_cores(1, 1) != all - 1)
            _exit(3);
        sched_getaffinity(0, sizeof after, &after);
        CPU_SET((size_t)last, &after);
        _exit(CPU_EQUAL(&before, &after) && CPU_COUNT(&after) == all ? 0 : 4);
    }
    int ended;
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self), cmocka_unit_test(test_a_process_that_ends), cmocka_unit_test(test_no_identity),
        cmocka_unit_test(test_leaving_cores), cmocka_unit_test(test_parent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
