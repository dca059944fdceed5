/* expr_split.c: expressions made of parts of an expression, for whoever evaluates the parts at different times. A part
 * holds no more temporaries than the whole did, so it can be compiled as well. */
#include "base/mem.h"
#include "expr/expr_ast.h"

#include <string.h>

struct splitter {
    const struct expr *from;
    const struct expr_cut *cut; /* NULL: everything is copied */
    int below;
};

static int copy_node(struct splitter *s, struct expr *to, int node);

static struct expr *copy_from(struct splitter *s, int node)
{
    struct expr *x = mem_zalloc(1, sizeof *x);
    x->text = mem_strdup(s->from->text);
    copy_node(s, x, node);
    x->bound = expr_compile(x, NULL) == LATHE_OK;
    return x;
}

/* The latest level of a slot that the node needs. */
static int level_of(const struct splitter *s, int node)
{
    const struct expr_node *n = &s->from->nodes[node];
    int level = n->form == FORM_NAME || n->form == FORM_ELEMENT ? s->cut->level(s->cut->ctx, n->slot) : -1;
    for (int i = n->first; i >= 0; i = s->from->nodes[i].next) {
        int l = level_of(s, i);
        level = l > level ? l : level;
    }
    return level;
}

static int push(struct expr *to, struct expr_node n)
{
    MEM_GROW(to->nodes, to->count, to->cap);
    to->nodes[to->count] = n;
    return to->count++;
}

/* The part that `node` is, as the name of its slot. */
static int push_part(struct splitter *s, struct expr *to, int node)
{
    struct splitter whole = {.from = s->from};
    struct expr_node n = s->from->nodes[node];
    struct expr *part = copy_from(&whole, node);
    n.slot = s->cut->slot(s->cut->ctx, part);
    n.form = FORM_NAME;
    n.op = OP_NONE;
    n.first = n.next = -1;
    n.nargs = 0;
    n.height = 1;
    return push(to, n);
}

static int copy_node(struct splitter *s, struct expr *to, int node)
{
    const struct expr_node *from = &s->from->nodes[node];
    if (s->cut && from->form != FORM_NAME && from->form != FORM_CONST && level_of(s, node) < s->below)
        return push_part(s, to, node);
    struct expr_node n = *from;
    int last = -1;
    n.first = n.next = -1;
    if (n.form == FORM_CONST && n.literal.type == VALUE_STRING)
        n.literal.s = mem_strdup(n.literal.s);
    for (int i = from->first; i >= 0; i = s->from->nodes[i].next) {
        int copy = copy_node(s, to, i);
        if (last < 0)
            n.first = copy;
        else
            to->nodes[last].next = copy;
        last = copy;
    }
    return push(to, n);
}

struct expr *expr_cut(const struct expr *x, int below, const struct expr_cut *cut)
{
    struct splitter s = {.from = x, .cut = cut, .below = below};
    return copy_from(&s, x->count - 1);
}

int expr_conjuncts(const struct expr *x, struct expr ***out)
{
    int n = 0, cap = 0, *todo = mem_alloc((size_t)x->count * sizeof *todo), count = 0;
    struct splitter s = {.from = x};
    struct expr **list = NULL;
    todo[count++] = x->count - 1;
    while (count > 0) {                             /* from the left */
        const struct expr_node *node = &x->nodes[todo[--count]];
        if (node->form == FORM_AND) {
            todo[count++] = x->nodes[node->first].next;
            todo[count++] = node->first;
        } else {
            MEM_GROW(list, n, cap);
            list[n++] = copy_from(&s, (int)(node - x->nodes));
        }
    }
    mem_free(todo);
    *out = list;
    return n;
}

bool expr_same(const struct expr *a, const struct expr *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++) {
        const struct expr_node *m = &a->nodes[i], *n = &b->nodes[i];
        bool leaf = m->form == FORM_NAME || m->form == FORM_ELEMENT;
        if (m->form != n->form || m->op != n->op || m->type != n->type || m->first != n->first || m->next != n->next ||
            (leaf && m->slot != n->slot))
            return false;
        if (m->form == FORM_CONST && (m->literal.type != n->literal.type || !value_equal(m->literal, n->literal)))
            return false;
    }
    return true;
}
