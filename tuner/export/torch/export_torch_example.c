/* export_torch_example.c: get_inputs() and get_init_inputs() of an exported Python file, as KernelBench's files have
 * them: what the model is made with, and what it is called with, at the size tuned. */
#include "base/mem.h"
#include "export/torch/torch.h"

static status print_extents(struct model_printer *mp, const struct tensor *t, const struct value *slots, struct err *e)
{
    for (int i = 0; i < t->rank; i++) {
        int64_t n;
        status s = expr_eval_int(t->shape[i], slots, &n, e);
        if (s) return s;
        sb_addf(mp->x->out, "%s%lld", i ? ", " : "", (long long)n);
    }
    return LATHE_OK;
}

/* torch.rand(128, 512) * (b - a) + a, or torch.randn(128, 512) * deviation + mean */
static status print_random(struct model_printer *mp, const struct tensor *t, const struct value *slots, struct err *e)
{
    double a, b;
    bool normal = t->fill == FILL_NORMAL, plain;
    struct strbuf *out = mp->x->out;
    status s = expr_eval_double(t->fill_a, slots, &a, e);
    if (!s) s = expr_eval_double(t->fill_b, slots, &b, e);
    if (s) return s;
    plain = a == 0 && b == 1;
    sb_addf(out, "%storch.%s(", plain ? "" : "(", normal ? "randn" : "rand");
    s = print_extents(mp, t, slots, e);
    sb_add(out, ")");
    if (!plain) {
        sb_add(out, " * ");
        value_print(out, value_float(normal ? b : b - a));
        sb_add(out, " + ");
        value_print(out, value_float(a));
        sb_add(out, ")");
    }
    if (t->dtype != DTYPE_f32) sb_addf(out, ".to(torch.%s)", torch_type(t->dtype));
    return LATHE_OK;
}

static status print_init(struct model_printer *mp, const struct torch_init *init, const struct value *slots,
                         struct err *e)
{
    const struct problem *p = mp->x->p;
    struct strbuf *out = mp->x->out;
    double a;
    status s = LATHE_OK;
    switch (init->kind) {
    case TORCH_DIM: sb_addf(out, "%lld", (long long)p->dims[init->index].value); break;
    case TORCH_SCALAR: value_print(out, value_float(p->scalars[init->index].value)); break;
    case TORCH_BIAS: sb_add(out, "True"); break;
    case TORCH_SHAPE:
        sb_add(out, "(");
        s = print_extents(mp, &p->tensors[init->index], slots, e);
        sb_add(out, ",)");
        break;
    case TORCH_VALUE:
        s = expr_eval_double(p->tensors[init->index].fill_a, slots, &a, e);
        if (!s) value_print(out, value_float(a));
        break;
    }
    return s;
}

status export_torch_example(struct model_printer *mp, struct err *e)
{
    const struct problem *p = mp->x->p;
    struct value *slots = mem_zalloc((size_t)p->scope.count + 1, sizeof *slots);
    status s = LATHE_OK;
    problem_slots(p, slots);
    sb_add(mp->x->out,
           "\n\ndef get_inputs():\n    \"\"\"Arguments of forward, as they were when this was tuned.\"\"\"\n"
           "    return [");
    for (int i = 0; i < mp->m->nforward && !s; i++) {
        sb_add(mp->x->out, i ? ", " : "");
        s = print_random(mp, &p->tensors[mp->m->forward[i].tensor], slots, e);
    }
    sb_add(mp->x->out, "]\n\n\ndef get_init_inputs():\n    \"\"\"Arguments of ModelNew, likewise.\"\"\"\n    return [");
    for (int i = 0; i < mp->m->ninit && !s; i++) {
        sb_add(mp->x->out, i ? ", " : "");
        s = print_init(mp, &mp->m->init[i], slots, e);
    }
    sb_add(mp->x->out, "]\n");
    mem_free(slots);
    return s;
}
