/* export_cu.c: puts the exported .cu together: provenance, parameters, epilogue, kernels, launcher, self-test; and what
 * of it other formats share. */
#include "base/mem.h"
#include "export/internal.h"
#include "model/inputs.h"
#include "model/source.h"
#include <string.h>

static void print_name(struct strbuf *b, int slot, char *const *index, int rank, void *ctx)
{
    const struct scope *scope = ctx;
    sb_add(b, scope->names[slot].name);
}

status export_expr(struct exporter *x, const struct expr *e, struct err *err)
{
    struct expr_c how = {.precision = EXPR_C_DOUBLE, .known = x->known, .name = print_name,
                         .ctx = (void *)&x->k->scope, .undefined = EXPORT_UNDEFINED, .ranges = x->ranges};
    size_t from = x->out->len;
    status s = expr_print_c(x->out, e, &how, err);
    if (!s && strstr(sb_str(x->out) + from, EXPORT_UNDEFINED)) (void)export_helper(x, HELPER_UNDEFINED);
    return s;
}

status export_problem_expr(struct exporter *x, const struct expr *e, struct err *err)
{
    struct expr_c how = {.precision = EXPR_C_DOUBLE, .name = print_name, .ctx = (void *)&x->p->scope};
    return expr_print_c(x->out, e, &how, err);
}

void export_dim_params(struct exporter *x)
{
    for (int i = 0; i < x->p->ndims; i++) sb_addf(x->out, "%sint64_t %s", i ? ", " : "", x->p->dims[i].name);
}

void export_size_params(struct exporter *x)
{
    export_dim_params(x);
    for (int i = 0; i < x->p->nscalars; i++) sb_addf(x->out, ", float %s", x->p->scalars[i].name);
}

/* --- provenance --- */

static void comment(struct exporter *x, const char *label, const char *text)
{
    sb_addf(x->out, "%s   %-14s", x->comment, label);
    source_comment(x->out, text);
    sb_add(x->out, "\n");
}

static const char *text_of(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));
    return s ? s : "";
}

static void times_text(struct strbuf *b, const json_t *trial)
{
    const struct {
        const char *key, *label;
    } times[] = {{"cold_ms", "final, cold"}, {"sustained_ms", "final, sustained"}, {"time_ms", "trial"}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const json_t *v = json_object_get(trial, times[i].key);
        if (json_is_number(v)) sb_addf(b, "%s%.5g ms (%s)", b->len ? ", " : "", json_number_value(v), times[i].label);
    }
}

static void number_text(struct strbuf *b, const json_t *trial, const char *key, const char *fmt)
{
    const json_t *v = json_object_get(trial, key);
    if (json_is_number(v)) sb_addf(b, fmt, json_number_value(v));
}

/* A trial that was verified by a norm has an error, unless its outputs tell nothing (docs/method.md). */
static void error_text(struct strbuf *b, const struct problem *p, const json_t *trial)
{
    bool plain = inputs_plain((enum inputs)inputs_parse(text_of(trial, "inputs")));
    if (plain && !json_is_number(json_object_get(trial, "error"))) {
        sb_add(b, "not known: the outputs that it was verified by do not tell products apart");
        return;
    }
    number_text(b, trial, "error", "relative Frobenius %.3g, ");
    number_text(b, trial, "max_abs", "largest absolute %.3g, ");
    sb_add(b, p->reference.kind == REFERENCE_GEMM ? "against a reference in double"
                                                  : "against the specification's reference kernel");
}

/* The tolerance that the trial was verified with, and what on, if that were not the specification's fills. */
static void tolerance_text(struct strbuf *b, const struct problem *p, const char *inputs)
{
    const struct tolerance *t = &p->tolerance;
    sb_addf(b, "|got - wanted| <= %g + %g |wanted|", t->atol, t->rtol);
    if (t->times_sgemm_error > 0) sb_addf(b, ", relative Frobenius error <= %g times SGEMM's", t->times_sgemm_error);
    if (t->frobenius > 0) sb_addf(b, ", relative Frobenius error <= %g", t->frobenius);
    if (*inputs && strcmp(inputs, "default")) sb_addf(b, ", on inputs '%s'", inputs);
}

const char *export_no_final(const json_t *trial)
{
    const char *kind = text_of(trial, "device_kind");
    bool recorded = !strcmp(kind, "imported") || !strcmp(kind, "replay");
    /* a resumed campaign that did not come to its next final keeps the earlier one's times, and no places */
    bool was = json_is_number(json_object_get(trial, "rank")) || json_is_number(json_object_get(trial, "cold_ms"));
    return was || recorded ? NULL : "was in no final: verified once, not run on and on, not with delays";
}

