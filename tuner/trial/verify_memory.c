/* verify_memory.c: is the memory around a result whole, and are inputs, references and workspace as they should be? */
#include "base/mem.h"
#include "trial/verify_private.h"
#include <stdio.h>

status verify_wrong(struct result *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(out->reason, sizeof out->reason, fmt, args);
    va_end(args);
    out->outcome = OUTCOME_wrong;
    return LATHE_OK;
}

static status check_guard(struct bench *b, const struct guarded *g, const char *name, struct result *out, bool *damaged,
                          struct err *e)
{
    int where;
    int64_t offset;
    status s = guarded_check(b->ops, b->dev, g, &where, &offset, e);
    if (s || !where) return s;
    if (*damaged) return LATHE_OK;
    *damaged = true;
    char place[60];
    guarded_where(where, offset, place, sizeof place);
    snprintf(out->verification.detail, sizeof out->verification.detail, "%s: written %s", name, place);
    return verify_wrong(out, "out-of-bounds write: %s was written %s", name, place);
}

struct guarded *verify_guard_of(const struct bench *b, const struct pipeline *p, int buffer)
{
    const int workspace = buffer - p->plan->ntensors;
    return workspace < 0 ? &b->tensors[buffer] : &p->workspace[workspace];
}

/* An output's references, also those on the inputs that are not in the tensors now, and with other scalars. */
static status check_reference(struct bench *b, int tensor, struct result *out, bool *damaged, struct err *e)
{
    const struct answers *all[] = {&b->timed, b->setup.check ? &b->check : NULL, b->varies ? &b->varied : NULL};
    for (int i = 0; i < 3; i++) {
        uint64_t now;
        if (!all[i]) continue;
        status s = bench_hash_exact(b, all[i], tensor, &now, e);
        if (s) return s;
        if (now == all[i]->hash[tensor]) continue;
        if (!*damaged)
            verify_wrong(out, "out-of-bounds write: memory of the verifier, far from every buffer of the kernel, was "
                              "written");
        *damaged = true;
    }
    return LATHE_OK;
}

/* Damage is the better reason than the wrong numbers that often come with it, so it replaces them. */
static status check_buffers(struct bench *b, struct pipeline *p, struct result *out, bool *damaged, struct err *e)
{
    const struct plan *plan = p->plan;
    for (int i = 0; i < plan->nbuffers; i++) {
        status s = check_guard(b, verify_guard_of(b, p, i), plan->buffers[i].name, out, damaged, e);
        if (s) return s;
    }
    for (int i = 0; i < plan->ntensors; i++) {
        bool output = plan->buffers[i].role == PLAN_OUTPUT;
        uint64_t now;
        status s = output ? check_reference(b, i, out, damaged, e) : bench_hash(b, i, &now, e);
        if (s) return s;
        if (output || now == b->now->hash[i]) continue;
        if (!*damaged) {
            snprintf(out->verification.detail, sizeof out->verification.detail, "input %s was changed",
                     plan->buffers[i].name);
            verify_wrong(out, "the kernel changed its input %s", plan->buffers[i].name);
        }
        *damaged = true;
    }
    return LATHE_OK;
}

enum { ZERO_CHECK_BYTES = 16 << 20 };

/* Workspace that is zeroed once must be left zero, or another launch starts from something else. Looked at up to 16
 * MiB. */
static status check_zeros(struct bench *b, struct pipeline *p, struct result *out, struct err *e)
{
    const struct plan *plan = p->plan;
    for (int i = plan->ntensors; i < plan->nbuffers; i++) {
        const struct plan_buffer *w = &plan->buffers[i];
        size_t bytes = (size_t)plan_buffer_bytes(w);
        if (w->zero != ZERO_ONCE || !bytes || bytes > ZERO_CHECK_BYTES) continue;
        unsigned char *copy = mem_alloc(bytes);
        status s = b->ops->copy_out(b->dev, copy, p->address[i], bytes, e);
        size_t at = 0;
        while (!s && at < bytes && !copy[at]) at++;
        mem_free(copy);
        if (s) return s;
        if (at < bytes && out->outcome != OUTCOME_wrong)
            verify_wrong(out, "workspace %s is to be zeroed once, and the kernel does not leave it zero (byte %zu)",
                         w->name, at);
    }
    return LATHE_OK;
}

status verify_memory(struct bench *b, struct pipeline *p, struct result *out, bool *damaged, struct err *e)
{
    status s = check_buffers(b, p, out, damaged, e);
    return s ? s : check_zeros(b, p, out, e);
}
