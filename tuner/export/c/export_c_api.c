/* export_c_api.c: the functions of an exported C file that users call, and its header. Specifications' names are in
 * scope in most of them, so the names of these begin with lathe_. */
#include "export/c/export_c.h"
#include "model/source.h"

/* tensor: what stands in place of each; NULL: its name; "": nothing. */
static void print_arguments(const struct problem *p, struct strbuf *b, const char *tensor)
{
    for (int i = 0; i < p->ntensors && (!tensor || *tensor); i++)
        sb_addf(b, "%s, ", tensor ? tensor : p->tensors[i].name);
    for (int i = 0; i < p->ndims; i++) sb_addf(b, "%s%s", i ? ", " : "", p->dims[i].name);
    for (int i = 0; i < p->nscalars; i++) sb_addf(b, ", %s", p->scalars[i].name);
}

static void print_choose(struct c_export *c)
{
    struct exporter *x = c->x;
    const struct problem *p = x->p;
    sb_add(c->out, "\n// The variant that serves a size; -1: none does.\nstatic int lathe_choose(const struct "
                   "LatheDevice *lathe, ");
    export_size_params(x);
    sb_add(c->out, ")\n{\n    const int64_t lathe_size[LATHE_DIMS] = {");
    for (int d = 0; d < p->ndims; d++) sb_addf(c->out, "%s%s", d ? ", " : "", p->dims[d].name);
    sb_add(c->out,
           "};\n    double lathe_least = 0;\n    int lathe_best = -1;\n    for (int lathe_i = 0; lathe_i < LATHE_DIMS; "
           "lathe_i++)\n"
           "        if (lathe_size[lathe_i] < 1 || lathe_size[lathe_i] > INT_MAX) return -1;\n    for (int lathe_i = "
           "0; lathe_i < LATHE_VARIANTS; lathe_i++) {\n"
           "        const double lathe_far = lathe_distance(lathe_variants[lathe_i].size, lathe_size, LATHE_DIMS);\n"
           "        if (!lathe->rank[lathe_i] || (lathe_best >= 0 && !lathe_before(lathe->rank[lathe_i], lathe_far,\n"
           "                lathe->rank[lathe_best], lathe_least))) continue;\n"
           "        if (lathe_calls[lathe_i].run(lathe, lathe->function + lathe_variants[lathe_i].first, false, ");
    print_arguments(p, c->out, "0");
    sb_add(c->out, ", 0, SIZE_MAX, 0) == CUDA_SUCCESS)\n            lathe_best = lathe_i, lathe_least = lathe_far;\n   "
                   " }\n    return lathe_best;\n}\n");
}

static void print_refusal(struct c_export *c)
{
    const struct problem *p = c->x->p;
    for (int d = 0; d < p->ndims; d++)
        sb_addf(c->out, "    if (%s < 1 || %s > INT_MAX) return CUDA_ERROR_INVALID_VALUE;\n", p->dims[d].name,
                p->dims[d].name);
}

static void print_open(struct c_export *c)
{
    const char *name = c->name;
    sb_addf(
        c->out,
        "\nstruct %s {\n    struct LatheDevice device;\n};\n\n"
        "CUresult %s_open(struct %s **out)\n{\n    struct %s *made = calloc(1, sizeof *made);\n"
        "    CUresult error = made ? lathe_open(&made->device) : CUDA_ERROR_OUT_OF_MEMORY;\n"
        "    if (error != CUDA_SUCCESS) {\n        free(made);\n        made = 0;\n    }\n"
        "    *out = made;\n    return error;\n}\n\n"
        "void %s_close(struct %s *opened)\n{\n    if (opened) lathe_close(&opened->device);\n    free(opened);\n}\n\n",
        name, name, name, name, name, name);
}

/* lathe_i: the variant that serves. */
static void print_chosen(struct c_export *c)
{
    sb_add(c->out, "    const int lathe_i = lathe_choose(&lathe->device, ");
    print_arguments(c->x->p, c->out, "");
    sb_add(c->out, ");\n");
}

