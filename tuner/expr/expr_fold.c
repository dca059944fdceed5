/* expr_fold.c: which nodes of a tree are constants once some slots are known, and which are certainly not negative.
 *
 * Arguments stand before their operator, so one pass from the first node to the last is enough. */
#include "base/mem.h"
#include "expr/expr_ast.h"

static bool is_constant(const struct expr_fact *f)
{
    return f->value.type != VALUE_NONE;
}

/* a op b op c ... over the constant arguments of n; CLAMP is max, then min. */
static enum expr_fault fold_chain(const struct expr *x, const struct expr_node *n, const struct expr_fact *facts,
                                  struct value *out)
{
    bool ints = n->type == VALUE_INT;
    enum expr_op op = n->form == FORM_CLAMP ? (ints ? OP_MAX_I : OP_MAX_F) : n->op;
    struct value a = facts[n->first].value;
    enum expr_fault fault = FAULT_NONE;
    if (n->nargs == 1 && op != OP_NONE)
        fault = expr_apply(op, &a, &a, false, &a);
    for (int i = x->nodes[n->first].next; i >= 0 && !fault; i = x->nodes[i].next) {
        fault = expr_apply(op, &a, &facts[i].value, false, &a);
        if (n->form == FORM_CLAMP)
            op = ints ? OP_MIN_I : OP_MIN_F;
    }
    *out = a;
    return fault;
}

/* `and`, `or`, `select`: constants although some arguments are not. */
static struct value fold_lazy(const struct expr *x, const struct expr_node *n, const struct expr_fact *facts)
{
    int first = n->first, second = x->nodes[first].next;
    struct value decides = facts[first].value;
    if (decides.type == VALUE_NONE)
        return decides;
    if (n->form == FORM_SELECT)
        return facts[decides.b ? second : x->nodes[second].next].value;
    return decides.b == (n->form == FORM_AND) ? facts[second].value : decides;
}

static void fold(const struct expr *x, int node, const struct value *known, struct expr_fact *facts)
{
    const struct expr_node *n = &x->nodes[node];
    struct value v = {0};
    bool constant = true;
    switch (n->form) {
    case FORM_CONST: v = n->literal; break;
    case FORM_NAME: v = known ? known[n->slot] : v; break;
    case FORM_ELEMENT: break;
    case FORM_AND: case FORM_OR: case FORM_SELECT: v = fold_lazy(x, n, facts); break;
    default:
        for (int i = n->first; i >= 0; i = x->nodes[i].next)
            constant = constant && is_constant(&facts[i]);
        if (constant)
            facts[node].fault = fold_chain(x, n, facts, &v);
        break;
    }
    if (n->type == VALUE_FLOAT && v.type == VALUE_INT)
        v = value_float((double)v.i);
    if (v.type == n->type && !facts[node].fault)
        facts[node].value = v;
}

static bool all_natural(const struct expr *x, int first, const struct expr_fact *facts)
{
    for (int i = first; i >= 0; i = x->nodes[i].next)
        if (!facts[i].natural)
            return false;
    return true;
}

static bool any_natural(const struct expr *x, int first, const struct expr_fact *facts)
{
    for (int i = first; i >= 0; i = x->nodes[i].next)
        if (facts[i].natural)
            return true;
    return false;
}

static bool is_natural(const struct expr *x, int node, const struct expr_fact *facts)
{
    const struct expr_node *n = &x->nodes[node];
    if (n->type != VALUE_INT)
        return false;
    if (is_constant(&facts[node]))
        return facts[node].value.i >= 0;
    switch (n->form) {
    case FORM_ADD: case FORM_MUL: case FORM_FLOOR_DIV: case FORM_MIN: return all_natural(x, n->first, facts);
    case FORM_MAX: return any_natural(x, n->first, facts);
    case FORM_MOD: return facts[x->nodes[n->first].next].natural;
    case FORM_CEIL_DIV: return facts[n->first].natural;
    case FORM_CLAMP: case FORM_SELECT: return all_natural(x, x->nodes[n->first].next, facts);
    case FORM_FLOOR: case FORM_CEIL: case FORM_ROUND: return facts[n->first].natural;
    case FORM_ABS: case FORM_LOG2: return true;
    default: return false;
    }
}

struct expr_fact *expr_facts(const struct expr *x, const struct value *known, const struct expr_range *ranges)
{
    struct expr_fact *facts = mem_zalloc((size_t)x->count, sizeof *facts);
    for (int i = 0; i < x->count; i++) {
        fold(x, i, known, facts);
        facts[i].natural = is_natural(x, i, facts);
        expr_find_range(x, i, ranges, facts);
    }
    return facts;
}
