/* verify.c: is the result right, and is the memory around it whole (verify_memory.c)? Any damage is `wrong`, with a
 * reason for people. An output whose differences are those of rounding, but over the tolerance, is `inaccurate`
 * (docs/method.md); of several outputs the worst counts. Whatever is compared again must come out the same. */
#include "trial/verify_private.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* NOTE: written so that a NaN fails. */
static bool within(int64_t mismatches, double frobenius, double limit)
{
    return !mismatches && (!(limit > 0) || frobenius <= limit);
}

/* Differences as rounding spreads them, docs/method.md. Where most of an error is in few elements, its mean is far
 * below its root mean square: in a share p of the elements, sqrt(p) of it; 0.8 of it where errors are normal. Small
 * outputs tell too little. What max(z, 0) or a clamp made one value of says nothing of rounding (idle). NOTE: written
 * so that a NaN fails. */
static bool rounds(const struct comparison *c)
{
    enum { ENOUGH_ELEMENTS = 4096 };
    return c->elements - c->idle >= ENOUGH_ELEMENTS && c->frobenius <= 0.02 && c->max_abs <= 32 * c->rms &&
           c->mean_abs >= 0.4 * c->rms;
}

/* NOTE: no figure of this trial in the reason, so that trials can be counted by it; error and mismatches have them. */
static void inaccurate(const struct bench *b, const struct comparison *c, struct result *out)
{
    const struct tolerance *t = &b->setup.tolerance;
    if (c->mismatches)
        snprintf(out->reason, sizeof out->reason,
                 "rounds more than the tolerance allows: elements differ by more than %g + %g |wanted|", t->atol,
                 t->rtol);
    else
        snprintf(out->reason, sizeof out->reason,
                 "rounds more than the tolerance allows: relative Frobenius error over %.3g", b->now->frobenius_limit);
    out->outcome = OUTCOME_inaccurate;
}

/* *norm: the output has a relative Frobenius error, which is in the verification. */
static status check_output(struct bench *b, int tensor, struct result *out, bool *norm, struct err *e)
{
    struct verification *v = &out->verification;
    struct comparison c;
    status s = bench_compare(b, tensor, &c, e);
    if (s) return s;
    v->elements += c.elements;
    v->mismatches += c.mismatches;
    if (!(c.max_abs <= v->max_abs)) v->max_abs = c.max_abs;
    if (!(c.max_rel <= v->max_rel)) v->max_rel = c.max_rel;
    *norm = !c.no_norm;
    if (*norm && !(c.frobenius <= v->frobenius)) v->frobenius = c.frobenius;
    if (!(c.scaled <= v->scaled)) v->scaled = c.scaled;
    if (within(c.mismatches, c.frobenius, bench_norm_limit(b, &c)) || out->outcome == OUTCOME_wrong) return LATHE_OK;
    if (!b->scaled && rounds(&c)) {
        inaccurate(b, &c, out);
        return LATHE_OK;
    }
    if (c.mismatches) {
        s = bench_describe_mismatches(b, tensor, v->detail, sizeof v->detail, e);
        if (s) return s;
        return verify_wrong(out, "%lld of %lld elements differ from the reference: %s", (long long)c.mismatches,
                     (long long)c.elements, v->detail);
    }
    return verify_wrong(out, "relative Frobenius error %.3g is over the limit %.3g", c.frobenius, v->frobenius_limit);
}

static status fill_bands(struct bench *b, struct pipeline *p, enum garbage with, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < p->plan->nbuffers && !s; i++) {
        struct guarded *g = verify_guard_of(b, p, i);
        if (g->bands != with) s = guarded_bands(b->ops, b->dev, g, with, e);
    }
    return s;
}

/* Makes the guards of all buffers inaccessible, or accessible again, where the device can. */
static status forbid_guards(struct bench *b, struct pipeline *p, bool on, struct err *e)
{
    const struct plan *plan = p->plan;
    status s = LATHE_OK;
    for (int i = 0; i < plan->nbuffers && b->ops->forbid && !s; i++) {
        const struct guarded *g = verify_guard_of(b, p, i);
        if (!g->base) continue;
        s = b->ops->forbid(b->dev, g->base, g->guard, on, e);
        if (!s) s = b->ops->forbid(b->dev, g->data + g->bytes, g->guard, on, e);
    }
    return s;
}

