/* test_lib_threads.c: threads that select, launch and release at the same time, of one opened file, in two contexts;
 * and threads that each open the file. `make lib-threads`: under ThreadSanitizer. */
#include "guest_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, ROUNDS = 60 };
static unsigned long long context_b[1] = {22};

static struct choices made;
static lathe *opened;
static lathe_kernel *shared;            /* selected in context_a */
static atomic_int failures;

static void check(bool right, const char *what)
{
    if (!right && !failures++)
        fprintf(stderr, "%s: %s\n", what, lathe_error());
}

static void *work(void *arg)
{
    const int me = *(int *)arg;
    const uint64_t tensors[] = {tensor_at(0), tensor_at(1), tensor_at(2), tensor_at(3)};
    set_current(me % 2 ? context_a : context_b);
    for (int i = 0; i < ROUNDS; i++) {
        const int64_t good_size[] = {64 * (1 + (me + i) % 3), 1024, 1024}, odd[] = {3 + i, 5, 7},
                      bad_size[] = {0, 1, 1};
        lathe_kernel *k, *none;
        check(lathe_select(opened, i % 3 ? good_size : odd, 3, NULL, 0, &k) == LATHE_SUCCESS, "select");
        check(k && strstr(lathe_choice(k), i % 3 ? "BM=" : "plain kernel"), "choice");
        check(lathe_select(opened, bad_size, 3, NULL, 0, &none) == LATHE_ERROR_ARGUMENT, "a bad size");
        check(strstr(lathe_error(), "M is 0") != NULL, "the thread's own message");
        check(lathe_launch(k, tensors, 4, workspace_at, lathe_workspace(k), NULL) == LATHE_SUCCESS, "launch");
        if (me % 2)
            check(lathe_launch(shared, tensors, 4, workspace_at, lathe_workspace(shared), NULL) == LATHE_SUCCESS,
                  "shared");
        lathe_release(k);
    }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[THREADS];
    int number[THREADS];
    const int64_t size[] = {64, 1024, 1024};
    choices_open(&made);
    guest_device(&made.t[0]);
    char *path = guest_bundle(made.v, TUNED + 1, "threads.lathe");
    good(lathe_open(path, NULL, &opened));
    good(lathe_select(opened, size, 3, NULL, 0, &shared));
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(failures, 0);
    lathe_close(opened);
    lathe_release(shared);
    mem_free(path);
    choices_close(&made);
}

/* Each thread opens, selects and closes for itself: nothing is shared but the driver. */
static void *alone(void *path)
{
    const int64_t size[] = {64, 1024, 1024};
    set_current(context_a);
    for (int i = 0; i < 5; i++) {
        lathe *l;
        lathe_kernel *k;
        check(lathe_open(path, NULL, &l) == LATHE_SUCCESS, "open");
        check(lathe_select(l, size, 3, NULL, 0, &k) == LATHE_SUCCESS, "select");
        lathe_close(l);
        lathe_release(k);
    }
    return NULL;
}

static void test_apart(void **state)
{
    pthread_t threads[THREADS];
    choices_open(&made);
    guest_device(&made.t[0]);
    char *path = guest_bundle(made.v, TUNED + 1, "apart.lathe");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, alone, path), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(failures, 0);
    mem_free(path);
    choices_close(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_threads, guest_before, guest_after),
        cmocka_unit_test_setup_teardown(test_apart, guest_before, guest_after),
    };
    return cmocka_run_group_tests(tests, guest_setup, program_teardown);
}
