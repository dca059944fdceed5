/* export_steps.c: the steps of the pipeline: what must hold of each before anything runs, then the calls themselves. */
#include "base/mem.h"
#include "export/internal.h"
#include "model/source.h"
#include <string.h>

const struct tensor *export_buffer_tensor(const struct exporter *x, int i)
{
    return i < x->p->ntensors ? &x->p->tensors[i] : &x->k->workspace[i - x->p->ntensors];
}

void export_buffer(struct exporter *x, int i)
{
    const struct problem *p = x->p;
    if (x->say->driver && i < p->ntensors) {
        sb_add(x->out, p->tensors[i].name);
        return;
    }
    if (x->say->driver) {
        sb_addf(x->out, "(lathe_bytes[%d] ? workspace + lathe_start[%d] : 0)", i - p->ntensors, i - p->ntensors);
        return;
    }
    if (i < p->ntensors) {
        const struct tensor *t = &p->tensors[i];
        /* a kernel may declare any tensor without const; the launcher promises not to write inputs */
        if (dtype_is_16_bit_float(t->dtype)) sb_addf(x->out, "(%s *)%s", dtype_ctype(t->dtype), t->name);
        else if (t->output) sb_add(x->out, t->name);
        else sb_addf(x->out, "const_cast<%s *>(%s)", dtype_ctype(t->dtype), t->name);
        return;
    }
    int w = i - p->ntensors;
    sb_addf(x->out, "(lathe_bytes[%d] ? (%s *)((char *)workspace + lathe_start[%d]) : (%s *)0)", w,
            dtype_ctype(x->k->workspace[w].dtype), w, dtype_ctype(x->k->workspace[w].dtype));
}

static void print_epilogue_tensor(struct exporter *x, const struct tensor *t)
{
    if (dtype_is_16_bit_float(t->dtype)) sb_addf(x->out, "(const %s *)", dtype_ctype(t->dtype));
    sb_add(x->out, t->name);
}

static void print_epilogue_value(struct exporter *x)
{
    struct field *fields;
    int n;
    epilogue_fields(x->p, &fields, &n);
    sb_add(x->out, "LatheEpilogue{");
    for (int i = 0; i < n; i++) {
        int at = fields[i].index;
        if (i) sb_add(x->out, ", ");
        switch (fields[i].kind) {
        case FIELD_TENSOR: print_epilogue_tensor(x, &x->p->tensors[at]); break;
        case FIELD_DIM: sb_addf(x->out, "(int)%s", x->p->dims[at].name); break;
        case FIELD_SCALAR: sb_add(x->out, x->p->scalars[at].name); break;
        }
    }
    sb_add(x->out, "}");
    mem_free(fields);
}

/* step, at: where the argument stands, from 0. */
static status print_arg(struct exporter *x, const struct arg *a, int step, int at, struct err *e)
{
    static const char *const types[] = {[ARG_I32] = "int", [ARG_I64] = "long long", [ARG_F32] = "float",
                                        [ARG_F64] = "double"};
    status s = LATHE_OK;
    switch (a->kind) {
    case ARG_TENSOR: export_buffer(x, a->tensor); break;
    case ARG_EPILOGUE: print_epilogue_value(x); break;
    case ARG_TENSOR_MAP: export_map_name(x, step, at); break;
    case ARG_EXPR:
        sb_addf(x->out, "(%s)(", types[a->type]);
        s = export_expr(x, a->expr, e);
        sb_add(x->out, ")");
        break;
    }
    return s;
}

static status print_triple(struct exporter *x, const char *name, struct expr *const part[3], struct err *e)
{
    sb_addf(x->out, "        const long long %s[3] = {", name);
    for (int d = 0; d < 3; d++) {
        sb_addf(x->out, "%s(long long)(", d ? ", " : "");
        status s = export_expr(x, part[d], e);
        if (s) return s;
        sb_add(x->out, ")");
    }
    sb_add(x->out, "};\n");
    return LATHE_OK;
}

/* The grid, the block and the shared memory, as variables. */
static status print_extent(struct exporter *x, const struct launch *l, struct err *e)
{
    status s = print_triple(x, "lathe_grid", l->grid, e);
    if (!s) s = print_triple(x, "lathe_block", l->block, e);
    if (s) return s;
    sb_add(x->out, "        const long long lathe_shared = (long long)(");
    s = export_expr(x, l->shared, e);
    sb_add(x->out, ");\n");
    return s;
}

/* Evaluates a formula that may have no value, so that it is known before anything runs. when: whether it is needed, a
 * formula too; NULL: it is. */
