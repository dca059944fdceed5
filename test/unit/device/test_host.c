/* test_host.c: the host device: each kernel of host_kernels.cu against what CUDA defines, refusals, and crashes (in a
 * child process). */
#include "base/mem.h"
#include "base/strbuf.h"
#include "device/dev.h"
#include "device/host_compile.h"
#include "device/host_context.h"
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct dev_ops host_ops;

struct fixture {
    char dir[64], *image;
    struct dev *dev;
    struct target target;
    struct dev_module *module;
};

static const struct dev_ops *const ops = &host_ops;
static struct fixture *fx;      /* cmocka's group state, for brevity in the tests */

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        struct err e = {0};                                                                                            \
        if (call) fail_msg("%s: %s", #call, e.text);                                                                   \
    } while (0)

static void must_say(const struct err *e, const char *words)
{
    if (!strstr(e->text, words)) fail_msg("message '%s' does not say '%s'", e->text, words);
}

static int setup(void **state)
{
    fx = mem_zalloc(1, sizeof *fx);
    snprintf(fx->dir, sizeof fx->dir, "/tmp/lathe-host-XXXXXX");
    assert_non_null(mkdtemp(fx->dir));
    fx->image = path_join(fx->dir, "kernels.so");
    char *folder = path_dirname(__FILE__), *path = path_join(folder, "host_kernels.cu"), *source;
    OK(file_read(path, &source, NULL, &e));
    char *defines[] = {"LATHE_NUMBER=17", "LATHE_OFF=0"};
    struct jit_request r = {.source = source, .name = "host_kernels.cu", .defines = defines, .ndefines = 2, .arch = "host",
                            .image_path = fx->image, .sanitize = HOST_ASAN};
    struct jit_outcome out;
    OK(host_compile(&r, &out, &e));
    if (!out.ok) fail_msg("%s", out.log);
    assert_null(out.log);
    mem_free(source);
    mem_free(path);
    mem_free(folder);
    OK(ops->open(0, &fx->dev, &fx->target, &e));
    OK(ops->load(fx->dev, fx->image, &fx->module, &e));
    return 0;
}

static int teardown(void **state)
{
    ops->unload(fx->dev, fx->module);
    ops->close(fx->dev);
    unlink(fx->image);
    rmdir(fx->dir);
    mem_free(fx->image);
    mem_free(fx);
    return 0;
}

static struct dev_function *function(const char *name)
{
    struct dev_function *f = NULL;
    OK(ops->function(fx->dev, fx->module, name, &f, &e));
    return f;
}

struct shape {
    uint32_t grid[3], block[3], shared;
};

static status try(const char *name, struct shape s, void **args, struct err *e)
{
    const uint32_t no_cluster[3] = {0};
    return ops->launch(fx->dev, function(name), s.grid, s.block, no_cluster, s.shared, args, e);
}

static void run(const char *name, struct shape s, void **args)
{
    OK(try(name, s, args, &e));
    OK(ops->sync(fx->dev, &e));
}

#define ARGS(...) ((void *[]){__VA_ARGS__})
#define LINE(g, b) ((struct shape){{g, 1, 1}, {b, 1, 1}, 0})

static dev_ptr buffer(uint64_t bytes, uint32_t word)
{
    dev_ptr p;
    OK(ops->alloc(fx->dev, bytes, &p, &e));
    assert_int_equal(p % 256, 0);
    OK(ops->fill(fx->dev, p, word, bytes / 4 * 4, &e));
    return p;
}

static void take(void *to, dev_ptr p, uint64_t bytes)
{
    OK(ops->copy_out(fx->dev, to, p, bytes, &e));
    ops->release(fx->dev, p);
}

/* --- kernels --- */

static void test_vector_add(void **state)
{
    enum { N = 17 * 65 };
    float a[N], b[N], c[N + 1];
    for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = 0.5f;
    dev_ptr pa = buffer(sizeof a, 0), pb = buffer(sizeof b, 0), pc = buffer(sizeof c, 0x41414141);
    OK(ops->copy_in(fx->dev, pa, a, sizeof a, &e));
    OK(ops->copy_in(fx->dev, pb, b, sizeof b, &e));
    int n = N;
    run("vector_add", LINE(5, 256), ARGS(&pa, &pb, &pc, &n));
    take(c, pc, sizeof c);
    for (int i = 0; i < N; i++) assert_true(c[i] == (float)i + 0.5f);
    uint32_t guard;
    memcpy(&guard, &c[N], sizeof guard);
    assert_int_equal(guard, 0x41414141);
    ops->release(fx->dev, pa);
    ops->release(fx->dev, pb);
}

