/* test_child.c: a worker process that answers, dies, hangs, babbles, or cannot be started. The worker here is a shell
 * script that speaks the protocol. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "trial/child.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char script[] = "/tmp/lathe-test-child-XXXXXX";
static const char SCRIPT[] = "#!/bin/sh\n"
                             "while read -r line <&3; do\n"
                             "  case $line in\n"
                             "    *hello*) echo '{\"ok\":true,\"word\":\"hi\"}' >&4 ;;\n"
                             "    *noise*) echo 'not json' >&4; echo '{\"ok\":true,\"word\":\"late\"}' >&4 ;;\n"
                             "    *exit*) echo 'last words' >&2; exit 7 ;;\n"
                             "    *signal*) kill -SEGV $$ ;;\n"
                             "    *hang*) sleep 60 ;;\n"
                             "    *second*) sleep 1; echo '{\"ok\":true}' >&4 ;;\n"
                             "    *pause*) sleep 2.7; echo '{\"ok\":true}' >&4 ;;\n"
                             "    *much*) { printf '{\"ok\":true,\"word\":\"much\",\"more\":\"'\n"
                             "              head -c 3000000 /dev/zero | tr '\\0' a; echo '\"}'; } >&4 ;;\n"
                             "    *talk*) head -c 40000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo 'the end' >&2; exit 7 ;;\n"
                             "    *deaf*) exec 3<&-; echo '{\"ok\":true,\"word\":\"what\"}' >&4; exec sleep 60 ;;\n"
                             "    *goodbye*) echo '{\"ok\":true,\"word\":\"bye\"}' >&4; exit 0 ;;\n"
                             "  esac\n"
                             "done\n";

static int write_script(void **state)
{
    signal(SIGPIPE, SIG_IGN);           /* as lathe does */
    int fd = mkstemp(script);
    if (fd < 0) return -1;
    size_t n = strlen(SCRIPT);
    int bad = write(fd, SCRIPT, n) != (ssize_t)n || fchmod(fd, 0755);
    close(fd);
    return bad;
}

static int remove_script(void **state) { return unlink(script); }

struct seen {
    int calls;
    enum child_end end;
    char word[40], text[1600];
    struct child *child;
    double spent;
};

static void on_done(void *ctx, const struct child_answer *a)
{
    struct seen *s = ctx;
    s->calls++;
    s->end = a->end;
    s->spent = child_spent(s->child);
    const char *word = a->reply ? json_string_value(json_object_get(a->reply, "word")) : "";
    snprintf(s->word, sizeof s->word, "%s", word ? word : "");
    snprintf(s->text, sizeof s->text, "%s", a->text ? a->text : "");
}

static struct seen ask(uv_loop_t *loop, struct child *c, const char *what, double seconds)
{
    struct seen s = {.child = c};
    struct err e = {0};
    assert_int_equal(child_start(c, &e), LATHE_OK);
    child_send(c, json_pack("{s:s}", "op", what), seconds, on_done, &s);
    assert_true(child_busy(c));
    double start = clock_seconds();
    while (!s.calls && clock_seconds() - start < 10) uv_run(loop, UV_RUN_ONCE);
    assert_int_equal(s.calls, 1);
    assert_false(child_busy(c));
    return s;
}

static void close_loop(uv_loop_t *loop)
{
    double start = clock_seconds();
    while (uv_loop_close(loop)) {
        assert_true(clock_seconds() - start < 5);
        uv_run(loop, UV_RUN_NOWAIT);
    }
}

static void test_every_end(void **state)
{
    static const char *const args[] = {"compile", NULL};
    uv_loop_t loop;
    uv_loop_init(&loop);
    struct child *c = child_new(&loop, script, args);

    struct seen s = ask(&loop, c, "hello", 5);
    assert_int_equal(s.end, CHILD_REPLIED);
    assert_string_equal(s.word, "hi");
    s = ask(&loop, c, "noise", 5);
    assert_string_equal(s.word, "late");
    s = ask(&loop, c, "exit", 5);
    assert_int_equal(s.end, CHILD_DIED);
    assert_non_null(strstr(s.text, "exited with code 7"));
    assert_non_null(strstr(s.text, "last words"));
    assert_false(child_alive(c));
    s = ask(&loop, c, "signal", 5);
    assert_int_equal(s.end, CHILD_DIED);
    assert_non_null(strstr(s.text, "killed by signal 11"));
    double start = clock_seconds();
    s = ask(&loop, c, "hang", 0.3);
    assert_int_equal(s.end, CHILD_TIMED_OUT);
    assert_true(clock_seconds() - start < 3);
    assert_false(child_alive(c));
    s = ask(&loop, c, "goodbye", 5);            /* the reply is seen although the process ends at once */
    assert_int_equal(s.end, CHILD_REPLIED);
    assert_string_equal(s.word, "bye");
    start = clock_seconds();
    while (child_alive(c) && clock_seconds() - start < 5) uv_run(&loop, UV_RUN_ONCE);
    assert_false(child_alive(c));
    s = ask(&loop, c, "hello", 5);              /* a fresh process */
    assert_string_equal(s.word, "hi");

    child_free(c);
    close_loop(&loop);
}

