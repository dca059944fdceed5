/* expr_parse.c: from tokens to the tree, by precedence climbing.
 *
 * Invariants: p->token is the next token, not yet used. A failed parse leaves the nodes that it made in p->x, whose
 * owner frees them. Recursion is bounded by EXPR_MAX_NESTING. */
#include "base/mem.h"
#include "expr/expr_ast.h"

#include <limits.h>
#include <string.h>

struct parser {
    struct expr *x;
    struct expr_token token;
    int end;                                        /* where the last used token ended */
    int nesting;
    struct err *e;
};

/* Precedences; a higher one binds tighter. */
enum { LEVEL_ANY, LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_UNARY };

static int level_of(enum expr_form form)
{
    switch (form) {
    case FORM_OR: return LEVEL_OR;
    case FORM_AND: return LEVEL_AND;
    case FORM_LT: case FORM_LE: case FORM_GT: case FORM_GE: case FORM_EQ: case FORM_NE: return LEVEL_COMPARE;
    case FORM_ADD: case FORM_SUB: return LEVEL_SUM;
    case FORM_MUL: case FORM_DIV: case FORM_FLOOR_DIV: case FORM_MOD: return LEVEL_PRODUCT;
    default: return -1;                             /* no binary operator */
    }
}

static status advance(struct parser *p)
{
    p->end = p->token.at + p->token.len;
    return expr_next_token(p->x->text, p->end, &p->token, p->e);
}

/* "`)`", or "the end" */
static const char *describe(const struct parser *p, char out[32])
{
    enum { SHOWN = 20 };
    const struct expr_token *t = &p->token;
    int len = t->len < SHOWN ? t->len : SHOWN;
    if (t->kind == TOKEN_END)
        return "the end";
    out[0] = '`';
    memcpy(out + 1, p->x->text + t->at, (size_t)len);
    memcpy(out + 1 + len, t->len > SHOWN ? "...`" : "`", t->len > SHOWN ? 5 : 2);
    return out;
}

static status expected(struct parser *p, const char *what)
{
    char got[32];
    return expr_error(p->e, p->x->text, p->token.at, "expected %s, got %s", what, describe(p, got));
}

/* Appends a node whose arguments are the list that starts at `first`. */
static status add_node(struct parser *p, struct expr_node n, int first, int *out)
{
    struct expr *x = p->x;
    n.first = first;
    n.next = -1;
    n.height = 1;
    for (int i = first; i >= 0; i = x->nodes[i].next) {
        n.nargs++;
        if (x->nodes[i].height >= n.height)
            n.height = x->nodes[i].height + 1;
        if (x->nodes[i].start < n.start)
            n.start = x->nodes[i].start;
        if (x->nodes[i].end > n.end)
            n.end = x->nodes[i].end;
    }
    if (n.height > EXPR_MAX_HEIGHT)
        return expr_error(p->e, x->text, n.at, "more than %d operations in a chain: split the expression with `let`",
                          EXPR_MAX_HEIGHT);
    MEM_GROW(x->nodes, x->count, x->cap);
    *out = x->count;
    x->nodes[x->count++] = n;
    return LATHE_OK;
}

static struct expr_node node_at(enum expr_form form, const struct expr_token *t)
{
    return (struct expr_node){.form = form, .at = t->at, .at_len = t->len, .start = t->at, .end = t->at + t->len};
}

static status parse_level(struct parser *p, int level, int *out);

/* Arguments up to `close`, linked; the opening bracket is used already. */
static status parse_arguments(struct parser *p, enum expr_token_kind close, const char *close_text, int *first)
{
    status s;
    int last = -1, arg;
    *first = -1;
    if (p->token.kind == close)
        return advance(p);
    for (;;) {
        if ((s = parse_level(p, LEVEL_ANY, &arg)))
            return s;
        if (last < 0)
            *first = arg;
        else
            p->x->nodes[last].next = arg;
        last = arg;
        bool more = p->token.kind == TOKEN_COMMA;
        if (!more && p->token.kind != close)
            return expected(p, close_text);
        if ((s = advance(p)) || !more)
            return s;
    }
}

