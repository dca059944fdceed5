/* lib_select.c: which configuration serves a size on a device: the same order and the same rules as the exported C
 * (export/c/export_c_api.c), by the plan itself. */
#include "lib/lib_impl.h"

#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#include "model/serve_order.h"

enum { LONGEST = 1500 };            /* what an error says of those that were passed over, bytes */

struct wanted {
    const int64_t *dims;
    const float *scalars;           /* NULL: the specification's */
    struct strbuf why;              /* of those that were passed over */
};

/* The problem at the size that is wanted: a copy that shares all but that. */
struct at_size {
    struct problem p;
    struct dim *dims;
    struct scalar *scalars;
};

static void at_size_open(struct at_size *a, const struct problem *p, const struct wanted *w)
{
    a->p = *p;
    a->p.dims = a->dims = mem_zalloc((size_t)p->ndims + 1, sizeof *a->dims);
    a->p.scalars = a->scalars = mem_zalloc((size_t)p->nscalars + 1, sizeof *a->scalars);
    for (int i = 0; i < p->ndims; i++)
        a->dims[i] = (struct dim){p->dims[i].name, w->dims[i]};
    for (int i = 0; i < p->nscalars; i++)
        a->scalars[i] = (struct scalar){p->scalars[i].name, w->scalars ? (double)w->scalars[i] : p->scalars[i].value};
}

static void at_size_close(struct at_size *a)
{
    mem_free(a->dims);
    mem_free(a->scalars);
}

/* --- one --- */

static void free_kernel(struct lathe_kernel *k)
{
    plan_free(&k->plan);
    mem_free(k->functions);
    mem_free(k->start);
    mem_free(k);
}

static void lay_out(struct lathe_kernel *k)
{
    const struct plan *plan = &k->plan;
    k->start = mem_zalloc((size_t)(plan->nbuffers - plan->ntensors) + 1, sizeof *k->start);
    for (int i = plan->ntensors; i < plan->nbuffers; i++) {
        k->start[i - plan->ntensors] = k->workspace;
        k->workspace += ((uint64_t)plan_buffer_bytes(&plan->buffers[i]) + 255) / 256 * 256;
    }
}

static status find_functions(struct lathe_kernel *k, void *module, struct err *e)
{
    status s = LATHE_OK;
    k->functions = mem_zalloc((size_t)k->plan.nsteps + 1, sizeof *k->functions);
    for (int i = 0; i < k->plan.nsteps && !s; i++) {
        const struct plan_step *step = &k->plan.steps[i];
        s = guest_function(&k->context->guest, module, step->function, &k->functions[i], e);
        if (!s)
            s = guest_fits(&k->functions[i], step, e);
        if (!s && step->window.on && step->window.hit == L2_persisting && !k->context->persists) {
            s = guest_persist(&k->context->guest, e);       /* as it was tuned */
            k->context->persists = !s;
        }
    }
    return s;
}

/* The cubin, or where it is not for this device, or its driver does not take it, the PTX. */
static status find_module(struct lathe *l, struct context *c, const struct variant *v, void **out, struct err *e)
{
    const int here = (int)c->guest.target.limit[LIMIT_sm];
    status s = err_set(e, LATHE_NOTHING, "it has no code for compute capability %d.%d", here / 10, here % 10);
    if (v->cubin >= 0 && lathe_cubin_runs((int)v->target.limit[LIMIT_sm], v->exact, here))
        s = lib_module(l, c, v->cubin, out, e);
    if (s == LATHE_NOTHING && v->ptx >= 0 && here >= v->ptx_sm)
        s = lib_module(l, c, v->ptx, out, e);
    return s;
}

/* LATHE_NOTHING, with the reason: it does not serve. */
static status try_variant(struct lathe *l, struct context *c, const struct variant *v, const struct wanted *w,
                          struct lathe_kernel **out, struct err *e)
{
    struct at_size at;
    void *module = NULL;
    struct lathe_kernel *k = mem_zalloc(1, sizeof *k);
    k->lathe = l;
    k->context = c;
    k->variant = v;
    at_size_open(&at, v->p, w);
    status s = serve_plan(&at.p, v->k, v->tuned, &c->guest.target, &k->plan, e);
    at_size_close(&at);
    if (!s && plan_bytes(&k->plan) == INT64_MAX)
        s = err_set(e, LATHE_NOTHING, "its buffers are larger than any memory");
    if (!s)
        s = find_module(l, c, v, &module, e);
    if (!s)
        s = find_functions(k, module, e);
    if (s) {
        free_kernel(k);
        return s;
    }
    lay_out(k);
    *out = k;
    return LATHE_OK;
}

