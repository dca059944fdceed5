/* export_variant.c: what the exports of several configurations (c, bundle) share. */
#include "export/internal.h"
#include <string.h>

void export_variant_text(const struct export_variant *v, const struct exporter *x, struct strbuf *b)
{
    if (v->fallback) {
        sb_add(b, "the plain kernel that serves every size");
        return;
    }
    sb_addf(b, "kernel %s, ", x->k->name);
    config_print(b, x->k, x->slots, x->in->choice);
    sb_add(b, ", tuned for ");
    problem_size_text(x->p, b);
    sb_addf(b, " on %s (%s)", x->in->target->name, x->in->target->arch);
}

bool export_for_that_gpu_alone(const struct target *t)
{
    return strncmp(t->arch, "sm_", 3) == 0 && t->arch[3 + strspn(t->arch + 3, "0123456789")] != 0;
}

status export_alike(const struct problem *a, const struct problem *b, struct err *e)
{
    bool same = a->ndims == b->ndims && a->nscalars == b->nscalars && a->ntensors == b->ntensors;
    for (int i = 0; i < a->ndims && same; i++) same = !strcmp(a->dims[i].name, b->dims[i].name);
    for (int i = 0; i < a->nscalars && same; i++) same = !strcmp(a->scalars[i].name, b->scalars[i].name);
    for (int i = 0; i < a->ntensors && same; i++)
        same = !strcmp(a->tensors[i].name, b->tensors[i].name) && a->tensors[i].dtype == b->tensors[i].dtype;
    return same
               ? LATHE_OK
               : err_set(e, LATHE_USAGE,
                         "the results are of different problems called %s\nchoose with --campaign or --trial", b->name);
}
