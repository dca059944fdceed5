/* expr_bind.c: names become slots, types are checked, each node gets the operation that its argument types ask for.
 *
 * Arguments stand before their operator in x->nodes, so one pass from the first node to the last is enough. */
#include "base/mem.h"
#include "expr/expr_ast.h"

#include <string.h>

struct binder {
    struct expr *x;
    const struct scope *scope;
    struct err *e;
};

static bool is_number(enum value_type t)
{
    return t == VALUE_INT || t == VALUE_FLOAT;
}

/* "`SPLIT_K` is an integer", for the argument n of an operator; cut short when long. */
static const char *argument_is(const struct binder *b, const struct expr_node *n, char out[160])
{
    enum { SHOWN = 80 };
    int len = n->end - n->start;
    struct strbuf s = {0};
    sb_addf(&s, "`%.*s%s` is %s %s", len > SHOWN ? SHOWN : len, b->x->text + n->start, len > SHOWN ? "..." : "",
            n->type == VALUE_INT ? "an" : "a", value_type_name(n->type));
    size_t bytes = s.len < 160 ? s.len : 159;
    memcpy(out, sb_str(&s), bytes);
    out[bytes] = 0;
    sb_free(&s);
    return out;
}

/* The refusal of argument `arg` by operator n. */
static status refuse(const struct binder *b, const struct expr_node *n, const struct expr_node *arg, const char *wanted,
                     const char *advice)
{
    char is[160];
    return expr_error(b->e, b->x->text, arg->start, "`%s` takes %s, but %s%s", expr_forms[n->form].text, wanted,
                      argument_is(b, arg, is), advice);
}

static const char *number_advice(enum value_type t)
{
    return t == VALUE_BOOL ? ": write `select(condition, 1, 0)` for a number" : "";
}

static status want_numbers(const struct binder *b, struct expr_node *n, enum value_type *type)
{
    *type = VALUE_INT;
    for (int i = n->first; i >= 0; i = b->x->nodes[i].next) {
        const struct expr_node *arg = &b->x->nodes[i];
        if (!is_number(arg->type))
            return refuse(b, n, arg, "numbers", number_advice(arg->type));
        if (arg->type == VALUE_FLOAT)
            *type = VALUE_FLOAT;
    }
    return LATHE_OK;
}

static status want_all(const struct binder *b, struct expr_node *n, enum value_type type, const char *wanted)
{
    for (int i = n->first; i >= 0; i = b->x->nodes[i].next) {
        const struct expr_node *arg = &b->x->nodes[i];
        if (arg->type == type)
            continue;
        const char *advice = number_advice(arg->type);
        if (type == VALUE_BOOL)
            advice = is_number(arg->type) ? ": write `x != 0` for a condition" : "";
        else if (arg->type == VALUE_FLOAT)
            advice = ": use floor, ceil or round first";
        return refuse(b, n, arg, wanted, advice);
    }
    return LATHE_OK;
}

/* The common type of two arguments; *type is float for an integer and a float. */
static status want_alike(const struct binder *b, struct expr_node *n, const struct expr_node *one,
                         const struct expr_node *two, enum value_type *type)
{
    char is_one[160], is_two[160];
    *type = one->type;
    if (is_number(one->type) && is_number(two->type))
        *type = one->type == VALUE_INT && two->type == VALUE_INT ? VALUE_INT : VALUE_FLOAT;
    else if (one->type != two->type)
        return expr_error(b->e, b->x->text, n->at, "`%s` takes two of a kind, but %s and %s", expr_forms[n->form].text,
                          argument_is(b, one, is_one), argument_is(b, two, is_two));
    return LATHE_OK;
}

static status type_equality(const struct binder *b, struct expr_node *n)
{
    const struct expr_node *one = &b->x->nodes[n->first], *two = &b->x->nodes[one->next];
    enum value_type type;
    status s = want_alike(b, n, one, two, &type);
    bool equal = n->form == FORM_EQ;
    n->type = VALUE_BOOL;
    if (type == VALUE_BOOL)
        n->op = equal ? OP_EQ_B : OP_NE_B;
    else if (type == VALUE_STRING)
        n->op = equal ? OP_EQ_S : OP_NE_S;
    else
        n->op = type == VALUE_INT ? expr_forms[n->form].as_int : expr_forms[n->form].as_float;
    return s;
}

static status type_select(const struct binder *b, struct expr_node *n)
{
    const struct expr_node *condition = &b->x->nodes[n->first], *one = &b->x->nodes[condition->next];
    if (condition->type != VALUE_BOOL)
        return refuse(b, n, condition, "a condition first",
                      is_number(condition->type) ? ": write `x != 0` for a condition" : "");
    return want_alike(b, n, one, &b->x->nodes[one->next], &n->type);
}

