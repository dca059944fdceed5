/* export_c.c: puts the C header and source for CUDA's driver together: the configurations of several sizes and devices,
 * each with its launcher (export_launch.c, in the driver's dialect) and its images, and the functions that choose among
 * them.
 *
 * Invariants of the printed code: a configuration runs only where its own launcher, asked first, says that it would;
 * the size of the workspace and the launch choose by the same function; after NAME_open nothing changes, so any number
 * of threads may launch. Names of the generator begin with lathe_ or with the export's name; of types, which may
 * be called lathe_ and the problem's name, with Lathe. */
#include "base/mem.h"
#include "export/c/export_c.h"
#include <string.h>

static const char ORDER[] = {
#include "tuner/model/serve_order.h.inc"
    , 0};
static const char RUNTIME[] = {
#include "tuner/export/c/c_runtime.h.inc"
    , 0};

/* --- images --- */

static int image_index(struct c_export *c, const struct export_image *image)
{
    if (!image->data) return -1;
    for (int i = 0; i < c->nimages; i++)
        if (c->images[i]->len == image->len && !memcmp(c->images[i]->data, image->data, image->len)) return i;
    c->images[c->nimages] = image;
    return c->nimages++;
}

/* A zero at the end: PTX is text. */
static void print_images(struct c_export *c)
{
    for (int i = 0; i < c->nimages; i++) {
        sb_addf(c->out, "\nstatic const _Alignas(16) unsigned char lathe_image_%d[%zu] = {", i, c->images[i]->len + 1);
        for (size_t b = 0; b < c->images[i]->len; b++)
            sb_addf(c->out, b % 32 ? "%d," : "\n    %d,", (unsigned char)c->images[i]->data[b]);
        sb_add(c->out, "0};\n");
    }
    sb_add(c->out, "static const unsigned char *const lathe_images[LATHE_IMAGES] = {");
    for (int i = 0; i < c->nimages; i++) sb_addf(c->out, "%slathe_image_%d", i ? ", " : "", i);
    sb_add(c->out, "};\n");
}

/* --- tables --- */

static int nfunctions(struct c_export *c)
{
    const char *names[EXPORT_MAX_FUNCTIONS];
    int n = 0;
    for (int i = 0; i < c->n; i++) n += export_functions(&c->x[i], names);
    return n;
}

static void print_constants(struct c_export *c)
{
    sb_addf(
        c->out,
        "\nenum { LATHE_VARIANTS = %d, LATHE_IMAGES = %d, LATHE_FUNCTIONS = %d, LATHE_DIMS = %d, LATHE_LIMITS = %d };\n"
        "enum {",
        c->n, c->nimages, nfunctions(c), c->x->p->ndims, LIMIT_COUNT);
    for (int i = 0; i < LIMIT_COUNT; i++)
        sb_addf(c->out, "%sLATHE_%s = %d", i ? ", " : " ", limit_name((enum limit)i), i);
    sb_add(c->out, " };\n\n");
}

/* Which attribute of the device a limit is; those of none are found otherwise (c_runtime.h). */
static void print_asked(struct c_export *c)
{
    static const char *const attributes[LIMIT_COUNT] = {
        [LIMIT_sm] = "COMPUTE_CAPABILITY_MAJOR",
        [LIMIT_sm_count] = "MULTIPROCESSOR_COUNT",
        [LIMIT_warp_size] = "WARP_SIZE",
        [LIMIT_max_threads_per_block] = "MAX_THREADS_PER_BLOCK",
        [LIMIT_max_threads_per_sm] = "MAX_THREADS_PER_MULTIPROCESSOR",
        [LIMIT_max_shared_per_block] = "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
        [LIMIT_max_shared_per_sm] = "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
        [LIMIT_max_registers_per_sm] = "MAX_REGISTERS_PER_MULTIPROCESSOR",
        [LIMIT_l2_bytes] = "L2_CACHE_SIZE"};
    sb_add(c->out, "\nstatic const int lathe_asked[LATHE_LIMITS] = {\n");
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (attributes[i])
            sb_addf(c->out, "    [LATHE_%s] = CU_DEVICE_ATTRIBUTE_%s,\n", limit_name((enum limit)i), attributes[i]);
    sb_add(c->out, "};\n");
}

/* A C string literal. */
static void print_literal(struct strbuf *b, const char *text)
{
    sb_add(b, "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') sb_addf(b, "\\%c", *c);
        else if ((unsigned char)*c < ' ' || (unsigned char)*c > '~' || *c == '?')
            sb_addf(b, "\\%03o", (unsigned char)*c);
        else sb_addn(b, c, 1);
    }
    sb_add(b, "\"");
}