void export_provenance(struct exporter *x)
{
    const json_t *pr = x->in->provenance, *trial = json_object_get(pr, "trial");
    const struct target *t = x->in->target;
    struct strbuf line = {0};
    sb_addf(x->out, "%s %s", x->comment, x->p->name);
    if (x->p->summary && *x->p->summary) {
        sb_add(x->out, ": ");
        source_comment(x->out, x->p->summary);
    }
    sb_addf(x->out, "\n%s\n%s Found by lathe; tuned for:\n", x->comment, x->comment);
    problem_size_text(x->p, &line);
    comment(x, "size", sb_str(&line));
    sb_free(&line);
    sb_addf(&line, "%s, target %s, driver %s", t->name, t->arch, text_of(pr, "driver"));
    comment(x, "device", sb_str(&line));
    sb_free(&line);
    comment(x, "compiler", text_of(pr, "toolchain"));
    comment(x, "kernel", x->k->name);
    config_print(&line, x->k, x->slots, x->in->choice);
    comment(x, "configuration", sb_str(&line));
    sb_free(&line);
    times_text(&line, trial);
    comment(x, "time", sb_str(&line));
    sb_free(&line);
    error_text(&line, x->p, trial);
    comment(x, "error", sb_str(&line));
    sb_free(&line);
    tolerance_text(&line, x->p, text_of(trial, "inputs"));
    comment(x, "verified to", sb_str(&line));
    sb_free(&line);
    if (export_no_final(trial)) comment(x, "final", export_no_final(trial));
    size_t i;
    json_t *baseline;
    json_array_foreach(json_object_get(pr, "baselines"), i, baseline)
    {
        sb_addf(&line, "%s: ", text_of(baseline, "kernel"));
        struct strbuf times = {0};
        times_text(&times, baseline);
        sb_add(&line, times.len ? sb_str(&times) : "not timed");
        if (strcmp(text_of(baseline, "outcome"), "ok"))
            sb_addf(&line, " (%s, not eligible)", text_of(baseline, "outcome"));
        sb_free(&times);
        comment(x, "baseline", sb_str(&line));
        sb_free(&line);
    }
    sb_addf(&line, "%lld of campaign %lld, by lathe %s", (long long)json_integer_value(json_object_get(trial, "id")),
            (long long)json_integer_value(json_object_get(trial, "campaign")), text_of(pr, "tool_version"));
    comment(x, "trial", sb_str(&line));
    sb_free(&line);
}

static void print_usage(struct exporter *x)
{
    const char *arch = x->in->target->arch, *libs = export_has_gemm(x->k) ? " -lcublas" : "";
    char option[80] = "-arch=sm_80"; /* tuned on no GPU: PTX for later ones too */
    if (strcmp(arch, "host"))
        snprintf(option, sizeof option, "-gencode arch=compute_%s,code=%s", arch + 3, arch);
    sb_addf(x->out,
            "//\n// Build:     nvcc -std=c++17 %s -c FILE.cu\n"
            "// Self-test: nvcc -std=c++17 %s -DLATHE_SELFTEST FILE.cu -o selftest%s && ./selftest\n"
            "// The launcher is at the end. A size that a constraint of the specification excludes, or at which a "
            "launch does not\n"
            "// fit, returns cudaErrorInvalidValue. The results were verified at the size above; at another they are "
            "as right as\n"
            "// those constraints are, and the self-test tries a few.\n\n",
            option, option, libs);
}

/* --- parts --- */

status export_parameters(struct exporter *x, bool begin, struct err *e)
{
    char **defines;
    int n;
    status s = source_defines(x->k, x->slots, &defines, &n, e);
    if (s) return s;
    for (int i = 0; i < n; i++) {
        const char *equals = strchr(defines[i], '=');
        int name = equals ? (int)(equals - defines[i]) : (int)strlen(defines[i]);
        sb_addf(x->out, begin ? "#define %.*s %s\n" : "#undef %.*s\n", name, defines[i], equals ? equals + 1 : "1");
    }
    source_defines_free(defines, n);
    sb_add(x->out, "\n");
    return LATHE_OK;
}

