/* plan_json.c: a plan as JSON, the form in which it reaches a device worker. What is read back is checked as if it were
 * foreign: indices, counts and sizes, so that no bad message can make a worker touch memory that is not there. */
#include "model/plan.h"

#include "base/mem.h"
#include "model/record.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BUFFERS = 256, MAX_PLAN_STEPS = 256, MAX_FIELDS = 256 };

static const char *const role_names[] = {"input", "output", "workspace", NULL};
static const char *const fill_names[] = {"uniform", "normal", NULL};
static const char *const zero_names[] = {"never", "once", "each", NULL};
static const char *const step_names[] = {"launch", "gemm", NULL};
static const char *const compute_names[] = {"f32", "tf32", "f64", "bf16", "f16", NULL};
static const char *const arg_names[] = {"buffer", "i32", "i64", "f32", "f64", "struct", NULL};

static int find_name(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static int parse_role(const char *s) { return find_name(role_names, s); }
static int parse_fill(const char *s) { return find_name(fill_names, s); }
static int parse_zero(const char *s) { return find_name(zero_names, s); }
static int parse_step(const char *s) { return find_name(step_names, s); }
static int parse_compute(const char *s) { return find_name(compute_names, s); }
static int parse_arg(const char *s) { return find_name(arg_names, s); }

static void set_text(json_t *j, const char *key, const char *text)
{
    json_object_set_new(j, key, json_string(text));
}

static void set_int(json_t *j, const char *key, int64_t i)
{
    json_object_set_new(j, key, json_integer(i));
}

static json_t *buffer_to_json(const struct plan_buffer *b)
{
    json_t *j = json_object(), *shape = json_array();
    for (int i = 0; i < b->rank; i++)
        json_array_append_new(shape, json_integer(b->shape[i]));
    set_text(j, "name", b->name);
    set_text(j, "dtype", dtype_name(b->dtype));
    set_text(j, "role", role_names[b->role]);
    json_object_set_new(j, "shape", shape);
    set_int(j, "count", b->count);
    set_text(j, "fill", fill_names[b->fill]);
    json_object_set_new(j, "fill_a", record_number(b->fill_a));
    json_object_set_new(j, "fill_b", record_number(b->fill_b));
    set_text(j, "zero", zero_names[b->zero]);
    return j;
}

static json_t *arg_to_json(const struct plan_arg *a)
{
    json_t *j = json_object();
    set_text(j, "kind", arg_names[a->kind]);
    switch (a->kind) {
    case PLAN_BUFFER: set_int(j, "buffer", a->buffer); break;
    case PLAN_I32:
    case PLAN_I64: set_int(j, "i", a->i); break;
    case PLAN_F32:
    case PLAN_F64: json_object_set_new(j, "f", record_number(a->f)); break;
    case PLAN_STRUCT: {
        json_t *fields = json_array();
        for (int i = 0; i < a->nfields; i++)
            json_array_append_new(fields, arg_to_json(&a->fields[i]));
        json_object_set_new(j, "fields", fields);
        break;
    }
    }
    return j;
}

static void set_extent(json_t *j, const char *key, const uint32_t x[3])
{
    json_t *list = json_array();
    for (int i = 0; i < 3; i++)
        json_array_append_new(list, json_integer(x[i]));
    json_object_set_new(j, key, list);
}

static json_t *step_to_json(const struct plan_step *s)
{
    json_t *j = json_object();
    set_text(j, "kind", step_names[s->kind]);
    if (s->kind == STEP_LAUNCH) {
        json_t *args = json_array();
        for (int i = 0; i < s->nargs; i++)
            json_array_append_new(args, arg_to_json(&s->args[i]));
        set_text(j, "function", s->function);
        set_extent(j, "grid", s->grid);
        set_extent(j, "block", s->block);
        set_extent(j, "cluster", s->cluster);
        set_int(j, "shared", s->shared);
        json_object_set_new(j, "args", args);
        return j;
    }
    set_int(j, "a", s->a);
    set_int(j, "b", s->b);
    set_int(j, "c", s->c);
    json_object_set_new(j, "trans_a", json_boolean(s->trans_a));
    json_object_set_new(j, "trans_b", json_boolean(s->trans_b));
    set_text(j, "compute", compute_names[s->compute]);
    set_int(j, "m", s->m);
    set_int(j, "n", s->n);
    set_int(j, "k", s->k);
    return j;
}

json_t *plan_to_json(const struct plan *plan)
{
    json_t *j = json_object(), *buffers = json_array(), *steps = json_array();
    for (int i = 0; i < plan->nbuffers; i++)
        json_array_append_new(buffers, buffer_to_json(&plan->buffers[i]));
    for (int i = 0; i < plan->nsteps; i++)
        json_array_append_new(steps, step_to_json(&plan->steps[i]));
    set_int(j, "ntensors", plan->ntensors);
    json_object_set_new(j, "buffers", buffers);
    json_object_set_new(j, "steps", steps);
    return j;
}

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
    int dtype = 0, role = 0, fill = 0, zero = 0;
    record_text(r, "name", b->name, sizeof b->name);
    record_name(r, "dtype", dtype_parse, &dtype);
    record_name(r, "role", parse_role, &role);
    record_name(r, "fill", parse_fill, &fill);
    record_name(r, "zero", parse_zero, &zero);
    b->dtype = (enum dtype)dtype;
    b->role = (enum plan_role)role;
    b->fill = (enum fill_kind)fill;
    b->zero = (enum zero_kind)zero;
    record_double(r, "fill_a", &b->fill_a);
    record_double(r, "fill_b", &b->fill_b);
    read_shape(r, b);
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
