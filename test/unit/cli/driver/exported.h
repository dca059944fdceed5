/* exported.h: an export in C compiled as strict C11 against a driver that runs nothing (driver.c), and run. */
#ifndef FAKE_EXPORTED_H
#define FAKE_EXPORTED_H

#include "../runtime/program.h"

#include "base/rng.h"

static const char flags[] = "-std=c11 -O0 -Wall -Wextra -Werror -pedantic";

static inline void put_file(const char *name, const char *text)
{
    char *path = path_join(program_dir, name);
    assert_int_equal(file_write_atomic(path, text, strlen(text), NULL), LATHE_OK);
    mem_free(path);
}

/* The exported files w.c and w.h and the program main.c, together with the driver; what they say. */
static inline char *run_c(const struct strbuf *header, const struct strbuf *source, const struct strbuf *main_text)
{
    struct strbuf said = {0};
    char part[4096];
    put_file("w.h", sb_str(header));
    put_file("w.c", sb_str(source));
    put_file("main.c", sb_str(main_text));
    char *command = mem_printf(
        "${CC:-cc} %s -Itest/unit/cli/driver -I%s %s/w.c %s/main.c test/unit/cli/driver/driver.c -o %s/w -lm 2>&1 && "
        "%s/w",
        flags, program_dir, program_dir, program_dir, program_dir, program_dir);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        sb_addn(&said, part, n);
    if (pclose(f))
        fail_msg("%s", sb_str(&said));
    mem_free(command);
    return sb_take(&said);
}

static inline void needs_compiler(void)
{
    if (system("command -v ${CC:-cc} >/dev/null"))
        skip();
}

/* --- what the program is told --- */

static inline void add_device(struct strbuf *b, const struct target *t)
{
    sb_addf(b, "{\"%s\", {", t->name);
    for (int i = 0; i < LIMIT_COUNT; i++)
        sb_addf(b, "%s%lld", i ? ", " : "", (long long)t->limit[i]);
    sb_add(b, "}}");
}

static inline void add_kinds_of(struct strbuf *b, const struct problem *p, const struct launch *l)
{
    static const char expr[] = {[ARG_I32] = 'i', [ARG_I64] = 'q', [ARG_F32] = 'f', [ARG_F64] = 'd'};
    static const char member[] = {[FIELD_TENSOR] = 'p', [FIELD_DIM] = 'i', [FIELD_SCALAR] = 'f'};
    for (int i = 0; i < l->nargs; i++) {
        switch (l->args[i].kind) {
        case ARG_TENSOR: sb_add(b, "p"); break;
        case ARG_TENSOR_MAP: sb_add(b, "m"); break;
        case ARG_EXPR: sb_addf(b, "%c", expr[l->args[i].type]); break;
        case ARG_EPILOGUE: {
            struct field *fields;
            int n;
            epilogue_fields(p, &fields, &n);
            sb_add(b, "[");
            for (int f = 0; f < n; f++)
                sb_addf(b, "%c", member[fields[f].kind]);
            sb_add(b, "]");
            mem_free(fields);
            break;
        }
        }
    }
}

static inline void add_kinds(struct strbuf *b, const struct problem *p, const struct kernel *const *kernels, int n)
{
    sb_add(b, "const char *fake_kinds(const char *kernel)\n{\n");
    for (int k = 0; k < n; k++)
        for (int i = 0; i < kernels[k]->nsteps; i++) {
            if (kernels[k]->steps[i].kind != STEP_LAUNCH)
                continue;
            sb_addf(b, "    if (!strcmp(kernel, \"%s\")) return \"", kernels[k]->steps[i].launch.function);
            add_kinds_of(b, p, &kernels[k]->steps[i].launch);
            sb_add(b, "\";\n");
        }
    sb_add(b, "    return \"\";\n}\n");
}

static inline void add_call(struct strbuf *b, const struct problem *p, const int64_t *dim, const char *bytes)
{
    sb_addf(b, "lathe_%s_launch(w, ", p->name);
    for (int t = 0; t < p->ntensors; t++)
        sb_addf(b, "0x%llxull, ", tensor_at(t));
    for (int d = 0; d < p->ndims; d++)
        sb_addf(b, "%s%lld", d ? ", " : "", (long long)dim[d]);
    for (int s = 0; s < p->nscalars; s++)
        sb_addf(b, ", (float)%.17g", p->scalars[s].value);
    sb_addf(b, ", 0x%llxull, %s, 0)", workspace_at, bytes);
}

static inline void add_head(struct strbuf *b)
{
    sb_add(b, "#include \"w.h\"\n#include \"driver.h\"\n#include <stdio.h>\n#include <string.h>\n");
}

static inline void choose_sizes(const struct problem *p, struct rng *r, struct sizes *out)
{
    static const int64_t some[] = {1,    3,    8,    60,   64,   100,   128,    129,       512,
                                   1000, 1024, 2048, 4096, 8200, 32768, 100000, 2147483647};
    out->n = MOST_SIZES;
    for (int i = 0; i < out->n; i++)
        for (int d = 0; d < p->ndims; d++)
            out->dim[i][d] = i == 0 ? p->dims[d].value : some[rng_below(r, sizeof some / sizeof *some)];
}

/* What the exported C of one configuration does at these sizes. */
static inline char *c_says(const struct problem *p, const struct kernel *k, const struct target *t,
                           const config_choice *choice, const struct sizes *sizes)
{
    struct strbuf header = {0}, source = {0}, b = {0};
    struct err e = {0};
    json_t *provenance = json_object();
    const struct export_input in = {p, k, choice, t, provenance, NULL};
    const struct export_variant v = {.in = &in, .cubin = {.data = "image", .len = 5}};
    if (export_c(&v, 1, "w.h", &header, &source, &e))
        fail_msg("%s", e.text);
    add_head(&b);
    sb_add(&b, "struct fake_device fake_device = ");
    add_device(&b, t);
    sb_add(&b, ";\n");
    add_kinds(&b, p, &k, 1);
    sb_addf(&b, "int main(void)\n{\n    struct lathe_%s *w;\n    size_t bytes;\n    if (lathe_%s_open(&w)) return 1;\n",
            p->name, p->name);
    for (int i = 0; i < sizes->n; i++) {
        sb_addf(&b, "    puts(lathe_%s_workspace(w, ", p->name);
        for (int d = 0; d < p->ndims; d++)
            sb_addf(&b, "%lld, ", (long long)sizes->dim[i][d]);
        sb_add(&b, "&bytes) == CUDA_SUCCESS && ");
        add_call(&b, p, sizes->dim[i], "bytes");
        sb_add(&b, " == CUDA_SUCCESS ? \"done\" : \"refused\");\n");
    }
    sb_addf(&b, "    lathe_%s_close(w);\n    return fake_modules;\n}\n", p->name);
    char *said = run_c(&header, &source, &b);
    sb_free(&header);
    sb_free(&source);
    sb_free(&b);
    json_decref(provenance);
    return said;
}

#endif
