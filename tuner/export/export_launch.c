/* export_launch.c: the launcher: sizes checked, workspace laid out and zeroed, then the steps of the pipeline
 * (export_steps.c).
 *
 * Invariants of the printed code: nothing is launched unless every constraint holds and every launch fits; workspace
 * that must start as zeros is zeroed at each call, so no state is carried from one call to the next (with
 * LATHE_WORKSPACE_KEPT the caller does it once). The generator's own names begin with lathe_, as no specification's
 * does, so that none of those can hide them; what it calls is the name of no specification either
 * (problem_read_names.c). */
#include "base/mem.h"
#include "export/internal.h"
#include "model/serve.h"
#include "model/source.h"
#include <string.h>

/* The device's limits, where they are open. */
static void print_limits(struct exporter *x)
{
    if (!x->say->driver) return;
    for (int i = 0; i < LIMIT_COUNT; i++)
        sb_addf(x->out, "    const long long %s = lathe_limit[%d];\n    (void)%s;\n", limit_name((enum limit)i), i,
                limit_name((enum limit)i));
}

/* Appends "int64_t NAME = expr;" lines for the lets that depend on the size. */
static status print_lets(struct exporter *x, struct err *e)
{
    const struct kernel *k = x->k;
    print_limits(x);
    for (int l = 0; l < k->nlets; l++) {
        if (x->known[k->first_let + l].type != VALUE_NONE) continue;
        enum value_type t = expr_type(k->lets[l].expr);
        const char *type = t == VALUE_FLOAT ? "double" : t == VALUE_BOOL ? "bool" : "int64_t";
        sb_addf(x->out, "    const %s %s = ", type, k->lets[l].name);
        status s = export_expr(x, k->lets[l].expr, e);
        if (s) return s;
        sb_addf(x->out, ";\n    (void)%s;\n", k->lets[l].name);
    }
    return LATHE_OK;
}

/* Before any formula: none is for a dimension of 0. */
static void print_dim_checks(struct exporter *x, const char *refused)
{
    for (int i = 0; i < x->p->ndims; i++) {
        const char *name = x->p->dims[i].name;
        sb_addf(x->out, "    if (%s < 1 || %s > INT_MAX) return %s;\n", name, name, refused);
    }
}

/* Appends what was printed, and frees it. Gives whether it may set EXPORT_UNDEFINED, which it then begins with. */
static bool print_formulas(struct exporter *x, struct strbuf *formulas)
{
    bool partial = strstr(sb_str(formulas), EXPORT_UNDEFINED);
    if (partial) sb_add(x->out, "    int " EXPORT_UNDEFINED " = 0;    // a formula has no value at this size\n");
    sb_add(x->out, sb_str(formulas));
    sb_free(formulas);
    return partial;
}

/* Where buffer w begins, and how many bytes it has. */
static status print_buffer(struct exporter *x, int w, struct err *e)
{
    const struct tensor *t = &x->k->workspace[w];
    sb_addf(x->out, "    lathe_start[%d] = lathe_at;    // %s\n    lathe_bytes[%d] = 0;\n    ", w, t->name, w);
    status s = LATHE_OK;
    if (t->when) {
        sb_add(x->out, "if (");
        s = export_expr(x, t->when, e);
        sb_add(x->out, ") ");
    }
    sb_add(x->out, "{\n        ");
    if (!s) s = export_extent(x, t, e);
    sb_addf(x->out, "        lathe_bytes[%d] = %s(%d, lathe_extent, %d);\n    }\n", w, export_helper(x, HELPER_SIZE),
            dtype_bytes(t->dtype), t->rank);
    sb_addf(x->out, "    if (lathe_bytes[%d] == SIZE_MAX || lathe_at + lathe_bytes[%d] > 1000000000000000000) return "
                    "SIZE_MAX;\n    lathe_at += (lathe_bytes[%d] + 255) / 256 * 256;\n", w, w, w);
    return s;
}

/* Bytes of each workspace buffer at 256-byte boundaries. */
static status print_layout(struct exporter *x, struct err *e)
{
    sb_addf(x->out,
            "\n// Where each workspace buffer starts; gives the total in bytes, SIZE_MAX if there is no such memory.\n"
            "static size_t %s_layout(%s",
            x->function, x->say->driver ? "const long long *lathe_limit, " : "");
    export_size_params(x);
    sb_add(x->out, ", size_t *lathe_start, size_t *lathe_bytes)\n{\n    size_t lathe_at = 0;\n");
    print_dim_checks(x, "SIZE_MAX");
    for (int i = 0; i < x->p->nscalars; i++) sb_addf(x->out, "    (void)%s;\n", x->p->scalars[i].name);
    struct strbuf formulas = {0}, *file = x->out;
    x->out = &formulas;
    status s = print_lets(x, e);
    for (int w = 0; w < x->k->nworkspace && !s; w++) s = print_buffer(x, w, e);
    x->out = file;
    bool partial = print_formulas(x, &formulas);
    sb_addf(x->out, "    (void)lathe_start;\n    (void)lathe_bytes;\n    return %slathe_at;\n}\n",
            partial ? EXPORT_UNDEFINED " ? SIZE_MAX : " : "");
    return s;
}

