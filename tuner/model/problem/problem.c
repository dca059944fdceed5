/* problem.c: a problem's life and its names.
 *
 * Invariant: every array of a problem is allocated zeroed at its full length before it is filled, so a half-made
 * problem can be freed. */
#include "model/problem.h"

#include "base/mem.h"
#include "model/problem/problem_internal.h"
#include <string.h>

static const char *const l2_properties[L2_PROPERTY_COUNT] = {
#define X(name) #name,
    L2_PROPERTY_TABLE(X)
#undef X
};

const char *l2_property_name(enum l2_property p)
{
    return (unsigned)p < L2_PROPERTY_COUNT ? l2_properties[p] : "unknown";
}

int l2_property_parse(const char *name)
{
    for (int i = 0; i < L2_PROPERTY_COUNT; i++)
        if (strcmp(l2_properties[i], name) == 0)
            return i;
    return -1;
}

static const char *const units[UNIT_COUNT] = {
#define X(name) #name,
    UNIT_TABLE(X)
#undef X
};

const char *unit_name(enum unit u)
{
    return (unsigned)u < UNIT_COUNT ? units[u] : "unknown";
}

int unit_parse(const char *name)
{
    for (int i = 0; i < UNIT_COUNT; i++)
        if (strcmp(units[i], name) == 0)
            return i;
    return -1;
}

static void tensor_clear(struct tensor *t)
{
    mem_free(t->name);
    for (int i = 0; i < MAX_RANK; i++)
        expr_free(t->shape[i]);
    expr_free(t->fill_a);
    expr_free(t->fill_b);
    expr_free(t->check_a);
    expr_free(t->check_b);
    expr_free(t->when);
}

static void tensor_map_free(struct tensor_map *m)
{
    if (!m)
        return;
    for (int i = 0; i < MAX_RANK; i++) {
        expr_free(m->shape[i]);
        expr_free(m->box[i]);
    }
    expr_free(m->swizzle);
    expr_free(m->l2);
    mem_free(m);
}

static void launch_clear(struct launch *l)
{
    mem_free(l->function);
    for (int i = 0; i < 3; i++) {
        expr_free(l->grid[i]);
        expr_free(l->block[i]);
        expr_free(l->cluster[i]);
    }
    expr_free(l->shared);
    expr_free(l->programmatic);
    if (l->l2_window) {
        expr_free(l->l2_window->ratio);
        expr_free(l->l2_window->when);
    }
    mem_free(l->l2_window);
    for (int i = 0; i < l->nargs; i++) {
        expr_free(l->args[i].expr);
        tensor_map_free(l->args[i].map);
    }
    mem_free(l->args);
}

static void constraints_free(struct constraint *c, int n)
{
    for (int i = 0; i < n; i++) {
        expr_free(c[i].expr);
        mem_free(c[i].reason);
    }
    mem_free(c);
}

static void params_free(struct param *params, int n)
{
    for (int i = 0; i < n; i++) {
        mem_free(params[i].name);
        mem_free(params[i].help);
        mem_free(params[i].values);                 /* strings among them belong to problem->json */
        expr_free(params[i].when);
    }
    mem_free(params);
}

void kernel_clear(struct kernel *k)
{
    mem_free(k->name);
    mem_free(k->summary);
    mem_free(k->source_path);
    mem_free(k->source);
    constraints_free(k->requires, k->nrequires);
    params_free(k->params, k->nparams);
    for (int i = 0; i < k->nlets; i++) {
        mem_free(k->lets[i].name);
        expr_free(k->lets[i].expr);
    }
    mem_free(k->lets);
    constraints_free(k->constraints, k->nconstraints);
    for (int i = 0; i < k->nworkspace; i++)
        tensor_clear(&k->workspace[i]);
    mem_free(k->workspace);
    for (int i = 0; i < k->nsteps; i++) {
        expr_free(k->steps[i].when);
        launch_clear(&k->steps[i].launch);
    }
    mem_free(k->steps);
    for (int i = 0; i < k->ncomputes; i++) {
        expr_free(k->computes[i].products);
        expr_free(k->computes[i].when);
    }
    mem_free(k->computes);
    mem_free(k->left_out);
    scope_free(&k->scope);
}

void problem_free(struct problem *p)
{
    if (!p)
        return;
    mem_free(p->name);
    mem_free(p->summary);
    mem_free(p->path);
    for (int i = 0; i < p->ndims; i++)
        mem_free(p->dims[i].name);
    mem_free(p->dims);
    for (int i = 0; i < p->nscalars; i++)
        mem_free(p->scalars[i].name);
    mem_free(p->scalars);
    for (int i = 0; i < p->ntensors; i++)
        tensor_clear(&p->tensors[i]);
    mem_free(p->tensors);
    expr_free(p->epilogue);
    scope_free(&p->epilogue_scope);
    for (int i = 0; i < MAX_RANK; i++)
        mem_free(p->index_names[i]);
    if (p->reference.kernel)
        kernel_clear(p->reference.kernel);
    mem_free(p->reference.kernel);
    expr_free(p->flops);
    expr_free(p->bytes);
    for (int i = 0; i < p->nkernels; i++)
        kernel_clear(&p->kernels[i]);
    mem_free(p->kernels);
    torch_model_free(p->torch);
    json_decref(p->restrictions);
    scope_free(&p->scope);
    json_decref(p->json);
    mem_free(p);
}