static bool persists(const struct exporter *x)
{
    for (int i = 0; i < x->k->nsteps; i++) {
        const struct step *s = &x->k->steps[i];
        const struct l2_window *w = s->kind == STEP_LAUNCH ? s->launch.l2_window : NULL;
        if (w && w->hit == L2_persisting && export_decide(x, s->when) != NEVER && export_decide(x, w->when) != NEVER)
            return true;
    }
    return false;
}

static void print_variants(struct c_export *c)
{
    int first = 0;
    sb_add(c->out, "\nstatic const struct LatheVariant lathe_variants[LATHE_VARIANTS] = {\n");
    for (int i = 0; i < c->n; i++) {
        const struct export_variant *v = &c->v[i];
        const struct exporter *x = &c->x[i];
        const struct target *t = x->in->target;
        const char *names[EXPORT_MAX_FUNCTIONS];
        struct strbuf text = {0};
        int count = export_functions(x, names);
        export_variant_text(v, x, &text);
        sb_add(c->out, "    {");
        print_literal(c->out, sb_str(&text));
        sb_add(c->out, ",\n     ");
        print_literal(c->out, t->name);
        sb_addf(c->out, ", %lld, %d, %d, %d, %d, %d, %d, %d, %d, {", (long long)t->limit[LIMIT_sm], v->fallback,
                persists(x), image_index(c, &v->cubin), export_for_that_gpu_alone(t), image_index(c, &v->ptx),
                v->ptx_sm, first, count);
        for (int d = 0; d < x->p->ndims; d++) sb_addf(c->out, "%s%lld", d ? ", " : "", (long long)x->p->dims[d].value);
        sb_add(c->out, "}},\n");
        sb_free(&text);
        first += count;
    }
    sb_add(c->out, "};\n\nstatic const char *const lathe_names[LATHE_FUNCTIONS] = {\n");
    for (int i = 0; i < c->n; i++) {
        const char *names[EXPORT_MAX_FUNCTIONS];
        int count = export_functions(&c->x[i], names);
        for (int f = 0; f < count; f++) sb_addf(c->out, "    \"%s\",\n", names[f]);
    }
    sb_add(c->out, "};\n");
}

/* --- all of it --- */

bool export_c_serves(const struct kernel *k)
{
    return !export_has_gemm(k);
}

static status open_all(struct c_export *c, struct err *e)
{
    for (int i = 0; i < c->n; i++) {
        struct exporter *x = &c->x[i];
        status s = export_open(c->v[i].in, &export_driver, "//", c->out, x, e);
        if (s) return s;
        s = export_alike(c->x[0].p, x->p, e);
        if (s) return s;
        if (i == 0) c->name = mem_strdup(x->function);
        mem_free((char *)x->function);
        x->function = mem_printf("%s_variant_%d", c->name, i);
    }
    return LATHE_OK;
}

static status print_source(struct c_export *c, const char *header, struct err *e)
{
    status s = LATHE_OK;
    unsigned printed = 0;
    struct strbuf *file = c->out, body = {0};
    for (int i = 0; i < c->n; i++) {
        if (c->v[i].fallback) continue;
        export_provenance(&c->x[i]);
        sb_add(file, "\n");
    }
    sb_addf(file,
            "#include \"%s\"\n#include <limits.h>\n#include <math.h>\n#include <stdbool.h>\n#include "
            "<stdlib.h>\n#include <string.h>\n",
            header);
    c->out = &body;
    print_asked(c);
    print_variants(c);          /* finds the images */
    print_images(c);
    c->out = file;
    print_constants(c);
    sb_add(file, ORDER);
    sb_add(file, "\n");
    sb_add(file, RUNTIME);
    sb_add(file, sb_str(&body));
    sb_free(&body);
    sb_add(file, "\n#ifdef __clang__\n#pragma clang diagnostic ignored \"-Wunused-function\" // not every formula is "
                 "here\n#endif\n");
    sb_add(file, expr_c_helpers());
    sb_add(file, "\n// As kernels take it.\nstruct LatheEpilogue {\n");
    export_epilogue_members(c->x);
    sb_add(file, "};\n");
    for (int i = 0; i < c->n && !s; i++) {
        c->x[i].printed = printed;
        s = export_launcher(&c->x[i], e);
        printed = c->x[i].printed;
    }
    export_c_functions(c);
    return s;
}

status export_c(const struct export_variant *v, int n, const char *header_name, struct strbuf *header,
                struct strbuf *source, struct err *e)
{
    struct c_export c = {.v = v, .n = n, .out = source};
    c.x = mem_zalloc((size_t)n + 1, sizeof *c.x);
    c.images = mem_zalloc(2 * (size_t)n + 1, sizeof *c.images);
    status s = open_all(&c, e);
    if (!s) s = print_source(&c, header_name, e);
    if (!s) export_c_header(&c, header);
    for (int i = 0; i < n; i++) export_close(&c.x[i]);
    mem_free((char *)c.name);
    mem_free(c.images);
    mem_free(c.x);
    return s;
}
