/* plan_tensor_map.c: a tensor map with every expression evaluated, and CUDA's rules for one: those of
 * cuTensorMapEncodeTiled in the CUDA driver API's manual, without interleaving and with element strides of 1. */
#include "model/plan/plan_internal.h"

#include <stdio.h>

static const int64_t MOST_EXTENT = INT64_C(0xffffffff), MOST_PITCH = INT64_C(1) << 40;
enum { MOST_BOX = 256, MOST_SWIZZLE = 128, MOST_L2 = 256, UNIT = 16 /* bytes */ };

static status check_axes(const struct plan_tensor_map *m, const struct plan_buffer *b, struct err *e)
{
    int64_t count = 1;
    for (int i = 0; i < m->rank; i++) {
        if (m->shape[i] < 1 || m->shape[i] > MOST_EXTENT)
            return err_set(e, LATHE_SPEC, "shape[%d] is %lld, expected 1 to %lld", i + 1, (long long)m->shape[i],
                           (long long)MOST_EXTENT);
        if (m->box[i] < 1 || m->box[i] > MOST_BOX)
            return err_set(e, LATHE_SPEC, "box[%d] is %d, expected 1 to %d", i + 1, m->box[i], MOST_BOX);
        if (m->shape[i] > b->count / count)
            return err_set(e, LATHE_SPEC, "the shape has more elements than %s, which has %lld", b->name,
                           (long long)b->count);
        count *= m->shape[i];
    }
    int64_t pitch = dtype_bytes(b->dtype);
    for (int i = m->rank - 1; i > 0; i--) {
        pitch *= m->shape[i];
        if (pitch % UNIT || pitch >= MOST_PITCH)
            return err_set(e, LATHE_SPEC, "axis %d of %s has a pitch of %lld bytes (one step along it in memory), "
                           "expected a multiple of %d below 2^40", i, b->name, (long long)pitch, UNIT);
    }
    return LATHE_OK;
}

status plan_tensor_map_check(const struct plan_tensor_map *m, const struct plan_buffer *b, struct err *e)
{
    if (m->rank == 0 && b->count == 0)
        return LATHE_OK;
    if (m->rank < 1 || m->rank > MAX_RANK)
        return err_set(e, LATHE_SPEC, "a shape of %d axes, expected 1 to %d", m->rank, MAX_RANK);
    status s = check_axes(m, b, e);
    if (s)
        return s;
    if (m->swizzle != 0 && m->swizzle != 32 && m->swizzle != 64 && m->swizzle != 128)
        return err_set(e, LATHE_SPEC, "swizzle is %d, expected 0, 32, 64 or 128 bytes", m->swizzle);
    if (m->l2 != 0 && m->l2 != 64 && m->l2 != 128 && m->l2 != 256)
        return err_set(e, LATHE_SPEC, "l2 is %d, expected 0, 64, 128 or 256 bytes", m->l2);
    int inner = m->box[m->rank - 1] * dtype_bytes(b->dtype);
    if (inner % UNIT)
        return err_set(e, LATHE_SPEC, "the innermost axis of the box, box[%d], is %d bytes (%d elements of %s), "
                       "expected a multiple of %d", m->rank, inner, m->box[m->rank - 1], dtype_name(b->dtype), UNIT);
    if (m->swizzle && inner > m->swizzle)
        return err_set(e, LATHE_SPEC, "the innermost axis of the box, box[%d], is %d bytes (%d elements of %s), and a "
                       "swizzle of %d takes at most %d", m->rank, inner, m->box[m->rank - 1], dtype_name(b->dtype),
                       m->swizzle, m->swizzle);
    return LATHE_OK;
}

static status eval_axes(struct builder *b, struct expr *const x[MAX_RANK], const char *field, int rank, int64_t most,
                        int64_t out[MAX_RANK])
{
    for (int i = 0; i < rank; i++) {
        char name[24];
        snprintf(name, sizeof name, "%s[%d]", field, i + 1);
        TRY(plan_eval_range(b, x[i], name, 1, most, &out[i]));
    }
    return LATHE_OK;
}

static status eval_map(struct builder *b, const struct tensor_map *from, const struct plan_buffer *buffer,
                       struct plan_tensor_map *out)
{
    int64_t box[MAX_RANK] = {0}, swizzle = 0, l2 = 0;
    out->rank = from->rank;
    for (int i = 0; i < buffer->rank && !from->shape[0]; i++)
        out->shape[i] = buffer->shape[i];
    if (from->shape[0])
        TRY(eval_axes(b, from->shape, "shape", from->rank, MOST_EXTENT, out->shape));
    TRY(eval_axes(b, from->box, "box", from->rank, MOST_BOX, box));
    TRY(plan_eval_range(b, from->swizzle, "swizzle", 0, MOST_SWIZZLE, &swizzle));
    TRY(plan_eval_range(b, from->l2, "l2", 0, MOST_L2, &l2));
    for (int i = 0; i < from->rank; i++)
        out->box[i] = (int32_t)box[i];
    out->swizzle = (int)swizzle;
    out->l2 = (int)l2;
    return LATHE_OK;
}

status plan_tensor_map(struct builder *b, const struct arg *a, struct plan_arg *out)
{
    const struct plan_buffer *buffer = &b->plan->buffers[a->tensor];
    *out = (struct plan_arg){.kind = PLAN_TENSOR_MAP, .buffer = a->tensor};
    if (buffer->count == 0)
        return LATHE_OK;
    status s = eval_map(b, a->map, buffer, &out->map);
    if (!s)
        s = plan_tensor_map_check(&out->map, buffer, b->e);
    if (s)
        err_prefix(b->e, "tensor_map %s", buffer->name);
    return s;
}
