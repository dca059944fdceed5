/* export_attributes.c: what a launch says beside its extents, as code: tensor maps, cluster, programmatic launch, L2
 * window. The same as trial/pipeline.c and the CUDA device make of a plan, with the sizes open. */
#include "export/internal.h"

/* --- tensor maps --- */

void export_map_name(struct exporter *x, int step, int at)
{
    sb_addf(x->out, "lathe_map_%d_%d", step + 1, at + 1);
}

void export_map_variables(struct exporter *x, int step)
{
    const struct launch *l = &x->k->steps[step].launch;
    for (int i = 0; i < l->nargs; i++) {
        if (l->args[i].kind != ARG_TENSOR_MAP) continue;
        sb_addf(x->out, "    %s ", x->say->map);
        export_map_name(x, step, i);
        sb_addf(x->out, " = %s;\n", x->say->no_map);
    }
}

static const char *cuda_type(enum dtype t)
{
    switch (t) {
    case DTYPE_f64: return "CU_TENSOR_MAP_DATA_TYPE_FLOAT64";
    case DTYPE_i32: return "CU_TENSOR_MAP_DATA_TYPE_INT32";
    case DTYPE_u32: return "CU_TENSOR_MAP_DATA_TYPE_UINT32";
    case DTYPE_f16: return "CU_TENSOR_MAP_DATA_TYPE_FLOAT16";
    case DTYPE_bf16: return "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16";
    case DTYPE_u8: return "CU_TENSOR_MAP_DATA_TYPE_UINT8";
    default: return "CU_TENSOR_MAP_DATA_TYPE_FLOAT32";
    }
}

/* Appends "text(long long)(x)"; the parts of an array come with ", " between. */
static status print_integer(struct exporter *x, const char *text, const struct expr *value, struct err *e)
{
    sb_addf(x->out, "%s(long long)(", text);
    status s = export_expr(x, value, e);
    sb_add(x->out, ")");
    return s;
}

static status print_axes(struct exporter *x, const char *name, struct expr *const part[MAX_RANK], int rank,
                         struct err *e)
{
    status s = LATHE_OK;
    sb_addf(x->out, "            const long long %s[%d] = {", name, rank);
    for (int d = 0; d < rank && !s; d++) s = print_integer(x, d ? ", " : "", part[d], e);
    sb_add(x->out, "};\n");
    return s;
}

/* The elements, or the bytes, that the buffer has; workspace that is not there has 0. */
static status print_count(struct exporter *x, int buffer, bool in_bytes, struct err *e)
{
    const struct tensor *t = export_buffer_tensor(x, buffer);
    int w = buffer - x->p->ntensors;
    status s = LATHE_OK;
    if (w >= 0) {
        sb_addf(x->out, in_bytes ? "lathe_bytes[%d]" : "(long long)(lathe_bytes[%d] / %d)", w, dtype_bytes(t->dtype));
        return s;
    }
    if (in_bytes) sb_addf(x->out, "(size_t)%d * ", dtype_bytes(t->dtype));
    for (int d = 0; d < t->rank && !s; d++)
        s = print_integer(x, d ? " * " : "", t->shape[d], e);
    return s;
}

status export_map(struct exporter *x, int step, int at, struct err *e)
{
    const struct arg *a = &x->k->steps[step].launch.args[at];
    const struct tensor *t = export_buffer_tensor(x, a->tensor);
    const struct tensor_map *m = a->map;
    int w = a->tensor - x->p->ntensors;
    sb_add(x->out, "        ");
    if (w >= 0) sb_addf(x->out, "if (lathe_bytes[%d]) ", w);
    sb_add(x->out, "{\n");
    status s = print_axes(x, "lathe_shape", m->shape[0] ? m->shape : t->shape, m->rank, e);
    if (!s) s = print_axes(x, "lathe_box", m->box, m->rank, e);
    if (s) return s;
    sb_addf(x->out, "            lathe_error = %s(%s&", export_helper(x, HELPER_TENSOR_MAP),
            x->say->driver ? "!lathe_go ? 0 : " : "");
    export_map_name(x, step, at);
    sb_addf(x->out, ", %s, %d,\n                ", cuda_type(t->dtype), dtype_bytes(t->dtype));
    export_buffer(x, a->tensor);
    sb_add(x->out, ", ");
    s = print_count(x, a->tensor, false, e);
    sb_addf(x->out, ", %d, lathe_shape, lathe_box", m->rank);
    if (!s) s = print_integer(x, ", ", m->swizzle, e);
    if (!s) s = print_integer(x, ", ", m->l2, e);
    sb_addf(x->out, ");\n            if (lathe_error != %s) return lathe_error;\n        }\n", x->say->success);
    return s;
}

