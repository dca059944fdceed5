/* space_cursor.c: walks through the diagram in order. Invariant: edge[i] is the edge taken at level i, end[i] the end
 * of its node's edges. */
#include "search/space/space_impl.h"

#include "base/mem.h"

struct space_cursor {
    const struct space *s;
    const struct edge **edge, **end;
    config_choice *choice;
    bool begun;
};

struct space_cursor *space_cursor_open(const struct space *s)
{
    size_t n = (size_t)s->kernel->nparams;
    struct space_cursor *c = mem_zalloc(1, sizeof *c);
    c->s = s;
    c->edge = mem_zalloc(n, sizeof *c->edge);
    c->end = mem_zalloc(n, sizeof *c->end);
    c->choice = mem_zalloc(n, sizeof *c->choice);
    return c;
}

/* Takes the first edges from a node at a level to the end. */
static void descend(struct space_cursor *c, uint32_t node, int level)
{
    for (int n = c->s->kernel->nparams; level < n; level++) {
        const struct node *at = &c->s->nodes[node];
        c->edge[level] = c->s->edges + at->first;
        c->end[level] = c->edge[level] + at->count;
        c->choice[c->s->param[level]] = c->edge[level]->choice;
        node = c->edge[level]->child;
    }
}

int space_cursor_next(struct space_cursor *c)
{
    int level = c->s->kernel->nparams - 1;
    if (!c->begun) {
        c->begun = true;
        descend(c, c->s->root, 0);
        return 0;
    }
    while (level >= 0 && ++c->edge[level] == c->end[level])
        level--;
    if (level < 0)
        return -1;
    c->choice[c->s->param[level]] = c->edge[level]->choice;
    descend(c, c->edge[level]->child, level + 1);
    return c->s->least[level];
}

const config_choice *space_cursor_choice(const struct space_cursor *c)
{
    return c->choice;
}

void space_cursor_close(struct space_cursor *c)
{
    if (!c)
        return;
    mem_free(c->edge);
    mem_free(c->end);
    mem_free(c->choice);
    mem_free(c);
}