/* "lathe_linear_layout(M, N, K, s, lathe_start, lathe_bytes)" */
static void print_layout_call(struct exporter *x)
{
    sb_addf(x->out, "%s_layout(%s", x->function, x->say->driver ? "lathe_limit, " : "");
    for (int i = 0; i < x->p->ndims; i++) sb_addf(x->out, "%s, ", x->p->dims[i].name);
    for (int i = 0; i < x->p->nscalars; i++) sb_addf(x->out, "%s, ", x->p->scalars[i].name);
    sb_add(x->out, "lathe_start, lathe_bytes)");
}

void export_own_scalars(struct exporter *x)
{
    for (int i = 0; i < x->p->nscalars; i++)
        sb_addf(x->out, "    const float %s = (float)%.17g;\n", x->p->scalars[i].name, x->p->scalars[i].value);
}

static void print_workspace_query(struct exporter *x)
{
    int n = x->k->nworkspace > 0 ? x->k->nworkspace : 1;
    sb_addf(x->out,
            "\n// Bytes of workspace that a call at this size needs%s; SIZE_MAX: no size to be served.\n%s size_t "
            "%s_workspace(%s",
            x->p->nscalars ? ", with the specification's scalars" : "", x->say->driver ? "static" : "extern \"C\"", x->function,
            x->say->driver ? "const long long *lathe_limit, " : "");
    export_dim_params(x);
    sb_add(x->out, ")\n{\n");
    export_own_scalars(x);
    sb_addf(x->out, "    size_t lathe_start[%d], lathe_bytes[%d];\n    return ", n, n);
    print_layout_call(x);
    sb_add(x->out, ";\n}\n");
}

void export_launcher_params(struct exporter *x)
{
    const struct problem *p = x->p;
    for (int i = 0; i < p->ntensors; i++) {
        const struct tensor *t = &p->tensors[i];
        if (x->say->driver) sb_addf(x->out, "CUdeviceptr %s, ", t->name);
        else sb_addf(x->out, "%s%s *%s, ", t->output ? "" : "const ", dtype_public_type(t->dtype), t->name);
    }
    export_size_params(x);
    sb_addf(x->out, ", %sworkspace, size_t workspace_bytes,\n    %s stream", x->say->driver ? "CUdeviceptr " : "void *",
            x->say->driver ? "CUstream" : "cudaStream_t");
}

/* Sizes at which a macro of the source would have another value. */
static void print_let_checks(struct exporter *x)
{
    const struct kernel *k = x->k;
    for (int l = 0; l < k->nlets; l++) {
        const struct value *tuned = &x->slots[k->first_let + l];
        if (x->known[k->first_let + l].type != VALUE_NONE || tuned->type == VALUE_FLOAT ||
            !kernel_let_is_compiled_in(k, l))
            continue;
        sb_addf(x->out, "    if (%s != ", k->lets[l].name);
        if (tuned->type == VALUE_BOOL) sb_add(x->out, tuned->b ? "true" : "false");
        else sb_addf(x->out, "%lldLL", (long long)tuned->i);
        sb_addf(x->out, ") return %s; // the kernels were compiled for this\n", x->say->invalid);
    }
}

/* "if (!(constraint)) return cudaErrorInvalidValue;" for what is not already certain. What only restricts the search is
 * no reason to refuse: the configuration was found at another size. */
static status print_constraints(struct exporter *x, const struct constraint *list, int n, struct err *e)
{
    const struct kernel *k = x->k;
    for (int c = 0; c < n; c++) {
        const struct expr *expr = list[c].expr;
        bool open = false;
        if (list[c].search) continue;
        for (int s = 0; s < k->scope.count; s++) open |= x->known[s].type == VALUE_NONE && expr_uses(expr, s);
        if (!open) continue;
        struct strbuf text = {0}, *file = x->out;
        x->out = &text;
        status s = export_expr(x, expr, e);
        x->out = file;
        bool certain = !s && !strcmp(sb_str(&text), "1");
        if (!s && !certain) sb_addf(x->out, "    if (!(%s)) return %s;", sb_str(&text), x->say->invalid);
        sb_free(&text);
        if (s) return s;
        if (certain) continue;
        if (list[c].reason) {
            sb_add(x->out, " // ");
            source_comment(x->out, list[c].reason);
        }
        sb_add(x->out, "\n");
    }
    return LATHE_OK;
}

