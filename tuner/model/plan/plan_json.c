/* plan_json.c: a plan as JSON, the form in which it reaches a device worker. Read back by plan_from_json.c. */
#include "model/plan/plan_internal.h"

#include "model/record.h"

const char *const plan_role_names[] = {"input", "output", "workspace", NULL};
const char *const plan_fill_names[] = {"uniform", "normal", NULL};
const char *const plan_zero_names[] = {"never", "once", "each", NULL};
const char *const plan_step_names[] = {"launch", "gemm", NULL};
const char *const plan_compute_names[] = {"f32", "tf32", "f64", "bf16", "f16", NULL};
const char *const plan_arg_names[] = {"buffer", "i32", "i64", "f32", "f64", "struct", "tensor_map", NULL};

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
    set_text(j, "role", plan_role_names[b->role]);
    json_object_set_new(j, "shape", shape);
    set_int(j, "count", b->count);
    set_text(j, "fill", plan_fill_names[b->fill]);
    json_object_set_new(j, "fill_a", record_number(b->fill_a));
    json_object_set_new(j, "fill_b", record_number(b->fill_b));
    json_object_set_new(j, "has_check", json_boolean(b->has_check));
    set_text(j, "check", plan_fill_names[b->check]);
    json_object_set_new(j, "check_a", record_number(b->check_a));
    json_object_set_new(j, "check_b", record_number(b->check_b));
    set_text(j, "zero", plan_zero_names[b->zero]);
    return j;
}

static void map_to_json(json_t *j, const struct plan_tensor_map *m)
{
    json_t *shape = json_array(), *box = json_array();
    for (int i = 0; i < m->rank; i++) {
        json_array_append_new(shape, json_integer(m->shape[i]));
        json_array_append_new(box, json_integer(m->box[i]));
    }
    json_object_set_new(j, "shape", shape);
    json_object_set_new(j, "box", box);
    set_int(j, "swizzle", m->swizzle);
    set_int(j, "l2", m->l2);
}

static json_t *arg_to_json(const struct plan_arg *a)
{
    json_t *j = json_object();
    set_text(j, "kind", plan_arg_names[a->kind]);
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
    case PLAN_TENSOR_MAP:
        set_int(j, "buffer", a->buffer);
        map_to_json(j, &a->map);
        break;
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

static json_t *window_to_json(const struct plan_window *w)
{
    json_t *j = json_object();
    set_int(j, "buffer", w->buffer);
    set_text(j, "hit", l2_property_name(w->hit));
    set_text(j, "miss", l2_property_name(w->miss));
    json_object_set_new(j, "ratio", record_number(w->ratio));
    return j;
}

static json_t *step_to_json(const struct plan_step *s)
{
    json_t *j = json_object();
    set_text(j, "kind", plan_step_names[s->kind]);
    if (s->kind == STEP_LAUNCH) {
        json_t *args = json_array();
        for (int i = 0; i < s->nargs; i++)
            json_array_append_new(args, arg_to_json(&s->args[i]));
        set_text(j, "function", s->function);
        set_extent(j, "grid", s->grid);
        set_extent(j, "block", s->block);
        set_extent(j, "cluster", s->cluster);
        set_int(j, "shared", s->shared);
        json_object_set_new(j, "programmatic", json_boolean(s->programmatic));
        json_object_set_new(j, "l2_window", s->window.on ? window_to_json(&s->window) : json_null());
        json_object_set_new(j, "args", args);
        return j;
    }
    set_int(j, "a", s->a);
    set_int(j, "b", s->b);
    set_int(j, "c", s->c);
    json_object_set_new(j, "trans_a", json_boolean(s->trans_a));
    json_object_set_new(j, "trans_b", json_boolean(s->trans_b));
    set_text(j, "compute", plan_compute_names[s->compute]);
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