static void print_api(struct c_export *c)
{
    struct exporter *x = c->x;
    const struct problem *p = x->p;
    const char *name = c->name;
    print_open(c);
    sb_addf(c->out, "CUresult %s_workspace(const struct %s *lathe, ", name, name);
    export_dim_params(x);
    sb_add(c->out, ", size_t *lathe_bytes)\n{\n");
    export_own_scalars(x);
    print_refusal(c);
    print_chosen(c);
    sb_add(c->out, "    if (lathe_i < 0) return CUDA_ERROR_NOT_SUPPORTED;\n"
                   "    *lathe_bytes = lathe_calls[lathe_i].workspace(lathe->device.limit, ");
    for (int d = 0; d < p->ndims; d++) sb_addf(c->out, "%s%s", d ? ", " : "", p->dims[d].name);
    sb_addf(c->out, ");\n    return CUDA_SUCCESS;\n}\n\nCUresult %s_launch(const struct %s *lathe, ", name, name);
    export_launcher_params(x);
    sb_add(c->out, ")\n{\n");
    print_refusal(c);
    print_chosen(c);
    sb_add(
        c->out,
        "    if (lathe_i < 0) return CUDA_ERROR_NOT_SUPPORTED;\n"
        "    return lathe_calls[lathe_i].run(&lathe->device, lathe->device.function + lathe_variants[lathe_i].first,\n"
        "        true, ");
    print_arguments(p, c->out, NULL);
    sb_addf(c->out,
            ",\n        workspace, workspace_bytes, stream);\n}\n\nconst char *%s_choice(const struct %s *lathe, ",
            name, name);
    export_size_params(x);
    sb_add(c->out, ")\n{\n");
    print_chosen(c);
    sb_add(c->out, "    return lathe_i < 0 ? 0 : lathe_variants[lathe_i].text;\n}\n");
}

static void print_calls(struct c_export *c)
{
    sb_add(c->out, "\nstatic const struct {\n    CUresult (*run)(const struct LatheDevice *lathe, const struct "
                   "LatheFunction *lathe_function, bool lathe_go,\n        ");
    export_launcher_params(c->x);
    sb_add(c->out, ");\n    size_t (*workspace)(const long long *lathe_limit, ");
    export_dim_params(c->x);
    sb_add(c->out, ");\n} lathe_calls[LATHE_VARIANTS] = {\n");
    for (int i = 0; i < c->n; i++) sb_addf(c->out, "    {%s, %s_workspace},\n", c->x[i].function, c->x[i].function);
    sb_add(c->out, "};\n");
}

/* --- the header --- */

static void print_tensor_comment(struct strbuf *b, const struct tensor *t)
{
    sb_addf(b, " *   %-12s %s %s [", t->name, t->output ? "written," : "read,   ", dtype_name(t->dtype));
    for (int d = 0; d < t->rank; d++) {
        sb_add(b, d ? ", " : "");
        source_comment(b, expr_text(t->shape[d]));
    }
    sb_add(b, "]\n");
}

void export_c_header(struct c_export *c, struct strbuf *header)
{
    struct exporter *x = c->x;
    const struct problem *p = x->p;
    const char *name = c->name;
    struct strbuf *source = x->out;
    x->out = header;
    sb_addf(header,
            "/* %s, for CUDA's driver: link with -lcuda. Tensors are row-major, on the device, aligned to 256 bytes:\n",
            p->name);
    for (int i = 0; i < p->ntensors; i++) print_tensor_comment(header, &p->tensors[i]);
    sb_addf(header,
            " * Made by lathe: lathe export --format c. */\n#ifndef LATHE_EXPORT_%s\n#define "
            "LATHE_EXPORT_%s\n\n#include <cuda.h>\n"
            "#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\nstruct %s;\n\n",
            name, name, name);
    sb_addf(header,
            "/* Loads what the current context's device can run. For that context only; any number of threads may use "
            "it. The caller\n"
            " * closes it. CUDA_ERROR_NOT_SUPPORTED: there is nothing for the device. */\n"
            "CUresult %s_open(struct %s **out);\nvoid %s_close(struct %s *opened);\n\n",
            name, name, name, name);
    sb_addf(header,
            "/* Bytes of workspace that a launch at this size needs. CUDA_ERROR_NOT_SUPPORTED: nothing serves the "
            "size. */\n"
            "CUresult %s_workspace(const struct %s *lathe, ",
            name, name);
    export_dim_params(x);
    sb_addf(header,
            ", size_t *lathe_bytes);\n\n/* Queues the computation on the stream. The workspace is not shared by two "
            "launches at a time.\n"
            " * CUDA_ERROR_NOT_SUPPORTED: nothing serves the size; CUDA_ERROR_INVALID_VALUE: no size, too little "
            "workspace, or pointers\n"
            " * that are not aligned; then nothing was launched. */\nCUresult %s_launch(const struct %s *lathe, ",
            name, name);
    export_launcher_params(x);
    sb_addf(header,
            ");\n\n/* Which configuration serves a size, as a text that lives as long as the program; 0: none. "
            "*/\nconst char *%s_choice(const struct %s *lathe, ",
            name, name);
    export_size_params(x);
    sb_add(header, ");\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
    x->out = source;
}

void export_c_functions(struct c_export *c)
{
    print_calls(c);
    print_choose(c);
    print_api(c);
}