/* What the kernel requires of a device was true where it was tuned; where limits are open, it is asked. */
static status print_checks(struct exporter *x, struct err *e)
{
    const struct kernel *k = x->k;
    status s = x->say->driver ? print_constraints(x, k->requires, k->nrequires, e) : LATHE_OK;
    return s ? s : print_constraints(x, k->constraints, k->nconstraints, e);
}

/* What is zeroed once is left zero by each call: a caller that keeps the workspace can do without zeroing it again. */
static void print_zeroing(struct exporter *x)
{
    for (int w = 0; w < x->k->nworkspace; w++) {
        const struct tensor *t = &x->k->workspace[w];
        if (t->zero == ZERO_NEVER) continue;
        sb_addf(x->out,
                "%s    if (lathe_bytes[%d]) // %s\n        lathe_error = %sworkspace + lathe_start[%d], 0, "
                "lathe_bytes[%d], stream);\n    if (lathe_error != %s) return lathe_error;\n%s",
                t->zero == ZERO_ONCE ? "#ifndef LATHE_WORKSPACE_KEPT\n" : "", w, t->name,
                x->say->driver ? "cuMemsetD8Async(" : "cudaMemsetAsync((char *)", w, w, x->say->success,
                t->zero == ZERO_ONCE ? "#endif\n" : "");
    }
}

static void print_runtime_head(struct exporter *x)
{
    sb_addf(x->out,
            "\n// Queues the whole computation on `stream`. Pointers are device pointers; workspace: %s_workspace() "
            "bytes, 256-byte\n"
            "// aligned, not shared by two calls at a time. With -DLATHE_WORKSPACE_KEPT it is zeroed by the caller "
            "before the first\n"
            "// call at a size, then only used by calls at that size.\nextern \"C\" cudaError_t %s(",
            x->function, x->function);
    export_launcher_params(x);
    sb_add(x->out, ")\n{\n");
}

static void print_driver_head(struct exporter *x)
{
    sb_addf(x->out,
            "\n// Without lathe_go: only whether it would run.\nstatic CUresult %s(const struct LatheDevice *lathe, "
            "const struct LatheFunction *lathe_function, bool lathe_go,\n    ",
            x->function);
    export_launcher_params(x);
    sb_add(x->out, ")\n{\n    const long long *const lathe_limit = lathe->limit;\n    (void)lathe_function;\n");
    for (int i = 0; i < x->p->ntensors; i++) sb_addf(x->out, "    (void)%s;\n", x->p->tensors[i].name);
}

/* Whatever may be refused: nothing has been queued yet. */
static status print_refusals(struct exporter *x, struct err *e)
{
    status s = print_lets(x, e);
    if (!s) s = print_checks(x, e);
    if (!s) print_let_checks(x);
    if (!s) s = export_tensor_checks(x, e);
    if (s) return s;
    sb_add(x->out, "    const size_t lathe_needed = ");
    print_layout_call(x);
    sb_addf(x->out, ";\n    if (lathe_needed == SIZE_MAX || lathe_needed > workspace_bytes) "
                    "return %s;\n    (void)workspace;\n", x->say->invalid);
    for (int i = 0; i < x->p->nscalars; i++) sb_addf(x->out, "    (void)%s;\n", x->p->scalars[i].name);
    s = export_step_checks(x, e);
    if (strstr(sb_str(x->out), EXPORT_UNDEFINED)) sb_addf(x->out, "    if (" EXPORT_UNDEFINED ") return %s;\n",
                                                          x->say->invalid);
    return s;
}

static status print_function(struct exporter *x, struct err *e)
{
    int n = x->k->nworkspace > 0 ? x->k->nworkspace : 1;
    if (x->say->driver) print_driver_head(x);
    else print_runtime_head(x);
    sb_addf(x->out, "    %s lathe_error = %s;\n    size_t lathe_start[%d], lathe_bytes[%d];\n", x->say->result,
            x->say->success, n, n);
    print_dim_checks(x, x->say->invalid);
    struct strbuf formulas = {0}, *file = x->out;
    x->out = &formulas;
    status s = print_refusals(x, e);
    if (x->say->driver) sb_add(x->out, "    if (!lathe_go) return lathe_error;\n");
    print_zeroing(x);
    if (!s) s = export_steps(x, e);
    x->out = file;
    (void)print_formulas(x, &formulas);
    sb_add(x->out, "    return lathe_error;\n}\n");
    return s;
}

status export_launcher(struct exporter *x, struct err *e)
{
    struct strbuf layout = {0}, function = {0}, *file = x->out;
    x->out = &layout;           /* it is known then what they call */
    status s = print_layout(x, e);
    x->out = &function;
    if (!s) s = print_function(x, e);
    x->out = file;
    export_helpers(x);
    sb_add(x->out, sb_str(&layout));
    if (!s) print_workspace_query(x);
    sb_add(x->out, sb_str(&function));
    sb_free(&layout);
    sb_free(&function);
    return s;
}
