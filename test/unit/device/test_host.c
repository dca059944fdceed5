/* test_host.c: the host device: each kernel of host_kernels.cu against what CUDA defines. */
#include "host_fixture.h"
#include <math.h>

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
            if (out[t][i] != 100 + want[i])
                fail_msg("thread %d, shuffle %d: %d, not %d", t, i, out[t][i], 100 + want[i]);
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
    OK(ops->fill(fx->dev, po, 0xffffffff, sizeof out, &e));
    OK(ops->copy_out(fx->dev, order, pr, sizeof order, &e));
    OK(ops->fill(fx->dev, pr, 0, sizeof order, &e));
    for (unsigned b = 0; b < BLOCKS; b++) assert_int_equal(order[b], b);    /* x fastest, z slowest */
    run("where", s, ARGS(&po, &pr));
    take(out, po, sizeof out);
    take(order, pr, sizeof order);
    for (unsigned b = 0; b < BLOCKS; b++) {
        assert_int_equal(order[b], BLOCKS - 1 - b);     /* every other launch goes the other way */
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
    p = buffer(sizeof out, 0);          /* every other launch: a number */
    run("unwritten", (struct shape){{2, 1, 1}, {1, 1, 1}, 64}, ARGS(&p));
    take(out, p, sizeof out);
    for (int i = 0; i < 4; i++) assert_int_equal(out[i], 0x3f3f3f3fu);
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
    static const char *const missing[] = {"switched_off",  "mangled",     "generic",
                                          "only_declared", "in_a_string", "nonsense"};
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
    assert_true(t->limit[LIMIT_sm_count] >= 1 && t->limit[LIMIT_l2_bytes] > 0);
    assert_int_equal(t->limit[LIMIT_memory_bytes], (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 2);
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
        cmocka_unit_test(test_target),
        cmocka_unit_test(test_marks),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
