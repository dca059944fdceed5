/* space_view.c: opens what `lathe space` is asked about. A kernel that the target cannot run, or whose space is empty,
 * is a finding and not a failure. */
#include "cli/space/space_view.h"
#include "base/mem.h"
#include "cli/args/pick_target.h"
#include "console/output.h"
#include <string.h>

static char *target_text(const struct target *t)
{
    return *t->name && strcmp(t->name, t->arch) != 0 ? mem_printf("%s (%s)", t->name, t->arch) : mem_strdup(t->arch);
}

/* A sample needs no space that is whole. */
static status open_space(const struct view *v, const struct kernel *k, const struct space_args *args,
                         struct space **out, struct err *e)
{
    struct space_draw draw;
    if (!args->sample)
        return space_open(v->problem, k, &v->target, out, e);
    status s = space_open_sampled(v->problem, k, &v->target, (uint64_t)args->seed, NULL, out, &draw, e);
    if (s == LATHE_OK && draw.tried > 0)
        note_line("%s.\ndrawn by rejection: %.0f of %.0f combinations are valid (%.3g %%), %llu different ones", draw.why,
                  draw.valid, draw.tried, 100 * draw.valid / draw.tried, (unsigned long long)space_size(*out));
    return s;
}

static status open_member(const struct view *v, const struct kernel *k, const struct space_args *args,
                          struct member *out, struct err *e)
{
    *out = (struct member){.kernel = k};
    struct strbuf why = {0};
    if (k->left_out) {
        out->refused = mem_strdup(k->left_out);
        return LATHE_OK;
    }
    if (!kernel_runs_on(v->problem, k, &v->target, &why)) {
        out->refused = mem_printf("requires %s", sb_str(&why));
        sb_free(&why);
        return LATHE_OK;
    }
    struct err empty = {0};
    status s = open_space(v, k, args, &out->space, &empty);
    if (s == LATHE_OK)
        return s;
    out->space = NULL;
    if (s != LATHE_NOTHING) {
        *e = empty;
        return s;
    }
    out->refused = mem_strdup(empty.text);
    out->empty = true;
    return LATHE_OK;
}

void view_close(struct view *v)
{
    for (int i = 0; i < v->count; i++) {
        if (v->members[i].space)
            space_close(v->members[i].space);
        mem_free(v->members[i].refused);
    }
    mem_free(v->members);
    mem_free(v->target_text);
    if (v->problem)
        problem_free(v->problem);
}

status view_load(struct view *v, const char *self, const struct space_args *args, struct err *e)
{
    *v = (struct view){0};
    status s = spec_load(&args->spec, self, &v->problem, e);
    if (s == LATHE_OK && args->kernel)
        s = problem_kernel_named(v->problem, args->kernel, KERNEL_ANY, NULL, e);
    bool anywhere = s == LATHE_OK && v->problem->space_alone && !args->target; /* no device has a say */
    if (s == LATHE_OK && !anywhere)
        s = pick_target(args->target, &v->target, e);
    if (s == LATHE_OK)
        v->target_text = anywhere ? mem_strdup("any device") : target_text(&v->target);
    return s;
}

bool view_wants(const struct kernel *k, const struct space_args *args)
{
    return args->kernel ? !strcmp(k->name, args->kernel) : !k->baseline;
}

status view_open(struct view *v, const struct space_args *args, struct err *e)
{
    v->members = mem_zalloc((size_t)v->problem->nkernels + 1, sizeof *v->members);
    for (int i = 0; i < v->problem->nkernels; i++) {
        const struct kernel *k = &v->problem->kernels[i];
        if (!view_wants(k, args))
            continue;
        status s = open_member(v, k, args, &v->members[v->count++], e);
        if (s != LATHE_OK)
            return s;
    }
    return LATHE_OK;
}
