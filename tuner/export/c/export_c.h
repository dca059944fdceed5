/* export_c.h: the parts of the export as C for CUDA's driver. */
#ifndef LATHE_EXPORT_EXPORT_C_H
#define LATHE_EXPORT_EXPORT_C_H

#include "export/internal.h"

struct c_export {
    const struct export_variant *v;
    int n;
    struct exporter *x;                 /* one a variant */
    const char *name;                   /* of the export */
    const struct export_image **images; /* different ones */
    int nimages;
    struct strbuf *out;
};

/* export_c_api.c: the functions that users call, and what chooses among the variants; the header that declares them. */
void export_c_functions(struct c_export *c);
void export_c_header(struct c_export *c, struct strbuf *header);

#endif
