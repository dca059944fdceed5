/* expr_explain.c: an expression with the values put in, for people. The text stays as it was written; only names are
 * replaced. */
#include "expr/expr_ast.h"

#include <string.h>

/* A negative number after an operator reads better in parentheses: 4 - (-3). */
static bool follows_operator(const char *text, int at)
{
    while (at > 0 && text[at - 1] == ' ')
        at--;
    return at > 0 && strchr("+-*/%", text[at - 1]);
}

static void print_value(struct strbuf *b, struct value v, bool after_operator)
{
    bool negative = (v.type == VALUE_INT && v.i < 0) || (v.type == VALUE_FLOAT && v.f < 0);
    const char *open = "", *close = "";
    if (v.type == VALUE_STRING)
        open = close = "'";
    else if (negative && after_operator)
        open = "(", close = ")";
    sb_add(b, open);
    value_print(b, v);
    sb_add(b, close);
}

void expr_explain(struct strbuf *b, const struct expr *x, const struct value *slots)
{
    const char *text = x->text;
    int done = 0;
    struct strbuf replaced = {0};
    for (int i = 0; i < x->count && x->bound && slots; i++) {
        const struct expr_node *n = &x->nodes[i];
        if (n->form != FORM_NAME || slots[n->slot].type == VALUE_NONE)
            continue;
        sb_addn(&replaced, text + done, (size_t)(n->at - done));
        print_value(&replaced, slots[n->slot], follows_operator(text, n->at));
        done = n->at + n->at_len;
    }
    sb_add(b, text);
    if (done) {
        sb_add(&replaced, text + done);
        sb_addf(b, ": %s", sb_str(&replaced));
    }
    sb_free(&replaced);
}
