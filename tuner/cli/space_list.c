/* space_list.c: `lathe space --list`. Written in pieces, so that a large space needs no memory and `| head` ends it.
 *
 * Lines that follow one another begin alike: what each parameter adds to a line, for each of its values, is made once, and
 * a line keeps what stands before the first parameter that changed. As JSON, what is written is what json_line writes. */
#include "base/mem.h"
#include "cli/output.h"
#include "cli/space_view.h"
#include <string.h>

enum { PIECE = 1 << 16 };

struct lister {
    const struct kernel *k;
    bool json;
    struct strbuf **text;       /* [parameter][value]: "BM=64", or "\"BM\": 64" */
    struct value *slots;        /* what conditions see */
    struct strbuf line;         /* of the member, from its first parameter on */
    size_t *until;              /* where in it each parameter begins */
};

static void make_text(const struct lister *l, const struct param *p, struct value v, struct strbuf *out)
{
    if (l->json) {
        json_t *pair = json_pack("{s:o}", p->name, value_to_json(v));
        struct strbuf b = {0};
        json_line(&b, pair);
        sb_addn(out, b.s + 1, b.len - 2);
        sb_free(&b);
        json_decref(pair);
    } else {
        sb_addf(out, "%s=", p->name);
        value_print(out, v);
    }
}

static void open_lister(struct lister *l, const struct view *v, const struct kernel *k, bool json)
{
    *l = (struct lister){.k = k, .json = json};
    l->slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *l->slots);
    l->until = mem_zalloc((size_t)k->nparams + 1, sizeof *l->until);
    l->text = mem_zalloc((size_t)k->nparams + 1, sizeof *l->text);
    kernel_slots_fixed(v->problem, k, &v->target, l->slots);
    for (int i = 0; i < k->nparams; i++) {
        l->text[i] = mem_zalloc((size_t)k->params[i].nvalues, sizeof **l->text);
        for (int n = 0; n < k->params[i].nvalues; n++)
            make_text(l, &k->params[i], k->params[i].values[n], &l->text[i][n]);
    }
}

static void close_lister(struct lister *l)
{
    for (int i = 0; i < l->k->nparams; i++) {
        for (int n = 0; n < l->k->params[i].nvalues; n++)
            sb_free(&l->text[i][n]);
        mem_free(l->text[i]);
    }
    mem_free(l->text);
    mem_free(l->slots);
    mem_free(l->until);
    sb_free(&l->line);
}

/* Makes the line anew from parameter i on. */
static void rewrite(struct lister *l, const config_choice *choice, int i)
{
    const struct kernel *k = l->k;
    l->line.len = l->until[i];
    for (; i < k->nparams; i++) {
        const struct strbuf *text = &l->text[i][choice[i]];
        l->until[i] = l->line.len;
        l->slots[k->first_param + i] = k->params[i].values[choice[i]];
        if (k->params[i].when && !param_active(k, i, l->slots))
            continue;
        if (l->line.len)
            sb_addn(&l->line, l->json ? ", " : " ", l->json ? 2 : 1);
        sb_addn(&l->line, text->s, text->len);
    }
}

static status list_member(const struct view *v, const struct member *m, bool json, bool *first, struct err *e)
{
    struct lister l;
    struct strbuf out = {0};
    status s = LATHE_OK;
    struct space_cursor *c = space_cursor_open(m->space);
    open_lister(&l, v, m->kernel, json);
    long long index = 0;
    for (int from; s == LATHE_OK && !out_reader_gone() && (from = space_cursor_next(c)) >= 0; index++) {
        rewrite(&l, space_cursor_choice(c), from);
        if (!*first)
            sb_addn(&out, ",\n" + !json, (size_t)json + 1);
        *first = false;
        if (json)
            sb_addf(&out, "{\"kernel\": \"%s\", \"index\": %lld, \"configuration\": {", m->kernel->name, index);
        else
            sb_addf(&out, "%s ", m->kernel->name);
        sb_addn(&out, sb_str(&l.line), l.line.len);
        sb_addn(&out, "}}", json ? 2 : 0);
        if (out.len > PIECE) {
            s = out_text(out.s, out.len, e);
            out.len = 0;
        }
    }
    if (s == LATHE_OK)
        s = out_text(sb_str(&out), out.len, e);
    sb_free(&out);
    close_lister(&l);
    space_cursor_close(c);
    return s;
}

status space_list_run(const struct view *v, bool json, struct err *e)
{
    bool first = true;
    status s = json ? out_text("[\n", 2, e) : LATHE_OK;
    for (int i = 0; s == LATHE_OK && i < v->count; i++)
        if (v->members[i].space)
            s = list_member(v, &v->members[i], json, &first, e);
    if (s == LATHE_OK)
        s = json ? out_text("\n]\n", 3, e) : out_text("\n", 1, e);
    return s;
}
