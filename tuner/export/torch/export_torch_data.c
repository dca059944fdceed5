/* export_torch_data.c: what an exported Python file holds as data: texts, the plan and the image. */
#include "base/mem.h"
#include "export/torch/torch.h"
#include "model/source.h"
#include <stdlib.h>
#include <string.h>

const char *torch_type(enum dtype t)
{
    static const char *const names[DTYPE_COUNT] = {
        [DTYPE_f32] = "float32", [DTYPE_f64] = "float64", [DTYPE_i32] = "int32", [DTYPE_u32] = "uint32",
        [DTYPE_f16] = "float16", [DTYPE_bf16] = "bfloat16", [DTYPE_u8] = "uint8"};
    return names[t];
}

/* Whether r"""text""" is read back as it is: Python makes one line end of two kinds. */
static bool is_raw(const char *text)
{
    size_t n = strlen(text);
    return !strstr(text, "\"\"\"") && !strchr(text, '\r') && (n == 0 || (text[n - 1] != '"' && text[n - 1] != '\\'));
}

void export_torch_text(struct strbuf *b, const char *name, const char *text)
{
    bool raw = is_raw(text);
    sb_addf(b, "\n%s = %s\"\"\"", name, raw ? "r" : "");
    if (raw) sb_add(b, text);
    for (const char *c = text; *c && !raw; c++) {
        if (*c == '"' || *c == '\\') sb_addf(b, "\\%c", *c);
        else if (*c == '\r') sb_add(b, "\\r");
        else sb_addn(b, c, 1);
    }
    sb_add(b, "\"\"\"\n");
}

void export_torch_literal(struct strbuf *b, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') sb_addf(b, "\\%c", *c);
        else if ((unsigned char)*c < ' ') sb_addf(b, "\\x%02x", (unsigned char)*c);
        else sb_addn(b, c, 1);
    }
}

void export_torch_base64(struct strbuf *b, const char *name, const char *data, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    sb_addf(b, "\n%s = \"\"\"", name);
    for (size_t i = 0; i < len; i += 3) {
        unsigned long bits = 0;
        size_t n = len - i < 3 ? len - i : 3;
        for (size_t k = 0; k < 3; k++) bits = bits << 8 | (k < n ? (unsigned char)data[i + k] : 0);
        char four[4];
        for (size_t k = 0; k < 4; k++) four[k] = k <= n ? digits[bits >> (18 - 6 * k) & 63] : '=';
        if (i % 87 == 0) sb_add(b, "\n");           /* lines of 116 */
        sb_addn(b, four, 4);
    }
    sb_add(b, "\n\"\"\"\n");
}

/* --- what depends on scalars --- */

static bool uses_scalar(const struct exporter *x, const struct expr *e)
{
    for (int i = 0; e && i < x->p->nscalars; i++)
        if (expr_uses(e, x->p->ndims + i)) return true;
    return false;
}

static bool tensor_uses_scalar(const struct exporter *x, const struct tensor *t)
{
    bool uses = uses_scalar(x, t->when);
    for (int i = 0; i < t->rank; i++) uses |= uses_scalar(x, t->shape[i]);
    return uses;
}

static bool map_uses_scalar(const struct exporter *x, const struct tensor_map *m)
{
    bool uses = m && (uses_scalar(x, m->swizzle) || uses_scalar(x, m->l2));
    for (int i = 0; m && i < m->rank; i++) uses |= uses_scalar(x, m->shape[i]) || uses_scalar(x, m->box[i]);
    return uses;
}

static bool launch_uses_scalar(const struct exporter *x, const struct launch *l)
{
    bool uses = uses_scalar(x, l->shared) || uses_scalar(x, l->programmatic);
    if (l->l2_window) uses |= uses_scalar(x, l->l2_window->ratio) || uses_scalar(x, l->l2_window->when);
    for (int i = 0; i < 3; i++) {
        uses |= uses_scalar(x, l->grid[i]) || uses_scalar(x, l->block[i]);
        uses |= uses_scalar(x, l->cluster[i]);
    }
    for (int i = 0; i < l->nargs; i++) uses |= uses_scalar(x, l->args[i].expr) || map_uses_scalar(x, l->args[i].map);
    return uses;
}

/* Whether the plan would be another with other scalars: members of the epilogue's struct aside, which are set by each
 * call. */