/* The names of an array's elements; a half-made problem has NULL ones. */
#define FIND_NAME(array, count, wanted)                                                                                \
    do {                                                                                                               \
        for (int i_ = 0; i_ < (count); i_++)                                                                           \
            if ((array)[i_].name && strcmp((array)[i_].name, (wanted)) == 0)                                           \
                return i_;                                                                                             \
        return -1;                                                                                                     \
    } while (0)

status problem_needs_kernels(const struct problem *p, const char *what, struct err *e)
{
    return !p->space_alone ? LATHE_OK
                           : err_set(e, LATHE_USAGE, "%.300s is a space alone, without a kernel to run: %s needs one",
                                     p->path, what);
}

int problem_find_kernel(const struct problem *p, const char *name)
{
    FIND_NAME(p->kernels, p->nkernels, name);
}

static bool has_role(const struct kernel *k, enum kernel_role role)
{
    return role & (k->baseline ? KERNEL_BASELINE : KERNEL_CANDIDATE);
}

status problem_kernel_named(const struct problem *p, const char *name, enum kernel_role role, int *out, struct err *e)
{
    int at = problem_find_kernel(p, name), n = 0;
    bool other = at >= 0 && !has_role(&p->kernels[at], role);
    if (at >= 0 && p->kernels[at].left_out)
        return err_set(e, LATHE_USAGE, "kernel %s: %s", name, p->kernels[at].left_out);
    if (at >= 0 && !other) {
        if (out)
            *out = at;
        return LATHE_OK;
    }
    const char **names = mem_zalloc((size_t)p->nkernels + 1, sizeof *names);
    struct strbuf all = {0};
    for (int i = 0; i < p->nkernels; i++) {
        if (!has_role(&p->kernels[i], role))
            continue;
        sb_addf(&all, "%s%s", n ? ", " : "", p->kernels[i].name);
        names[n++] = p->kernels[i].name;
    }
    const char *near = nearest_word(name, names, n);
    if (other && role == KERNEL_CANDIDATE)
        err_set(e, LATHE_USAGE, "'%.100s' is a baseline: it is timed beside, not tuned\nto tune there are: %.1000s",
                name, sb_str(&all));
    else
        err_set(e, LATHE_USAGE, "%.300s has no %s '%.100s'%s\n%s%s%sthere %s%.1000s", p->path,
                role == KERNEL_BASELINE ? "baseline" : "kernel", name, other ? ": that is a candidate" : "",
                near ? "did you mean '" : "", near ? near : "", near ? "'? " : "", n ? "are: " : "is none",
                sb_str(&all));
    sb_free(&all);
    mem_free(names);
    return LATHE_USAGE;
}

status problem_set_tolerance(struct problem *p, const char *text, struct err *e)
{
    struct tolerance t = p->tolerance;
    status s = tolerance_parse(text, &t, NULL, e);
    if (!s && t.times_sgemm_error > 0 && p->reference.kind != REFERENCE_GEMM)
        s = err_set(e, LATHE_USAGE, "times_sgemm_error needs a gemm reference: use frobenius");
    if (!s)
        p->tolerance = t;
    return s;
}

int problem_find_dim(const struct problem *p, const char *name)
{
    FIND_NAME(p->dims, p->ndims, name);
}

int problem_find_tensor(const struct problem *p, const char *name)
{
    FIND_NAME(p->tensors, p->ntensors, name);
}

bool problem_has_check(const struct problem *p)
{
    for (int i = 0; i < p->ntensors; i++)
        if (p->tensors[i].check_a)
            return true;
    return false;
}

static int find_scalar(const struct problem *p, const char *name)
{
    FIND_NAME(p->scalars, p->nscalars, name);
}

static int find_param(const struct kernel *k, const char *name)
{
    FIND_NAME(k->params, k->nparams, name);
}

static int find_let(const struct kernel *k, const char *name)
{
    FIND_NAME(k->lets, k->nlets, name);
}

static int find_workspace(const struct kernel *k, const char *name)
{
    FIND_NAME(k->workspace, k->nworkspace, name);
}

const char *problem_name_use(const struct problem *p, const struct kernel *k, const char *name)
{
    if (problem_find_dim(p, name) >= 0)
        return "a dimension";
    if (find_scalar(p, name) >= 0)
        return "a scalar";
    if (problem_find_tensor(p, name) >= 0)
        return "a tensor";
    if (k && find_param(k, name) >= 0)
        return "a parameter";
    if (k && find_let(k, name) >= 0)
        return "a let";
    if (k && find_workspace(k, name) >= 0)
        return "a workspace buffer";
    return NULL;
}

const struct tensor *problem_buffer(const struct problem *p, const struct kernel *k, int index)
{
    return index < p->ntensors ? &p->tensors[index] : &k->workspace[index - p->ntensors];
}
