/* export_selftest.c: main() of the exported file under LATHE_SELFTEST: a few small sizes that the configuration serves
 * (export_sizes.c) against a plain loop in double (or against the specification's reference kernel, where the problem
 * is no GEMM), outputs poisoned, two calls each; with other scalars too, where some vary (model/scalars.h). A size that
 * is refused after all fails, and so does a test that ran none. */
#include "base/mem.h"
#include "export/internal.h"
#include "model/scalars.h"
#include "model/source.h"

/* The reference kernel and its launcher, out of the way of the winner's names and macros. */
static status print_reference_kernel(struct exporter *x, struct err *e)
{
    const struct kernel *k = x->p->reference.kernel;
    struct exporter r = *x;
    char *function = mem_printf("%s_reference", x->function);
    config_choice *choice = mem_zalloc((size_t)k->nparams + 1, sizeof *choice);
    r.k = k;
    r.function = function;
    char *space = mem_printf("%s::LatheReference", x->space);
    r.space = space;
    r.slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *r.slots);
    r.known = mem_zalloc((size_t)k->scope.count + 1, sizeof *r.known);
    kernel_slots_fixed(x->p, k, x->in->target, r.slots);
    status s = kernel_slots_config(k, choice, r.slots, e);
    for (int i = k->first_limit; i < k->first_let; i++) r.known[i] = r.slots[i];
    export_find_ranges(&r);
    if (!s) s = export_parameters(x, false, e);
    export_space_close(x);
    export_space_open(&r);
    if (!s) s = export_parameters(&r, true, e);
    export_kernel_text(&r, k->source ? k->source : "");
    if (!s) s = export_launcher(&r, e);
    export_space_close(&r);
    export_space_open(x);
    mem_free(space);
    mem_free(function);
    mem_free(choice);
    mem_free(r.slots);
    mem_free(r.known);
    mem_free(r.ranges);
    return s;
}

/* --- one size --- */

static status print_count(struct exporter *x, const struct tensor *t, struct err *e)
{
    sb_addf(x->out, "    const size_t lathe_n_%s = (size_t)1", t->name);
    for (int d = 0; d < t->rank; d++) {
        sb_add(x->out, " * (size_t)(");
        status s = export_problem_expr(x, t->shape[d], e);
        if (s) return s;
        sb_add(x->out, ")");
    }
    sb_add(x->out, ";\n");
    return LATHE_OK;
}

static status print_tensors(struct exporter *x, struct err *e)
{
    const struct problem *p = x->p;
    for (int i = 0; i < p->ntensors; i++) {
        const struct tensor *t = &p->tensors[i];
        const char *type = dtype_public_type(t->dtype);
        status s = print_count(x, t, e);
        if (s) return s;
        sb_addf(x->out, "    std::vector<%s> lathe_h_%s(lathe_n_%s);\n    %s *%s = 0;\n", type, t->name, t->name, type,
                t->name);
        sb_addf(x->out, "    LATHE_OK(cudaMalloc((void **)&%s, lathe_n_%s * sizeof(%s)));\n", t->name, t->name, type);
        if (t->output) {
            sb_addf(x->out, "    std::vector<double> lathe_r_%s(lathe_n_%s);\n", t->name, t->name);
            continue;
        }
        sb_addf(x->out,
                "    for (size_t lathe_i = 0; lathe_i < lathe_n_%s; lathe_i++) lathe_h_%s[lathe_i] = (%s)lathe_%s(",
                t->name, t->name, type, t->fill == FILL_NORMAL ? "normal" : "uniform");
        s = export_problem_expr(x, t->fill_a, e);
        if (s) return s;
        sb_add(x->out, ", ");
        s = export_problem_expr(x, t->fill_b, e);
        if (s) return s;
        sb_addf(
            x->out,
            ");\n    LATHE_OK(cudaMemcpy(%s, lathe_h_%s.data(), lathe_n_%s * sizeof(%s), cudaMemcpyHostToDevice));\n",
            t->name, t->name, t->name, type);
    }
    return LATHE_OK;
}

