/* python.c: Python's expressions, by precedence, to formulas. See python_impl.h. */
#include "search/spec/python_impl.h"

#include "base/mem.h"
#include <string.h>

enum { NESTING_MAX = 80, TEXT_MAX = 32 << 10 };

/* What Python has and a constraint may not: a word or an operator, and what it is called. */
static const struct {
    const char *word, *name;
} refused[] = {
    {"**", "a power"}, {"&", "and of bits"}, {"|", "or of bits"}, {"^", "exclusive or of bits"}, {"~", "not of bits"},
    {"<<", "a shift"}, {">>", "a shift"}, {"@", "a matrix product"}, {"[", "a subscript or a list"},
    {"{", "a set or a dictionary"}, {".", "an attribute"}, {"...", "an ellipsis"}, {"=", "an assignment"},
    {":=", "an assignment"}, {",", "a tuple"},
    {":", "a slice or a lambda"}, {";", "a second statement"}, {"lambda", "a function"},
    {"if", "a conditional expression"}, {"else", "a conditional expression"}, {"is", "a test of identity"},
    {"None", "no value"}, {"for", "a comprehension"}, {"await", "a coroutine"}, {"yield", "a generator"},
    {"import", "a statement"}, {"del", "a statement"}, {"return", "a statement"},
};

/* At a token that nothing here takes. */
static status unexpected(struct python_parser *p, const char *expected)
{
    const struct python_token *t = &p->token;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (python_is(p, refused[i].word))
            return python_fail(p, t->at, "`%s` (%s) is not read", refused[i].word, refused[i].name);
    if (t->kind == PYTHON_END)
        return python_fail(p, t->at, "expected %s, got the end", expected);
    return python_fail(p, t->at, "expected %s, got `%.*s`", expected, t->len < 40 ? t->len : 40, p->text + t->at);
}

static status unknown_name(struct python_parser *p)
{
    const struct python_token *t = &p->token;
    const char **all = mem_zalloc((size_t)p->names->count + 1, sizeof *all);
    char *name = mem_printf("%.*s", t->len < 100 ? t->len : 100, p->text + t->at);
    for (int i = 0; i < p->names->count; i++)
        all[i] = p->names->items[i].name;
    const char *near = nearest_word(name, all, p->names->count);
    status s = python_fail(p, t->at, "unknown name '%s'%s%s%s", name, near ? ": did you mean '" : "", near ? near : "",
                           near ? "'?" : "");
    mem_free(name);
    mem_free(all);
    return s;
}