/* --- attributes --- */

static status print_cluster(struct exporter *x, const struct launch *l, struct err *e)
{
    status s = LATHE_OK;
    sb_addf(x->out, "        lathe_attribute[lathe_attributes++] = %s(", export_helper(x, HELPER_CLUSTER));
    for (int d = 0; d < 3 && !s; d++) s = print_integer(x, d ? ", " : "", l->cluster[d], e);
    sb_add(x->out, ");\n");
    return s;
}

/* "if (begun && (when)) "; without either (begun NULL, when decided) what is left of it. */
static status print_if(struct exporter *x, const char *begun, const struct expr *when, struct err *e)
{
    bool open = export_decide(x, when) == DEPENDS;
    status s = LATHE_OK;
    sb_add(x->out, "        ");
    if (begun || open) sb_addf(x->out, "if (%s%s", begun ? begun : "", begun && open ? " && (" : "");
    if (open) s = export_expr(x, when, e);
    if (begun || open) sb_add(x->out, begun && open ? ")) " : ") ");
    return s;
}

static status print_window(struct exporter *x, const struct l2_window *w, struct err *e)
{
    static const char *const runtime[] = {[L2_normal] = "cudaAccessPropertyNormal",
                                          [L2_streaming] = "cudaAccessPropertyStreaming",
                                          [L2_persisting] = "cudaAccessPropertyPersisting"};
    static const char *const driver[] = {[L2_normal] = "CU_ACCESS_PROPERTY_NORMAL",
                                         [L2_streaming] = "CU_ACCESS_PROPERTY_STREAMING",
                                         [L2_persisting] = "CU_ACCESS_PROPERTY_PERSISTING"};
    const char *const *properties = x->say->driver ? driver : runtime;
    status s = print_if(x, NULL, w->when, e);
    sb_addf(x->out, "lathe_attributes += %s(%s&lathe_attribute[lathe_attributes], ", export_helper(x, HELPER_WINDOW),
            x->say->driver ? "lathe, " : "");
    export_buffer(x, w->tensor);
    sb_add(x->out, ",\n            ");
    if (!s) s = print_count(x, w->tensor, true, e);
    sb_add(x->out, ", (double)(");
    if (!s) s = export_expr(x, w->ratio, e);
    sb_addf(x->out, "), %s, %s);\n", properties[w->hit], properties[w->miss]);
    return s;
}

static bool says(const struct exporter *x, const struct expr *formula)
{
    return export_decide(x, formula) != NEVER;
}

status export_attributes(struct exporter *x, const struct launch *l, const char *begun, int *count, struct err *e)
{
    bool cluster = l->cluster[0], programmatic = l->programmatic && says(x, l->programmatic);
    bool window = l->l2_window && says(x, l->l2_window->when);
    status s = LATHE_OK;
    *count = cluster + programmatic + window;
    if (*count)
        sb_addf(x->out, "        %s lathe_attribute[%d];\n        unsigned lathe_attributes = 0;\n", x->say->attribute,
                *count);
    if (cluster) s = print_cluster(x, l, e);
    if (!s && programmatic) {
        s = print_if(x, begun, l->programmatic, e);
        sb_addf(x->out, "lathe_attribute[lathe_attributes++] = %s();\n", export_helper(x, HELPER_PROGRAMMATIC));
    }
    if (!s && window) s = print_window(x, l->l2_window, e);
    return s;
}