/* By its whole name: one of the test's variables may be called as the launcher is. */
static void print_call(struct exporter *x, const char *function)
{
    const struct problem *p = x->p;
    sb_addf(x->out, "::%s::%s(", x->space, function);
    for (int i = 0; i < p->ntensors; i++) sb_addf(x->out, "%s, ", p->tensors[i].name);
    for (int i = 0; i < p->ndims; i++) sb_addf(x->out, "%s%s", i ? ", " : "", p->dims[i].name);
    for (int i = 0; i < p->nscalars; i++) sb_addf(x->out, ", %s", p->scalars[i].name);
    sb_add(x->out, ", workspace, workspace_bytes, 0)");
}

static void print_workspace(struct exporter *x, const char *function)
{
    sb_addf(x->out, "    workspace_bytes = ::%s::%s_workspace(", x->space, function);
    for (int i = 0; i < x->p->ndims; i++) sb_addf(x->out, "%s%s", i ? ", " : "", x->p->dims[i].name);
    sb_add(x->out, ");\n    LATHE_OK(cudaMalloc(&workspace, workspace_bytes + 256));\n"
                   "    LATHE_OK(cudaMemset(workspace, 0xff, workspace_bytes + 256));\n");
}

/* NaN before the first call, and before the second a number in every float type, -2.6e36 or, in f16, -65376: what is
 * left out shows in one of them, whatever is wanted there. */
static void print_poison(struct exporter *x)
{
    const struct problem *p = x->p;
    for (int i = 0; i < p->ntensors; i++)
        if (p->tensors[i].output)
            sb_addf(x->out, "        LATHE_OK(cudaMemset(%s, lathe_call ? 0xfb : 0xff, lathe_n_%s * sizeof(%s)));\n",
                    p->tensors[i].name, p->tensors[i].name, dtype_public_type(p->tensors[i].dtype));
}

static void print_compare(struct exporter *x)
{
    const struct problem *p = x->p;
    for (int i = 0; i < p->ntensors; i++) {
        const struct tensor *t = &p->tensors[i];
        if (!t->output) continue;
        sb_addf(
            x->out,
            "        LATHE_OK(cudaMemcpy(lathe_h_%s.data(), %s, lathe_n_%s * sizeof(%s), cudaMemcpyDeviceToHost));\n"
            "        for (size_t lathe_i = 0; lathe_i < lathe_n_%s; lathe_i++) {\n"
            "            double lathe_r = lathe_r_%s[lathe_i], lathe_diff = fabs((double)lathe_h_%s[lathe_i] - "
            "lathe_r);\n"
            "            const double lathe_held = (double)(%s)(float)lathe_r;    // may be an infinity\n"
            "            const double lathe_g = (double)lathe_h_%s[lathe_i];\n"
            "            const bool lathe_nan = lathe_held != lathe_held, lathe_finite = lathe_r - lathe_r == 0;\n"
            "            const bool lathe_same = lathe_nan ? lathe_g != lathe_g : lathe_g == lathe_held;\n"
            "            if (lathe_held - lathe_held != 0 && lathe_same) continue;\n"
            "            if (!(lathe_finite && lathe_diff <= %.17g + %.17g * fabs(lathe_r)) && lathe_bad++ < 3)\n"
            "                printf(\"%s[%%zu]: got %%.9g, wanted %%.9g\\n\", lathe_i, (double)lathe_h_%s[lathe_i], "
            "lathe_r);\n"
            "            lathe_d2 += lathe_diff * lathe_diff;\n            lathe_r2 += lathe_r * lathe_r;\n        }\n",
            t->name, t->name, t->name, dtype_public_type(t->dtype), t->name, t->name, t->name,
            dtype_public_type(t->dtype), t->name, p->tolerance.atol, p->tolerance.rtol, t->name, t->name);
    }
}

static status print_reference(struct exporter *x, struct err *e)
{
    const struct problem *p = x->p;
    if (p->reference.kind == REFERENCE_GEMM) return export_exact_gemm(x, e);
    char *function = mem_printf("%s_reference", x->function);
    char *qualified = mem_printf("LatheReference::%s", function);
    print_workspace(x, qualified);
    sb_add(x->out, "    LATHE_OK(");
    print_call(x, qualified);
    sb_add(x->out, ");\n    LATHE_OK(cudaDeviceSynchronize());\n    LATHE_OK(cudaFree(workspace));\n");
    for (int i = 0; i < p->ntensors; i++) {
        const struct tensor *t = &p->tensors[i];
        if (!t->output) continue;
        sb_addf(x->out,
                "    LATHE_OK(cudaMemcpy(lathe_h_%s.data(), %s, lathe_n_%s * sizeof(%s), cudaMemcpyDeviceToHost));\n"
                "    for (size_t lathe_i = 0; lathe_i < lathe_n_%s; lathe_i++) lathe_r_%s[lathe_i] = "
                "(double)lathe_h_%s[lathe_i];\n",
                t->name, t->name, t->name, dtype_public_type(t->dtype), t->name, t->name, t->name);
    }
    mem_free(function);
    mem_free(qualified);
    return LATHE_OK;
}