static void check_block_sum(struct shape s)
{
    int n = 3000, threads = (int)(s.block[0] * s.block[1] * s.block[2]);
    float in[3000], out[3000];
    for (int i = 0; i < n; i++) in[i] = (float)(i % 7);
    dev_ptr pi = buffer(sizeof in, 0), po = buffer(sizeof out, 0xffffffff);
    OK(ops->copy_in(fx->dev, pi, in, sizeof in, &e));
    s.grid[0] = (uint32_t)((n + threads - 1) / threads);
    run("block_sum", s, ARGS(&pi, &po, &n));
    take(out, po, sizeof out);
    for (uint32_t b = 0; b < s.grid[0]; b++) {
        float want = 0;
        for (int i = (int)b * threads; i < n && i < (int)(b + 1) * threads; i++) want += in[i];
        assert_true(out[b] == want);
    }
    ops->release(fx->dev, pi);
}

static void test_block_sum(void **state)
{
    check_block_sum((struct shape){{1, 1, 1}, {1, 1, 1}, 0});
    check_block_sum((struct shape){{1, 1, 1}, {33, 1, 1}, 0});
    check_block_sum((struct shape){{1, 1, 1}, {17, 5, 3}, 0});
    check_block_sum((struct shape){{1, 1, 1}, {1024, 1, 1}, 0});
    check_block_sum((struct shape){{1, 1, 1}, {3, 5, 64}, 0});
}

static void test_shuffles(void **state)
{
    enum { T = 64 };
    int out[T][8];
    dev_ptr p = buffer(sizeof out, 0);
    run("shuffles", (struct shape){{1, 1, 1}, {16, 4, 1}, 0}, ARGS(&p));
    take(out, p, sizeof out);
    for (int t = 0; t < T; t++) {
        int lane = t % 32, warp = t - lane, in8 = lane % 8;
        int want[8] = {
            warp + 3,          lane < 1 ? t : t - 1, lane + 2 >= 32 ? t : t + 2,
            t ^ 1,             t - in8 + 1,          in8 < 3 ? t : t - 3,
            in8 + 3 >= 8 ? t : t + 3,                t ^ 16,
        };
        for (int i = 0; i < 8; i++)
            if (out[t][i] != 100 + want[i]) fail_msg("thread %d, shuffle %d: %d, not %d", t, i, out[t][i], 100 + want[i]);
    }
}

static void test_warp_sum(void **state)
{
    static const int sizes[] = {1, 17, 32, 65, 1000, 1024};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s];
        float in[1024], out[32];
        for (int i = 0; i < n; i++) in[i] = (float)(i % 5);
        dev_ptr pi = buffer(sizeof in, 0), po = buffer(sizeof out, 0xffffffff);
        OK(ops->copy_in(fx->dev, pi, in, sizeof in, &e));
        run("warp_sum", LINE(1, (uint32_t)n), ARGS(&pi, &po, &n));
        take(out, po, sizeof out);
        ops->release(fx->dev, pi);
        for (int w = 0; w * 32 < n; w++) {
            float want = 0;
            for (int i = w * 32; i < n && i < w * 32 + 32; i++) want += in[i];
            assert_true(out[w] == want);
        }
    }
}

static void test_half_warps(void **state)
{
    int out[32];
    dev_ptr p = buffer(sizeof out, 0);
    run("half_warps", LINE(1, 32), ARGS(&p));
    take(out, p, sizeof out);
    for (int t = 0; t < 32; t++) assert_int_equal(out[t], t < 16 ? t ^ 7 : (int)0xaaaa0000u);
}

static void test_votes(void **state)
{
    enum { T = 49 };            /* one and a half warps */
    int out[T][9];
    dev_ptr p = buffer(sizeof out, 0);
    run("votes", (struct shape){{1, 1, 1}, {7, 7, 1}, 0}, ARGS(&p));
    take(out, p, sizeof out);
    for (int t = 0; t < T; t++) {
        uint32_t lanes = t < 32 ? 0xffffffffu : 0x1ffffu;
        assert_int_equal(out[t][0], (T + 2) / 3);
        assert_int_equal(out[t][1], 1);
        assert_int_equal(out[t][2], 0);
        assert_int_equal(out[t][3], 1);
        assert_int_equal(out[t][4], 0);
        assert_int_equal((uint32_t)out[t][5], 0xaaaaaaaau & lanes);
        assert_int_equal(out[t][6], 1);
        assert_int_equal(out[t][7], 1);
        assert_int_equal((uint32_t)out[t][8] | 1u << t % 32, (uint32_t)out[t][8]);
    }
    assert_int_equal((uint32_t)out[0][8], 0xffffffffu);
}

