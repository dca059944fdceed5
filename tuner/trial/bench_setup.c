/* bench_setup.c: struct bench_setup to and from the protocol's JSON. */
#include "base/mem.h"
#include "base/strbuf.h"
#include "trial/bench.h"
#include <string.h>

static json_t *plans_to_json(const struct reference_plans *p)
{
    return json_pack("{s:o, s:o, s:o}", "reference", plan_to_json(&p->reference), "sgemm", plan_to_json(&p->sgemm),
                     "scale", plan_to_json(&p->scale));
}

static status plans_from_json(const json_t *j, struct reference_plans *out, struct err *e)
{
    status s = plan_from_json(json_object_get(j, "reference"), &out->reference, e);
    if (!s) s = plan_from_json(json_object_get(j, "sgemm"), &out->sgemm, e);
    return s ? s : plan_from_json(json_object_get(j, "scale"), &out->scale, e);
}

json_t *bench_setup_to_json(const struct bench_setup *s)
{
    const struct tolerance *t = &s->tolerance;
    const struct operands *o = &s->operands;
    return json_pack(
        "{s:o, s:o, s:o, s:s*, s:[i, i, i, b, b], s:b, s:s, s:s*, s:{s:f, s:f, s:f, s:f}}", "tensors",
        plan_to_json(&s->tensors), "plans", plans_to_json(&s->plans), "varied", plans_to_json(&s->varied), "scalars",
        s->scalars, "operands", o->a, o->b, o->bias, (int)o->trans_a, (int)o->trans_b, "check", (int)s->check,
        "support_image", s->support_image, "reference_image", s->reference_image, "tolerance", "atol", t->atol, "rtol",
        t->rtol, "times_sgemm_error", t->times_sgemm_error, "frobenius", t->frobenius);
}

status bench_setup_from_json(const json_t *j, struct bench_setup *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    json_t *tensors, *plans, *varied;
    int trans_a, trans_b, check;
    struct operands *o = &out->operands;
    const char *support = NULL, *image = NULL, *scalars = NULL;
    struct tolerance *t = &out->tolerance;
    json_error_t je;
    if (json_unpack_ex((json_t *)j, &je, 0,
                       "{s:o, s:o, s:o, s?s, s:[i, i, i, b, b], s:b, s:s, s?s, s:{s:F, s:F, s:F, s:F}}", "tensors",
                       &tensors, "plans", &plans, "varied", &varied, "scalars", &scalars, "operands", &o->a, &o->b,
                       &o->bias, &trans_a, &trans_b, "check", &check, "support_image", &support, "reference_image",
                       &image, "tolerance", "atol", &t->atol, "rtol", &t->rtol, "times_sgemm_error",
                       &t->times_sgemm_error, "frobenius", &t->frobenius))
        return err_set(e, LATHE_INTERNAL, "set-up message: %s", je.text);
    status s = plan_from_json(tensors, &out->tensors, e);
    if (!s) s = plans_from_json(plans, &out->plans, e);
    if (!s) s = plans_from_json(varied, &out->varied, e);
    o->trans_a = trans_a;
    o->trans_b = trans_b;
    out->check = check;
    out->scalars = mem_strdup(scalars);
    out->support_image = mem_strdup(support);
    out->reference_image = mem_strdup(image);
    if (s) bench_setup_free(out);
    return s;
}

void bench_setup_blame(const struct bench_setup *s, char *text, size_t size)
{
    *text = 0;
    if (!s->reference_image) return;
    struct strbuf b = {0};
    sb_add(&b, "the specification's reference kernel (");
    for (int i = 0, n = 0; i < s->plans.reference.nsteps; i++) {
        const struct plan_step *step = &s->plans.reference.steps[i];
        if (step->kind != STEP_LAUNCH) continue;
        const uint32_t *g = step->grid, *k = step->block;
        sb_addf(&b, "%slaunch %s, grid %u x %u x %u, block %u x %u x %u", n++ ? "; " : "", step->function, g[0], g[1],
                g[2], k[0], k[1], k[2]);
    }
    snprintf(text, size, "%.*s)", (int)size - 2, sb_str(&b));
    sb_free(&b);
}

void bench_setup_free(struct bench_setup *s)
{
    plan_free(&s->tensors);
    reference_plans_free(&s->plans);
    reference_plans_free(&s->varied);
    mem_free(s->scalars);
    mem_free(s->support_image);
    mem_free(s->reference_image);
    memset(s, 0, sizeof *s);
}
