/* pipeline.c: see pipeline.h. Invariants: arguments are packed at opening and change by pipeline_arguments alone; every
 * address is that of the data between two guards; a null workspace buffer (count 0) has address 0. */
#include "trial/pipeline.h"
#include "base/mem.h"
#include "model/plan/plan_args.h"
#include <string.h>

static const uint32_t words[] = {[GARBAGE_NAN] = 0xffffffffu, [GARBAGE_NUMBERS] = 0x3f3f3f3fu, [GARBAGE_ZERO] = 0,
                                 [GARBAGE_OUTPUT_NAN] = OUTPUT_NAN, [GARBAGE_OUTPUT_NUMBERS] = 0x3f3d3f3du};
/* Bands hold words of their own, so that a kernel's garbage is not taken for them. */
static const uint32_t band_words[] = {[GARBAGE_NAN] = 0xfffefffeu, [GARBAGE_NUMBERS] = 0x3f3e3f3eu};

/* --- guarded memory --- */

status guarded_alloc(const struct dev_ops *ops, struct dev *d, uint64_t bytes, struct guarded *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    dev_ptr base;
    uint64_t guard = ops->guard_bytes ? ops->guard_bytes(d) : 0;
    if (guard < GUARD_BYTES) guard = GUARD_BYTES;
    status s = ops->alloc(d, bytes + 2 * guard, &base, e);
    if (s) return s;
    *out = (struct guarded){.base = base, .data = base + guard, .bytes = bytes, .guard = guard};
    s = guarded_bands(ops, d, out, GARBAGE_NAN, e);
    if (s) guarded_release(ops, d, out);
    return s;
}

status guarded_bands(const struct dev_ops *ops, struct dev *d, struct guarded *g, enum garbage with, struct err *e)
{
    uint32_t band[GUARD_BYTES / 4];
    if (!g->base) return LATHE_OK;
    for (int i = 0; i < GUARD_BYTES / 4; i++) band[i] = band_words[with];
    status s = ops->copy_in(d, g->data - GUARD_BYTES, band, GUARD_BYTES, e);
    if (!s) s = ops->copy_in(d, g->data + g->bytes, band, GUARD_BYTES, e);
    if (!s) g->bands = with;
    return s;
}

void guarded_release(const struct dev_ops *ops, struct dev *d, struct guarded *g)
{
    if (g->base) ops->release(d, g->base);
    memset(g, 0, sizeof *g);
}

status guarded_check(const struct dev_ops *ops, struct dev *d, const struct guarded *g, int *where, int64_t *offset,
                     struct err *e)
{
    uint32_t guard[GUARD_BYTES / 4];
    *where = 0;
    *offset = 0;
    if (!g->base) return LATHE_OK;
    status s = ops->copy_out(d, guard, g->data - GUARD_BYTES, GUARD_BYTES, e);
    if (s) return s;
    for (int i = GUARD_BYTES / 4 - 1; i >= 0; i--)
        if (guard[i] != band_words[g->bands]) {
            *where = -1;
            *offset = (int64_t)GUARD_BYTES - 4 * i;
            return LATHE_OK;
        }
    s = ops->copy_out(d, guard, g->data + g->bytes, GUARD_BYTES, e);
    if (s) return s;
    for (int i = 0; i < GUARD_BYTES / 4; i++)
        if (guard[i] != band_words[g->bands]) {
            *where = 1;
            *offset = 4 * i;
            return LATHE_OK;
        }
    return LATHE_OK;
}

void guarded_where(int where, int64_t offset, char *text, size_t size)
{
    if (where > 0 && !offset)
        snprintf(text, size, "just past its end");
    else
        snprintf(text, size, "%lld bytes %s", (long long)offset, where < 0 ? "before its start" : "past its end");
}

/* --- arguments --- */

