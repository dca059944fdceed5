/* test_bench.c: what a bench does of its own, on a device that only counts: which tensors are filled again when the
 * inputs change, also where a launch is refused, and when outputs are said to tell nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "trial/bench_private.h"
#include "trial/evaluate.h"

static struct dev_function {
    int id;
} uniform, normal, refused, leaving;

/* What is found in shared memory: the last word, and how often one was left. */
static struct {
    int times;
    uint32_t word, bytes, blocks;
} shared;

static struct {
    int launches;
    struct dev_function *function;
    dev_ptr at;
    float a, b;
    int64_t seed;
    struct { uint64_t other; int64_t line, mix; } mixing;    /* as in kernels/common/verify.cu */
} last;

static status fake_launch(struct dev *d, struct dev_function *f, const struct dev_launch *how, void **args,
                          struct err *e)
{
    if (f == &refused) return err_set(e, LATHE_DEVICE, "too many resources");
    if (f == &leaving) {
        shared.times++;
        shared.word = *(uint32_t *)args[0];
        shared.bytes = how->shared;
        shared.blocks = how->grid[0];
        assert_int_equal(*(int32_t *)args[1], how->shared);
        return LATHE_OK;
    }
    last.launches++;
    last.function = f;
    last.at = *(dev_ptr *)args[0];
    last.seed = *(int64_t *)args[3];
    last.a = *(float *)args[4];
    last.b = *(float *)args[5];
    memcpy(&last.mixing, args[6], sizeof last.mixing);
    return LATHE_OK;
}

static status fake_fill(struct dev *d, dev_ptr p, uint32_t word, uint64_t bytes, struct err *e) { return LATHE_OK; }

static status fake_copy_in(struct dev *d, dev_ptr to, const void *from, uint64_t bytes, struct err *e)
{
    return LATHE_OK;
}

static enum dev_fault why;          /* an allocation fails */

static status fake_alloc(struct dev *d, uint64_t bytes, dev_ptr *out, struct err *e)
{
    return err_set(e, LATHE_DEVICE, "no memory");
}

static enum dev_fault fake_fault(struct dev *d) { return why; }

static const struct dev_ops fake = {.kind = "fake", .launch = fake_launch, .fill = fake_fill,
                                    .copy_in = fake_copy_in, .alloc = fake_alloc, .fault = fake_fault};

enum { X, W, Y, TENSORS };
static struct plan_buffer buffers[TENSORS] = {
    [X] = {.name = "X", .role = PLAN_INPUT, .rank = 1, .shape = {100}, .count = 100, .fill_b = 1, .has_check = true,
           .check = FILL_NORMAL, .check_b = 4},
    [W] = {.name = "W", .role = PLAN_INPUT, .rank = 1, .shape = {1 << 20}, .count = 1 << 20, .fill_b = 1},
    [Y] = {.name = "Y", .role = PLAN_OUTPUT, .rank = 1, .shape = {100}, .count = 100},
};
static dev_ptr address[TENSORS] = {0x100, 0x200, 0x300};

static struct bench make_bench(bool check)
{
    memset(&last, 0, sizeof last);
    return (struct bench){.ops = &fake,
                          .setup = {.tensors = {.buffers = buffers, .nbuffers = TENSORS, .ntensors = TENSORS},
                                    .operands = {-1, -1, -1, false, false},
                                    .check = check},
                          .address = address,
                          .fill_uniform = &uniform,
                          .fill_normal = &normal,
                          .seed = 7,
                          .timed = {.inputs = INPUTS_default},
                          .check = {.inputs = INPUTS_check}};
}

static void only_what_differs_is_filled_again(void **state)
{
    struct bench b = make_bench(true);
    struct err e = {0};
    (void)state;
    b.now = &b.timed;
    assert_int_equal(bench_use(&b, &b.check, &e), LATHE_OK);
    assert_true(last.launches == 1 && last.at == address[X] && last.function == &normal && last.b == 4);
    assert_ptr_equal(b.now, &b.check);
    assert_int_equal(bench_use(&b, &b.check, &e), LATHE_OK);
    assert_int_equal(last.launches, 1);
    assert_int_equal(bench_use(&b, &b.timed, &e), LATHE_OK);
    assert_true(last.launches == 2 && last.at == address[X] && last.function == &uniform && last.b == 1);
    assert_ptr_equal(b.now, &b.timed);
}

/* same: the share of Y's elements that are one value, on the timed inputs and on the check inputs */
static void assert_blind(bool check, double timed, double checked, const char *expected)
{
    struct bench b = make_bench(check);
    double none[TENSORS] = {0}, same[TENSORS] = {[Y] = timed}, other[TENSORS] = {[Y] = checked};
    char text[160];
    b.timed.same = same;
    b.timed.common = none;
    b.check.same = other;
    bench_blind(&b, text, sizeof text);
    assert_string_equal(text, expected);
}

static void outputs_that_tell_nothing(void **state)
{
    (void)state;
    assert_blind(false, 1, 0, "all elements of Y are 0");
    assert_blind(true, 1, 1, "all elements of Y are 0");
    assert_blind(true, 1, 0.99, "");
    assert_blind(true, 0.5, 1, "");
    assert_blind(false, 0.99, 1, "");
    assert_blind(false, 0.991, 0, "99.10 % of the elements of Y are 0");
    assert_blind(false, 0.99999, 0, "99.99 % of the elements of Y are 0");
}