enum how {
    OVER_NAN,               /* outputs, guards and shared memory hold NaN before */
    OVER_NUMBERS,           /* guards and shared memory hold numbers */
    FENCED,                 /* and a read of them crashes where the device can do that */
    OVER_OTHERS,            /* outputs and workspace are as the first run on other inputs leaves them */
};

/* As if the first, but with numbers where the first finds NaN: it finds nothing of a run on the inputs that there are
 * answers on. Those are there again also where the run fails: after a launch that is refused the device is used on. */
static status run_on_others(struct bench *b, struct pipeline *p, enum bench_mix mix, struct err *e)
{
    status s = bench_other_inputs(b, mix, e);
    if (!s) s = bench_poison_outputs(b, GARBAGE_NUMBERS, e);
    if (!s) s = pipeline_poison(p, GARBAGE_NUMBERS, e);
    if (!s) s = bench_leave_shared(b, GARBAGE_NUMBERS, e);
    if (!s) s = pipeline_run(p, e);
    status back = bench_other_inputs(b, MIX_NONE, s ? NULL : e);
    return s ? s : back;
}

/* One run; hash of all outputs together. */
static status run_once(struct bench *b, struct pipeline *p, enum how how, uint64_t *hash, struct err *e)
{
    const enum garbage with = how == OVER_NAN ? GARBAGE_NAN : GARBAGE_NUMBERS;
    status s = fill_bands(b, p, with, e);
    if (!s) s = how == OVER_OTHERS ? run_on_others(b, p, MIX_MOST, e) : bench_poison_outputs(b, GARBAGE_NAN, e);
    if (!s && how == FENCED) s = forbid_guards(b, p, true, e);
    if (!s) s = bench_leave_shared(b, with, e);
    if (!s) s = pipeline_run(p, e);
    if (!s) s = b->ops->sync(b->dev, e);
    if (how == FENCED) {
        status open = forbid_guards(b, p, false, s ? NULL : e);
        if (!s) s = open;
    }
    *hash = 0;
    for (int i = 0; i < p->plan->ntensors && !s; i++) {
        uint64_t h = 0;
        if (p->plan->buffers[i].role == PLAN_OUTPUT) s = bench_hash(b, i, &h, e);
        *hash = *hash * 31 + h;
    }
    return s;
}

static status check_outputs(struct bench *b, struct pipeline *p, struct result *out, struct err *e)
{
    bool any = false;
    for (int i = 0; i < p->plan->ntensors; i++) {
        bool norm;
        if (p->plan->buffers[i].role != PLAN_OUTPUT) continue;
        status s = check_output(b, i, out, &norm, e);
        if (s) return s;
        any |= norm;
    }
    if (any) return LATHE_OK;
    out->verification.frobenius = NAN;          /* not known, and so without a limit */
    out->verification.frobenius_limit = 0;
    return LATHE_OK;
}

/* check_outputs, whatever they were before: outcome and reason are those of now. */
static status check_outputs_again(struct bench *b, struct pipeline *p, struct result *out, struct err *e)
{
    out->outcome = OUTCOME_ok;
    *out->reason = 0;
    return check_outputs(b, p, out, e);
}

static const char *word(enum outcome o)
{
    return o == OUTCOME_ok ? "right" : outcome_name(o);
}

/* Not what they were: `wrong`, "right at the first launch, wrong at the second: Y[3,17] ...". */
static void changed(struct result *out, enum outcome then, const char *first, const char *second)
{
    char reason[sizeof out->reason];
    snprintf(reason, sizeof reason, "%s %s, %s %s%s%.1450s", word(then), first, word(out->outcome), second,
             *out->reason ? ": " : "", out->reason);
    memcpy(out->reason, reason, sizeof reason);
    out->outcome = OUTCOME_wrong;
}

static struct verification fresh(const struct bench *b)
{
    const struct answers *a = b->now;
    struct verification v = {.seed = b->seed, .frobenius_limit = a->frobenius_limit, .scaled_limit = a->scaled_limit};
    snprintf(v.reference, sizeof v.reference, "%s", a->reference);
    return v;
}

