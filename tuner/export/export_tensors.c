/* export_tensors.c: what a launcher asks of the tensors' own sizes: that each is one that the tuner would take
 * (tensor_shape, model/problem/problem_size.c), so that nothing that is computed from them leaves 64 bits. */
#include "export/internal.h"

/* Bytes: what a launcher lets a buffer have, as the tuner does. */
static const double most_bytes = 0x1p60;

/* Whether it is 1 or more along each axis, and small enough, whatever the dimensions. */
static bool always_fits(const struct exporter *x, const struct tensor *t)
{
    double bytes = dtype_bytes(t->dtype);
    for (int d = 0; d < t->rank; d++) {
        struct expr_range r = expr_range_of(t->shape[d], x->known, x->ranges);
        if (expr_type(t->shape[d]) != VALUE_INT || r.low < 1) return false;
        bytes *= (double)r.high;
    }
    return bytes <= most_bytes;
}

status export_extent(struct exporter *x, const struct tensor *t, struct err *e)
{
    status s = LATHE_OK;
    sb_addf(x->out, "const long long lathe_extent[%d] = {", t->rank ? t->rank : 1);
    for (int d = 0; d < t->rank && !s; d++) {
        sb_add(x->out, d ? ", (long long)(" : "(long long)(");
        s = export_expr(x, t->shape[d], e);
        sb_add(x->out, ")");
    }
    sb_addf(x->out, "%s};\n", t->rank ? "" : "1");
    return s;
}

status export_tensor_checks(struct exporter *x, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < x->p->ntensors && !s; i++) {
        const struct tensor *t = &x->p->tensors[i];
        if (always_fits(x, t)) continue;
        sb_add(x->out, "    {\n        ");
        s = export_extent(x, t, e);
        sb_addf(x->out,
                "        const size_t lathe_size = %s(%d, lathe_extent, %d);\n"
                "        if (lathe_size == 0 || lathe_size == SIZE_MAX) return %s; // %s\n    }\n",
                export_helper(x, HELPER_SIZE), dtype_bytes(t->dtype), t->rank, x->say->invalid, t->name);
    }
    return s;
}