static int find_function(const char *name, int len)
{
    for (int f = FORM_MIN; f < FORM_COUNT; f++)
        if (strlen(expr_forms[f].text) == (size_t)len && !strncmp(expr_forms[f].text, name, (size_t)len))
            return f;
    return -1;
}

static status unknown_function(struct parser *p, const struct expr_token *t)
{
    const char *known[FORM_COUNT];
    int n = 0;
    for (int f = FORM_MIN; f < FORM_COUNT; f++)
        known[n++] = expr_forms[f].text;
    char *name = mem_printf("%.*s", t->len, p->x->text + t->at);
    const char *near = nearest_word(name, known, n);
    struct strbuf list = {0};
    for (int i = 0; !near && i < n; i++)
        sb_addf(&list, "%s%s", i ? " " : "", known[i]);
    status s;
    if (near)
        s = expr_error(p->e, p->x->text, t->at, "unknown function `%.100s`: did you mean `%s`?", name, near);
    else
        s = expr_error(p->e, p->x->text, t->at, "unknown function `%.100s`: there are %s", name, sb_str(&list));
    sb_free(&list);
    mem_free(name);
    return s;
}

static status check_argument_count(struct parser *p, const struct expr_token *t, int form, int first)
{
    const struct expr_form_info *info = &expr_forms[form];
    int n = 0;
    for (int i = first; i >= 0; i = p->x->nodes[i].next)
        n++;
    if (n >= info->min_args && (info->max_args == 0 || n <= info->max_args))
        return LATHE_OK;
    return expr_error(p->e, p->x->text, t->at, "`%s` takes %s%d argument%s, got %d", info->text,
                      info->max_args ? "" : "at least ", info->min_args, info->min_args == 1 ? "" : "s", n);
}

/* A name, a call or an element. The name token is the current one. */
static status parse_name(struct parser *p, int *out)
{
    struct expr_token t = p->token;
    struct expr_node n = node_at(FORM_NAME, &t);
    int first = -1;
    status s = advance(p);
    if (s)
        return s;
    if (p->token.kind == TOKEN_OPEN) {
        int form = find_function(p->x->text + t.at, t.len);
        if (form < 0)
            return unknown_function(p, &t);
        n.form = (enum expr_form)form;
        if ((s = advance(p)) || (s = parse_arguments(p, TOKEN_CLOSE, "`,` or `)`", &first)) ||
            (s = check_argument_count(p, &t, form, first)))
            return s;
        n.end = p->end;
    } else if (p->token.kind == TOKEN_OPEN_INDEX) {
        n.form = FORM_ELEMENT;
        if ((s = advance(p)) || (s = parse_arguments(p, TOKEN_CLOSE_INDEX, "`,` or `]`", &first)))
            return s;
        if (first < 0)
            return expr_error(p->e, p->x->text, t.at, "an element needs its indices, as in %.*s[i]", t.len,
                              p->x->text + t.at);
        n.end = p->end;
    }
    return add_node(p, n, first, out);
}

static status parse_literal(struct parser *p, bool negative, int *out)
{
    struct expr_token t = p->token;
    struct expr_node n = node_at(FORM_CONST, &t);
    n.literal = t.value;
    if (t.minimum && !negative)
        return expr_error(p->e, p->x->text, t.at, "this integer does not fit in 64 bits: the largest is %lld",
                          (long long)INT64_MAX);
    if (negative && t.value.type == VALUE_INT)
        n.literal.i = t.minimum ? INT64_MIN : -t.value.i;
    else if (negative)
        n.literal.f = -t.value.f;
    status s = advance(p);
    if (s)
        return s;
    if (t.value.type == VALUE_STRING)
        n.literal.s = mem_printf("%.*s", t.len - 2, p->x->text + t.at + 1);
    if ((s = add_node(p, n, -1, out)) && t.value.type == VALUE_STRING)
        mem_free((char *)n.literal.s);
    return s;
}

