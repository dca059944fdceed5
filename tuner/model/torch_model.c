/* torch_model.c: see torch_model.h. problem_json_torch.c reads one. */
#include "model/problem.h"

#include "base/mem.h"
#include <string.h>

/* NOTE: torch_runtime.py and what export_torch*.c print (export/torch) use no other names that do not begin with
 * lathe. */
bool torch_model_reserved(const char *name)
{
    static const char *const words[] = {
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
        "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
        "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "self", "torch", "nn", "math", "super",
        "len", "list", "float", "abs", "max", "min", "forward", "reference", "training",
        /* nn.Module's own attributes: an argument of the constructor may become one */
        "T_destination", "add_module", "apply", "bfloat16", "buffers", "call_super_init", "children", "compile", "cpu",
        "cuda", "double", "dump_patches", "eval", "extra_repr", "get_buffer", "get_extra_state", "get_parameter",
        "get_submodule", "half", "ipu", "load_state_dict", "modules", "mtia", "named_buffers", "named_children",
        "named_modules", "named_parameters", "parameters", "register_backward_hook", "register_buffer",
        "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook",
        "register_full_backward_pre_hook", "register_load_state_dict_post_hook",
        "register_load_state_dict_pre_hook", "register_module", "register_parameter",
        "register_state_dict_post_hook", "register_state_dict_pre_hook", "requires_grad", "requires_grad_",
        "set_extra_state", "set_submodule", "share_memory", "state_dict", "to", "to_empty", "train", "type", "xpu",
        "zero_grad", NULL};
    for (int i = 0; words[i]; i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return false;
}

static bool own_parameter(const struct torch_model *m, int tensor)
{
    for (int i = 0; m && i < m->nparameters; i++)
        if (!m->parameters[i].linear && m->parameters[i].weight == tensor)
            return true;
    return false;
}

bool torch_model_axis(const struct problem *p, const struct torch_model *m, int dim, int *tensor, int *axis)
{
    for (int own = 0; own < 2; own++)
        for (int i = 0; i < p->ntensors; i++)
            for (int a = 0; a < p->tensors[i].rank && !p->tensors[i].output; a++)
                if (own_parameter(m, i) == own && problem_find_dim(p, expr_text(p->tensors[i].shape[a])) == dim) {
                    *tensor = i;
                    *axis = a;
                    return true;
                }
    return false;
}

char *torch_model_python_name(const char *name)
{
    size_t stem = strlen(name);
    while (stem > 0 && name[stem - 1] == '_')
        stem--;
    char *without = mem_printf("%.*s", (int)stem, name);
    bool taken = name[0] == '_' || torch_model_reserved(without);     /* names beginning with _ are nn.Module's */
    mem_free(without);
    return mem_printf("%s%s", name, taken ? "_" : "");
}

struct torch_model *torch_model_generic(const struct problem *p)
{
    struct torch_model *m = mem_zalloc(1, sizeof *m);
    int tensor, axis;
    m->init = mem_zalloc((size_t)(p->ndims + p->nscalars), sizeof *m->init);
    m->forward = mem_zalloc((size_t)p->ntensors, sizeof *m->forward);
    for (int d = 0; d < p->ndims; d++)
        if (!torch_model_axis(p, NULL, d, &tensor, &axis))
            m->init[m->ninit++] = (struct torch_init){.name = torch_model_python_name(p->dims[d].name),
                                                      .kind = TORCH_DIM,
                                                      .index = d,
                                                      .has_initial = true,
                                                      .initial = (double)p->dims[d].value};
    for (int i = 0; i < p->nscalars; i++)
        m->init[m->ninit++] =
            (struct torch_init){.name = torch_model_python_name(p->scalars[i].name), .kind = TORCH_SCALAR, .index = i,
                                .has_initial = true, .initial = p->scalars[i].value};
    for (int i = 0; i < p->ntensors; i++)
        if (!p->tensors[i].output)
            m->forward[m->nforward++] =
                (struct torch_input){.name = torch_model_python_name(p->tensors[i].name), .tensor = i};
    return m;
}

void torch_model_free(struct torch_model *m)
{
    if (!m)
        return;
    for (int i = 0; i < m->ninit; i++)
        mem_free(m->init[i].name);
    for (int i = 0; i < m->nforward; i++)
        mem_free(m->forward[i].name);
    for (int i = 0; i < m->nparameters; i++)
        mem_free(m->parameters[i].name);
    mem_free(m->init);
    mem_free(m->forward);
    mem_free(m->parameters);
    mem_free(m->formula);
    mem_free(m);
}