static status name(struct python_parser *p, struct python_term *out)
{
    static const char *const keywords[] = {"and", "or", "not", "in", NULL};
    struct python_token t = p->token;
    if (python_is(p, "True") || python_is(p, "False")) {
        *out = python_literal(p, value_bool(python_is(p, "True")));
        return out->text ? python_advance(p) : LATHE_SPEC;
    }
    for (int i = 0; keywords[i]; i++)
        if (python_is(p, keywords[i]))
            return unexpected(p, "a value");
    for (int i = 0; i < p->names->count; i++) {
        const struct python_name *n = &p->names->items[i];
        if (!python_is(p, n->name))
            continue;
        struct strbuf b = {0};
        sb_add(&b, n->name);
        *out = (struct python_term){.text = python_keep(p, &b), .type = n->type, .level = LEVEL_ATOM, .low = n->low,
                                    .high = n->high};
        return out->text ? python_advance(p) : LATHE_SPEC;
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (python_is(p, refused[i].word))
            return unexpected(p, "a value");
    const char *after = p->text + t.at + t.len;
    after += strspn(after, " \t\r\n");
    if (*after == '(')
        return python_fail(p, t.at, "`%.*s(...)` (a call) is not read", t.len < 60 ? t.len : 60, p->text + t.at);
    return unknown_name(p);
}

static status literal(struct python_parser *p, struct python_term *out)
{
    struct value v = p->token.value;
    int at = p->token.at;
    if (v.type == VALUE_STRING && (strchr(v.s, '\n') || (strchr(v.s, '\'') && strchr(v.s, '"'))))
        return python_fail(p, at, "a text of several lines, or with both kinds of quotes, is not read");
    *out = python_literal(p, v);
    if (!out->text)
        return LATHE_SPEC;
    status s = python_advance(p);
    if (!s && v.type == VALUE_STRING && p->token.kind == PYTHON_VALUE && p->token.value.type == VALUE_STRING)
        return python_fail(p, p->token.at, "texts side by side (one text) are not read");
    return s;
}

/* A value, and what may not follow one. */
static status atom(struct python_parser *p, struct python_term *out)
{
    bool open;
    status s = python_take(p, "(", &open);
    if (s)
        return s;
    if (open) {
        if (!(s = python_expression(p, out)) && !(s = python_is(p, ")") ? LATHE_OK : unexpected(p, "`)`"))) {
            s = python_advance(p);
            out->level = out->type == VALUE_NONE ? LEVEL_OR : out->level;
        }
    } else if (p->token.kind == PYTHON_VALUE) {
        s = literal(p, out);
    } else if (p->token.kind == PYTHON_NAME) {
        s = name(p, out);
    } else {
        return unexpected(p, "a value");
    }
    if (!s && python_is(p, "("))
        return python_fail(p, p->token.at, "a call is not read");
    return s;
}

static status factor(struct python_parser *p, struct python_term *out)
{
    int at = p->token.at;
    bool minus, plus, raised;
    status s = python_take(p, "-", &minus);
    if (!s && !minus)
        s = python_take(p, "+", &plus);
    if (s)
        return s;
    if (minus || plus) {
        if (++p->nesting > NESTING_MAX)
            return python_fail(p, at, "nested more than %d deep", NESTING_MAX);
        struct python_term of, zero = python_literal(p, value_int(0));
        if ((s = factor(p, &of)) || !zero.text)
            return s ? s : LATHE_SPEC;
        p->nesting--;
        if (minus)
            return python_negate(p, &of, at, out);
        *out = of;
        bool number = of.type == VALUE_INT || of.type == VALUE_FLOAT;
        return number ? LATHE_OK : python_arithmetic(p, "+", &of, &zero, at, out);
    }
    struct python_term base, exponent;
    if ((s = atom(p, out)) || !p->powers)
        return s;
    at = p->token.at;
    if ((s = python_take(p, "**", &raised)) || !raised)
        return s;
    base = *out;
    if (++p->nesting > NESTING_MAX)
        return python_fail(p, at, "nested more than %d deep", NESTING_MAX);
    if ((s = factor(p, &exponent)))
        return s;
    p->nesting--;
    return python_arithmetic(p, "**", &base, &exponent, at, out);
}

/* Operators of one precedence, from the left. */
static status chain(struct python_parser *p, const char *const *operators,
                    status (*operand)(struct python_parser *, struct python_term *), struct python_term *out)
{
    status s = operand(p, out);
    while (!s) {
        const char *op = NULL;
        for (int i = 0; operators[i] && !op; i++)
            op = python_is(p, operators[i]) ? operators[i] : NULL;
        if (!op)
            return LATHE_OK;
        int at = p->token.at;
        struct python_term a = *out, b;
        if (!(s = python_advance(p)) && !(s = operand(p, &b)))
            s = python_arithmetic(p, op, &a, &b, at, out);
    }
    return s;
}

static status product(struct python_parser *p, struct python_term *out)
{
    static const char *const operators[] = {"*", "//", "/", "%", NULL};
    return chain(p, operators, factor, out);
}

static status sum(struct python_parser *p, struct python_term *out)
{
    static const char *const operators[] = {"+", "-", NULL};
    return chain(p, operators, product, out);
}

/* `a in [x, y]`, after the `in`: a == x or a == y. negated: a != x and a != y. */
static status membership(struct python_parser *p, const struct python_term *a, bool negated, struct strbuf *out,
                         enum python_level *level)
{
    static const char *const open[] = {"[", "(", "{"}, *const close[] = {"]", ")", "}"};
    int kind = 0, n = 0, at = p->token.at;
    while (kind < 3 && !python_is(p, open[kind]))
        kind++;
    if (kind == 3)
        return python_fail(p, at, "`in` wants a list, a tuple or a set written out");
    status s = python_advance(p);
    bool comma = false;
    while (!s && !python_is(p, close[kind])) {
        struct python_term x;
        int here = p->token.at;
        if (n && !comma)
            return unexpected(p, close[kind]);
        if (n++)
            sb_add(out, negated ? " and " : " or ");
        if ((s = python_expression(p, &x)) || (s = python_compare(p, negated ? "!=" : "==", a, &x, here, out)))
            return s;
        s = python_take(p, ",", &comma);
    }
    if (!s && kind == 1 && n == 1 && !comma)
        return python_fail(p, at, "`in` wants a list, a tuple or a set written out; (x,) is a tuple of one");
    if (!s && kind == 2 && n == 0)
        return python_fail(p, at, "`{}` (a dictionary) is not read");
    if (n == 0)
        sb_add(out, negated ? "true" : "false");
    *level = n == 0 ? LEVEL_ATOM : n == 1 ? LEVEL_COMPARE : negated ? LEVEL_AND : LEVEL_OR;
    return s ? s : python_advance(p);
}

/* The comparison that the next tokens are, used; "in", "not in"; NULL: none. */
static status comparison_operator(struct python_parser *p, const char **op)
{
    static const char *const operators[] = {"<", "<=", ">", ">=", "==", "!=", "in", NULL};
    *op = NULL;
    for (int i = 0; operators[i] && !*op; i++)
        *op = python_is(p, operators[i]) ? operators[i] : NULL;
    if (*op)
        return python_advance(p);
    bool negated;
    status s = python_take(p, "not", &negated);
    if (!s && negated) {
        *op = "not in";
        s = python_expect(p, "in");
    }
    return s;
}

static status comparison(struct python_parser *p, struct python_term *out)
{
    struct python_term a, b;
    struct strbuf all = {0};
    enum python_level level = LEVEL_COMPARE;
    int n = 0;
    status s = sum(p, &a);
    *out = a;
    for (const char *op = ""; !s; a = b, n++) {
        int at = p->token.at;
        if ((s = comparison_operator(p, &op)) || !op)
            break;
        struct strbuf one = {0};
        bool in = !strcmp(op, "in") || !strcmp(op, "not in");
        level = LEVEL_COMPARE;
        if (in)
            s = membership(p, &a, op[0] == 'n', &one, &level);
        else if (!(s = sum(p, &b)))
            s = python_compare(p, op, &a, &b, at, &one);
        sb_addf(&all, n && level < LEVEL_NOT ? " and (%s)" : n ? " and %s" : "%s", sb_str(&one));
        sb_free(&one);
        if (in) {
            n++;
            break;
        }
    }
    if (s || n == 0) {
        sb_free(&all);
        return s;
    }
    *out = (struct python_term){.text = python_keep(p, &all), .type = VALUE_BOOL, .high = 1,
                                .level = n > 1 ? LEVEL_AND : level};
    return out->text ? LATHE_OK : LATHE_SPEC;
}

static status negation(struct python_parser *p, struct python_term *out)
{
    int at = p->token.at;
    bool taken;
    status s = python_take(p, "not", &taken);
    if (s || !taken)
        return s ? s : comparison(p, out);
    struct python_term of;
    if (++p->nesting > NESTING_MAX)
        return python_fail(p, at, "nested more than %d deep", NESTING_MAX);
    if ((s = negation(p, &of)))
        return s;
    p->nesting--;
    const char *truth = python_truth(p, &of, LEVEL_NOT);
    struct strbuf b = {0};
    if (!truth)
        return LATHE_SPEC;
    sb_addf(&b, "not %s", truth);
    *out = (struct python_term){.text = python_keep(p, &b), .type = VALUE_BOOL, .level = LEVEL_NOT, .high = 1};
    return out->text ? LATHE_OK : LATHE_SPEC;
}

static status conjunction(struct python_parser *p, struct python_term *out)
{
    bool more;
    status s = negation(p, out);
    while (!s && !(s = python_take(p, "and", &more)) && more) {
        struct python_term a = *out, b;
        if (!(s = negation(p, &b)))
            s = python_logic(p, true, &a, &b, out);
    }
    return s;
}

status python_expression(struct python_parser *p, struct python_term *out)
{
    bool more;
    if (++p->nesting > NESTING_MAX)
        return python_fail(p, p->token.at, "nested more than %d deep", NESTING_MAX);
    status s = conjunction(p, out);
    while (!s && !(s = python_take(p, "or", &more)) && more) {
        struct python_term a = *out, b;
        if (!(s = conjunction(p, &b)))
            s = python_logic(p, false, &a, &b, out);
    }
    p->nesting--;
    return s;
}

status python_constraint(const char *text, const struct python_names *names, char **out, struct err *e)
{
    struct python_parser p;
    struct python_term t;
    struct err own;
    if (strlen(text) > TEXT_MAX)
        return err_set(e, LATHE_SPEC, "longer than %d KiB", TEXT_MAX >> 10);
    python_open(&p, text, names, e ? e : &own);
    status s = python_advance(&p);
    if (!s)
        s = python_expression(&p, &t);
    if (!s && p.token.kind != PYTHON_END)
        s = unexpected(&p, "an operator or the end");
    const char *truth = s ? NULL : python_truth(&p, &t, LEVEL_OR);
    *out = truth ? mem_strdup(truth) : NULL;
    python_close(&p);
    return truth ? LATHE_OK : LATHE_SPEC;
}