/* Whether a let follows from dims or scalars (or limits, where they are open), given the same of the lets before it. */
static bool depends_on_size(const struct exporter *x, const struct expr *e, const bool *let_depends, int nlets)
{
    for (int s = 0; s < (x->say->driver ? x->k->first_param : x->k->first_limit); s++)
        if (expr_uses(e, s)) return true;
    for (int l = 0; l < nlets; l++)
        if (let_depends[l] && expr_uses(e, x->k->first_let + l)) return true;
    return false;
}

static void find_known(struct exporter *x)
{
    const struct kernel *k = x->k;
    bool *depends = mem_zalloc((size_t)k->nlets + 1, sizeof *depends);
    x->known = mem_zalloc((size_t)k->scope.count + 1, sizeof *x->known);
    for (int s = x->say->driver ? k->first_param : k->first_limit; s < k->first_let; s++) x->known[s] = x->slots[s];
    for (int l = 0; l < k->nlets; l++) {
        depends[l] = depends_on_size(x, k->lets[l].expr, depends, l);
        if (!depends[l]) x->known[k->first_let + l] = x->slots[k->first_let + l];
    }
    mem_free(depends);
}

void export_find_ranges(struct exporter *x)
{
    const struct kernel *k = x->k;
    x->ranges = mem_zalloc((size_t)k->scope.count + 1, sizeof *x->ranges);
    for (int s = 0; s < k->scope.count; s++) {
        bool dim = s < x->p->ndims;                 /* which the launcher asks first */
        x->ranges[s] = (struct expr_range){dim ? 1 : INT64_MIN, dim ? INT32_MAX : INT64_MAX};
    }
    for (int l = 0; l < k->nlets; l++)
        x->ranges[k->first_let + l] = expr_range_of(k->lets[l].expr, x->known, x->ranges);
}

static bool has_type(const struct problem *p, enum dtype type)
{
    for (int i = 0; i < p->ntensors; i++)
        if (p->tensors[i].dtype == type) return true;
    return false;
}

/* NVRTC and the host device know printf and assert without a header, nvcc does not. */
static bool uses(const struct problem *p, const struct kernel *k, const char *word)
{
    const struct kernel *r = p->reference.kernel;   /* of the test of itself */
    return source_has_word(k->source, word) || (r && source_has_word(r->source, word));
}

status export_source(struct exporter *x, struct err *e)
{
    sb_add(x->out, "#include <cuda_runtime.h>\n");
    export_includes(x);
    if (has_type(x->p, DTYPE_f16)) sb_add(x->out, "#include <cuda_fp16.h>\n");
    if (has_type(x->p, DTYPE_bf16)) sb_add(x->out, "#include <cuda_bf16.h>\n");
    if (uses(x->p, x->k, "assert")) sb_add(x->out, "#include <assert.h>\n");
    sb_add(x->out, "#include <limits.h>\n#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n");
    if (uses(x->p, x->k, "printf")) sb_add(x->out, "#include <stdio.h>\n");
    sb_add(x->out, "\n");
    export_space_open(x);
    status s = export_parameters(x, true, e);
    if (!s) s = source_epilogue(x->p, x->out, e);
    if (s) return s;
    if (x->k->source) {
        sb_add(x->out, "\n");
        export_kernel_text(x, x->k->source);
    }
    sb_add(x->out, expr_c_helpers());
    s = export_launcher(x, e);
    export_space_close(x);
    return s;
}

status export_open(const struct export_input *in, const struct export_dialect *say, const char *comment_mark,
                   struct strbuf *out, struct exporter *x, struct err *e)
{
    *x =
        (struct exporter){.say = say, .in = in, .p = in->problem, .k = in->kernel, .out = out, .comment = comment_mark};
    status s = export_name(x, e);
    if (s) return s;
    x->slots = mem_zalloc((size_t)x->k->scope.count + 1, sizeof *x->slots);
    kernel_slots_fixed(x->p, x->k, in->target, x->slots);
    s = kernel_slots_config(x->k, in->choice, x->slots, e);
    if (s) return s;
    find_known(x);
    export_find_ranges(x);
    return s;
}

void export_close(struct exporter *x)
{
    mem_free((char *)x->function);
    mem_free((char *)x->space);
    mem_free(x->slots);
    mem_free(x->known);
    mem_free(x->ranges);
}

status export_cu(const struct export_input *in, struct strbuf *out, struct err *e)
{
    struct exporter x;
    status s = export_open(in, &export_runtime, "//", out, &x, e);
    if (!s) {
        export_provenance(&x);
        print_usage(&x);
        s = export_source(&x, e);
    }
    if (!s) s = export_selftest(&x, e);
    export_close(&x);
    return s;
}