/* varied: the problem with other scalars; NULL: there is none. */
static status print_check_function(struct exporter *x, const struct problem *varied, struct err *e)
{
    const struct problem *p = x->p;
    sb_add(x->out, "// 1: right, 0: wrong, -1: this configuration refuses the size\nstatic int lathe_check(");
    export_dim_params(x);
    sb_addf(x->out, "%s)\n{\n    void *workspace = 0;\n    size_t workspace_bytes = 0;\n",
            varied ? ", bool lathe_varied" : "");
    for (int i = 0; i < p->ndims; i++) sb_addf(x->out, "    (void)%s;\n", p->dims[i].name);
    for (int i = 0; i < p->nscalars; i++) {
        const struct scalar *s = &p->scalars[i];
        sb_addf(x->out, "    const float %s = ", s->name);
        if (varied) sb_addf(x->out, "lathe_varied ? (float)%.17g : ", varied->scalars[i].value);
        sb_addf(x->out, "(float)%.17g;\n    (void)%s;\n", s->value, s->name);
    }
    status s = print_tensors(x, e);
    if (!s) s = print_reference(x, e);
    if (s) return s;
    print_workspace(x, x->function);
    sb_add(x->out, "    size_t lathe_bad = 0;\n    double lathe_d2 = 0, lathe_r2 = 0;\n    int lathe_refused = 0;\n"
                   "    for (int lathe_call = 0; lathe_call < 2 && !lathe_refused; lathe_call++) {\n");
    print_poison(x);
    sb_add(x->out, "        cudaError_t lathe_error = ");
    print_call(x, x->function);
    sb_add(x->out, ";\n        if (lathe_error == cudaErrorInvalidValue) {\n            lathe_refused = 1;\n"
                   "            cudaGetLastError();\n            break;\n        }\n        LATHE_OK(lathe_error);\n   "
                   "     LATHE_OK(cudaDeviceSynchronize());\n");
    print_compare(x);
    sb_add(x->out, "    }\n    cudaFree(workspace);\n");
    for (int i = 0; i < p->ntensors; i++) sb_addf(x->out, "    cudaFree(%s);\n", p->tensors[i].name);
    sb_add(x->out, "    printf(\"");
    for (int i = 0; i < p->ndims; i++) sb_addf(x->out, "%s%s=%%lld", i ? " " : "", p->dims[i].name);
    sb_add(x->out, ": \"");
    for (int i = 0; i < p->ndims; i++) sb_addf(x->out, ", (long long)%s", p->dims[i].name);
    sb_add(x->out, ");\n");
    if (varied) sb_add(x->out, "    if (lathe_varied) printf(\"with other scalars, \");\n");
    sb_add(x->out, "    if (lathe_refused) puts(\"refused\");\n"
                   "    else printf(\"%s, relative Frobenius error %.3g\\n\", lathe_bad ? \"WRONG\" : \"right\",\n"
                   "                lathe_r2 > 0 ? sqrt(lathe_d2 / lathe_r2) : sqrt(lathe_d2));\n"
                   "    return lathe_refused ? -1 : lathe_bad == 0;\n}\n\n");
    return LATHE_OK;
}

static const char SELFTEST_HEAD[] =
    "\n#ifdef LATHE_SELFTEST\n#include <stdio.h>\n#include <stdlib.h>\n#include <vector>\n\n";
