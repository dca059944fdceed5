/* source_epilogue.c: what is generated before a source: the tensors' types, then the epilogue's formula as the struct
 * that kernels call (float), or as its twin for the verifier (double). Both structs have the members that
 * epilogue_fields lists, in that order, so the same bytes serve both. */
#include "model/source.h"

#include "base/mem.h"
#include "model/problem/problem_internal.h"
#include <ctype.h>
#include <string.h>

static const char TYPES[] = {
#include "kernels/common/types.cuh.inc"
    , 0};

static void add_types(const struct problem *p, struct strbuf *b)
{
    sb_add(b, TYPES);
    for (int i = 0; i < DTYPE_COUNT; i++)
        sb_addf(b, "#define LATHE_DTYPE_%s %d\n", dtype_name((enum dtype)i), i);
    for (int i = 0; i < p->ntensors; i++) {
        const struct tensor *t = &p->tensors[i];
        sb_addf(b, "#define LATHE_DTYPE_%s %d\ntypedef %s LatheType_%s;\n", t->name, t->dtype, dtype_ctype(t->dtype),
                t->name);
    }
}

static bool uses_dim(const struct problem *p, int dim)
{
    if (p->epilogue && expr_uses(p->epilogue, dim))
        return true;
    for (int i = 0; i < p->ntensors; i++)           /* to index a tensor, every axis but the first is needed */
        for (int axis = 1; epilogue_uses_tensor(p, i) && axis < p->tensors[i].rank; axis++)
            if (problem_find_dim(p, expr_text(p->tensors[i].shape[axis])) == dim)
                return true;
    return false;
}

static bool uses_scalar(const struct problem *p, int scalar)
{
    return p->epilogue && expr_uses(p->epilogue, p->ndims + scalar);
}

static bool is_bias(const struct problem *p, int tensor)
{
    return p->reference.kind == REFERENCE_GEMM && p->reference.bias == tensor;
}

void epilogue_fields(const struct problem *p, struct field **fields, int *count)
{
    struct field *list = mem_zalloc((size_t)(p->ntensors + p->ndims + p->nscalars), sizeof *list);
    int n = 0;
    for (int i = 0; i < p->ntensors; i++)
        if (is_bias(p, i) || epilogue_uses_tensor(p, i))
            list[n++] = (struct field){FIELD_TENSOR, i};
    for (int i = 0; i < p->ndims; i++)
        if (uses_dim(p, i))
            list[n++] = (struct field){FIELD_DIM, i};
    for (int i = 0; i < p->nscalars; i++)
        if (uses_scalar(p, i))
            list[n++] = (struct field){FIELD_SCALAR, i};
    *fields = list;
    *count = n;
}

struct printer {
    const struct problem *p;
    enum expr_c_float precision;
};

/* The tensor that a slot of the epilogue's scope means. */
static const struct tensor *slot_tensor(const struct problem *p, int slot)
{
    int input = slot - p->epilogue_tensor;
    for (int i = 0; i < p->ntensors; i++)
        if (!p->tensors[i].output && input-- == 0)
            return &p->tensors[i];
    return NULL;
}

/* An index, which binds as tightly as a name does; without its cast if it is a plain name: size_t is wide enough. */
static void print_index(struct strbuf *b, const char *index)
{
    static const char cast[] = "((long long)";
    size_t n = strlen(index), name = n > sizeof cast ? n - sizeof cast : 0;
    bool plain = name && strncmp(index, cast, sizeof cast - 1) == 0;
    for (size_t i = 0; i < name && plain; i++)
        plain = isalnum((unsigned char)index[sizeof cast - 1 + i]) || index[sizeof cast - 1 + i] == '_';
    if (plain)
        sb_addn(b, index + sizeof cast - 1, name);
    else
        sb_add(b, index);
}

/* R[((size_t)i * N + j) * P + k] */
static void print_element(struct strbuf *b, const struct tensor *t, char *const *index, int rank)
{
    sb_addf(b, "%s[", t->name);
    for (int axis = 2; axis < rank; axis++)
        sb_add(b, "(");
    sb_add(b, "(size_t)");
    print_index(b, index[0]);
    for (int axis = 1; axis < rank; axis++) {
        sb_addf(b, " * %s + ", expr_text(t->shape[axis]));
        print_index(b, index[axis]);
        sb_add(b, axis + 1 < rank ? ")" : "");
    }
    sb_add(b, "]");
}