/* Asks, and lets the loop stand still as if this process had been stopped. */
static struct seen ask_and_stop(uv_loop_t *loop, struct child *c, const char *what, double seconds, double turns,
                                double stopped)
{
    struct seen s = {.child = c};
    struct err e = {0};
    assert_int_equal(child_start(c, &e), LATHE_OK);
    child_send(c, json_pack("{s:s}", "op", what), seconds, on_done, &s);
    double start = clock_seconds();
    while (!s.calls && clock_seconds() - start < turns) uv_run(loop, UV_RUN_NOWAIT);
    clock_sleep(stopped);
    start = clock_seconds();
    while (!s.calls && clock_seconds() - start < 10) uv_run(loop, UV_RUN_ONCE);
    assert_int_equal(s.calls, 1);
    return s;
}

static void test_an_answer_that_is_there_counts(void **state)
{
    static const char *const args[] = {"compile", NULL};
    uv_loop_t loop;
    uv_loop_init(&loop);
    struct child *c = child_new(&loop, script, args);

    /* the limit is over when the loop goes on, and the answer is there: more of it than a pipe holds, too */
    struct seen s = ask_and_stop(&loop, c, "hello", 0.3, 0, 1);
    assert_int_equal(s.end, CHILD_REPLIED);
    assert_true(s.spent > 0 && s.spent < 0.9);          /* of the second that it stood still a step */
    s = ask_and_stop(&loop, c, "much", 2, 0, 3);       /* what a pipe does not hold is written after the hold-up */
    assert_int_equal(s.end, CHILD_REPLIED);
    assert_string_equal(s.word, "much");
    s = ask_and_stop(&loop, c, "hello", 0.01, 0, 0.3);  /* no hold-up, just later than the timer */
    assert_int_equal(s.end, CHILD_REPLIED);
    s = ask_and_stop(&loop, c, "exit", 0.3, 0, 1);
    assert_int_equal(s.end, CHILD_DIED);
    /* it takes 1 s of 1.6; held up with it, it has what is left of them */
    s = ask_and_stop(&loop, c, "second", 1.6, 0, 0);
    assert_int_equal(s.end, CHILD_REPLIED);
    assert_true(s.spent > 0.9);
    s = ask_and_stop(&loop, c, "pause", 1.6, 0.1, 1.7);
    assert_int_equal(s.end, CHILD_REPLIED);
    /* a child that hangs is killed all the same, and soon */
    double start = clock_seconds();
    s = ask_and_stop(&loop, c, "hang", 0.3, 0, 1);
    assert_int_equal(s.end, CHILD_TIMED_OUT);
    assert_true(clock_seconds() - start < 3);
    assert_false(child_alive(c));

    child_free(c);
    close_loop(&loop);
}

static void test_a_killed_request_is_not_called_back(void **state)
{
    static const char *const args[] = {"compile", NULL};
    uv_loop_t loop;
    uv_loop_init(&loop);
    struct child *c = child_new(&loop, script, args);
    struct err e = {0};
    struct seen s = {.child = c};
    assert_int_equal(child_start(c, &e), LATHE_OK);
    child_send(c, json_pack("{s:s}", "op", "hang"), 0, on_done, &s);
    child_kill(c);
    assert_false(child_alive(c));
    child_free(c);
    close_loop(&loop);
    assert_int_equal(s.calls, 0);
}

/* It lives, and cannot be told anything: it is ended at once, not when the time limit is over. */
static void test_a_child_that_closed_its_pipe(void **state)
{
    static const char *const args[] = {"device", NULL};
    uv_loop_t loop;
    uv_loop_init(&loop);
    struct child *c = child_new(&loop, script, args);
    struct seen s = ask(&loop, c, "deaf", 5);
    assert_int_equal(s.end, CHILD_REPLIED);
    double start = clock_seconds();
    s = ask(&loop, c, "hello", 60);
    assert_int_equal(s.end, CHILD_DIED);
    assert_non_null(strstr(s.text, "writing to its pipe: broken pipe"));
    assert_true(clock_seconds() - start < 5);
    s = ask(&loop, c, "hello", 5);          /* a fresh one */
    assert_string_equal(s.word, "hi");
    child_free(c);
    close_loop(&loop);
}

/* What it prints without end costs its reader little, and the last of it is kept. */
static void test_a_child_that_talks(void **state)
{
    static const char *const args[] = {"device", NULL};
    uv_loop_t loop;
    uv_loop_init(&loop);
    struct child *c = child_new(&loop, script, args);
    double start = clock_thread_seconds();
    struct seen s = ask(&loop, c, "talk", 9);
    double spent = clock_thread_seconds() - start;
    assert_int_equal(s.end, CHILD_DIED);
    assert_non_null(strstr(s.text, "it said: xxx"));
    assert_string_equal(s.text + strlen(s.text) - 11, "xx the end ");
    assert_true(spent < 0.3);
    child_free(c);
    close_loop(&loop);
}

static void test_a_missing_program_is_named(void **state)
{
    static const char *const args[] = {"compile", NULL};
    uv_loop_t loop;
    uv_loop_init(&loop);
    struct child *c = child_new(&loop, "/no/such/program", args);
    struct err e = {0};
    assert_int_equal(child_start(c, &e), LATHE_IO);
    assert_non_null(strstr(e.text, "/no/such/program"));
    child_free(c);
    close_loop(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_end),
        cmocka_unit_test(test_an_answer_that_is_there_counts),
        cmocka_unit_test(test_a_killed_request_is_not_called_back),
        cmocka_unit_test(test_a_child_that_closed_its_pipe),
        cmocka_unit_test(test_a_child_that_talks),
        cmocka_unit_test(test_a_missing_program_is_named),
    };
    return cmocka_run_group_tests(tests, write_script, remove_script);
}