/* A run that must give what the first one gave: the same bits, or as right. */
static status run_again(struct bench *b, struct pipeline *p, enum how how, uint64_t first, struct result *out,
                        bool *damaged, const char *when, struct err *e)
{
    struct verification *v = &out->verification;
    uint64_t now;
    status s = run_once(b, p, how, &now, e);
    if (!s) s = verify_memory(b, p, out, damaged, e);
    if (s || out->outcome == OUTCOME_wrong || now == first) return s;
    v->deterministic = false;
    v->elements = v->mismatches = 0;
    enum outcome then = out->outcome;
    s = check_outputs_again(b, p, out, e);
    if (!s && out->outcome != then) changed(out, then, "at the first launch", when);
    return s;
}

status verify_pipeline(struct bench *b, struct pipeline *p, struct result *out, bool *damaged, struct err *e)
{
    struct verification *v = &out->verification;
    *damaged = false;
    *v = fresh(b);

    uint64_t first;
    /* An image's first launch is on inputs that nobody asks about: what a kernel keeps of it is wrong for all
     * others, also where it looks at a part of them that is the same in both. */
    status s = p->launched ? LATHE_OK : run_on_others(b, p, MIX_HALF, e);
    p->launched = true;
    if (!s) s = pipeline_poison(p, GARBAGE_NAN, e);
    if (!s) s = run_once(b, p, OVER_NAN, &first, e);
    if (!s) s = check_outputs(b, p, out, e);
    v->done = !s;
    if (!s) s = verify_memory(b, p, out, damaged, e);
    if (s || out->outcome == OUTCOME_wrong) return s;

    /* On the workspace as the first run left it: counters that are not reset show here. */
    v->deterministic = true;
    s = run_again(b, p, b->now == &b->timed ? FENCED : OVER_NUMBERS, first, out, damaged, "at the second", e);
    /* Once a trial: what is kept of earlier inputs, or taken for done. */
    if (s || out->outcome == OUTCOME_wrong || b->now != &b->timed) return s;
    return run_again(b, p, OVER_OTHERS, first, out, damaged, "after a launch on other inputs", e);
}

/* Is it not right with other scalars because of them? What rounded too much by then, and no more than twice as much as
 * with its own, is as it was: a tolerance is chosen for results of the size that those give. NOTE: written so that a
 * NaN is. */
static bool depends(const struct result *own, const struct result *now)
{
    if (now->outcome == OUTCOME_ok || now->outcome == own->outcome) return false;
    return now->outcome != OUTCOME_inaccurate || !(now->verification.frobenius <= 2 * own->verification.frobenius);
}

status verify_varied(struct bench *b, struct pipeline *p, struct result *out, bool *damaged, struct err *e)
{
    const struct result own = *out;
    char what[sizeof b->unvaried];
    uint64_t hash;
    out->verification = fresh(b);
    status s = pipeline_poison(p, GARBAGE_NAN, e);
    if (!s) s = run_once(b, p, OVER_NAN, &hash, e);
    if (!s) s = check_outputs_again(b, p, out, e);
    if (!s) s = verify_memory(b, p, out, damaged, e);
    out->verification.done = !s;
    if (!s && depends(&own, out)) {
        snprintf(what, sizeof what, "with %.380s", b->setup.scalars);
        changed(out, own.outcome, "with the specification's scalars", what);
        *out->verification.detail = 0;      /* the reason has it, and with which */
        return LATHE_OK;
    }
    if (s) err_prefix(e, "with %.380s", b->setup.scalars);
    out->verification = own.verification;
    out->outcome = own.outcome;
    memcpy(out->reason, own.reason, sizeof out->reason);
    return s;
}

status verify_later_run(struct bench *b, struct pipeline *p, const char *when, struct result *out, struct err *e)
{
    if (out->outcome == OUTCOME_wrong) return LATHE_OK;
    struct verification before = out->verification;
    enum outcome outcome = out->outcome;            /* `unstable` says nothing of what was verified */
    enum outcome then =
        within(before.mismatches, before.frobenius, before.frobenius_limit) ? OUTCOME_ok : OUTCOME_inaccurate;
    char reason[sizeof out->reason];
    memcpy(reason, out->reason, sizeof reason);
    out->verification = fresh(b);
    status s = check_outputs_again(b, p, out, e);
    if (s || out->outcome == then) {
        out->outcome = outcome;
        out->verification = before;
        memcpy(out->reason, reason, sizeof reason);
        return s;
    }
    changed(out, then, "when verified", when);
    out->time_ms = NAN;
    return LATHE_OK;
}
