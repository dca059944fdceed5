/* test_cuda_work.c: memory, marks, products, graphs, clock and energy of the CUDA device, against a driver in
 * memory. */
#include "cuda_fixture.h"

/* --- memory --- */

static void test_memory(void **state)
{
    struct err e = {0};
    struct dev *d = open_fake(NULL);
    dev_ptr p = 0;
    uint32_t words[5] = {1, 2, 3, 4, 5}, back[5];
    assert_int_equal(ops->alloc(d, sizeof words, &p, &e), LATHE_OK);
    assert_int_equal(p % 256, 0);
    assert_int_equal(ops->copy_in(d, p, words, sizeof words, &e), LATHE_OK);
    assert_int_equal(ops->fill(d, p + 4, 0x7fc00000, 8, &e), LATHE_OK);
    assert_int_equal(ops->copy_out(d, back, p, sizeof back, &e), LATHE_OK);
    assert_memory_equal(back, ((uint32_t[]){1, 0x7fc00000, 0x7fc00000, 4, 5}), sizeof back);
    assert_int_equal(ops->fill(d, p, 0, 6, &e), LATHE_INTERNAL);
    says(&e, "multiples of 4");
    assert_int_equal(ops->fault(d), DEV_FAULT_NONE);
    ops->release(d, p);
    assert_int_equal(ops->alloc(d, 0, &p, &e), LATHE_OK);           /* no bytes still have an address */
    ops->release(d, p);
    ops->release(d, 0);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

static void test_out_of_memory(void **state)
{
    struct err e = {0};
    struct dev *d = open_fake(NULL);
    dev_ptr p = 0;
    fake.used = (size_t)1 << 29;
    assert_int_equal(ops->alloc(d, (uint64_t)3 << 30, &p, &e), LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_RESOURCES);
    says(&e, "CUDA_ERROR_OUT_OF_MEMORY");
    says(&e, "3221225472 bytes (3.00 GiB; 536870912 bytes, 0.50 GiB, of 1.00 GiB are free on cuda:0)");
    ops->close(d);
}

/* --- marks --- */

static void test_marks(void **state)
{
    struct dev *d = open_fake(NULL);
    ops->mark(d, 0);
    ops->mark(d, DEV_MARKS - 1);
    assert_int_equal(fake.events, 2);
    assert_true(ops->elapsed_ms(d, 0, DEV_MARKS - 1) == 0.25);
    ops->mark(d, 0);                                                /* used again, not made again */
    assert_int_equal(fake.events, 2);
    assert_true(isnan(ops->elapsed_ms(d, 0, 5)));                   /* never marked */
    assert_true(isnan(ops->elapsed_ms(d, -1, DEV_MARKS)));
    ops->mark(d, DEV_MARKS);
    ops->mark(d, -1);
    assert_int_equal(fake.events, 2);
    fake.fail_at = fake.calls + 1;
    fake.fail_with = CUDA_ERROR_OUT_OF_MEMORY;
    ops->mark(d, 7);
    assert_int_equal(ops->fault(d), DEV_FAULT_RESOURCES);
    assert_true(isnan(ops->elapsed_ms(d, 0, 7)));
    ops->close(d);
    assert_true(fake_nothing_alive());
}

/* --- GEMM --- */

enum { GM = 3, GN = 5, GK = 7 };

static void put_number(enum dtype t, void *array, int i, double x)
{
    switch (t) {
    case DTYPE_f64: ((double *)array)[i] = x; break;
    case DTYPE_f32: ((float *)array)[i] = (float)x; break;
    case DTYPE_f16: ((uint16_t *)array)[i] = f16_from_float((float)x); break;
    default: ((uint16_t *)array)[i] = bf16_from_float((float)x); break;
    }
}

/* Row-major C[m,n] = op(A) op(B) of small integers, exact in every type; called: what cuBLAS was told. */
static void check_gemm(enum dtype from, enum dtype to, enum gemm_compute compute, int trans, int called)
{
    struct err e = {0};
    struct dev *d = open_fake(NULL);
    double a[GM * GK], b[GK * GN], c[GM * GN];      /* room for any type */
    bool trans_a = trans & 1, trans_b = trans & 2;
    for (int i = 0; i < GM * GK; i++)
        put_number(from, a, i, i % 11 - 5);
    for (int i = 0; i < GK * GN; i++)
        put_number(from, b, i, i % 7 - 3);
    struct plan_step step = {.kind = STEP_GEMM, .trans_a = trans_a, .trans_b = trans_b, .compute = compute,
                             .m = GM, .n = GN, .k = GK};
    if (ops->gemm(d, &step, from, to, (dev_ptr)(uintptr_t)a, (dev_ptr)(uintptr_t)b, (dev_ptr)(uintptr_t)c, &e))
        fail_msg("%s", e.text);
    for (int m = 0; m < GM; m++)
        for (int n = 0; n < GN; n++) {
            double want = 0;
            for (int k = 0; k < GK; k++)
                want += dtype_read(from, a, trans_a ? k * GM + m : m * GK + k) *
                        dtype_read(from, b, trans_b ? n * GK + k : k * GN + n);
            assert_true(dtype_read(to, c, m * GN + n) == want);
        }
    assert_int_equal(fake.math_mode, CUBLAS_DEFAULT_MATH);
    assert_int_equal(fake.gemm_compute, called);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

static void test_gemm(void **state)
{
    for (int trans = 0; trans < 4; trans++) {
        check_gemm(DTYPE_f32, DTYPE_f32, GEMM_F32, trans, FAKE_SGEMM);
        check_gemm(DTYPE_f32, DTYPE_f32, GEMM_TF32, trans, CUBLAS_COMPUTE_32F_FAST_TF32);
        check_gemm(DTYPE_f32, DTYPE_f32, GEMM_BF16, trans, CUBLAS_COMPUTE_32F_FAST_16BF);
        check_gemm(DTYPE_f32, DTYPE_f32, GEMM_F16, trans, CUBLAS_COMPUTE_32F_FAST_16F);
        check_gemm(DTYPE_f64, DTYPE_f64, GEMM_F64, trans, FAKE_DGEMM);
        check_gemm(DTYPE_f16, DTYPE_f16, GEMM_F32, trans, CUBLAS_COMPUTE_32F);
        check_gemm(DTYPE_f16, DTYPE_f32, GEMM_F32, trans, CUBLAS_COMPUTE_32F);
        check_gemm(DTYPE_bf16, DTYPE_bf16, GEMM_F32, trans, CUBLAS_COMPUTE_32F);
        check_gemm(DTYPE_bf16, DTYPE_f32, GEMM_F32, trans, CUBLAS_COMPUTE_32F);
    }
}

static void test_gemm_refusals(void **state)
{
    struct err e = {0};
    struct dev *d = open_fake(NULL);
    struct plan_step step = {.kind = STEP_GEMM, .m = 3, .n = (int64_t)1 << 31, .k = 7};
    assert_int_equal(ops->gemm(d, &step, DTYPE_f32, DTYPE_f32, 256, 256, 256, &e), LATHE_DEVICE);
    assert_string_equal(e.text, "gemm 3x2147483648x7: each dimension must be 1 to 2147483647");
    assert_int_equal(ops->fault(d), DEV_FAULT_LAUNCH);
    step.n = 5;
    assert_int_equal(ops->gemm(d, &step, DTYPE_bf16, DTYPE_f16, 256, 256, 256, &e), LATHE_DEVICE);
    says(&e, "only f32");
    step.compute = GEMM_F64;
    assert_int_equal(ops->gemm(d, &step, DTYPE_f32, DTYPE_f32, 256, 256, 256, &e), LATHE_DEVICE);
    step.compute = GEMM_F32;
    fake.fail_at = fake.calls + 1;
    fake.cublas_fail_with = CUBLAS_STATUS_EXECUTION_FAILED;
    assert_int_equal(ops->gemm(d, &step, DTYPE_f32, DTYPE_f32, 256, 256, 256, &e), LATHE_DEVICE);
    assert_string_equal(e.text, "cublasSgemm 3x5x7: CUBLAS_STATUS_EXECUTION_FAILED (13)");
    assert_int_equal(ops->fault(d), DEV_FAULT_CRASH);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

/* --- graphs, clock, energy --- */

static void test_clock_and_energy(void **state)
{
    double mhz;
    uint64_t reasons;
    struct dev *d = open_fake(NULL);
    assert_true(ops->pulse(d, &mhz, &reasons));
    assert_true(mhz == 1755 && reasons == 4 && ops->energy_mj(d) == 123456789);
    ops->close(d);
    fake_reset();
    fake.no_nvml = true;
    d = open_fake(NULL);
    assert_false(ops->pulse(d, &mhz, &reasons));
    assert_true(isnan(mhz) && reasons == 0 && isnan(ops->energy_mj(d)));
    ops->close(d);
}

/* What is recorded runs when the graph is launched, as often; what may not be recorded leaves a queue that works. */
static void test_graphs(void **state)
{
    struct dev *d = open_fake(NULL);
    struct dev_module *m;
    struct dev_function *f;
    struct dev_graph *g = NULL;
    struct err e = {0};
    const uint32_t one[3] = {1, 1, 1}, block[3] = {64, 1, 1};
    assert_int_equal(ops->load(d, image, &m, &e), LATHE_OK);
    assert_int_equal(ops->function(d, m, "linear_simt", &f, &e), LATHE_OK);
    assert_int_equal(ops->graph_begin(d, &e), LATHE_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(launch(d, f, one, block, no_cluster, 0, NULL, &e), LATHE_OK);
    assert_int_equal(ops->graph_end(d, &g, &e), LATHE_OK);
    assert_non_null(g);
    assert_int_equal(fake.launches, 0);
    for (int i = 0; i < 2; i++) assert_int_equal(ops->graph_launch(d, g, &e), LATHE_OK);
    assert_int_equal(fake.launches, 6);
    ops->graph_free(d, g);

    assert_int_equal(ops->graph_begin(d, &e), LATHE_OK);
    assert_int_equal(ops->sync(d, &e), LATHE_DEVICE);
    assert_int_equal(ops->graph_end(d, &g, &e), LATHE_DEVICE);
    says(&e, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
    assert_null(g);
    assert_int_equal(launch(d, f, one, block, no_cluster, 0, NULL, &e), LATHE_OK);
    assert_int_equal(fake.launches, 7);
    assert_int_equal(ops->sync(d, &e), LATHE_OK);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_clock_and_energy),
        TEST(test_graphs),
        TEST(test_memory),
        TEST(test_out_of_memory),
        TEST(test_marks),
        TEST(test_gemm),
        TEST(test_gemm_refusals),
    };
    return cmocka_run_group_tests(tests, make_image, remove_image);
}
