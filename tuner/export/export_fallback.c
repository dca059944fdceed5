/* export_fallback.c: a kernel that serves a problem at every size: the reference's own, or for a GEMM the plain one
 * (kernels/common/plain_gemm.cu) as a kernel of the specification, so that it is launched as any other. */
#include "base/mem.h"
#include "export/export.h"
#include <string.h>

static const char PLAIN_GEMM[] = {
#include "kernels/common/plain_gemm.cu.inc"
    , 0};

static const char NAME[] = "fallback";

/* The shape's axis as a formula in parentheses. */
static char *axis(const struct tensor *t, int at)
{
    return mem_printf("(%s)", expr_text(t->shape[at]));
}

static json_t *gemm_kernel(const struct problem *p)
{
    const struct gemm *g = &p->reference.gemm;
    const struct tensor *a = &p->tensors[g->a], *b = &p->tensors[g->b], *c = &p->tensors[g->c];
    char *m = axis(a, g->trans_a ? 1 : 0), *k = axis(a, g->trans_a ? 0 : 1), *n = axis(b, g->trans_b ? 0 : 1);
    char *source =
        mem_printf("typedef LatheType_%s LatheA;\ntypedef LatheType_%s LatheB;\ntypedef LatheType_%s LatheC;\n%s",
                   a->name, b->name, c->name, PLAIN_GEMM);
    char *grid = mem_printf("min(ceil_div(%s * %s, 256), 65535)", m, n);
    json_t *args =
        json_pack("[s, s, s, s, s, s, s, s, s, s, s]", a->name, b->name, c->name, m, n, k, g->trans_a ? "1" : k,
                  g->trans_a ? m : "1", g->trans_b ? k : "1", g->trans_b ? "1" : n, "epilogue");
    json_t *kernel = json_pack("{s:[s], s:s, s:[{s:s, s:[s], s:s, s:i, s:o}]}", "#", NAME, "source_text", source,
                               "steps", "tag", "launch", "#", "plain_gemm", "grid", grid, "block", 256, "args", args);
    mem_free(source);
    mem_free(grid);
    mem_free(m);
    mem_free(n);
    mem_free(k);
    return kernel;
}

/* The specification with this kernel as its only one. */
static status gemm_problem(const struct problem *p, struct problem **out, struct err *e)
{
    json_t *spec = json_deep_copy(p->json), *kernels = json_array();
    json_array_append_new(kernels, gemm_kernel(p));
    json_object_set_new(spec, "kernels", kernels);
    json_object_del(spec, "baselines");
    status s = problem_from_json(spec, p->name, NULL, out, e);
    json_decref(spec);
    for (int d = 0; d < p->ndims && !s; d++) (*out)->dims[d].value = p->dims[d].value;
    return s;
}

status export_fallback_open(const struct export_input *of, struct export_fallback *out, struct err *e)
{
    const struct problem *p = of->problem;
    const struct kernel *k = p->reference.kernel;
    *out = (struct export_fallback){0};
    if (p->reference.kind == REFERENCE_GEMM) {
        status s = gemm_problem(p, &out->problem, e);
        if (s) return s;
        p = out->problem;
        k = &p->kernels[0];
    }
    out->choice = mem_zalloc((size_t)k->nparams + 1, sizeof *out->choice);
    out->in = (struct export_input){p, k, out->choice, of->target, of->provenance, of->name};
    return LATHE_OK;
}

void export_fallback_close(struct export_fallback *f)
{
    mem_free(f->choice);
    if (f->problem) problem_free(f->problem);
    *f = (struct export_fallback){0};
}
