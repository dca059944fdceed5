/* export_launch.c: the launcher: sizes checked, workspace laid out, every step of the pipeline launched.
 *
 * Invariants of the printed code: nothing is launched unless every constraint holds and every launch fits; workspace
 * that must start as zeros is zeroed at each call, so no state is carried from one call to the next. */
#include "base/mem.h"
#include "export/internal.h"
#include "model/source.h"
#include <string.h>

/* Appends "int64_t NAME = expr;" lines for the lets that depend on the size. */
static status print_lets(struct exporter *x, struct err *e)
{
    const struct kernel *k = x->k;
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

/* Bytes of each workspace buffer at 256-byte boundaries. */
static status print_layout(struct exporter *x, struct err *e)
{
    const struct kernel *k = x->k;
    sb_addf(x->out, "\n// Where each workspace buffer starts; gives the total in bytes, SIZE_MAX if there is no such memory.\n"
                    "static size_t %s_layout(", x->function);
    export_dim_params(x);
    sb_add(x->out, ", size_t *start, size_t *bytes)\n{\n    size_t at = 0;\n");
    if (k->nworkspace) sb_add(x->out, "    double total = 0;\n");
    for (int i = 0; i < x->p->ndims; i++)
        sb_addf(x->out, "    if (%s < 1 || %s > INT_MAX) return SIZE_MAX;\n", x->p->dims[i].name, x->p->dims[i].name);
    status s = print_lets(x, e);
    for (int w = 0; w < k->nworkspace && !s; w++) {
        const struct tensor *t = &k->workspace[w];
        sb_addf(x->out, "    start[%d] = at;    // %s\n    bytes[%d] = ", w, t->name, w);
        if (t->when) {
            sb_add(x->out, "!(");
            s = export_expr(x, t->when, e);
            sb_add(x->out, ") ? 0 : ");
        }
        sb_addf(x->out, "(size_t)%d", dtype_bytes(t->dtype));
        for (int d = 0; d < t->rank && !s; d++) {
            sb_add(x->out, " * (size_t)(");
            s = export_expr(x, t->shape[d], e);
            sb_add(x->out, ")");
        }
        sb_addf(x->out, ";\n    total += %d.0", dtype_bytes(t->dtype));
        for (int d = 0; d < t->rank && !s; d++) {
            sb_add(x->out, " * (double)(");
            s = export_expr(x, t->shape[d], e);
            sb_add(x->out, ")");
        }
        sb_addf(x->out, ";\n    if (total > 1e18) return SIZE_MAX;\n    at += (bytes[%d] + 255) / 256 * 256;\n", w);
    }
    sb_add(x->out, "    (void)start;\n    (void)bytes;\n    return at;\n}\n");
    return s;
}

static status print_workspace_query(struct exporter *x, struct err *e)
{
    int n = x->k->nworkspace > 0 ? x->k->nworkspace : 1;
    sb_addf(x->out, "\n// Bytes of workspace that a call at this size needs; SIZE_MAX: no size to be served.\nextern \"C\" size_t %s_workspace(", x->function);
    export_dim_params(x);
    sb_addf(x->out, ")\n{\n    size_t start[%d], bytes[%d];\n    return %s_layout(", n, n, x->function);
    for (int i = 0; i < x->p->ndims; i++) sb_addf(x->out, "%s, ", x->p->dims[i].name);
    sb_add(x->out, "start, bytes);\n}\n");
    return LATHE_OK;
}

void export_launcher_params(struct exporter *x)
{
    const struct problem *p = x->p;
    for (int i = 0; i < p->ntensors; i++) {
        const struct tensor *t = &p->tensors[i];
        sb_addf(x->out, "%s%s *%s, ", t->output ? "" : "const ", dtype_public_type(t->dtype), t->name);
    }
    export_dim_params(x);
    for (int i = 0; i < p->nscalars; i++) sb_addf(x->out, ", float %s", p->scalars[i].name);
    sb_add(x->out, ", void *workspace, size_t workspace_bytes,\n    cudaStream_t stream");
}

/* "if (!(constraint)) return cudaErrorInvalidValue;" for what is not already certain. */
static status print_checks(struct exporter *x, struct err *e)
{
    const struct kernel *k = x->k;
    for (int i = 0; i < x->p->ndims; i++)
        sb_addf(x->out, "    if (%s < 1 || %s > INT_MAX) return cudaErrorInvalidValue;\n", x->p->dims[i].name,
                x->p->dims[i].name);
    for (int c = 0; c < k->nconstraints; c++) {
        const struct expr *expr = k->constraints[c].expr;
        bool open = false;
        for (int s = 0; s < k->scope.count; s++) open |= x->known[s].type == VALUE_NONE && expr_uses(expr, s);
        if (!open) continue;
        struct strbuf text = {0}, *file = x->out;
        x->out = &text;
        status s = export_expr(x, expr, e);
        x->out = file;
        bool certain = !s && !strcmp(sb_str(&text), "1");
        if (!s && !certain) sb_addf(x->out, "    if (!(%s)) return cudaErrorInvalidValue;", sb_str(&text));
        sb_free(&text);
        if (s) return s;
        if (certain) continue;
        if (k->constraints[c].reason) sb_addf(x->out, " // %s", k->constraints[c].reason);
        sb_add(x->out, "\n");
    }
    return LATHE_OK;
}

/* The C name of tensor or workspace buffer i, as a pointer of its type. */
static void print_buffer(struct exporter *x, int i)
{
    const struct problem *p = x->p;
    if (i < p->ntensors) {
        const struct tensor *t = &p->tensors[i];
        /* a kernel may declare any tensor without const; the launcher promises not to write inputs */
        if (dtype_is_16_bit_float(t->dtype)) sb_addf(x->out, "(%s *)%s", dtype_ctype(t->dtype), t->name);
        else if (t->output) sb_add(x->out, t->name);
        else sb_addf(x->out, "const_cast<%s *>(%s)", dtype_ctype(t->dtype), t->name);
        return;
    }
    int w = i - p->ntensors;
    sb_addf(x->out, "(bytes[%d] ? (%s *)((char *)workspace + start[%d]) : (%s *)0)", w,
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

static status print_arg(struct exporter *x, const struct arg *a, struct err *e)
{
    static const char *const types[] = {[ARG_I32] = "int", [ARG_I64] = "long long", [ARG_F32] = "float",
                                        [ARG_F64] = "double"};
    status s = LATHE_OK;
    switch (a->kind) {
    case ARG_TENSOR: print_buffer(x, a->tensor); break;
    case ARG_EPILOGUE: print_epilogue_value(x); break;
    case ARG_TENSOR_MAP: return err_set(e, LATHE_SPEC, "kernel %s: tensor maps are not exported yet", x->k->name);
    case ARG_EXPR:
        sb_addf(x->out, "(%s)(", types[a->type]);
        s = export_expr(x, a->expr, e);
        sb_add(x->out, ")");
        break;
    }
    return s;
}

/* Values that an int argument could not hold are refused before anything runs. */
static status print_arg_checks(struct exporter *x, const struct launch *l, struct err *e)
{
    for (int i = 0; i < l->nargs; i++) {
        const struct arg *a = &l->args[i];
        if (a->kind != ARG_EXPR || a->type != ARG_I32) continue;
        sb_add(x->out, "        if ((");
        status s = export_expr(x, a->expr, e);
        if (s) return s;
        sb_add(x->out, ") > INT_MAX) return cudaErrorInvalidValue;\n");
    }
    return LATHE_OK;
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

static status print_launch(struct exporter *x, const struct launch *l, bool check, struct err *e)
{
    if (check) return print_arg_checks(x, l, e);
    status s = print_triple(x, "grid", l->grid, e);
    if (!s) s = print_triple(x, "block", l->block, e);
    if (!s && l->cluster[0]) s = print_triple(x, "cluster", l->cluster, e);
    if (s) return s;
    sb_add(x->out, "        const long long shared = (long long)(");
    s = export_expr(x, l->shared, e);
    sb_addf(x->out, ");\n        error = lathe_launch(%s, grid, block, %s, shared, stream", l->function,
            l->cluster[0] ? "cluster" : "0");
    for (int i = 0; i < l->nargs && !s; i++) {
        sb_add(x->out, ",\n            ");
        s = print_arg(x, &l->args[i], e);
    }
    sb_add(x->out, ");\n        if (error != cudaSuccess) return error;\n");
    return s;
}

static const struct tensor *buffer_tensor(const struct exporter *x, int i)
{
    return i < x->p->ntensors ? &x->p->tensors[i] : &x->k->workspace[i - x->p->ntensors];
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
    const struct tensor *a = buffer_tensor(x, g->a), *b = buffer_tensor(x, g->b);
    const struct expr *m = a->shape[g->trans_a ? 1 : 0], *k = a->shape[g->trans_a ? 0 : 1];
    const struct expr *n = b->shape[g->trans_b ? 0 : 1];
    const struct {
        const char *name;
        const struct expr *value;
    } sizes[] = {{"m", m}, {"n", n}, {"k", k}};
    for (int i = 0; i < 3; i++) {
        sb_addf(x->out, "        const long long gemm_%s = (long long)(", sizes[i].name);
        status s = export_expr(x, sizes[i].value, e);
        if (s) return s;
        sb_add(x->out, ");\n");
    }
    sb_addf(x->out, "        error = lathe_gemm(%s, %s, gemm_m, gemm_n, gemm_k, ", g->trans_a ? "true" : "false",
            g->trans_b ? "true" : "false");
    print_buffer(x, g->a);
    sb_add(x->out, ", ");
    print_buffer(x, g->b);
    sb_add(x->out, ", ");
    print_buffer(x, g->c);
    sb_addf(x->out, ",\n            %s, %s, %s, stream);\n        if (error != cudaSuccess) return error;\n",
            cuda_data_type(a->dtype), cuda_data_type(buffer_tensor(x, g->c)->dtype), cublas_compute(g->compute));
    return LATHE_OK;
}

static const char LAUNCH_HELPER[] =
    "\n// One launch, refused if it does not fit what any device takes.\n"
    "template <typename... P, typename... A>\n"
    "static cudaError_t lathe_launch(void (*kernel)(P...), const long long *grid, const long long *block,\n"
    "                                const long long *cluster, long long shared, cudaStream_t stream, A... args)\n"
    "{\n"
    "    if (grid[0] < 1 || grid[0] > 2147483647 || grid[1] < 1 || grid[1] > 65535 || grid[2] < 1 || grid[2] > 65535)\n"
    "        return cudaErrorInvalidValue;\n"
    "    if (block[0] < 1 || block[1] < 1 || block[2] < 1 || block[2] > 64 || block[0] * block[1] * block[2] > 1024)\n"
    "        return cudaErrorInvalidValue;\n"
    "    if (shared > 48 * 1024) {\n"
    "        cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);\n"
    "        if (error != cudaSuccess) return error;\n"
    "    }\n"
    "    cudaLaunchConfig_t config = {};\n"
    "    config.gridDim = dim3((unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]);\n"
    "    config.blockDim = dim3((unsigned)block[0], (unsigned)block[1], (unsigned)block[2]);\n"
    "    config.dynamicSmemBytes = (size_t)shared;\n"
    "    config.stream = stream;\n"
    "    cudaLaunchAttribute attribute[1];\n"
    "    if (cluster) {\n"
    "        attribute[0].id = cudaLaunchAttributeClusterDimension;\n"
    "        attribute[0].val.clusterDim.x = (unsigned)cluster[0];\n"
    "        attribute[0].val.clusterDim.y = (unsigned)cluster[1];\n"
    "        attribute[0].val.clusterDim.z = (unsigned)cluster[2];\n"
    "        config.attrs = attribute;\n"
    "        config.numAttrs = 1;\n"
    "    }\n"
    "    return cudaLaunchKernelEx(&config, kernel, static_cast<P>(args)...);\n"
    "}\n";

static const char GEMM_HELPER[] =
    "\n// Row-major C[m,n] = op(A) op(B) by cuBLAS, whose matrices are column-major: the transposed product is asked for.\n"
    "static cudaError_t lathe_gemm(bool trans_a, bool trans_b, long long m, long long n, long long k, const void *a,\n"
    "                              const void *b, void *c, cudaDataType_t from, cudaDataType_t to,\n"
    "                              cublasComputeType_t compute, cudaStream_t stream)\n"
    "{\n"
    "    static thread_local cublasHandle_t handle;\n"
    "    if (m > INT_MAX || n > INT_MAX || k > INT_MAX) return cudaErrorInvalidValue;\n"
    "    if (!handle && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return cudaErrorInitializationError;\n"
    "    if (cublasSetStream(handle, stream) != CUBLAS_STATUS_SUCCESS) return cudaErrorUnknown;\n"
    "    const float one = 1.0f, zero = 0.0f;\n"
    "    const double one64 = 1.0, zero64 = 0.0;\n"
    "    const bool wide = compute == CUBLAS_COMPUTE_64F;\n"
    "    cublasStatus_t s = cublasGemmEx(handle, trans_b ? CUBLAS_OP_T : CUBLAS_OP_N, trans_a ? CUBLAS_OP_T : CUBLAS_OP_N,\n"
    "        (int)n, (int)m, (int)k, wide ? (const void *)&one64 : &one, b, from, (int)(trans_b ? k : n), a, from,\n"
    "        (int)(trans_a ? m : k), wide ? (const void *)&zero64 : &zero, c, to, (int)n, compute, CUBLAS_GEMM_DEFAULT);\n"
    "    return s == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;\n"
    "}\n";

/* Whether a step's condition is decided already, and how. A step that never runs is left out: its kernel may not even be
 * in the source. */
enum decided { DEPENDS, ALWAYS, NEVER };
static enum decided decide(const struct exporter *x, const struct step *step)
{
    if (!step->when) return ALWAYS;
    for (int s = 0; s < x->k->scope.count; s++)
        if (x->known[s].type == VALUE_NONE && expr_uses(step->when, s)) return DEPENDS;
    bool runs;
    struct err ignored;
    if (expr_eval_bool(step->when, x->slots, &runs, &ignored)) return DEPENDS;
    return runs ? ALWAYS : NEVER;
}

/* check: only the argument checks of launches, before anything runs. */
static status print_steps(struct exporter *x, bool check, struct err *e)
{
    for (int i = 0; i < x->k->nsteps; i++) {
        const struct step *step = &x->k->steps[i];
        enum decided decided = decide(x, step);
        if ((check && step->kind == STEP_GEMM) || decided == NEVER) continue;
        sb_add(x->out, "    ");
        if (decided == DEPENDS) {
            sb_add(x->out, "if (");
            status s = export_expr(x, step->when, e);
            if (s) return s;
            sb_add(x->out, ") ");
        }
        sb_add(x->out, "{\n");
        status s = step->kind == STEP_GEMM ? print_gemm(x, &step->gemm, e) : print_launch(x, &step->launch, check, e);
        if (s) return s;
        sb_add(x->out, "    }\n");
    }
    return LATHE_OK;
}

static void print_zeroing(struct exporter *x)
{
    for (int w = 0; w < x->k->nworkspace; w++) {
        const struct tensor *t = &x->k->workspace[w];
        if (t->zero == ZERO_NEVER) continue;
        sb_addf(x->out,
                "    if (bytes[%d] && (error = cudaMemsetAsync((char *)workspace + start[%d], 0, bytes[%d], stream)) != "
                "cudaSuccess) return error; // %s\n",
                w, w, w, t->name);
    }
}

status export_launcher(struct exporter *x, struct err *e)
{
    int n = x->k->nworkspace > 0 ? x->k->nworkspace : 1;
    if (!x->nested) sb_add(x->out, LAUNCH_HELPER);
    if (export_has_gemm(x->k)) sb_add(x->out, GEMM_HELPER);
    status s = print_layout(x, e);
    if (!s) s = print_workspace_query(x, e);
    if (s) return s;
    sb_addf(x->out, "\n// Queues the whole computation on `stream`. Pointers are device pointers; workspace: %s_workspace() bytes, 256-byte\n"
                    "// aligned, not shared by two calls at a time.\nextern \"C\" cudaError_t %s(",
            x->function, x->function);
    export_launcher_params(x);
    sb_addf(x->out, ")\n{\n    cudaError_t error = cudaSuccess;\n    size_t start[%d], bytes[%d];\n", n, n);
    s = print_lets(x, e);
    if (!s) s = print_checks(x, e);
    if (s) return s;
    sb_addf(x->out, "    if (%s_layout(", x->function);
    for (int i = 0; i < x->p->ndims; i++) sb_addf(x->out, "%s, ", x->p->dims[i].name);
    sb_add(x->out, "start, bytes) > workspace_bytes) return cudaErrorInvalidValue;\n    (void)workspace;\n");
    for (int i = 0; i < x->p->nscalars; i++) sb_addf(x->out, "    (void)%s;\n", x->p->scalars[i].name);
    s = print_steps(x, true, e);
    print_zeroing(x);
    if (!s) s = print_steps(x, false, e);
    sb_add(x->out, "    return error;\n}\n");
    return s;
}