static bool plan_uses_scalar(const struct exporter *x)
{
    const struct kernel *k = x->k;
    bool uses = false;
    for (int i = 0; i < k->nlets; i++) uses |= uses_scalar(x, k->lets[i].expr);
    for (int i = 0; i < k->nconstraints; i++)
        uses |= !k->constraints[i].search && uses_scalar(x, k->constraints[i].expr);
    for (int i = 0; i < k->nworkspace; i++) uses |= tensor_uses_scalar(x, &k->workspace[i]);
    for (int i = 0; i < x->p->ntensors; i++) uses |= tensor_uses_scalar(x, &x->p->tensors[i]);
    for (int i = 0; i < k->nsteps; i++) {
        const struct step *s = &k->steps[i];
        uses |= uses_scalar(x, s->when) || (s->kind == STEP_LAUNCH && launch_uses_scalar(x, &s->launch));
    }
    return uses;
}

/* --- the plan --- */

static const struct tensor *buffer(const struct export_input *in, int i)
{
    int n = in->problem->ntensors;
    return i < n ? &in->problem->tensors[i] : &in->kernel->workspace[i - n];
}

const char *export_torch_no_image(const struct export_input *in)
{
    if (!strcmp(in->target->arch, "host")) return "it was tuned on the host device";
    for (int i = 0; i < in->kernel->nsteps; i++) {
        const struct gemm *g = &in->kernel->steps[i].gemm;
        if (in->kernel->steps[i].kind != STEP_GEMM) continue;
        if (buffer(in, g->a)->dtype != buffer(in, g->c)->dtype)
            return "torch.mm has no result of another type than its matrices, which a gemm step wants";
        if (g->compute == GEMM_BF16 || g->compute == GEMM_F16)
            return "torch.mm does not round its matrices to a 16-bit type, which a gemm step wants";
    }
    return NULL;
}

static void print_epilogue_scalars(struct exporter *x)
{
    struct field *fields;
    int n;
    epilogue_fields(x->p, &fields, &n);
    sb_add(x->out, "LATHE_EPILOGUE = (");
    for (int i = 0; i < n; i++) {
        if (fields[i].kind == FIELD_SCALAR) sb_addf(x->out, "%d, ", fields[i].index);
        else sb_add(x->out, "None, ");
    }
    sb_add(x->out, ")  # which scalar each member of the epilogue's struct is\n");
    mem_free(fields);
}

/* An object whose arrays have a line an element. */
static void print_lines(struct strbuf *b, json_t *object)
{
    const char *key, *comma = "{";
    json_t *value, *item;
    json_object_foreach(object, key, value)
    {
        bool list = json_is_array(value);
        sb_addf(b, "%s\"%s\": %s", comma, key, list ? "[" : "");
        for (size_t i = 0; i < (list ? json_array_size(value) : 1); i++) {
            item = list ? json_array_get(value, i) : value;
            char *text = json_dumps(item, JSON_ENCODE_ANY | JSON_SORT_KEYS);
            sb_addf(b, "%s%s%s", i ? "," : "", list ? "\n  " : "", text);
            free(text);
        }
        sb_add(b, list ? "]" : "");
        comma = ",\n ";
    }
    sb_add(b, "}");
}

status export_torch_plan(struct exporter *x, const struct export_image *image, struct err *e)
{
    struct plan plan;
    status s = plan_build(x->p, x->k, x->slots, &plan, e);
    if (s) return s;
    json_t *j = plan_to_json(&plan);
    struct strbuf text = {0};
    print_lines(&text, j);
    sb_add(x->out, "\n# The same at the size tuned, every formula evaluated.");
    export_torch_text(x->out, "LATHE_PLAN", sb_str(&text));
    sb_free(&text);
    json_decref(j);
    plan_free(&plan);
    print_epilogue_scalars(x);
    sb_addf(x->out, "LATHE_FIXED_SCALARS = %s  # whether the plan holds for the scalars tuned only\n",
            plan_uses_scalar(x) ? "True" : "False");
    export_torch_text(x->out, "LATHE_NO_CUBIN", image->data ? "" : image->why_not);
    if (image->data) export_torch_base64(x->out, "LATHE_CUBIN", image->data, image->len);
    else sb_add(x->out, "\nLATHE_CUBIN = \"\"\n");
    return LATHE_OK;
}