static status pack_step(struct pipeline *p, const struct plan_step *step, struct pipeline_step *out, struct err *e)
{
    struct plan_args packed;
    plan_args_make(step, p->address, &packed);
    out->bytes = packed.bytes;
    out->args = packed.args;
    for (int i = 0; i < step->nargs; i++) {
        const struct plan_arg *a = &step->args[i];
        if (a->kind != PLAN_TENSOR_MAP || !a->map.rank) continue;
        const struct plan_buffer *b = &p->plan->buffers[a->buffer];
        status s = p->ops->tensor_map(p->dev, &a->map, b->dtype, p->address[a->buffer], out->args[i], e);
        if (s) return err_prefix(e, "%s: args[%d]: tensor_map %s", step->function, i + 1, b->name);
    }
    return LATHE_OK;
}

/* --- life --- */

static status open_workspace(struct pipeline *p, const dev_ptr *tensors, const dev_ptr *workspace_at, struct err *e)
{
    const struct plan *plan = p->plan;
    int nworkspace = plan->nbuffers - plan->ntensors;
    p->address = mem_zalloc((size_t)plan->nbuffers + 1, sizeof *p->address);
    p->workspace = mem_zalloc((size_t)nworkspace + 1, sizeof *p->workspace);
    for (int i = 0; i < plan->ntensors; i++) p->address[i] = tensors[i];
    for (int i = 0; i < nworkspace; i++) {
        const struct plan_buffer *b = &plan->buffers[plan->ntensors + i];
        if (!b->count) continue;
        if (workspace_at && workspace_at[i]) {
            p->address[plan->ntensors + i] = workspace_at[i];
            continue;
        }
        status s = guarded_alloc(p->ops, p->dev, (uint64_t)plan_buffer_bytes(b), &p->workspace[i], e);
        if (s) {
            err_prefix(e, "workspace %s", b->name);
            return s;
        }
        p->address[plan->ntensors + i] = p->workspace[i].data;
    }
    return LATHE_OK;
}

static bool has_launch(const struct plan *plan)
{
    for (int i = 0; i < plan->nsteps; i++)
        if (plan->steps[i].kind == STEP_LAUNCH) return true;
    return false;
}

status pipeline_open(const struct dev_ops *ops, struct dev *d, const struct plan *plan, const char *image,
                     const dev_ptr *tensors, const dev_ptr *workspace_at, struct pipeline *out, const char **stage,
                     struct err *e)
{
    *out = (struct pipeline){.ops = ops, .dev = d, .plan = plan};
    out->steps = mem_zalloc((size_t)plan->nsteps + 1, sizeof *out->steps);
    *stage = "alloc";
    status s = open_workspace(out, tensors, workspace_at, e);
    if (s) goto fail;
    *stage = "load";
    if (has_launch(plan)) {
        s = ops->load(d, image, &out->module, e);
        if (s) goto fail;
    }
    *stage = "function";
    for (int i = 0; i < plan->nsteps; i++) {
        const struct plan_step *step = &plan->steps[i];
        if (step->kind != STEP_LAUNCH) continue;
        s = ops->function(d, out->module, step->function, &out->steps[i].function, e);
        if (!s && ops->takes) s = ops->takes(d, out->steps[i].function, step, e);
        if (!s) s = pack_step(out, step, &out->steps[i], e);
        if (s) goto fail;
        dev_launch_of(plan, step, out->address, &out->steps[i].how);
        out->persists |= step->window.on && step->window.hit == L2_persisting;
    }
    if (out->persists) s = ops->persist(d, true, e);
    if (s) goto fail;
    return LATHE_OK;
fail:
    pipeline_close(out);
    return s;
}

static void free_arguments(struct pipeline_step *s)
{
    mem_free(s->bytes);
    mem_free(s->args);
    s->bytes = NULL;
    s->args = NULL;
}

void pipeline_close(struct pipeline *p)
{
    const struct plan *plan = p->plan;
    if (!plan) return;
    if (p->steps)
        for (int i = 0; i < plan->nsteps; i++) free_arguments(&p->steps[i]);
    mem_free(p->steps);
    if (p->persists) (void)p->ops->persist(p->dev, false, NULL);    /* a lost device says so at the next call */
    if (p->module) p->ops->unload(p->dev, p->module);
    if (p->workspace)
        for (int i = 0; i < plan->nbuffers - plan->ntensors; i++) guarded_release(p->ops, p->dev, &p->workspace[i]);
    mem_free(p->workspace);
    mem_free(p->address);
    memset(p, 0, sizeof *p);
}

