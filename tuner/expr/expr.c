/* expr.c: the life of an expression, scopes, and the shape of its error messages. */
#include "base/mem.h"
#include "expr/expr_ast.h"

#include <stdio.h>
#include <string.h>

const struct expr_form_info expr_forms[FORM_COUNT] = {
#define X(name, text, min, max, typing, as_int, as_float) {text, min, max, TYPING_##typing, OP_##as_int, OP_##as_float},
    EXPR_FORM_TABLE(X)
#undef X
};

int scope_add(struct scope *s, const char *name, enum value_type type, int rank)
{
    MEM_GROW(s->names, s->count, s->cap);
    s->names[s->count] = (struct scope_name){.name = name, .type = type, .rank = rank};
    return s->count++;
}

int scope_find(const struct scope *s, const char *name)
{
    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->names[i].name, name))
            return i;
    return -1;
}

void scope_free(struct scope *s)
{
    mem_free(s->names);
    *s = (struct scope){0};
}

/* A string that contains one kind of quote is written in the other. */
static char *literal_text(struct value v)
{
    struct strbuf b = {0};
    const char *quote = v.type != VALUE_STRING ? "" : strchr(v.s, '\'') ? "\"" : "'";
    sb_add(&b, quote);
    value_print(&b, v);
    sb_add(&b, quote);
    return sb_take(&b);
}

struct expr *expr_literal(struct value v)
{
    struct expr *x = mem_zalloc(1, sizeof *x);
    x->text = literal_text(v);
    if (v.type == VALUE_STRING)
        v.s = mem_strdup(v.s);
    MEM_GROW(x->nodes, x->count, x->cap);
    int end = (int)strlen(x->text);
    x->nodes[x->count++] = (struct expr_node){
        .form = FORM_CONST, .type = v.type, .literal = v, .at_len = end, .end = end, .height = 1,
        .first = -1, .next = -1,
    };
    x->bound = expr_compile(x, NULL) == LATHE_OK;   /* there are no names: nothing can fail */
    return x;
}

void expr_free(struct expr *x)
{
    if (!x)
        return;
    for (int i = 0; i < x->count; i++)
        if (x->nodes[i].form == FORM_CONST && x->nodes[i].literal.type == VALUE_STRING)
            mem_free((char *)x->nodes[i].literal.s);
    expr_program_free(&x->program);
    mem_free(x->nodes);
    mem_free(x->text);
    mem_free(x);
}

const char *expr_text(const struct expr *x)
{
    return x->text;
}

enum value_type expr_type(const struct expr *x)
{
    return x->bound ? x->nodes[x->count - 1].type : VALUE_NONE;
}

bool expr_uses(const struct expr *x, int slot)
{
    if (!x->bound)
        return false;
    for (int i = 0; i < x->count; i++) {
        const struct expr_node *n = &x->nodes[i];
        if ((n->form == FORM_NAME || n->form == FORM_ELEMENT) && n->slot == slot)
            return true;
    }
    return false;
}

static bool node_uses(const struct expr *x, int node, int slot)
{
    const struct expr_node *n = &x->nodes[node];
    bool uses = (n->form == FORM_NAME || n->form == FORM_ELEMENT) && n->slot == slot;
    for (int a = n->first; a >= 0 && !uses; a = x->nodes[a].next)
        uses = node_uses(x, a, slot);
    return uses;
}

bool expr_indexes_by(const struct expr *x, int slot)
{
    for (int i = 0; x->bound && i < x->count; i++)
        for (int a = x->nodes[i].first; x->nodes[i].form == FORM_ELEMENT && a >= 0; a = x->nodes[a].next)
            if (node_uses(x, a, slot))
                return true;
    return false;
}

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* One line: the text around `at` (all of it if it is short), then a line with the caret. */
static void show_caret(struct strbuf *b, const char *text, int at)
{
    enum { AROUND = 60 };
    int len = (int)strlen(text), from = at > AROUND ? at - AROUND : 0, to = len - at > AROUND ? at + AROUND : len;
    while (from > 0 && continues_character(text[from]))
        from--;
    while (to < len && continues_character(text[to]))
        to++;
    sb_add(b, "\n  ");
    sb_add(b, from > 0 ? "..." : "");
    for (int i = from; i < to; i++) {
        char c = (unsigned char)text[i] < ' ' ? ' ' : text[i];
        sb_addn(b, &c, 1);
    }
    sb_add(b, to < len ? "...\n  " : "\n  ");
    sb_add(b, from > 0 ? "   " : "");
    for (int i = from; i < at; i++)
        sb_add(b, continues_character(text[i]) ? "" : " ");
    sb_add(b, "^");
}

status expr_error(struct err *e, const char *text, int at, const char *fmt, ...)
{
    struct strbuf b = {0};
    char message[1200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    sb_add(&b, message);
    show_caret(&b, text, at);
    status s = err_set(e, LATHE_SPEC, "%s", sb_str(&b));
    sb_free(&b);
    return s;
}
