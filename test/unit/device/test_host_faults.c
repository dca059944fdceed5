/* test_host_faults.c: the host device: deadlocks, refusals, and crashes (in a child process). */
#include "host_fixture.h"
#include <signal.h>
#include <sys/wait.h>

static void test_deadlock(void **state)
{
    int out[64];
    dev_ptr p = buffer(sizeof out, 0);
    struct err why = {0};
    for (int i = 0; i < 2; i++) {       /* the second in the other order */
        assert_int_equal(try("deadlock", LINE(3, 64), ARGS(&p), &why), LATHE_DEVICE);
        assert_int_equal(ops->fault(fx->dev), DEV_FAULT_CRASH);
        must_say(&why, i ? "kernel deadlock, block (2,0,0): deadlock" : "kernel deadlock, block (0,0,0): deadlock");
        must_say(&why, "threads (0,0,0) to (4,0,0) wait at __shfl_sync with mask 0xffffffff");
        must_say(&why, "thread (5,0,0) waits at __syncthreads;");
        must_say(&why, "threads (32,0,0) to (63,0,0) wait at __syncthreads");
    }
    assert_int_equal(try("bad_mask", LINE(1, 32), ARGS(&p), &why), LATHE_DEVICE);
    must_say(&why, "thread (2,0,0) calls __shfl_sync with mask 0x00000003, which leaves out its own lane 2");
    run("shuffles", LINE(1, 1), ARGS(&p));      /* the next launch is not harmed */
    ops->release(fx->dev, p);
}

static void test_refused(void **state)
{
    static const struct {
        struct shape shape;
        enum dev_fault fault;
        const char *words;
    } cases[] = {
        {{{0, 1, 1}, {1, 1, 1}, 0}, DEV_FAULT_LAUNCH, "invalid configuration argument: grid 0 x 1 x 1"},
        {{{1, 1, 1}, {32, 0, 1}, 0}, DEV_FAULT_LAUNCH, "invalid configuration argument"},
        {{{1, 65536, 1}, {1, 1, 1}, 0}, DEV_FAULT_LAUNCH, "at most 2147483647 x 65535 x 65535"},
        {{{0x80000000u, 1, 1}, {1, 1, 1}, 0}, DEV_FAULT_LAUNCH, "grid 2147483648"},
        {{{1, 1, 1}, {1025, 1, 1}, 0}, DEV_FAULT_RESOURCES, "too many resources requested for launch: block 1025 x"},
        {{{1, 1, 1}, {65536, 65536, 1}, 0}, DEV_FAULT_RESOURCES, "at most 1024 threads"},
        {{{1, 1, 1}, {1, 1, 65}, 0}, DEV_FAULT_RESOURCES, "64 in z"},
        {{{1, 1, 1}, {1, 1, 1}, 232449}, DEV_FAULT_RESOURCES, "232449 bytes of dynamic shared memory, at most 232448"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err why = {0};
        assert_int_equal(try("no_arguments", cases[i].shape, NULL, &why), LATHE_DEVICE);
        must_say(&why, cases[i].words);
        assert_int_equal(ops->fault(fx->dev), cases[i].fault);
    }
    struct dev_launch how = {.grid = {2, 1, 1}, .block = {1, 1, 1}, .cluster = {2, 1, 1}};
    struct err why = {0};
    assert_int_equal(ops->launch(fx->dev, function("no_arguments"), &how, NULL, &why), LATHE_DEVICE);
    must_say(&why, "no thread block clusters");
    how.cluster[0] = 1;
    OK(ops->launch(fx->dev, function("no_arguments"), &how, NULL, &e));
    how.programmatic = true;
    how.window = 0x1000;
    how.window_bytes = 4096;
    OK(ops->launch(fx->dev, function("no_arguments"), &how, NULL, &e));     /* hints that mean nothing here */
    OK(ops->persist(fx->dev, true, &e));
    OK(ops->persist(fx->dev, false, &e));
    run("no_arguments", (struct shape){{1, 1, 1}, {1024, 1, 1}, 232448}, NULL);
}

static void test_no_tensor_maps(void **state)
{
    const struct plan_tensor_map m = {.rank = 1, .shape = {64}, .box = {32}};
    uint64_t bytes[16];
    struct err why = {0};
    assert_int_equal(ops->tensor_map(fx->dev, &m, DTYPE_f32, 0x1000, bytes, &why), LATHE_DEVICE);
    assert_int_equal(ops->fault(fx->dev), DEV_FAULT_LAUNCH);
    must_say(&why, "the host device has no tensor memory accelerator");
}

static void test_memory(void **state)
{
    dev_ptr p;
    struct err why = {0};
    uint64_t limit = (uint64_t)fx->target.limit[LIMIT_memory_bytes];
    assert_int_equal(ops->alloc(fx->dev, limit + 1, &p, &why), LATHE_DEVICE);
    assert_int_equal(ops->fault(fx->dev), DEV_FAULT_RESOURCES);
    must_say(&why, "out of memory");
    assert_int_equal(ops->alloc(fx->dev, UINT64_MAX, &p, &why), LATHE_DEVICE);
    dev_ptr parts[17];                          /* untouched: cost nothing; less than the limit where less is free */
    int n = 0;
    while (n < 17 && !ops->alloc(fx->dev, limit / 16, &parts[n], &why)) n++;
    assert_in_range(n, 1, 16);
    must_say(&why, "out of memory");
    while (n > 0) ops->release(fx->dev, parts[--n]);
    OK(ops->alloc(fx->dev, 0, &p, &e));
    assert_int_not_equal(p, 0);
    ops->release(fx->dev, p);
    ops->release(fx->dev, 0);
    static const uint64_t sizes[] = {1, 4, 255, 256, 257, 4096, 4097, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t *in = mem_alloc(sizes[i]), *out = mem_alloc(sizes[i]);
        for (uint64_t b = 0; b < sizes[i]; b++) in[b] = (uint8_t)(b * 7);
        p = buffer(sizes[i], 0x12345678);
        uint32_t word = 0;
        if (sizes[i] >= 4) {
            OK(ops->copy_out(fx->dev, &word, p + (sizes[i] / 4 - 1) * 4, 4, &e));
            assert_int_equal(word, 0x12345678);
        }
        OK(ops->copy_in(fx->dev, p, in, sizes[i], &e));
        take(out, p, sizes[i]);
        assert_memory_equal(in, out, sizes[i]);
        mem_free(in);
        mem_free(out);
    }
}

/* Runs a kernel in a child, whose complaints are not shown. Gives how waitpid saw it end. */
static int end_of(const char *name, struct shape s, void **args)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(0);
        static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT};   /* cmocka catches them */
        for (int i = 0; i < 4; i++) signal(signals[i], SIG_DFL);
        struct err e;
        try(name, s, args, &e);
        _exit(0);
    }
    int how = 0;
    assert_int_equal(waitpid(pid, &how, 0), pid);
    return how;
}