static void check_transpose(int rows, int cols, uint32_t tile)
{
    size_t bytes = (size_t)rows * (size_t)cols * sizeof(float);
    float *a = mem_alloc(bytes), *b = mem_alloc(bytes);
    for (int i = 0; i < rows * cols; i++) a[i] = (float)i;
    dev_ptr pa = buffer(bytes, 0), pb = buffer(bytes, 0xffffffff);
    OK(ops->copy_in(fx->dev, pa, a, bytes, &e));
    struct shape s = {{((uint32_t)cols + tile - 1) / tile, ((uint32_t)rows + tile - 1) / tile, 1},
                      {tile, tile, 1},
                      tile * (tile + 1) * 4};
    run("transpose", s, ARGS(&pa, &pb, &rows, &cols));
    take(b, pb, bytes);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) assert_true(b[c * rows + r] == a[r * cols + c]);
    ops->release(fx->dev, pa);
    mem_free(a);
    mem_free(b);
}

static void test_transpose(void **state)
{
    check_transpose(17, 65, 16);
    check_transpose(17, 65, 5);
    check_transpose(1, 1, 32);
    check_transpose(65, 3, 32);
}

static void test_atomics(void **state)
{
    enum { T = 70, BLOCKS = 3 };
    int i[7] = {0, -5, 5, 0, 0, -1, 0};
    unsigned u[6] = {0, 0, 0, ~0u, 0, 0};
    unsigned long long l;
    float f;
    double d;
    dev_ptr pi = buffer(sizeof i, 0), pu = buffer(sizeof u, 0), pl = buffer(8, 0), pf = buffer(4, 0), pd = buffer(8, 0);
    OK(ops->copy_in(fx->dev, pi, i, sizeof i, &e));
    OK(ops->copy_in(fx->dev, pu, u, sizeof u, &e));
    run("atomics", LINE(BLOCKS, T), ARGS(&pi, &pu, &pl, &pf, &pd));
    take(i, pi, sizeof i);
    take(u, pu, sizeof u);
    take(&l, pl, 8);
    take(&f, pf, 4);
    take(&d, pd, 8);
    int n = T * BLOCKS;
    assert_int_equal(i[0], n);
    assert_int_equal(i[1], T - 1);
    assert_int_equal(i[2], -(T - 1));
    assert_int_equal(i[3], 7);
    assert_int_equal(i[4], 1);
    assert_int_equal(i[5], 0);          /* the first to come */
    assert_int_equal(i[6], -2 * n);
    assert_int_equal(u[0], n);
    assert_int_equal(u[1], n % 5);
    assert_int_equal(u[2], 0xffffffffu);
    assert_int_equal(u[3], 0);
    assert_int_equal(u[4], (5 - n % 5) % 5);
    assert_int_equal(u[5], n % 2);
    assert_true(l == (unsigned long long)n << 33);
    assert_true(f == 0.5f * (float)n && d == 0.25 * n);
}

static void test_early_exit(void **state)
{
    static const int stays[] = {1, 17, 32, 40, 99, 100};
    for (size_t s = 0; s < sizeof stays / sizeof *stays; s++) {
        int stay = stays[s], out[100];
        dev_ptr p = buffer(sizeof out, 0xffffffff);
        run("early_exit", LINE(1, 100), ARGS(&p, &stay));
        take(out, p, sizeof out);
        for (int t = 0; t < 100; t++) {
            if (t >= stay) {
                assert_int_equal(out[t], -1);
                continue;
            }
            /* the lanes of its warp that have not ended yet: at least itself */
            int lanes = out[t] - (stay - 1 - t) - stay, most = stay - t / 32 * 32 < 32 ? stay - t / 32 * 32 : 32;
            assert_in_range(lanes, 1, most);
        }
    }
}

static void test_by_value(void **state)
{
    struct {
        dev_ptr p;
        int n;
        float scale;
    } inner = {0, 3, 2.0f};
    char first = 1;
    double offset = 10;
    float in[3] = {1, 2, 3}, out[5];
    int n = 5;
    inner.p = buffer(sizeof in, 0);
    dev_ptr po = buffer(sizeof out, 0);
    OK(ops->copy_in(fx->dev, inner.p, in, sizeof in, &e));
    run("by_value", LINE(2, 4), ARGS(&first, &inner, &offset, &po, &n));
    take(out, po, sizeof out);
    ops->release(fx->dev, inner.p);
    const float want[5] = {13, 15, 17, 10, 10};
    assert_memory_equal(out, want, sizeof want);
    run("no_arguments", LINE(3, 33), NULL);
}

