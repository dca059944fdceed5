/* test_pipeline.c: a plan on a driver in memory: what is made once at opening, what each launch is given, and what is
 * undone at the end. */
#include "../device/fake_cuda.c"
#include "base/mem.h"
#include "trial/pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

static const struct dev_ops *const ops = &cuda_ops;
static char image[64];

enum { X, TMP, GONE, BUFFERS };

/* Two launches: the first reads X by a map, the second is programmatic and keeps TMP in the L2. */
static struct plan_arg first_args[] = {
    {.kind = PLAN_TENSOR_MAP, .buffer = X, .map = {2, {64, 32}, {16, 32}, 128, 0}},
    {.kind = PLAN_I32, .i = 7},
    {.kind = PLAN_TENSOR_MAP, .buffer = GONE},
    {.kind = PLAN_TENSOR_MAP, .buffer = TMP, .map = {1, {256}, {64}, 0, 0}},
};
static struct plan_buffer buffers[BUFFERS] = {
    [X] = {.name = "X", .role = PLAN_INPUT, .rank = 2, .shape = {64, 32}, .count = 2048},
    [TMP] = {.name = "tmp", .role = PLAN_WORKSPACE, .rank = 1, .shape = {256}, .count = 256, .zero = ZERO_ONCE},
    [GONE] = {.name = "gone", .role = PLAN_WORKSPACE, .rank = 1, .shape = {0}},
};
static struct plan_step steps[2];
static const struct plan plan = {.buffers = buffers, .nbuffers = BUFFERS, .ntensors = 1, .steps = steps, .nsteps = 2};

static int before_each(void **state)
{
    static const struct plan_step step = {.function = "linear_simt", .grid = {4, 1, 1}, .block = {64, 1, 1}};
    fake_reset();
    steps[0] = steps[1] = step;
    steps[0].args = first_args;
    steps[0].nargs = sizeof first_args / sizeof *first_args;
    steps[1].cluster[0] = steps[1].cluster[1] = steps[1].cluster[2] = 1;
    steps[1].programmatic = true;
    steps[1].window = (struct plan_window){true, TMP, L2_persisting, L2_streaming, 0.5};
    return 0;
}

static struct dev *open_device(void)
{
    struct cuda_tables tables = fake_tables();
    struct target t;
    struct dev *d = NULL;
    struct err e = {0};
    assert_int_equal(cuda_open_with(&tables, 0, &d, &t, &e), LATHE_OK);
    return d;
}

static status open_pipeline(struct dev *d, struct guarded *x, struct pipeline *p, struct err *e)
{
    const char *stage;
    status s = guarded_alloc(ops, d, 8192, x, e);
    return s ? s : pipeline_open(ops, d, &plan, image, &x->data, NULL, p, &stage, e);
}