static const char SELFTEST_TOOLS[] =
    "#define LATHE_OK(call) lathe_must((call), #call)\n"
    "static void lathe_must(cudaError_t error, const char *call)\n"
    "{\n"
    "    if (error == cudaSuccess) return;\n"
    "    printf(\"%s: %s\\nFAIL\\n\", call, cudaGetErrorString(error));\n"
    "    exit(1);\n"
    "}\n\n"
    "static void lathe_count(int result, int *ran, int *right)\n"
    "{\n"
    "    *ran += result >= 0;\n"
    "    *right += result == 1;\n"
    "}\n\n"
    "static unsigned long long LatheState = 88172645463325252ull;\n"
    "static double lathe_uniform(double a, double b)\n"
    "{\n"
    "    LatheState ^= LatheState << 13, LatheState ^= LatheState >> 7, LatheState ^= LatheState << 17;\n"
    "    return a + (b - a) * ((double)(LatheState >> 11) * 0x1p-53);\n"
    "}\n\n";
static const char SELFTEST_NORMAL[] = "static double lathe_normal(double mean, double deviation)\n"
                                      "{\n"
                                      "    return mean + deviation * sqrt(-2 * log(1 - lathe_uniform(0, 1))) * "
                                      "cos(6.283185307179586 * lathe_uniform(0, 1));\n"
                                      "}\n\n";

/* lathe_check with the specification's scalars, then with others. */
static void print_check_both(struct exporter *x)
{
    sb_add(x->out, "static int lathe_check_both(");
    export_dim_params(x);
    sb_add(x->out, ")\n{\n");
    for (int with = 0; with < 2; with++) {
        sb_add(x->out, with ? "    return lathe_result == 1 ? lathe_check(" : "    const int lathe_result = lathe_check(");
        for (int i = 0; i < x->p->ndims; i++) sb_addf(x->out, "%s, ", x->p->dims[i].name);
        sb_add(x->out, with ? "true) : lathe_result;\n}\n\n" : "false);\n");
    }
}

static void print_main(struct exporter *x, bool varied)
{
    int64_t sizes[EXPORT_SIZES][EXPORT_MAX_DIMS];
    int nd = x->p->ndims, n = export_sizes(x, sizes);
    sb_addf(
        x->out,
        "// Sizes that this configuration serves%s.\nstatic int lathe_selftest(void)\n{\n    int ran = 0, right = 0;\n",
        n ? "" : ": none was found that is small enough for a test");
    for (int i = 0; i < n; i++) {
        sb_addf(x->out, "    lathe_count(lathe_check%s(", varied ? "_both" : "");
        for (int d = 0; d < nd; d++) sb_addf(x->out, "%s%lld", d ? ", " : "", (long long)sizes[i][d]);
        sb_add(x->out, "), &ran, &right);\n");
    }
    sb_addf(x->out,
            "    printf(\"%%d of %d sizes run, %%d right\\n%%s\\n\", ran, right, ran && right == %d ? \"PASS\" : "
            "\"FAIL\");\n"
            "    return !(ran && right == %d);\n}\n",
            n, n, n);
    export_space_close(x);
    sb_addf(x->out, "int main(void) { return %s::lathe_selftest(); }\n#endif\n", x->space);
}

/* Are there other scalars, with which the winner is launched as it was tuned? scalars_free it, if so. */
static bool vary(const struct exporter *x, struct problem *out)
{
    struct plan plan, other;
    struct err why;
    if (!scalars_vary(x->p, out)) return false;
    bool varies = !plan_build(x->p, x->k, x->slots, &plan, &why);
    if (varies) {
        varies = scalars_plan(out, x->k, x->slots, x->in->target, &plan, &other);
        plan_free(&plan);
    }
    if (varies) plan_free(&other);
    if (!varies) scalars_free(out);
    return varies;
}

status export_selftest(struct exporter *x, struct err *e)
{
    sb_add(x->out, SELFTEST_HEAD);
    export_space_open(x);
    sb_add(x->out, SELFTEST_TOOLS);
    for (int i = 0; i < x->p->ntensors; i++)
        if (!x->p->tensors[i].output && x->p->tensors[i].fill == FILL_NORMAL) {
            sb_add(x->out, SELFTEST_NORMAL);
            break;
        }
    status s = LATHE_OK;
    if (x->p->reference.kind == REFERENCE_KERNEL) s = print_reference_kernel(x, e);
    struct problem other;
    bool varied = vary(x, &other);
    if (!s) s = print_check_function(x, varied ? &other : NULL, e);
    if (varied) print_check_both(x);
    print_main(x, varied);
    if (varied) scalars_free(&other);
    return s;
}
