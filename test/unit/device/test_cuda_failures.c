/* test_cuda_failures.c: nothing of the CUDA device stays alive, whichever call of the driver fails. */
#include "cuda_fixture.h"

/* --- every call fails once --- */

/* A graph of one launch, launched. */
static status use_graph(struct dev *d, struct dev_function *f, struct err *e)
{
    const uint32_t one[3] = {1, 1, 1}, block[3] = {64, 1, 1};
    struct dev_graph *g = NULL;
    status s = ops->graph_begin(d, e);
    if (s) return s;
    s = launch(d, f, one, block, no_cluster, 0, NULL, e);
    status ended = ops->graph_end(d, &g, s ? NULL : e);
    if (!s) s = ended;
    if (!s) s = ops->graph_launch(d, g, e);
    if (g) ops->graph_free(d, g);
    return s;
}

/* All that a trial does; the first failure's status. */
static status use(struct dev *d, struct err *e)
{
    dev_ptr p = 0, q = 0;
    struct dev_module *m = NULL;
    struct dev_function *f = NULL;
    struct resources r;
    struct telemetry t;
    float data[64] = {1};
    const uint32_t one[3] = {1, 1, 1}, block[3] = {64, 1, 1}, cluster[3] = {1, 1, 1};
    struct plan_step gemm = {.kind = STEP_GEMM, .m = 2, .n = 2, .k = 2};
    const struct plan_tensor_map map = {.rank = 1, .shape = {64}, .box = {32}};
    status s = ops->alloc(d, sizeof data, &p, e);
    if (!s) s = ops->alloc(d, sizeof data, &q, e);
    if (!s) s = ops->copy_in(d, p, data, sizeof data, e);
    if (!s) s = ops->fill(d, q, 0, sizeof data, e);
    if (!s) s = ops->load(d, image, &m, e);
    if (!s) s = ops->function(d, m, "linear_simt", &f, e);
    if (!s) s = ops->takes(d, f, &gemm, e);     /* no arguments */
    if (!s) s = ops->resources(d, f, 64, 0, &r, e);
    if (!s) ops->mark(d, 0);
    if (!s) s = launch(d, f, one, block, no_cluster, 0, NULL, e);
    if (!s) s = launch(d, f, one, block, cluster, 0, NULL, e);
    if (!s) s = ops->tensor_map(d, &map, DTYPE_f32, p, data, e);
    if (!s) s = ops->persist(d, true, e);
    if (!s) s = ops->persist(d, false, e);
    if (!s) s = ops->gemm(d, &gemm, DTYPE_f32, DTYPE_f32, p, p, q, e);
    if (!s) s = use_graph(d, f, e);
    if (!s) ops->mark(d, 1);
    if (!s) s = ops->sync(d, e);
    if (!s && isnan(ops->elapsed_ms(d, 0, 1)))
        s = err_set(e, LATHE_DEVICE, "no time");
    if (!s) ops->telemetry(d, &t);
    if (!s) s = ops->copy_out(d, data, q, sizeof data, e);
    ops->release(d, p);
    ops->release(d, q);
    return s;
}

/* Calls whose failure a device lives with. */
static bool may_fail(const char *call, CUresult with)
{
    static const char *const calls[] = {"cuDeviceGetPCIBusId", "cuDeviceGetUuid", "cuDeviceGetAttribute",
                                        "cuFuncGetParamInfo"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(call, calls[i]))
            return true;
    return !strncmp(call, "nvml", 4) || (!strcmp(call, "cuFuncSetAttribute") && cuda_fault(with) < DEV_FAULT_CRASH);
}

static int fail_each_call(CUresult with, int cublas_with, enum dev_fault fault)
{
    struct cuda_tables tables = fake_tables();
    int failures = 0;
    for (int n = 1;; n++) {
        struct err e = {0};
        struct target t;
        struct dev *d = NULL;
        fake_reset();
        fake.fail_at = n;
        fake.fail_with = with;
        fake.cublas_fail_with = cublas_with;
        status s = cuda_open_with(&tables, 0, &d, &t, &e);
        if (!s) {
            s = use(d, &e);
            bool blas = fake.failed && !strncmp(fake.failed, "cublas", 6);  /* it cannot tell that a device is lost */
            if (s)
                assert_int_equal(ops->fault(d), blas && fault == DEV_FAULT_LOST ? DEV_FAULT_CRASH : fault);
            ops->close(d);
        } else {
            assert_null(d);
        }
        assert_true(fake_nothing_alive());
        if (!fake.failed) {
            assert_int_equal(s, LATHE_OK);
            return failures;
        }
        if (!s && !may_fail(fake.failed, with))
            fail_msg("call %d, %s, failed and nobody noticed", n, fake.failed);
        if (s) {
            assert_int_equal(s, LATHE_DEVICE);
            assert_true(strstr(e.text, "no time") || strstr(e.text, "CUDA_ERROR_") || strstr(e.text, "CUBLAS_STATUS_"));
            failures++;
        }
    }
}

static void test_every_call_fails_once(void **state)
{
    int n = fail_each_call(CUDA_ERROR_OUT_OF_MEMORY, CUBLAS_STATUS_ALLOC_FAILED, DEV_FAULT_RESOURCES);
    assert_in_range(n, 40, 60);
    assert_in_range(fail_each_call(CUDA_ERROR_ILLEGAL_ADDRESS, CUBLAS_STATUS_EXECUTION_FAILED, DEV_FAULT_CRASH), n,
                    n + 1);
    assert_in_range(fail_each_call(CUDA_ERROR_DEVICE_UNAVAILABLE, CUBLAS_STATUS_EXECUTION_FAILED, DEV_FAULT_LOST), n,
                    n + 1);
    assert_int_equal(fail_each_call(CUDA_ERROR_INVALID_VALUE, CUBLAS_STATUS_INVALID_VALUE, DEV_FAULT_LAUNCH), n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_call_fails_once),
    };
    return cmocka_run_group_tests(tests, make_image, remove_image);
}