static status print_defined(struct exporter *x, const struct expr *formula, const struct expr *when, struct err *e)
{
    struct strbuf text = {0}, *file = x->out;
    x->out = &text;
    status s = when ? export_expr(x, when, e) : LATHE_OK;
    sb_add(&text, when ? ") (void)(" : "");
    if (!s) s = export_expr(x, formula, e);
    x->out = file;
    if (!s && strstr(sb_str(&text), EXPORT_UNDEFINED))
        sb_addf(x->out, "        %s(%s);\n", when ? "if " : "(void)", sb_str(&text));
    sb_free(&text);
    return s;
}

/* The same of what a launch says beside its extents and arguments. */
static status print_attributes_defined(struct exporter *x, const struct launch *l, struct err *e)
{
    const struct l2_window *w = l->l2_window;
    status s = l->programmatic ? print_defined(x, l->programmatic, NULL, e) : LATHE_OK;
    if (!s && w && w->when) s = print_defined(x, w->when, NULL, e);
    if (!s && w && export_decide(x, w->when) != NEVER) s = print_defined(x, w->ratio, w->when, e);
    return s;
}

/* Values that an int argument could not hold are refused before anything runs, and so are launches that do not fit and
 * what no tensor map can be. */
static status print_launch_checks(struct exporter *x, int step, struct err *e)
{
    const struct launch *l = &x->k->steps[step].launch;
    status s = print_extent(x, l, e);
    if (!s && l->cluster[0]) s = print_triple(x, "lathe_cluster_size", l->cluster, e);
    if (s) return s;
    sb_addf(x->out,
            "        if (!%s(", export_helper(x, HELPER_FITS));
    if (x->say->driver) sb_addf(x->out, "&lathe_function[%d], ", export_function_index(x, l->function));
    sb_addf(x->out, "lathe_grid, lathe_block, lathe_shared, %s)) return %s;\n",
            l->cluster[0] ? "lathe_cluster_size" : "0", x->say->invalid);
    s = print_attributes_defined(x, l, e);
    if (s) return s;
    for (int i = 0; i < l->nargs; i++) {
        const struct arg *a = &l->args[i];
        if (a->kind == ARG_TENSOR_MAP && (s = export_map(x, step, i, e))) return s;
        if (a->kind != ARG_EXPR) continue;
        if (a->type != ARG_I32) {
            s = print_defined(x, a->expr, NULL, e);
            if (s) return s;
            continue;
        }
        sb_addf(x->out, "        if (!%s(", export_helper(x, HELPER_INT));
        s = export_expr(x, a->expr, e);
        if (s) return s;
        sb_addf(x->out, ")) return %s;\n", x->say->invalid);
    }
    return LATHE_OK;
}

static status print_launch(struct exporter *x, int step, const char *begun, struct err *e)
{
    const struct launch *l = &x->k->steps[step].launch;
    int nattributes = 0;
    status s = print_extent(x, l, e);
    if (!s) s = export_attributes(x, l, begun, &nattributes, e);
    if (!s && x->say->driver) return export_driver_launch(x, step, nattributes > 0, e);
    if (s) return s;
    sb_addf(x->out, "        lathe_error = %s(::%s::%s, lathe_grid, lathe_block, lathe_shared, %s, stream",
            export_helper(x, HELPER_LAUNCH), x->space, l->function,
            nattributes ? "lathe_attribute, lathe_attributes" : "0, 0");
    for (int i = 0; i < l->nargs && !s; i++) {
        sb_add(x->out, ",\n            ");
        s = print_arg(x, &l->args[i], step, i, e);
    }
    sb_add(x->out, ");\n        if (lathe_error != cudaSuccess) return lathe_error;\n");
    return s;
}

/* The gemm step's types (problem_json_steps.c) as cuBLAS names them. */
static const char *cuda_data_type(enum dtype t)
{
    switch (t) {
    case DTYPE_f64: return "CUDA_R_64F";
    case DTYPE_f16: return "CUDA_R_16F";
    case DTYPE_bf16: return "CUDA_R_16BF";
    default: return "CUDA_R_32F";
    }
}

static const char *cublas_compute(enum gemm_compute c)
{
    switch (c) {
    case GEMM_F64: return "CUBLAS_COMPUTE_64F";
    case GEMM_TF32: return "CUBLAS_COMPUTE_32F_FAST_TF32";
    case GEMM_BF16: return "CUBLAS_COMPUTE_32F_FAST_16BF";
    case GEMM_F16: return "CUBLAS_COMPUTE_32F_FAST_16F";
    default: return "CUBLAS_COMPUTE_32F";
    }
}

