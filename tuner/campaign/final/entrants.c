/* entrants.c: which kernels take part: asked for, able to run on the device, with a space that is not empty. A kernel
 * that cannot take part is left out with a note; if it is the only one that was asked for by name, or none is left,
 * that is an error. */
#include "base/clock.h"
#include "base/mem.h"
#include "campaign/internal.h"
#include "model/source.h"
#include <string.h>

char *campaign_source(const struct problem *p, const struct kernel *k, struct err *e)
{
    struct strbuf b = {0};
    if (source_epilogue(p, &b, e)) {
        sb_free(&b);
        return NULL;
    }
    sb_add(&b, k->source);
    return sb_take(&b);
}

static bool wanted(const struct campaign_request *r, const struct kernel *k)
{
    const char *const *names = k->baseline ? r->baselines : r->kernels;
    int n = k->baseline ? r->nbaselines : r->nkernels;
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], k->name)) return true;
    return !n && (!k->baseline || k->usual);
}

status entrants_check_names(const struct campaign_request *r, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < r->nkernels && !s; i++)
        s = problem_kernel_named(r->problem, r->kernels[i], KERNEL_CANDIDATE, NULL, e);
    for (int i = 0; i < r->nbaselines && !s; i++)
        s = problem_kernel_named(r->problem, r->baselines[i], KERNEL_BASELINE, NULL, e);
    return s;
}

struct opening {
    struct campaign *c;
    const struct kernel *kernel;
    double since;
    bool said;
};

/* While a space is built: what takes long is said once, and an interrupt ends it. */
static bool on_look(void *ctx)
{
    enum { SAY_AFTER = 5 };
    struct opening *o = ctx;
    if (!o->said && clock_seconds() - o->since > SAY_AFTER) {
        campaign_note(o->c, "building the space of kernel %s takes longer than %d s (Ctrl-C ends it)", o->kernel->name,
                      SAY_AFTER);
        o->said = true;
    }
    return campaign_interrupted();
}

/* Whether the device meets a kernel's requirements; says why not. */
static status add_entrant(struct campaign *c, const struct kernel *k, struct err *e)
{
    struct strbuf why = {0};
    bool can = kernel_runs_on(c->problem, k, &c->target, &why), must = c->request->nkernels == 1 && !k->baseline;
    if (!can && must)
        err_set(e, LATHE_NOTHING, "kernel %s cannot run on %s: %s", k->name, c->target.device, sb_str(&why));
    else if (!can)
        campaign_note(c, "kernel %s is left out: %s cannot run it: %s", k->name, c->target.device, sb_str(&why));
    sb_free(&why);
    if (!can) return must ? e->code : LATHE_OK;

    struct entrant *x = k->baseline ? &c->baselines[c->nbaselines] : &c->entrants[c->nentrants];
    *x = (struct entrant){.kernel = k};
    if (k->source && !(x->source = campaign_source(c->problem, k, e))) return e->code;
    if (k->baseline) {
        c->nbaselines++;
        return LATHE_OK;
    }
    c->nentrants++;
    struct space_draw draw;
    struct opening o = {.c = c, .kernel = k, .since = clock_seconds()};
    struct space_watch watch = {on_look, &o};
    status s = space_open_sampled(c->problem, k, &c->target, c->request->seed, &watch, &x->space, &draw, e);
    if (!s && draw.tried > 0) {
        struct strbuf drawn = {0};
        space_draw_explain(&drawn, x->space, &draw);
        campaign_note(c, "%s", sb_str(&drawn));
        sb_free(&drawn);
    }
    if (s == LATHE_NOTHING && !must) {
        campaign_note(c, "kernel %s is left out: %s", k->name, e->text);
        mem_free(c->entrants[--c->nentrants].source);
        return LATHE_OK;
    }
    if (!s) c->progress.space_size += space_size(x->space);
    return s;
}

status entrants_open(struct campaign *c, struct err *e)
{
    const struct problem *p = c->problem;
    status s = entrants_check_names(c->request, e);
    if (s) return s;
    c->entrants = mem_zalloc((size_t)p->nkernels + 1, sizeof *c->entrants);
    c->baselines = mem_zalloc((size_t)p->nkernels + 1, sizeof *c->baselines);
    for (int i = 0; i < p->nkernels && !s; i++) {
        const struct kernel *k = &p->kernels[i];
        if (!wanted(c->request, k)) continue;
        if (k->left_out)
            campaign_note(c, "kernel %s is left out: %s", k->name, k->left_out);
        else
            s = add_entrant(c, k, e);
    }
    if (!s && !c->nentrants)
        return err_set(e, LATHE_NOTHING, "%s has no kernel with a valid configuration for %s at this size", p->name,
                       c->target.device);
    return s;
}

void entrants_close(struct campaign *c)
{
    for (int i = 0; i < c->nentrants; i++) {
        space_close(c->entrants[i].space);
        mem_free(c->entrants[i].source);
    }
    for (int i = 0; i < c->nbaselines; i++) mem_free(c->baselines[i].source);
    mem_free(c->entrants);
    mem_free(c->baselines);
}
