/* torch_model.h: how a problem's PyTorch model looks from outside, as plain data: what a specification's `torch` says
 * (docs/specification.md). Owned by the problem; names are Python's. */
#ifndef LATHE_MODEL_TORCH_MODEL_H
#define LATHE_MODEL_TORCH_MODEL_H

#include <stdbool.h>

struct problem;

/* What an argument of the constructor is: a dimension, a scalar, the shape of a parameter, the value of one that has
 * one element, or whether an nn.Linear has its bias. */
enum torch_init_kind { TORCH_DIM, TORCH_SCALAR, TORCH_SHAPE, TORCH_VALUE, TORCH_BIAS };
struct torch_init {
    char *name;
    enum torch_init_kind kind;
    int index;                  /* of the dimension, the scalar or the tensor */
    bool has_initial;
    double initial;             /* its default; of TORCH_BIAS 0 or 1 */
};

struct torch_input {            /* an argument of forward */
    char *name;
    int tensor;
};

struct torch_parameter {        /* an nn.Linear, or an nn.Parameter */
    char *name;
    bool linear;
    int weight, bias;           /* tensors; of an nn.Parameter only weight; -1: none */
};

struct torch_model {
    struct torch_init *init;
    int ninit;
    struct torch_input *forward;
    int nforward;
    struct torch_parameter *parameters;     /* in the order they are made: it decides what random numbers they get */
    int nparameters;
    char *formula;              /* what is computed, one Python expression of the inputs; NULL: it is known otherwise,
                                   or not */
};

/* The model of a problem that says nothing: the constructor takes the scalars and the dimensions that no input has as
 * an axis, with the present values as defaults, and forward all inputs. */
struct torch_model *torch_model_generic(const struct problem *p);
void torch_model_free(struct torch_model *m);

/* Where dimension `dim` is read off: a whole axis of an input, of one that has its shape from `m` rather than of a
 * parameter of its own. m may be NULL. False: no input has it. */
bool torch_model_axis(const struct problem *p, const struct torch_model *m, int dim, int *tensor, int *axis);

/* Whether a name means something in Python, to nn.Module, or in what an exported module says. */
bool torch_model_reserved(const char *name);

/* What a specification's name is called in Python: the same, or where that means something (or could be what another
 * becomes), with a _ after it. mem_free it. */
char *torch_model_python_name(const char *name);

#endif