status pipeline_arguments(struct pipeline *p, const struct plan *plan, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < plan->nsteps && !s; i++) {
        if (plan->steps[i].kind != STEP_LAUNCH) continue;
        free_arguments(&p->steps[i]);
        s = pack_step(p, &plan->steps[i], &p->steps[i], e);
    }
    return s;
}

/* Whole words by fill, the rest by copy. */
status buffer_poison(const struct dev_ops *ops, struct dev *d, dev_ptr at, uint64_t bytes, enum garbage with,
                     struct err *e)
{
    uint32_t word = words[with];
    uint64_t whole = bytes / 4 * 4;
    status s = whole ? ops->fill(d, at, word, whole, e) : LATHE_OK;
    if (!s && whole < bytes) s = ops->copy_in(d, at + whole, &word, bytes - whole, e);
    return s;
}

uint32_t garbage_word(enum garbage of) { return words[of]; }

bool is_garbage(const void *element, int size, enum garbage of) { return !memcmp(element, &words[of], (size_t)size); }

status pipeline_poison(struct pipeline *p, enum garbage with, struct err *e)
{
    const struct plan *plan = p->plan;
    for (int i = plan->ntensors; i < plan->nbuffers; i++) {
        const struct plan_buffer *b = &plan->buffers[i];
        if (!b->count) continue;
        status s = buffer_poison(p->ops, p->dev, p->address[i], (uint64_t)plan_buffer_bytes(b),
                                 b->zero != ZERO_NEVER ? GARBAGE_ZERO : with, e);
        if (s) return s;
    }
    return LATHE_OK;
}

status pipeline_run(struct pipeline *p, struct err *e)
{
    const struct plan *plan = p->plan;
    for (int i = plan->ntensors; i < plan->nbuffers; i++) {
        const struct plan_buffer *b = &plan->buffers[i];
        if (b->zero != ZERO_EACH || !b->count) continue;
        status s = buffer_poison(p->ops, p->dev, p->address[i], (uint64_t)plan_buffer_bytes(b), GARBAGE_ZERO, e);
        if (s) return s;
    }
    for (int i = 0; i < plan->nsteps; i++) {
        const struct plan_step *step = &plan->steps[i];
        status s;
        if (step->kind == STEP_GEMM)
            s = p->ops->gemm(p->dev, step, plan->buffers[step->a].dtype, plan->buffers[step->c].dtype,
                             p->address[step->a], p->address[step->b], p->address[step->c], e);
        else
            s = p->ops->launch(p->dev, p->steps[i].function, &p->steps[i].how, p->steps[i].args, e);
        if (s) return s;
    }
    return LATHE_OK;
}

status pipeline_resources(struct pipeline *p, struct resources *out, struct err *e)
{
    *out = (struct resources){.local_bytes = -1, .shared_static = -1, .shared_dynamic = -1};
    bool any = false;
    for (int i = 0; i < p->plan->nsteps; i++) {
        const struct plan_step *step = &p->plan->steps[i];
        if (step->kind != STEP_LAUNCH) continue;
        struct resources r = {0};
        status s = p->ops->resources(p->dev, p->steps[i].function, step->block[0] * step->block[1] * step->block[2],
                                     step->shared, &r, e);
        if (s) return s;
        if (r.registers > out->registers) out->registers = r.registers;
        if (r.local_bytes > out->local_bytes) out->local_bytes = r.local_bytes;
        if (r.shared_static > out->shared_static) out->shared_static = r.shared_static;
        if ((int)step->shared > out->shared_dynamic) out->shared_dynamic = (int)step->shared;
        if (!any || r.occupancy < out->occupancy) out->occupancy = r.occupancy;
        any = true;
    }
    return LATHE_OK;
}