static void assert_dies(const char *name, struct shape s, void **args)
{
    int how = end_of(name, s, args);
    if (!WIFSIGNALED(how) && !(HOST_ASAN && WEXITSTATUS(how))) fail_msg("%s did not end its process (%#x)", name, how);
}

static void test_forbidden(void **state)
{
    enum { PAGES = 3 };
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const struct shape s = {{2, 1, 1}, {1, 1, 1}, 64};
    dev_ptr p = buffer(PAGES * page, 0), end = p + PAGES * page, near = end - 2 * page, far = end - page;
    OK(ops->forbid(fx->dev, far - 64, page + 64, true, &e));        /* whole pages alone: the last */
    run("unwritten", s, ARGS(&near));
    assert_dies("unwritten", s, ARGS(&far));
    OK(ops->forbid(fx->dev, far - 64, page + 64, false, &e));
    run("unwritten", s, ARGS(&far));
    ops->release(fx->dev, p);
}

static void test_crashes(void **state)
{
    dev_ptr none = 0, p = buffer(1000, 0);
    int64_t first = 0, inside = 249, near = 250;
    int64_t behind = 256, before = -sysconf(_SC_PAGESIZE) / 4;      /* on the inaccessible pages at either end */
    int32_t shared_last = 15, shared_behind = 32, shared_near = 16;
    const struct shape one = {{1, 1, 1}, {33, 1, 1}, 64};
    assert_dies("write_far", one, ARGS(&none, &first));
    assert_dies("write_far", one, ARGS(&p, &behind));
    assert_dies("write_far", one, ARGS(&p, &before));
    assert_int_equal(end_of("write_far", one, ARGS(&p, &inside)), 0);
    assert_dies("write_shared", one, ARGS(&shared_behind));
    assert_int_equal(end_of("write_shared", one, ARGS(&shared_last)), 0);
    assert_dies("stop", one, NULL);
    if (HOST_ASAN) {            /* to the byte */
        assert_dies("write_far", one, ARGS(&p, &near));
        assert_dies("write_shared", one, ARGS(&shared_near));
    }
    ops->release(fx->dev, p);
}

static void test_bad_images(void **state)
{
    struct err why = {0};
    struct dev_module *m;
    assert_int_equal(ops->load(fx->dev, "/nonexistent/image.so", &m, &why), LATHE_DEVICE);
    must_say(&why, "/nonexistent/image.so cannot be opened");
    assert_int_equal(ops->fault(fx->dev), DEV_FAULT_LAUNCH);
    char *path = path_join(fx->dir, "bad.so");
    OK(file_write_atomic(path, "no image", 8, &e));
    assert_int_equal(ops->load(fx->dev, path, &m, &why), LATHE_DEVICE);
    must_say(&why, "bad.so cannot be opened");
    if (!HOST_ASAN) {           /* would end this process if it were opened */
        OK(file_write_atomic(path, "\177ELF __asan_init", 16, &e));
        assert_int_equal(ops->load(fx->dev, path, &m, &why), LATHE_DEVICE);
        must_say(&why, "is built with the address sanitizer and this program is not");
    }
    unlink(path);
    mem_free(path);
    assert_int_equal(ops->load(fx->dev, "libm.so.6", &m, &why), LATHE_DEVICE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_tensor_maps),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_forbidden), cmocka_unit_test(test_crashes),
        cmocka_unit_test(test_bad_images),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