static status parse_parenthesis(struct parser *p, int *out)
{
    int start = p->token.at;
    status s = advance(p);
    if (s || (s = parse_level(p, LEVEL_ANY, out)))
        return s;
    if (p->token.kind != TOKEN_CLOSE)
        return expected(p, "`)`");
    if ((s = advance(p)))
        return s;
    p->x->nodes[*out].start = start;
    p->x->nodes[*out].end = p->end;
    return LATHE_OK;
}

/* `not` and `-`. A minus before a number is part of the number. */
static status parse_prefix(struct parser *p, int level, int *out)
{
    struct expr_token t = p->token;
    bool is_not = t.form == FORM_NOT;
    if (is_not && level > LEVEL_NOT)
        return expr_error(p->e, p->x->text, t.at, "put the `not` and what it applies to in parentheses");
    status s = advance(p);
    if (s)
        return s;
    bool number = p->token.kind == TOKEN_VALUE &&
                  (p->token.value.type == VALUE_INT || p->token.value.type == VALUE_FLOAT);
    if (!is_not && number) {
        if ((s = parse_literal(p, true, out)))
            return s;
        p->x->nodes[*out].start = t.at;
        return LATHE_OK;
    }
    int operand;
    if ((s = parse_level(p, is_not ? LEVEL_NOT : LEVEL_UNARY, &operand)))
        return s;
    return add_node(p, node_at(is_not ? FORM_NOT : FORM_NEG, &t), operand, out);
}

static status parse_operand(struct parser *p, int level, int *out)
{
    switch (p->token.kind) {
    case TOKEN_NAME: return parse_name(p, out);
    case TOKEN_VALUE: return parse_literal(p, false, out);
    case TOKEN_OPEN: return parse_parenthesis(p, out);
    case TOKEN_OPERATOR:
        if (p->token.form == FORM_NOT || p->token.form == FORM_SUB)
            return parse_prefix(p, level, out);
        return expected(p, "a value");
    default: return expected(p, "a value");
    }
}

/* Whatever binds at least as tightly as `level`. */
static status parse_level(struct parser *p, int level, int *out)
{
    status s;
    if (p->nesting >= EXPR_MAX_NESTING)
        return expr_error(p->e, p->x->text, p->token.at, "nested too deeply: split the expression with `let`");
    p->nesting++;
    if ((s = parse_operand(p, level, out)))
        return s;
    while (p->token.kind == TOKEN_OPERATOR) {
        struct expr_token t = p->token;
        int own = level_of(t.form), right;
        if (own < 0 || own < level)
            break;
        if ((s = advance(p)) || (s = parse_level(p, own + 1, &right)))
            return s;
        p->x->nodes[*out].next = right;
        if ((s = add_node(p, node_at(t.form, &t), *out, out)))
            return s;
        if (own == LEVEL_COMPARE && p->token.kind == TOKEN_OPERATOR && level_of(p->token.form) == LEVEL_COMPARE)
            return expr_error(p->e, p->x->text, p->token.at,
                              "comparisons cannot be chained: write `a < b and b < c` for `a < b < c`");
    }
    p->nesting--;
    return LATHE_OK;
}

static status parse_all(struct parser *p)
{
    int root;
    status s = expr_next_token(p->x->text, 0, &p->token, p->e);
    if (s || (s = parse_level(p, LEVEL_ANY, &root)))
        return s;
    return p->token.kind == TOKEN_END ? LATHE_OK : expected(p, "an operator or the end");
}

status expr_parse(const char *text, struct expr **out, struct err *e)
{
    size_t len = strlen(text);
    *out = NULL;
    if (len > EXPR_MAX_TEXT)
        return err_set(e, LATHE_SPEC, "an expression of %zu bytes is too long (at most %d): \"%.40s...\"", len,
                       EXPR_MAX_TEXT, text);
    struct expr *x = mem_zalloc(1, sizeof *x);
    x->text = mem_strdup(text);
    struct parser p = {.x = x, .e = e};
    status s = parse_all(&p);
    if (s) {
        expr_free(x);
        return s;
    }
    *out = x;
    return LATHE_OK;
}