static void test_where(void **state)
{
    const struct shape s = {{2, 3, 2}, {5, 3, 2}, 0};
    enum { BLOCKS = 12, THREADS = 30 };
    unsigned out[BLOCKS][THREADS][6], order[BLOCKS + 1];
    dev_ptr po = buffer(sizeof out, 0xffffffff), pr = buffer(sizeof order, 0);
    run("where", s, ARGS(&po, &pr));
    take(out, po, sizeof out);
    take(order, pr, sizeof order);
    for (unsigned b = 0; b < BLOCKS; b++) {
        assert_int_equal(order[b], b);  /* x fastest, z slowest */
        for (unsigned t = 0; t < THREADS; t++) {
            const unsigned want[6] = {t % 5, t / 5 % 3, t / 15, b % 2, b / 2 % 3, b / 6};
            assert_memory_equal(out[b][t], want, sizeof want);
        }
    }
}

static void test_unwritten(void **state)
{
    unsigned out[4];
    dev_ptr p = buffer(sizeof out, 0);
    run("unwritten", (struct shape){{2, 1, 1}, {1, 1, 1}, 64}, ARGS(&p));
    take(out, p, sizeof out);
    assert_int_equal(out[1], 0xffffffffu);
    assert_int_equal(out[3], 0xffffffffu);
    if (HOST_ASAN) return;      /* static shared memory is ordinary memory there */
    assert_int_equal(out[0], 0xffffffffu);
    assert_int_equal(out[2], 0xffffffffu);
}

static void test_forgotten_barrier(void **state)
{
    int out[2][64], differ = 0;
    for (int i = 0; i < 2; i++) {
        dev_ptr p = buffer(sizeof out[i], 0);
        run("forgotten_barrier", LINE(1, 64), ARGS(&p));
        take(out[i], p, sizeof out[i]);
    }
    for (int t = 1; t < 64; t++) differ += out[0][t] != out[1][t];
    assert_true(HOST_ASAN || differ == 63);
}

static void test_last_block(void **state)
{
    enum { BLOCKS = 9 };
    int in[BLOCKS], out, sum = 0;
    for (int i = 0; i < BLOCKS; i++) sum += in[i] = i * i;
    dev_ptr pi = buffer(sizeof in, 0), pp = buffer(sizeof in, 0xffffffff), pt = buffer(4, 0), po = buffer(4, 0);
    OK(ops->copy_in(fx->dev, pi, in, sizeof in, &e));
    for (int again = 0; again < 2; again++) {
        run("last_block", LINE(BLOCKS, 40), ARGS(&pi, &pp, &pt, &po));
        OK(ops->copy_out(fx->dev, &out, po, 4, &e));
        assert_int_equal(out, sum);
        OK(ops->fill(fx->dev, po, 0, 4, &e));
    }
    dev_ptr all[] = {pi, pp, pt, po};
    for (int i = 0; i < 4; i++) ops->release(fx->dev, all[i]);
}

static void test_language(void **state)
{
    float out[12];
    const float want[10] = {4097, 11, 4, 2 + 1 + 1.5f + 3, 17 + 2 + 1, 1 + 0 + 8 + 2 + 4 + 0.5f, 3 + 31 + 4 + 2 + 2,
                            3.25f, 1 + 32 + 1, 2 + 1};
    dev_ptr p = buffer(sizeof out, 0);
    run("language", LINE(1, 1), ARGS(&p));
    take(out, p, sizeof out);
    for (int i = 0; i < 10; i++)
        if (out[i] != want[i]) fail_msg("line %d: %g, not %g", i, (double)out[i], (double)want[i]);
    p = buffer(sizeof out, 0);
    run("language", LINE(1, 1), ARGS(&p));
    take(out, p, sizeof out);
    assert_true(out[2] == 4 + 15);      /* a __device__ variable keeps its value between launches */
}

static void test_names(void **state)
{
    int out;
    dev_ptr p = buffer(4, 0);
    run("made_by_macro", LINE(1, 1), ARGS(&p));
    OK(ops->copy_out(fx->dev, &out, p, 4, &e));
    assert_int_equal(out, 42);
    run("in_block", LINE(1, 1), ARGS(&p));
    take(&out, p, 4);
    assert_int_equal(out, 17);
    static const char *const missing[] = {"switched_off", "mangled", "generic", "only_declared", "in_a_string", "nonsense"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        struct err why = {0};
        struct dev_function *f;
        assert_int_equal(ops->function(fx->dev, fx->module, missing[i], &f, &why), LATHE_DEVICE);
        must_say(&why, missing[i]);
        must_say(&why, "extern \"C\" __global__");
        assert_int_equal(ops->fault(fx->dev), DEV_FAULT_LAUNCH);
    }
    assert_ptr_equal(function("where"), function("where"));
}