/* --- all --- */

struct place {
    int rank, at;
    double far;
};

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (lathe_before(x->rank, x->far, y->rank, y->far))
        return -1;
    return lathe_before(y->rank, y->far, x->rank, x->far) ? 1 : x->at - y->at;
}

static lathe_result none_serves(const struct lathe *l, const struct context *c, struct wanted *w)
{
    struct strbuf size = {0};
    const struct problem *p = l->problems[0];
    for (int d = 0; d < p->ndims; d++)
        sb_addf(&size, "%s%s=%lld", d ? " " : "", p->dims[d].name, (long long)w->dims[d]);
    lib_fail(LATHE_ERROR_NOT_SERVED, "nothing in the file of %.200s serves %.200s on %.100s:%s", l->name, sb_str(&size),
             c->guest.target.name, sb_str(&w->why));
    sb_free(&size);
    return LATHE_ERROR_NOT_SERVED;
}

static lathe_result choose(struct lathe *l, struct context *c, struct wanted *w, struct lathe_kernel **out)
{
    const int n = l->nvariants;
    status s = LATHE_NOTHING;
    struct err e = {0};
    struct place *places = mem_zalloc((size_t)n, sizeof *places);
    for (int i = 0; i < n; i++) {
        const struct variant *v = &l->variants[i];
        places[i] = (struct place){lathe_rank(v->fallback, (int)v->target.limit[LIMIT_sm], v->target.name,
                                              (int)c->guest.target.limit[LIMIT_sm], c->guest.target.name),
                                   i, lathe_distance(v->size, w->dims, v->p->ndims)};
    }
    qsort(places, (size_t)n, sizeof *places, compare);
    for (int i = 0; i < n && s == LATHE_NOTHING; i++) {
        const struct variant *v = &l->variants[places[i].at];
        s = try_variant(l, c, v, w, out, &e);
        if (s == LATHE_NOTHING && w->why.len < LONGEST)
            sb_addf(&w->why, "\n%.200s: %.300s", v->text, e.text);
    }
    mem_free(places);
    if (s == LATHE_NOTHING)
        return none_serves(l, c, w);
    return s ? lib_fail(LATHE_ERROR_CUDA, "%s", e.text) : LATHE_SUCCESS;
}

static lathe_result check_arguments(const lathe *l, const int64_t *dims, int ndims, const float *scalars, int nscalars)
{
    const struct problem *p = l->problems[0];
    if (!dims || ndims != p->ndims)
        return lib_fail(LATHE_ERROR_ARGUMENT, "lathe_select: %s has %d dimensions, and %d were given", l->name,
                        p->ndims, dims ? ndims : 0);
    if ((scalars || nscalars) && (!scalars || nscalars != p->nscalars))
        return lib_fail(LATHE_ERROR_ARGUMENT,
                        "lathe_select: %s has %d scalars, and %d were given (none: the specification's)", l->name,
                        p->nscalars, scalars ? nscalars : 0);
    for (int d = 0; d < ndims; d++)
        if (dims[d] < 1)
            return lib_fail(LATHE_ERROR_ARGUMENT, "lathe_select: %s is %lld, and a size is at least 1", p->dims[d].name,
                            (long long)dims[d]);
    return LATHE_SUCCESS;
}

lathe_result lathe_select(lathe *l, const int64_t *dims, int ndims, const float *scalars, int nscalars,
                          lathe_kernel **out)
{
    struct wanted w = {dims, scalars, {0}};
    struct context *c = NULL;
    if (out)
        *out = NULL;
    if (!l || !out)
        return lib_fail(LATHE_ERROR_ARGUMENT, "lathe_select: %s is NULL", l ? "out" : "the file");
    lathe_result r = check_arguments(l, dims, ndims, scalars, nscalars);
    if (r)
        return r;
    pthread_mutex_lock(&l->lock);
    r = lib_context(l, &c);
    if (!r)
        r = choose(l, c, &w, out);
    if (!r)
        l->users++;
    pthread_mutex_unlock(&l->lock);
    sb_free(&w.why);
    return r;
}

void lathe_release(lathe_kernel *k)
{
    if (!k)
        return;
    struct lathe *l = k->lathe;
    free_kernel(k);
    lib_leave(l);
}

size_t lathe_workspace(const lathe_kernel *k)
{
    return k ? (size_t)k->workspace : 0;
}

const char *lathe_choice(const lathe_kernel *k)
{
    return k ? k->variant->text : NULL;
}