static void print_name(struct strbuf *b, int slot, char *const *index, int rank, void *ctx)
{
    const struct printer *how = ctx;
    const struct problem *p = how->p;
    if (rank == 0) {
        sb_add(b, p->epilogue_scope.names[slot].name);
        return;
    }
    const struct tensor *t = slot_tensor(p, slot);
    bool narrow = dtype_is_16_bit_float(t->dtype);
    if (narrow)
        sb_add(b, "lathe_to_float(");
    else if (how->precision == EXPR_C_FLOAT && t->dtype != DTYPE_f32)
        sb_add(b, "(float)");                       /* the language's elements are floats */
    print_element(b, t, index, rank);
    sb_add(b, narrow ? ")" : "");
}

void source_comment(struct strbuf *b, const char *text)
{
    for (const char *c = text; *c; c++) {
        sb_addn(b, (unsigned char)*c < ' ' || *c == '\\' ? " " : c, 1);
        bool mark = !strncmp(c, "*/", 2) || !strncmp(c, "/*", 2) || !strncmp(c, "??", 2);
        sb_add(b, mark ? " " : "");
    }
}

static void print_members(struct strbuf *b, const struct problem *p)
{
    struct field *fields;
    int n;
    epilogue_fields(p, &fields, &n);
    for (int i = 0; i < n; i++) {
        const struct tensor *t = &p->tensors[fields[i].index];
        switch (fields[i].kind) {
        case FIELD_TENSOR:
            sb_addf(b, "    const %s *%s; // [", dtype_ctype(t->dtype), t->name);
            for (int axis = 0; axis < t->rank; axis++) {
                sb_add(b, axis ? ", " : "");
                source_comment(b, expr_text(t->shape[axis]));
            }
            sb_add(b, "]\n");
            break;
        case FIELD_DIM: sb_addf(b, "    int %s;\n", p->dims[fields[i].index].name); break;
        case FIELD_SCALAR: sb_addf(b, "    float %s;\n", p->scalars[fields[i].index].name); break;
        }
    }
    mem_free(fields);
}

/* float z = acc + b[n]; */
static void print_z(struct strbuf *b, const struct problem *p, const char *type)
{
    if (p->epilogue && !expr_uses(p->epilogue, p->epilogue_z))
        return;                                     /* compilers warn of a variable that is not used */
    sb_addf(b, "        %s z = acc", type);
    if (p->reference.kind == REFERENCE_GEMM && p->reference.bias >= 0) {
        const struct tensor *bias = &p->tensors[p->reference.bias];
        const char *last = p->index_names[p->tensors[p->output].rank - 1];
        if (dtype_is_16_bit_float(bias->dtype))
            sb_addf(b, " + lathe_to_float(%s[%s])", bias->name, last);
        else if (strcmp(dtype_ctype(bias->dtype), type) != 0)
            sb_addf(b, " + (%s)%s[%s]", type, bias->name, last);
        else
            sb_addf(b, " + %s[%s]", bias->name, last);
    }
    sb_add(b, ";\n");
}

static status print_struct(const struct problem *p, const char *name, enum expr_c_float precision, struct strbuf *b,
                           struct err *e)
{
    struct printer how = {p, precision};
    struct expr_c c = {.precision = precision, .name = print_name, .ctx = &how};
    const char *type = precision == EXPR_C_FLOAT ? "float" : "double";
    struct strbuf value = {0};
    status s = LATHE_OK;
    if (p->epilogue)
        s = expr_print_c(&value, p->epilogue, &c, e);
    else
        sb_add(&value, "z");
    if (s) {
        sb_free(&value);
        err_prefix(e, "epilogue");
        return s;
    }
    if (strstr(sb_str(&value), "lathe_"))
        sb_add(b, expr_c_helpers());
    sb_add(b, "// z -> ");
    source_comment(b, p->epilogue ? expr_text(p->epilogue) : "z");
    sb_addf(b, "\nstruct %s {\n", name);
    print_members(b, p);
    sb_addf(b, "    __device__ __forceinline__ %s operator()(%s acc", type, type);
    for (int i = 0; i < MAX_RANK && p->index_names[i]; i++)
        sb_addf(b, ", int %s", p->index_names[i]);
    sb_add(b, ") const\n    {\n");
    print_z(b, p, type);
    bool integer = p->epilogue && expr_type(p->epilogue) == VALUE_INT;
    if (integer)
        sb_addf(b, "        return (%s)(%s);\n    }\n};\n", type, sb_str(&value));
    else
        sb_addf(b, "        return %s;\n    }\n};\n", sb_str(&value));
    sb_free(&value);
    return LATHE_OK;
}

status source_epilogue(const struct problem *p, struct strbuf *b, struct err *e)
{
    add_types(p, b);
    return print_struct(p, "LatheEpilogue", EXPR_C_FLOAT, b, e);
}

status source_epilogue_reference(const struct problem *p, struct strbuf *b, struct err *e)
{
    add_types(p, b);
    return print_struct(p, "LatheEpilogueRef", EXPR_C_DOUBLE, b, e);
}
