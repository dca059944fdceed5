/* torch.h: the parts of the exporter to PyTorch. */
#ifndef LATHE_EXPORT_TORCH_H
#define LATHE_EXPORT_TORCH_H

#include "export/internal.h"

struct model_printer {
    struct exporter *x;
    const struct torch_model *m;
};

/* What input i is called by who uses the model: "x", "matmul.weight". */
void torch_input_name(struct strbuf *b, const struct torch_model *m, int i);

/* "float16", as in torch.float16 */
const char *torch_type(enum dtype t);

/* export_torch_data.c: a constant of the file: NAME = TEXT, read back as the same bytes. */
void export_torch_text(struct strbuf *b, const char *name, const char *text);
/* A text within "": on one line, read back as the same. */
void export_torch_literal(struct strbuf *b, const char *text);
void export_torch_base64(struct strbuf *b, const char *name, const char *data, size_t len);
/* The plan at the size tuned, what in it depends on scalars, and the image. */
status export_torch_plan(struct exporter *x, const struct export_image *image, struct err *e);

/* export_torch_said.c: the specification's torch.formula, with the names that the file has. */
void export_torch_said(struct strbuf *b, const struct problem *p, const char *text);

/* The functions lathe_sizes, lathe_output_shapes and lathe_formula. */
status export_torch_formula(struct model_printer *mp, struct err *e);
/* class ModelNew */
status export_torch_class(struct model_printer *mp, struct err *e);
/* get_inputs and get_init_inputs, of the size tuned. */
status export_torch_example(struct model_printer *mp, struct err *e);

#endif
