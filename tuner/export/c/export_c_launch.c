/* export_c_launch.c: what a launcher in C for CUDA's driver has in place of C++'s kernel calls: a table of kernels, and
 * each argument as a variable whose address is passed. */
#include "base/mem.h"
#include "export/internal.h"
#include "model/source.h"
#include <string.h>

int export_functions(const struct exporter *x, const char *names[EXPORT_MAX_FUNCTIONS])
{
    int n = 0;
    for (int i = 0; i < x->k->nsteps; i++) {
        const struct step *step = &x->k->steps[i];
        bool known = step->kind != STEP_LAUNCH || export_decide(x, step->when) == NEVER;
        for (int f = 0; f < n && !known; f++) known = !strcmp(names[f], step->launch.function);
        if (!known && n < EXPORT_MAX_FUNCTIONS) names[n++] = step->launch.function;
    }
    return n;
}

int export_function_index(const struct exporter *x, const char *name)
{
    const char *names[EXPORT_MAX_FUNCTIONS];
    int n = export_functions(x, names);
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], name)) return i;
    return 0;
}

void export_epilogue_members(struct exporter *x)
{
    struct field *fields;
    int n;
    epilogue_fields(x->p, &fields, &n);
    for (int i = 0; i < n; i++) {
        int at = fields[i].index;
        switch (fields[i].kind) {
        case FIELD_TENSOR: sb_addf(x->out, "    CUdeviceptr %s;\n", x->p->tensors[at].name); break;
        case FIELD_DIM: sb_addf(x->out, "    int %s;\n", x->p->dims[at].name); break;
        case FIELD_SCALAR: sb_addf(x->out, "    float %s;\n", x->p->scalars[at].name); break;
        }
    }
    if (!n) sb_add(x->out, "    char lathe_empty;\n");      /* an empty struct of C++ has a byte */
    mem_free(fields);
}

void export_epilogue_value(struct exporter *x)
{
    struct field *fields;
    int n;
    epilogue_fields(x->p, &fields, &n);
    sb_add(x->out, n ? "{" : "{0");
    for (int i = 0; i < n; i++) {
        int at = fields[i].index;
        if (i) sb_add(x->out, ", ");
        switch (fields[i].kind) {
        case FIELD_TENSOR: sb_add(x->out, x->p->tensors[at].name); break;
        case FIELD_DIM: sb_addf(x->out, "(int)%s", x->p->dims[at].name); break;
        case FIELD_SCALAR: sb_add(x->out, x->p->scalars[at].name); break;
        }
    }
    sb_add(x->out, "}");
    mem_free(fields);
}

static status print_variable(struct exporter *x, const struct arg *a, int at, struct err *e)
{
    static const char *const types[] = {[ARG_I32] = "int", [ARG_I64] = "long long", [ARG_F32] = "float",
                                        [ARG_F64] = "double"};
    status s = LATHE_OK;
    switch (a->kind) {
    case ARG_TENSOR:
        sb_addf(x->out, "        CUdeviceptr lathe_arg_%d = ", at);
        export_buffer(x, a->tensor);
        break;
    case ARG_EPILOGUE:
        sb_addf(x->out, "        struct LatheEpilogue lathe_arg_%d = ", at);
        export_epilogue_value(x);
        break;
    case ARG_TENSOR_MAP: return LATHE_OK;       /* there already */
    case ARG_EXPR:
        sb_addf(x->out, "        %s lathe_arg_%d = (%s)(", types[a->type], at, types[a->type]);
        s = export_expr(x, a->expr, e);
        sb_add(x->out, ")");
        break;
    }
    sb_add(x->out, ";\n");
    return s;
}

status export_driver_launch(struct exporter *x, int step, bool attributes, struct err *e)
{
    const struct launch *l = &x->k->steps[step].launch;
    status s = LATHE_OK;
    for (int i = 0; i < l->nargs && !s; i++) s = print_variable(x, &l->args[i], i, e);
    if (s) return s;
    sb_addf(x->out, "        void *lathe_args[%d] = {", l->nargs ? l->nargs : 1);
    for (int i = 0; i < l->nargs; i++) {
        sb_add(x->out, i ? ", &" : "&");
        if (l->args[i].kind == ARG_TENSOR_MAP) export_map_name(x, step, i);
        else sb_addf(x->out, "lathe_arg_%d", i);
    }
    sb_addf(x->out,
            "%s};\n        lathe_error = %s(&lathe_function[%d], lathe_grid, lathe_block, lathe_shared, %s, stream, "
            "lathe_args);\n"
            "        if (lathe_error != CUDA_SUCCESS) return lathe_error;\n",
            l->nargs ? "" : "0", export_helper(x, HELPER_LAUNCH), export_function_index(x, l->function),
            attributes ? "lathe_attribute, lathe_attributes" : "0, 0");
    return LATHE_OK;
}