static void test_launches(void **state)
{
    struct err e = {0};
    struct dev *d = open_device();
    struct guarded x;
    struct pipeline p;
    assert_int_equal(open_pipeline(d, &x, &p, &e), LATHE_OK);
    assert_int_equal(fake.maps, 2);
    assert_int_equal(fake.persisting, FAKE_PERSISTING);
    for (int run = 0; run < 3; run++)
        assert_int_equal(pipeline_run(&p, &e), LATHE_OK);
    assert_int_equal(fake.launches, 6);
    assert_int_equal(fake.maps, 2);                 /* made once, not at each run */

    cuuint64_t map[16];
    void **args = p.steps[0].args;
    memcpy(map, args[0], sizeof map);
    assert_true(map[0] == x.data && map[15] == 1);
    assert_int_equal(*(int32_t *)args[1], 7);
    memcpy(map, args[2], sizeof map);
    for (int i = 0; i < 16; i++)
        assert_int_equal(map[i], 0);                /* of a buffer that is not there */
    memcpy(map, args[3], sizeof map);
    assert_true(map[0] == p.workspace[0].data && map[15] == 2);

    assert_int_equal(fake.last_programmatic, 1);
    assert_int_equal(fake.last_cluster[0], 1);
    assert_true(fake.last_window.base_ptr == (void *)(uintptr_t)p.workspace[0].data);
    assert_true(fake.last_window.num_bytes == 1024 && fake.last_window.hitRatio == 0.5f);
    assert_int_equal(fake.last_window.hitProp, CU_ACCESS_PROPERTY_PERSISTING);
    pipeline_close(&p);
    assert_int_equal(fake.persisting, 0);
    assert_int_equal(fake.persisting_resets, 1);
    guarded_release(ops, d, &x);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

/* Room in the L2 is set aside for the plans that use it only. */
static void test_no_persisting(void **state)
{
    struct err e = {0};
    struct dev *d = open_device();
    struct guarded x;
    struct pipeline p;
    steps[1].window.hit = L2_streaming;
    assert_int_equal(open_pipeline(d, &x, &p, &e), LATHE_OK);
    assert_int_equal(fake.persisting, 0);
    pipeline_close(&p);
    assert_int_equal(fake.persisting_resets, 0);
    guarded_release(ops, d, &x);
    ops->close(d);
}

static void test_no_tensor_maps(void **state)
{
    struct err e = {0};
    fake.no_tensor_maps = true;
    struct dev *d = open_device();
    struct guarded x;
    struct pipeline p;
    assert_int_equal(open_pipeline(d, &x, &p, &e), LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_LAUNCH);
    assert_non_null(strstr(e.text, "linear_simt: args[1]: tensor_map X: the CUDA driver libcuda.fake has no"));
    guarded_release(ops, d, &x);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

/* An image is not launched with arguments that are not its kernel's parameters. */
static void test_parameters(void **state)
{
    struct err e = {0};
    struct dev *d = open_device();
    struct guarded x;
    struct pipeline p;
    const size_t right[] = {128, 4, 128, 128};
    memcpy(fake.parameters, right, sizeof right);
    steps[1].args = first_args;
    steps[1].nargs = steps[0].nargs;
    assert_int_equal(open_pipeline(d, &x, &p, &e), LATHE_OK);
    pipeline_close(&p);
    guarded_release(ops, d, &x);
    fake.parameters[1] = 8;
    assert_int_equal(open_pipeline(d, &x, &p, &e), LATHE_DEVICE);
    assert_int_equal(ops->fault(d), DEV_FAULT_LAUNCH);
    assert_string_equal(e.text, "kernel linear_simt: args[2] has 4 bytes, and the kernel's parameter 8");
    guarded_release(ops, d, &x);
    ops->close(d);
    assert_true(fake_nothing_alive());
}

/* Whichever call fails, nothing stays. */
static void test_every_call_fails_once(void **state)
{
    for (int n = 1;; n++) {
        struct err e = {0};
        struct guarded x;
        struct pipeline p;
        before_each(NULL);
        struct dev *d = open_device();
        fake.fail_at = fake.calls + n;
        fake.fail_with = CUDA_ERROR_INVALID_VALUE;
        status s = open_pipeline(d, &x, &p, &e);
        bool opened = !s;
        if (!s)
            s = pipeline_run(&p, &e);
        if (opened)
            pipeline_close(&p);
        guarded_release(ops, d, &x);
        assert_true(s || !fake.failed || !strcmp(fake.failed, "cuFuncSetAttribute") || fake.launches == 2);
        ops->close(d);
        assert_true(fake_nothing_alive());
        if (!fake.failed)
            return;
    }
}

static int make_image(void **state)
{
    snprintf(image, sizeof image, "/tmp/lathe-pipeline-%d.cubin", (int)getpid());
    return file_write_atomic(image, "image of a fake", 15, NULL) ? -1 : 0;
}

static int remove_image(void **state)
{
    return unlink(image);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, before_each)
    const struct CMUnitTest tests[] = {
        TEST(test_launches),
        TEST(test_no_persisting),
        TEST(test_no_tensor_maps),
        TEST(test_parameters),
        TEST(test_every_call_fails_once),
    };
    return cmocka_run_group_tests(tests, make_image, remove_image);
}