static status type_operator(const struct binder *b, struct expr_node *n)
{
    const struct expr_form_info *form = &expr_forms[n->form];
    enum value_type type = VALUE_NONE;
    status s = LATHE_OK;
    n->op = form->as_int;
    switch (form->typing) {
    case TYPING_LEAF: return err_set(b->e, LATHE_INTERNAL, "a leaf has no operator");
    case TYPING_ARITH:
    case TYPING_ORDER:
        s = want_numbers(b, n, &type);
        n->type = form->typing == TYPING_ORDER ? VALUE_BOOL : type;
        n->op = type == VALUE_INT ? form->as_int : form->as_float;
        return s;
    case TYPING_FLOAT:
        n->type = VALUE_FLOAT;
        n->op = form->as_float;
        return want_numbers(b, n, &type);
    case TYPING_TO_INT:
        n->type = VALUE_INT;
        s = want_numbers(b, n, &type);
        n->op = type == VALUE_INT ? OP_NONE : form->as_float;      /* of an integer: itself */
        return s;
    case TYPING_INT:
    case TYPING_INT_TEST:
        n->type = form->typing == TYPING_INT ? VALUE_INT : VALUE_BOOL;
        return want_all(b, n, VALUE_INT, "integers");
    case TYPING_LOGIC:
        n->type = VALUE_BOOL;
        return want_all(b, n, VALUE_BOOL, "conditions");
    case TYPING_EQUAL: return type_equality(b, n);
    case TYPING_SELECT: return type_select(b, n);
    }
    return err_set(b->e, LATHE_INTERNAL, "form %d has no typing rule", (int)n->form);
}

static const char *nearest_name(const struct scope *scope, const char *name)
{
    const char **names = mem_alloc(sizeof *names * (size_t)(scope->count + 1));
    for (int i = 0; i < scope->count; i++)
        names[i] = scope->names[i].name;
    const char *near = nearest_word(name, names, scope->count);
    mem_free(names);
    return near;
}

char *expr_unknown(const struct expr *x, const struct scope *scope, const char **near)
{
    *near = NULL;
    for (int i = 0; i < x->count; i++) {
        const struct expr_node *n = &x->nodes[i];
        if (n->form != FORM_NAME && n->form != FORM_ELEMENT)
            continue;
        char *name = mem_printf("%.*s", n->at_len, x->text + n->at);
        if (scope_find(scope, name) < 0) {
            *near = nearest_name(scope, name);
            return name;
        }
        mem_free(name);
    }
    return NULL;
}

/* Names the nearest name of the scope, or all of them when none is near. */
static status unknown_name(const struct binder *b, const struct expr_node *n, const char *name)
{
    const struct scope *scope = b->scope;
    for (int f = FORM_MIN; n->form == FORM_NAME && f < FORM_COUNT; f++)
        if (!strcmp(expr_forms[f].text, name))
            return expr_error(b->e, b->x->text, n->at, "`%s` is a function: write its arguments, as in %s(...)", name,
                              name);
    const char *near = nearest_name(scope, name);
    struct strbuf list = {0};
    for (int i = 0; !near && i < scope->count && list.len < 400; i++)
        sb_addf(&list, "%s%s", i ? ", " : "", scope->names[i].name);
    if (list.len >= 400)
        sb_add(&list, ", ...");
    status s;
    if (near)
        s = expr_error(b->e, b->x->text, n->at, "unknown name `%.100s`: did you mean `%s`?", name, near);
    else
        s = expr_error(b->e, b->x->text, n->at, "unknown name `%.100s`: %s%s", name,
                       scope->count ? "the names here are " : "no names may be used here", sb_str(&list));
    sb_free(&list);
    return s;
}

static status bind_name(const struct binder *b, struct expr_node *n)
{
    struct expr *x = b->x;
    char *name = mem_printf("%.*s", n->at_len, x->text + n->at);
    int slot = scope_find(b->scope, name);
    status s = slot < 0 ? unknown_name(b, n, name) : LATHE_OK;
    mem_free(name);
    if (s)
        return s;
    const struct scope_name *known = &b->scope->names[slot];
    n->slot = slot;
    n->type = known->type;
    if (n->type == VALUE_NONE)
        return err_set(b->e, LATHE_INTERNAL, "the name %s has no type", known->name);
    if (n->form == FORM_NAME && known->rank > 0)
        return expr_error(b->e, x->text, n->at, "`%s` is a tensor: use an element of it, with %d ind%s, as in %s[i%s]",
                          known->name, known->rank, known->rank == 1 ? "ex" : "ices", known->name,
                          known->rank == 1 ? "" : ", ...");
    if (n->form == FORM_NAME)
        return LATHE_OK;
    if (known->rank == 0)
        return expr_error(b->e, x->text, n->at, "`%s` is no tensor and takes no index", known->name);
    if (known->rank != n->nargs || n->nargs > EXPR_MAX_RANK)
        return expr_error(b->e, x->text, n->at, "`%s` has %d dimension%s, got %d ind%s", known->name, known->rank,
                          known->rank == 1 ? "" : "s", n->nargs, n->nargs == 1 ? "ex" : "ices");
    for (int i = n->first; i >= 0; i = x->nodes[i].next)
        if (x->nodes[i].type != VALUE_INT) {
            char is[160];
            return expr_error(b->e, x->text, x->nodes[i].start, "an index is an integer, but %s",
                              argument_is(b, &x->nodes[i], is));
        }
    return LATHE_OK;
}

status expr_bind(struct expr *x, const struct scope *scope, struct err *e)
{
    struct binder b = {.x = x, .scope = scope, .e = e};
    status s = LATHE_OK;
    x->bound = false;
    expr_program_free(&x->program);
    for (int i = 0; i < x->count && !s; i++) {
        struct expr_node *n = &x->nodes[i];
        if (n->form == FORM_CONST)
            n->type = n->literal.type;
        else
            s = n->form == FORM_NAME || n->form == FORM_ELEMENT ? bind_name(&b, n) : type_operator(&b, n);
    }
    if (!s)
        s = expr_compile(x, e);
    x->bound = !s;
    return s;
}