static status print_gemm(struct exporter *x, const struct gemm *g, struct err *e)
{
    const struct tensor *a = export_buffer_tensor(x, g->a), *b = export_buffer_tensor(x, g->b);
    const struct expr *m = a->shape[g->trans_a ? 1 : 0], *k = a->shape[g->trans_a ? 0 : 1];
    const struct expr *n = b->shape[g->trans_b ? 0 : 1];
    const struct {
        const char *name;
        const struct expr *value;
    } sizes[] = {{"m", m}, {"n", n}, {"k", k}};
    for (int i = 0; i < 3; i++) {
        sb_addf(x->out, "        const long long lathe_gemm_%s = (long long)(", sizes[i].name);
        status s = export_expr(x, sizes[i].value, e);
        if (s) return s;
        sb_add(x->out, ");\n");
    }
    sb_addf(x->out, "        lathe_error = %s(%s, %s, lathe_gemm_m, lathe_gemm_n, lathe_gemm_k, ",
            export_helper(x, HELPER_GEMM), g->trans_a ? "true" : "false", g->trans_b ? "true" : "false");
    export_buffer(x, g->a);
    sb_add(x->out, ", ");
    export_buffer(x, g->b);
    sb_add(x->out, ", ");
    export_buffer(x, g->c);
    sb_addf(x->out,
            ",\n            %s, %s, %s, stream);\n        if (lathe_error != cudaSuccess) return lathe_error;\n",
            cuda_data_type(a->dtype), cuda_data_type(export_buffer_tensor(x, g->c)->dtype), cublas_compute(g->compute));
    return LATHE_OK;
}

enum export_decided export_decide(const struct exporter *x, const struct expr *formula)
{
    if (!formula) return ALWAYS;
    for (int s = 0; s < x->k->scope.count; s++)
        if (x->known[s].type == VALUE_NONE && expr_uses(formula, s)) return DEPENDS;
    bool holds;
    struct err ignored;
    if (expr_eval_bool(formula, x->slots, &holds, &ignored)) return DEPENDS;
    return holds ? ALWAYS : NEVER;
}

/* A step that never runs is left out: its kernel may not even be in the source. */
static enum export_decided decide(const struct exporter *x, const struct step *step)
{
    return export_decide(x, step->when);
}

/* "    {", or "    if (when) {" where the size decides. */
static status open_step(struct exporter *x, const struct step *step, struct err *e)
{
    status s = LATHE_OK;
    sb_add(x->out, "    ");
    if (decide(x, step) == DEPENDS) {
        sb_add(x->out, "if (");
        s = export_expr(x, step->when, e);
        sb_add(x->out, ") ");
    }
    sb_add(x->out, "{\n");
    return s;
}

/* Whether a launch may be the first that runs, and programmatic: then the code must see for itself. */
static bool tracks_begin(const struct exporter *x)
{
    for (int i = 0; i < x->k->nsteps; i++) {
        const struct step *step = &x->k->steps[i];
        if (decide(x, step) == NEVER) continue;
        const struct expr *early = step->kind == STEP_LAUNCH ? step->launch.programmatic : NULL;
        if (early && export_decide(x, early) != NEVER) return true;
        if (decide(x, step) == ALWAYS) return false;
    }
    return false;
}

status export_step_checks(struct exporter *x, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < x->k->nsteps; i++)
        if (x->k->steps[i].kind == STEP_LAUNCH && decide(x, &x->k->steps[i]) != NEVER) export_map_variables(x, i);
    for (int i = 0; i < x->k->nsteps && !s; i++) {
        const struct step *step = &x->k->steps[i];
        if (step->kind == STEP_GEMM || decide(x, step) == NEVER) continue;
        s = open_step(x, step, e);
        if (!s) s = print_launch_checks(x, i, e);
        sb_add(x->out, "    }\n");
    }
    return s;
}

/* A launch is programmatic only after a step that has been queued in this call. */
status export_steps(struct exporter *x, struct err *e)
{
    bool tracked = tracks_begin(x), certain = false;
    status s = LATHE_OK;
    if (tracked) sb_add(x->out, "    bool lathe_begun = false;    // a step has been queued\n");
    for (int i = 0; i < x->k->nsteps && !s; i++) {
        const struct step *step = &x->k->steps[i];
        enum export_decided decided = decide(x, step);
        if (decided == NEVER) continue;
        s = open_step(x, step, e);
        if (!s) s = step->kind == STEP_GEMM ? print_gemm(x, &step->gemm, e)
                                            : print_launch(x, i, certain ? NULL : "lathe_begun", e);
        if (tracked && !certain) sb_add(x->out, "        lathe_begun = true;\n");
        sb_add(x->out, "    }\n");
        certain |= decided == ALWAYS;
    }
    return s;
}
