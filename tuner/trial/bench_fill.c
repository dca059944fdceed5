/* bench_fill.c: what the inputs are filled with: as the specification says (its fills, or its check values), or values
 * of a class (model/inputs.h) that the kernels in kernels/common/inputs.cu make.
 *
 * A class is for the operands of the reference's GEMM, or for every input where there is none; the bias goes with them
 * where it would hide them. Other inputs (a divisor, a residual) keep the specification's fills. */
#include "base/rng.h"
#include "trial/bench_private.h"
#include <math.h>

enum part { PART_A, PART_B, PART_BIAS, PART_OTHER };    /* kernels/common/inputs.cu knows the first three by number */

static enum part part_of(const struct bench *b, int tensor)
{
    const struct operands *o = &b->setup.operands;
    if (o->a < 0 || tensor == o->a) return PART_A;
    return tensor == o->b ? PART_B : tensor == o->bias ? PART_BIAS : PART_OTHER;
}

/* A line is what one sum runs over: a row of op(A), a column of op(B); else a row of the last axis. */
static void lines_of(const struct bench *b, int tensor, int64_t *length, int32_t *contiguous)
{
    const struct operands *o = &b->setup.operands;
    const struct plan_buffer *p = bench_tensor(b, tensor);
    *contiguous = 1;
    *length = p->shape[p->rank - 1];
    if (o->a < 0 || p->rank != 2) return;
    *contiguous = tensor == o->a ? !o->trans_a : tensor == o->b ? o->trans_b : 1;
    if (!*contiguous) *length = p->shape[0];
}

/* The root mean square of the specification's fill. */
static float spread(const struct plan_buffer *p)
{
    double a = p->fill_a, b = p->fill_b;
    return (float)(p->fill == FILL_NORMAL ? sqrt(a * a + b * b) : sqrt((a * a + a * b + b * b) / 3));
}

struct mixing {                     /* lathe_mixing in kernels/common/verify.cu */
    uint64_t other;
    int64_t line, mix;              /* mix: an enum bench_mix */
};

/* Lines are rows of the last axis; where those are few, as of a vector, sixteenths of the tensor. */
static int64_t mixed_line(const struct plan_buffer *p)
{
    enum { FEW_LINES = 16 };
    int64_t line = p->shape[p->rank - 1];
    return p->count / line < FEW_LINES ? (p->count + FEW_LINES - 1) / FEW_LINES : line;
}

static status fill_as_specified(struct bench *b, int i, int64_t seed, struct mixing *mixing, struct err *e)
{
    const struct plan_buffer *p = bench_tensor(b, i);
    int64_t count = p->count;
    int32_t type = bench_type(b, i);
    bool check = b->now->inputs == INPUTS_check && p->has_check;
    float lo = (float)(check ? p->check_a : p->fill_a), hi = (float)(check ? p->check_b : p->fill_b);
    void *args[] = {&b->address[i], &type, &count, &seed, &lo, &hi, mixing};
    struct dev_function *f = (check ? p->check : p->fill) == FILL_NORMAL ? b->fill_normal : b->fill_uniform;
    return bench_run_support(b, f, bench_blocks(count), args, e);
}

/* The bias is left as specified where the values of the class do not vanish beside it. */
static bool bias_follows(enum inputs i)
{
    return inputs_plain(i) || i == INPUTS_tiny || i == INPUTS_rows || i == INPUTS_faint;
}

/* Of each tensor another. */
static uint64_t seed_of(uint64_t seed, int tensor) { return splitmix64(seed + (uint64_t)tensor * 0x51ed2701u); }

status bench_fill(struct bench *b, int i, uint64_t seed, enum bench_mix mix, struct err *e)
{
    int64_t own = (int64_t)seed_of(seed, i);
    struct mixing mixing = {.other = seed_of(splitmix64(seed ^ 0x07e4), i),
                            .line = mixed_line(bench_tensor(b, i)), .mix = mix};
    enum part part = part_of(b, i);
    enum inputs class = b->now->inputs;
    bool specified = inputs_specified(class) || part == PART_OTHER || (part == PART_BIAS && !bias_follows(class));
    if (specified) return fill_as_specified(b, i, own, &mixing, e);
    const struct plan_buffer *p = bench_tensor(b, i);
    int64_t count = p->count, length;
    int32_t type = bench_type(b, i), inputs = (int32_t)class, role = (int32_t)part, contiguous;
    float rms = spread(p);
    lines_of(b, i, &length, &contiguous);
    void *args[] = {&b->address[i], &type, &count, &own, &inputs, &role, &length, &contiguous, &rms, &mixing};
    return bench_run_support(b, b->fill_class, bench_blocks(count), args, e);
}