/* The device is still usable: what is evaluated next runs on the inputs that there are answers on. */
static void a_launch_that_is_refused_leaves_the_inputs_as_they_were(void **state)
{
    struct bench b = make_bench(false);
    struct guarded tensors[TENSORS] = {0};
    struct plan_step step = {.kind = STEP_LAUNCH};
    struct pipeline_step made = {.function = &refused};
    const struct plan plan = {
        .buffers = buffers, .nbuffers = TENSORS, .ntensors = TENSORS, .steps = &step, .nsteps = 1};
    struct pipeline p = {.ops = &fake, .plan = &plan, .steps = &made, .address = address};
    struct result out = {0};
    struct err e = {0};
    bool damaged;
    (void)state;
    b.tensors = tensors;
    b.now = &b.timed;
    assert_int_equal(bench_other_inputs(&b, MIX_NONE, &e), LATHE_OK);
    assert_true(last.at == address[W]);
    int64_t seed = last.seed;
    assert_int_equal(bench_other_inputs(&b, MIX_HALF, &e), LATHE_OK);
    assert_true(last.at == address[W] && last.seed == seed && last.mixing.mix == MIX_HALF);
    assert_true(last.mixing.other != (uint64_t)seed);
    assert_int_equal(bench_other_inputs(&b, MIX_NONE, &e), LATHE_OK);
    assert_int_equal(verify_pipeline(&b, &p, &out, &damaged, &e), LATHE_DEVICE);
    assert_string_equal(e.text, "too many resources");
    assert_true(last.at == address[W] && last.seed == seed && !last.mixing.mix);
}

/* On a GPU; the host device has garbage there of its own. */
static void what_a_kernel_finds_in_shared_memory_is_no_chance(void **state)
{
    struct bench b = make_bench(false);
    struct err e = {0};
    (void)state;
    memset(&shared, 0, sizeof shared);
    b.leave_shared = &leaving;
    assert_int_equal(bench_leave_shared(&b, GARBAGE_NAN, &e), LATHE_OK);
    assert_int_equal(shared.times, 0);
    b.shared_bytes = 232448;
    b.sm_count = 132;
    assert_int_equal(bench_leave_shared(&b, GARBAGE_NAN, &e), LATHE_OK);
    assert_true(shared.times == 1 && shared.word == 0xffffffffu && shared.bytes == 232448 && shared.blocks >= 132);
    assert_int_equal(bench_leave_shared(&b, GARBAGE_NUMBERS, &e), LATHE_OK);
    assert_true(shared.times == 2 && shared.word == 0x3f3f3f3fu);
}

/* count elements in rows of `row` are mixed in lines of `line`. */
static void assert_mixed_in_lines(int64_t count, int64_t row, int64_t line)
{
    const struct plan_buffer kept = buffers[W];
    struct bench b = make_bench(false);
    struct err e = {0};
    b.now = &b.timed;
    buffers[W].rank = 2;
    buffers[W].shape[0] = count / row;
    buffers[W].shape[1] = row;
    buffers[W].count = count;
    assert_int_equal(bench_other_inputs(&b, MIX_MOST, &e), LATHE_OK);
    buffers[W] = kept;
    assert_true(last.mixing.line == line && last.mixing.mix == MIX_MOST);
}

static void inputs_are_mixed_in_rows_or_parts_of_a_few(void **state)
{
    (void)state;
    assert_mixed_in_lines(1 << 20, 1 << 10, 1 << 10);
    assert_mixed_in_lines(16 * 3, 3, 3);
    assert_mixed_in_lines(1 << 20, 1 << 20, 1 << 16);
    assert_mixed_in_lines(2 * 9, 9, 2);
    assert_mixed_in_lines(1, 1, 1);
}

/* A second reference is no need: a campaign that had room without it has none too little. */
static void no_room_for_other_scalars_is_no_failure(void **state)
{
    struct bench b = make_bench(false);
    struct err e = {0};
    (void)state;
    b.now = &b.timed;
    assert_int_equal(bench_find_varied(&b, INPUTS_default, 7, &e), LATHE_OK);
    assert_false(b.varies);
    assert_string_equal(b.unvaried, "");            /* there are none */
    b.setup.scalars = "s = 1.5";
    why = DEV_FAULT_RESOURCES;
    assert_int_equal(bench_find_varied(&b, INPUTS_default, 7, &e), LATHE_OK);
    assert_false(b.varies);
    assert_string_equal(b.unvaried, "there is no room for a reference with s = 1.5");
    assert_null(b.varied.exact);
    why = DEV_FAULT_CRASH;
    assert_int_equal(bench_find_varied(&b, INPUTS_default, 7, &e), LATHE_DEVICE);
    assert_string_equal(e.text, "with s = 1.5: the reference of tensor Y: no memory");
    bench_free_answers(&b, &b.varied);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_differs_is_filled_again),
        cmocka_unit_test(outputs_that_tell_nothing),
        cmocka_unit_test(what_a_kernel_finds_in_shared_memory_is_no_chance),
        cmocka_unit_test(a_launch_that_is_refused_leaves_the_inputs_as_they_were),
        cmocka_unit_test(inputs_are_mixed_in_rows_or_parts_of_a_few),
        cmocka_unit_test(no_room_for_other_scalars_is_no_failure),
    };
    return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
