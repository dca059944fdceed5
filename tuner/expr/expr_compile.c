/* expr_compile.c: from the tree to code for the machine of expr_eval.c.
 *
 * Slots and constants are operands as they stand; only results of operations take temporaries, numbered like a stack.
 *
 * Invariant: generate(g, node, top) writes no temporary below `top`, and if its operand is a temporary, it is `top`. */
#include "base/mem.h"
#include "expr/expr_ast.h"

struct generator {
    const struct expr *x;
    struct expr_program *p;
    int temps;                                      /* the most that are in use at a time */
};

static struct expr_operand temp(struct generator *g, int index)
{
    if (index >= g->temps)
        g->temps = index + 1;
    return (struct expr_operand){.kind = OPERAND_TEMP, .index = index};
}

static struct expr_operand constant(struct generator *g, struct value v)
{
    MEM_GROW(g->p->consts, g->p->nconsts, g->p->consts_cap);
    g->p->consts[g->p->nconsts] = v;
    return (struct expr_operand){.kind = OPERAND_CONST, .index = g->p->nconsts++};
}

/* Returns the instruction's place, for a jump to be aimed later. */
static int emit(struct generator *g, enum expr_op op, int dst, struct expr_operand a, struct expr_operand b)
{
    struct expr_program *p = g->p;
    MEM_GROW(p->code, p->ncode, p->code_cap);
    p->code[p->ncode] = (struct expr_instruction){
        .op = (uint8_t)op, .a_kind = (uint8_t)a.kind, .b_kind = (uint8_t)b.kind, .dst = dst, .a = a.index, .b = b.index,
    };
    return p->ncode++;
}

/* An operation; done now if its operands are constants and it succeeds (a failure is left for evaluation to report). */
static struct expr_operand operation(struct generator *g, enum expr_op op, struct expr_operand a, struct expr_operand b,
                                     int top)
{
    struct value v;
    const struct value *consts = g->p->consts;
    if (a.kind == OPERAND_CONST && b.kind == OPERAND_CONST &&
        expr_apply(op, &consts[a.index], &consts[b.index], false, &v) == FAULT_NONE)
        return constant(g, v);
    emit(g, op, top, a, b);
    return temp(g, top);
}

static struct expr_operand into_temp(struct generator *g, struct expr_operand a, int top)
{
    if (a.kind != OPERAND_TEMP)
        emit(g, OP_MOVE, top, a, a);
    return temp(g, top);
}

static int after(struct expr_operand a, int top)
{
    return a.kind == OPERAND_TEMP ? top + 1 : top;
}

static struct expr_operand generate(struct generator *g, int node, int top);

static struct expr_operand generate_logic(struct generator *g, const struct expr_node *n, int top)
{
    int left = n->first, right = g->x->nodes[left].next;
    bool is_and = n->form == FORM_AND;
    struct expr_operand a = generate(g, left, top);
    if (a.kind == OPERAND_CONST)
        return g->p->consts[a.index].b == is_and ? generate(g, right, top) : a;
    a = into_temp(g, a, top);
    int jump = emit(g, is_and ? OP_JUMP_FALSE : OP_JUMP_TRUE, 0, a, a);
    into_temp(g, generate(g, right, top), top);
    g->p->code[jump].dst = g->p->ncode;
    return a;
}

static struct expr_operand generate_select(struct generator *g, const struct expr_node *n, int top)
{
    int condition = n->first, one = g->x->nodes[condition].next, two = g->x->nodes[one].next;
    struct expr_operand c = generate(g, condition, top);
    if (c.kind == OPERAND_CONST)
        return generate(g, g->p->consts[c.index].b ? one : two, top);
    int to_two = emit(g, OP_JUMP_FALSE, 0, c, c);
    into_temp(g, generate(g, one, top), top);
    int to_end = emit(g, OP_JUMP, 0, temp(g, top), temp(g, top));
    g->p->code[to_two].dst = g->p->ncode;
    into_temp(g, generate(g, two, top), top);
    g->p->code[to_end].dst = g->p->ncode;
    return temp(g, top);
}

static struct expr_operand generate_element(struct generator *g, const struct expr_node *n, int top)
{
    int at = top;
    for (int i = n->first; i >= 0; i = g->x->nodes[i].next, at++)
        into_temp(g, generate(g, i, at), at);
    struct expr_operand slot = {.kind = OPERAND_SLOT, .index = n->slot};
    emit(g, OP_ELEMENT, top, slot, (struct expr_operand){.kind = OPERAND_TEMP, .index = n->nargs});
    return temp(g, top);
}

/* An operation of two over all arguments from the left: (a op b) op c. */
static struct expr_operand generate_chain(struct generator *g, const struct expr_node *n, int top)
{
    struct expr_operand a = generate(g, n->first, top);
    for (int i = g->x->nodes[n->first].next; i >= 0; i = g->x->nodes[i].next)
        a = operation(g, n->op, a, generate(g, i, after(a, top)), top);
    return a;
}

static struct expr_operand generate_clamp(struct generator *g, const struct expr_node *n, int top)
{
    bool ints = n->type == VALUE_INT;
    int x = n->first, low = g->x->nodes[x].next, high = g->x->nodes[low].next;
    struct expr_operand a = generate(g, x, top);
    a = operation(g, ints ? OP_MAX_I : OP_MAX_F, a, generate(g, low, after(a, top)), top);
    return operation(g, ints ? OP_MIN_I : OP_MIN_F, a, generate(g, high, after(a, top)), top);
}

static struct expr_operand generate(struct generator *g, int node, int top)
{
    const struct expr_node *n = &g->x->nodes[node];
    struct expr_operand a;
    switch (n->form) {
    case FORM_CONST: return constant(g, n->literal);
    case FORM_NAME: return (struct expr_operand){.kind = OPERAND_SLOT, .index = n->slot};
    case FORM_ELEMENT: return generate_element(g, n, top);
    case FORM_AND: case FORM_OR: return generate_logic(g, n, top);
    case FORM_SELECT: return generate_select(g, n, top);
    case FORM_CLAMP: return generate_clamp(g, n, top);
    default: break;
    }
    if (n->nargs > 1)
        return generate_chain(g, n, top);
    a = generate(g, n->first, top);
    return n->op == OP_NONE ? a : operation(g, n->op, a, a, top);   /* the second operand is not read */
}

status expr_compile(struct expr *x, struct err *e)
{
    struct generator g = {.x = x, .p = &x->program};
    g.p->result = generate(&g, x->count - 1, 0);
    if (g.temps > EXPR_MAX_TEMPS) {
        expr_program_free(g.p);
        return expr_error(e, x->text, 0, "nested too deeply (%d values in flight, at most %d): split it with `let`",
                          g.temps, EXPR_MAX_TEMPS);
    }
    return LATHE_OK;
}

void expr_program_free(struct expr_program *p)
{
    mem_free(p->code);
    mem_free(p->consts);
    *p = (struct expr_program){0};
}
