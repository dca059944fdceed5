/* plan_from_json.c: a plan from the JSON of plan_json.c. It is checked as if it were foreign: indices, counts and
 * sizes, so that no bad message can make a worker touch memory that is not there. */
#include "model/plan/plan_internal.h"

#include "base/mem.h"
#include "model/record.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BUFFERS = 256, MAX_PLAN_STEPS = 256, MAX_FIELDS = 256 };

static int find_name(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static int parse_role(const char *s) { return find_name(plan_role_names, s); }
static int parse_fill(const char *s) { return find_name(plan_fill_names, s); }
static int parse_zero(const char *s) { return find_name(plan_zero_names, s); }
static int parse_step(const char *s) { return find_name(plan_step_names, s); }
static int parse_compute(const char *s) { return find_name(plan_compute_names, s); }
static int parse_arg(const char *s) { return find_name(plan_arg_names, s); }

/* The array `key`, of at most `max` elements. */
static const json_t *bounded_array(struct record *r, const char *key, int max, int *count)
{
    const json_t *j = record_array(r, key);
    *count = 0;
    if (j && json_array_size(j) > (size_t)max) {
        char expected[60];
        snprintf(expected, sizeof expected, "at most %d elements", max);
        record_fail(r, key, expected);
        return NULL;
    }
    *count = (int)json_array_size(j);
    return j;
}

static void read_shape(struct record *r, struct plan_buffer *b)
{
    const json_t *j = bounded_array(r, "shape", MAX_RANK, &b->rank);
    int64_t n = 1, most = (INT64_C(1) << 60) / dtype_bytes(b->dtype);
    for (int i = 0; i < b->rank; i++) {
        const json_t *axis = json_array_get(j, (size_t)i);
        b->shape[i] = json_integer_value(axis);
        if (!json_is_integer(axis) || b->shape[i] < 0 || (b->shape[i] > 0 && n > most / b->shape[i])) {
            record_fail(r, "shape", "integers of 0 or more, and at most 2^60 bytes");
            return;
        }
        n *= b->shape[i];
    }
    record_int(r, "count", 0, most, &b->count);
    if (!r->failed && b->count != 0 && b->count != n)
        record_fail(r, "count", "the product of the shape, or 0");
}

static void read_buffer(struct record *r, struct plan_buffer *b)
{
    int dtype = 0, role = 0, fill = 0, check = 0, zero = 0;
    record_text(r, "name", b->name, sizeof b->name);
    record_name(r, "dtype", dtype_parse, &dtype);
    record_name(r, "role", parse_role, &role);
    record_name(r, "fill", parse_fill, &fill);
    record_bool(r, "has_check", &b->has_check);
    record_name(r, "check", parse_fill, &check);
    record_name(r, "zero", parse_zero, &zero);
    b->dtype = (enum dtype)dtype;
    b->role = (enum plan_role)role;
    b->fill = (enum fill_kind)fill;
    b->check = (enum fill_kind)check;
    b->zero = (enum zero_kind)zero;
    record_double(r, "fill_a", &b->fill_a);
    record_double(r, "fill_b", &b->fill_b);
    record_double(r, "check_a", &b->check_a);
    record_double(r, "check_b", &b->check_b);
    read_shape(r, b);
}

static void read_map(struct record *r, const struct plan *plan, struct plan_arg *a)
{
    struct plan_tensor_map *m = &a->map;
    struct err why = {0};
    int nbox = 0;
    record_int32(r, "buffer", 0, plan->nbuffers - 1, &a->buffer);
    const json_t *shape = bounded_array(r, "shape", MAX_RANK, &m->rank);
    const json_t *box = bounded_array(r, "box", MAX_RANK, &nbox);
    record_int32(r, "swizzle", 0, INT32_MAX, &m->swizzle);
    record_int32(r, "l2", 0, INT32_MAX, &m->l2);
    if (r->failed)
        return;
    for (int i = 0; i < m->rank; i++) {
        json_int_t extent = json_integer_value(json_array_get(box, (size_t)i));
        m->shape[i] = json_integer_value(json_array_get(shape, (size_t)i));
        m->box[i] = extent < 0 || extent > INT32_MAX ? 0 : (int32_t)extent;
    }
    if (nbox != m->rank || plan_tensor_map_check(m, &plan->buffers[a->buffer], &why))
        record_fail(r, "shape", "a tensor map that CUDA takes");
}

static void read_args(struct record *r, const char *key, const struct plan *plan, int max, bool nested,
                      struct plan_arg **args, int *count);

static void read_arg(struct record *r, const struct plan *plan, bool nested, struct plan_arg *a)
{
    int kind = 0;
    record_name(r, "kind", parse_arg, &kind);
    a->kind = (enum plan_arg_kind)kind;
    switch (a->kind) {
    case PLAN_BUFFER: record_int32(r, "buffer", 0, plan->nbuffers - 1, &a->buffer); break;
    case PLAN_I32: record_int(r, "i", INT32_MIN, INT32_MAX, &a->i); break;
    case PLAN_I64: record_int(r, "i", INT64_MIN, INT64_MAX, &a->i); break;
    case PLAN_F32:
    case PLAN_F64: record_double(r, "f", &a->f); break;
    case PLAN_STRUCT:
        if (nested)
            record_fail(r, "kind", "no struct within a struct");
        else
            read_args(r, "fields", plan, MAX_FIELDS, true, &a->fields, &a->nfields);
        break;
    case PLAN_TENSOR_MAP:
        if (nested)
            record_fail(r, "kind", "no tensor map within a struct");
        else
            read_map(r, plan, a);
        break;
    }
}

static void read_args(struct record *r, const char *key, const struct plan *plan, int max, bool nested,
                      struct plan_arg **args, int *count)
{
    const json_t *j = bounded_array(r, key, max, count);
    *args = mem_zalloc((size_t)*count, sizeof **args);
    for (int i = 0; i < *count && !r->failed; i++) {
        struct record sub;
        record_open(&sub, json_array_get(j, (size_t)i), key, r->e);
        read_arg(&sub, plan, nested, &(*args)[i]);
        record_close(r, &sub);
    }
}

/* An extent is whole numbers from `low`. */
static void read_extent(struct record *r, const char *key, int64_t low, uint32_t out[3])
{
    const json_t *j = record_array(r, key);
    for (int i = 0; i < 3 && j; i++) {
        const json_t *x = json_array_get(j, (size_t)i);
        int64_t n = json_integer_value(x);
        if (!json_is_integer(x) || n < low || n > INT32_MAX || json_array_size(j) != 3) {
            record_fail(r, key, "three integers");
            return;
        }
        out[i] = (uint32_t)n;
    }
}

static void read_gemm(struct record *r, const struct plan *plan, struct plan_step *s)
{
    int compute = 0;
    record_int32(r, "a", 0, plan->nbuffers - 1, &s->a);
    record_int32(r, "b", 0, plan->nbuffers - 1, &s->b);
    record_int32(r, "c", 0, plan->nbuffers - 1, &s->c);
    record_bool(r, "trans_a", &s->trans_a);
    record_bool(r, "trans_b", &s->trans_b);
    record_name(r, "compute", parse_compute, &compute);
    s->compute = (enum gemm_compute)compute;
    record_int(r, "m", 1, INT32_MAX, &s->m);
    record_int(r, "n", 1, INT32_MAX, &s->n);
    record_int(r, "k", 1, INT32_MAX, &s->k);
    if (r->failed)
        return;
    const struct plan_buffer *b = plan->buffers;
    if (b[s->a].count != s->m * s->k || b[s->b].count != s->k * s->n || b[s->c].count != s->m * s->n)
        record_fail(r, "m", "extents that are the buffers' own");
}

static void read_window(struct record *r, const struct plan *plan, struct plan_window *w)
{
    struct record sub;
    int hit = 0, miss = 0;
    w->on = !json_is_null(record_get(r, "l2_window"));
    if (!w->on || r->failed)
        return;
    record_sub(r, "l2_window", &sub);
    record_int32(&sub, "buffer", 0, plan->nbuffers - 1, &w->buffer);
    record_name(&sub, "hit", l2_property_parse, &hit);
    record_name(&sub, "miss", l2_property_parse, &miss);
    record_double(&sub, "ratio", &w->ratio);
    if (!sub.failed && !(w->ratio >= 0 && w->ratio <= 1))
        record_fail(&sub, "ratio", "a number from 0 to 1");
    w->hit = (enum l2_property)hit;
    w->miss = (enum l2_property)miss;
    record_close(r, &sub);
}

static void read_step(struct record *r, const struct plan *plan, struct plan_step *s)
{
    int kind = 0;
    int64_t shared = 0;
    record_name(r, "kind", parse_step, &kind);
    s->kind = (enum step_kind)kind;
    if (s->kind == STEP_GEMM) {
        read_gemm(r, plan, s);
        return;
    }
    record_text(r, "function", s->function, sizeof s->function);
    read_extent(r, "grid", 1, s->grid);
    read_extent(r, "block", 1, s->block);
    read_extent(r, "cluster", 0, s->cluster);
    record_int(r, "shared", 0, INT64_C(1) << 31, &shared);
    s->shared = (uint32_t)shared;
    record_bool(r, "programmatic", &s->programmatic);
    read_window(r, plan, &s->window);
    read_args(r, "args", plan, PLAN_MAX_ARGS, false, &s->args, &s->nargs);
}

status plan_from_json(const json_t *j, struct plan *out, struct err *e)
{
    struct record r, sub;
    int count;
    *out = (struct plan){0};
    record_open(&r, j, "plan", e);
    const json_t *buffers = bounded_array(&r, "buffers", MAX_BUFFERS, &count);
    out->buffers = mem_zalloc((size_t)count, sizeof *out->buffers);
    out->nbuffers = count;
    record_int32(&r, "ntensors", 0, count, &out->ntensors);
    for (int i = 0; i < count && !r.failed; i++) {
        record_open(&sub, json_array_get(buffers, (size_t)i), "plan.buffers", e);
        read_buffer(&sub, &out->buffers[i]);
        record_close(&r, &sub);
    }
    const json_t *steps = bounded_array(&r, "steps", MAX_PLAN_STEPS, &count);
    out->steps = mem_zalloc((size_t)count, sizeof *out->steps);
    out->nsteps = count;
    for (int i = 0; i < count && !r.failed; i++) {
        record_open(&sub, json_array_get(steps, (size_t)i), "plan.steps", e);
        read_step(&sub, out, &out->steps[i]);
        record_close(&r, &sub);
    }
    if (r.failed)
        plan_free(out);
    return r.failed;
}