/* --- what goes wrong --- */

static void test_deadlock(void **state)
{
    int out[64];
    dev_ptr p = buffer(sizeof out, 0);
    struct err why = {0};
    for (int i = 0; i < 2; i++) {       /* the second in the other order */
        assert_int_equal(try("deadlock", LINE(3, 64), ARGS(&p), &why), LATHE_DEVICE);
        assert_int_equal(ops->fault(fx->dev), DEV_FAULT_CRASH);
        must_say(&why, "kernel deadlock, block (0,0,0): deadlock");
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
        {{{1, 1, 1}, {1025, 1, 1}, 0}, DEV_FAULT_RESOURCES, "too many resources requested for launch: block 1025 x 1 x 1"},
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
    const uint32_t one[3] = {1, 1, 1}, two[3] = {2, 1, 1};
    struct err why = {0};
    assert_int_equal(ops->launch(fx->dev, function("no_arguments"), two, one, two, 0, NULL, &why), LATHE_DEVICE);
    must_say(&why, "no thread block clusters");
    OK(ops->launch(fx->dev, function("no_arguments"), two, one, one, 0, NULL, &e));
    run("no_arguments", (struct shape){{1, 1, 1}, {1024, 1, 1}, 232448}, NULL);
}

static void test_memory(void **state)
{
    dev_ptr p, q;
    struct err why = {0};
    uint64_t limit = (uint64_t)fx->target.limit[LIMIT_memory_bytes];
    assert_int_equal(ops->alloc(fx->dev, limit + 1, &p, &why), LATHE_DEVICE);
    assert_int_equal(ops->fault(fx->dev), DEV_FAULT_RESOURCES);
    must_say(&why, "out of memory");
    assert_int_equal(ops->alloc(fx->dev, UINT64_MAX, &p, &why), LATHE_DEVICE);
    OK(ops->alloc(fx->dev, limit, &p, &e));     /* untouched: costs nothing */
    assert_int_equal(ops->alloc(fx->dev, 1, &q, &why), LATHE_DEVICE);
    ops->release(fx->dev, p);
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

static void test_crashes(void **state)
{
    dev_ptr none = 0, p = buffer(1000, 0);
    int64_t first = 0, inside = 249, behind = 256 * 4 / 4, before = -8192 / 4, near = 250;
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

/* --- the rest --- */

static void test_target(void **state)
{
    const struct target *t = &fx->target;
    assert_string_equal(t->device, "host");
    assert_string_equal(t->arch, "host");
    assert_true(t->name[0] && t->driver[0] && t->toolchain[0] && t->host[0]);
    assert_int_equal(t->limit[LIMIT_sm], 0);
    assert_int_equal(t->limit[LIMIT_warp_size], 32);
    assert_int_equal(t->limit[LIMIT_max_threads_per_block], 1024);
    assert_int_equal(t->limit[LIMIT_max_shared_per_block], 232448);
    assert_true(t->limit[LIMIT_sm_count] >= 1 && t->limit[LIMIT_l2_bytes] > 0 && t->limit[LIMIT_memory_bytes] > 1 << 20);
    struct resources r;
    OK(ops->resources(fx->dev, function("where"), 32, 100, &r, &e));
    assert_int_equal(r.shared_dynamic, 100);
    assert_int_equal(r.registers, 0);
    struct telemetry seen;
    ops->telemetry(fx->dev, &seen);
    assert_true(isnan(seen.power_w) && isnan(seen.sm_mhz));
}

static void test_marks(void **state)
{
    ops->mark(fx->dev, 0);
    usleep(2000);
    ops->mark(fx->dev, DEV_MARKS - 1);
    double ms = ops->elapsed_ms(fx->dev, 0, DEV_MARKS - 1);
    assert_true(ms >= 2 && ms < 2000);
    assert_true(isnan(ops->elapsed_ms(fx->dev, 0, 5)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector_add),
        cmocka_unit_test(test_block_sum),
        cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_warp_sum),
        cmocka_unit_test(test_half_warps),
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_early_exit),
        cmocka_unit_test(test_by_value),
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_unwritten),
        cmocka_unit_test(test_forgotten_barrier),
        cmocka_unit_test(test_last_block),
        cmocka_unit_test(test_language),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_crashes),
        cmocka_unit_test(test_bad_images),
        cmocka_unit_test(test_target),
        cmocka_unit_test(test_marks),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
