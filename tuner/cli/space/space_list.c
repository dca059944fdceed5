/* space_list.c: `lathe space --list` and `--sample`. Written in pieces, so that a large space needs no memory and `|
 * head` ends it.
 *
 * Lines that follow one another begin alike: what each parameter adds to a line, for each of its values, is made once,
 * and a line keeps what stands before the first parameter that changed. As JSON, what is written is what json_line
 * writes. */
#include "base/mem.h"
#include "console/output.h"
#include "cli/space/space_view.h"
#include "search/space/index_map.h"
#include <string.h>

enum { PIECE = 1 << 16 };

struct lister {
    const struct kernel *k;
    bool json;
    struct strbuf **text;       /* [parameter][value]: "BM=64", or "\"BM\": 64" */
    struct value *slots;        /* what conditions see */
    struct strbuf name;         /* the kernel's, and a blank */
    struct strbuf line;         /* of the member, from its first parameter on */
    size_t *until;              /* where in it each parameter begins */
    int *columns;               /* as CSV: the parameter of each column; -1: not this kernel's */
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
    sb_addf(&l->name, "%s ", k->name);
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
    mem_free(l->columns);
    sb_free(&l->line);
    sb_free(&l->name);
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

/* Where lines go, of all kernels. */
struct output {
    struct strbuf b;
    bool any, json, csv;
    char **names;               /* as CSV: of the columns behind kernel and index, borrowed */
    int nnames, cap;
};

/* --- as CSV --- */

static int find_name(const struct output *out, const char *name)
{
    for (int i = 0; i < out->nnames; i++)
        if (strcmp(out->names[i], name) == 0)
            return i;
    return -1;
}

/* A column a parameter of any of the kernels. */
static void add_header(struct output *out, const struct view *v)
{
    sb_add(&out->b, "kernel,index");
    for (int i = 0; i < v->count; i++) {
        const struct kernel *k = v->members[i].kernel;
        for (int p = 0; v->members[i].space && p < k->nparams; p++) {
            if (find_name(out, k->params[p].name) >= 0)
                continue;
            MEM_GROW(out->names, out->nnames, out->cap);
            out->names[out->nnames++] = k->params[p].name;
            sb_addf(&out->b, ",%s", k->params[p].name);
        }
    }
    sb_add(&out->b, "\n");
}

static void find_columns(struct lister *l, const struct output *out)
{
    l->columns = mem_zalloc((size_t)out->nnames + 1, sizeof *l->columns);
    for (int c = 0; c < out->nnames; c++)
        l->columns[c] = -1;
    for (int p = 0; p < l->k->nparams; p++)
        l->columns[find_name(out, l->k->params[p].name)] = p;
}

/* The slots are the member's. What is not active is empty. */
static void add_row(const struct lister *l, struct output *out, uint64_t index)
{
    const struct kernel *k = l->k;
    sb_addf(&out->b, "%s,%llu", k->name, (unsigned long long)index);
    for (int c = 0; c < out->nnames; c++) {
        int p = l->columns[c];
        sb_add(&out->b, ",");
        if (p < 0 || (k->params[p].when && !param_active(k, p, l->slots)))
            continue;
        struct strbuf text = {0};
        value_print(&text, l->slots[k->first_param + p]);
        sb_csv(&out->b, sb_str(&text));
        sb_free(&text);
    }
    sb_add(&out->b, "\n");
}

/* --- a line --- */

static void add_line(const struct lister *l, struct output *out, uint64_t index)
{
    struct strbuf *b = &out->b;
    if (out->any)
        sb_addn(b, ",\n" + !out->json, (size_t)out->json + 1);
    out->any = true;
    if (out->json)
        sb_addf(b, "{\"kernel\": \"%s\", \"index\": %llu, \"configuration\": {", l->k->name,
                (unsigned long long)index);
    else
        sb_addn(b, l->name.s, l->name.len);
    sb_addn(b, sb_str(&l->line), l->line.len);
    sb_addn(b, "}}", out->json ? 2 : 0);
}

/* The member whose parameters are as before up to `from`. */
static status write_member(struct lister *l, struct output *out, const config_choice *choice, int from, uint64_t index,
                           struct err *e)
{
    struct strbuf *b = &out->b;
    rewrite(l, choice, from);
    if (out->csv)
        add_row(l, out, index);
    else
        add_line(l, out, index);
    if (b->len < PIECE)
        return LATHE_OK;
    status s = out_text(b->s, b->len, e);
    b->len = 0;
    return s;
}

static status list_all(struct lister *l, const struct space *space, struct output *out, struct err *e)
{
    struct space_cursor *c = space_cursor_open(space);
    status s = LATHE_OK;
    uint64_t index = 0;
    for (int from; s == LATHE_OK && !out_reader_gone() && (from = space_cursor_next(c)) >= 0; index++)
        s = write_member(l, out, space_cursor_choice(c), from, index, e);
    space_cursor_close(c);
    return s;
}

static status list_some(struct lister *l, const struct space *space, uint64_t count, uint64_t seed, struct output *out,
                        struct err *e)
{
    config_choice choice[SPACE_PARAMS_MAX];
    struct index_map seen = {0};
    struct rng rng;
    status s = LATHE_OK;
    rng_seed(&rng, seed);
    while (s == LATHE_OK && count > 0 && !out_reader_gone()) {
        uint64_t index = space_random(space, &rng);
        if (index_map_get(&seen, index) >= 0)
            continue;
        index_map_put(&seen, index, 1);
        space_at(space, index, choice);
        s = write_member(l, out, choice, 0, index, e);
        count--;
    }
    index_map_free(&seen);
    return s;
}

status space_list_run(const struct view *v, const struct space_args *args, struct err *e)
{
    struct output out = {.json = args->json, .csv = args->csv};
    status s = LATHE_OK;
    sb_add(&out.b, out.json ? "[\n" : "");
    if (out.csv)
        add_header(&out, v);
    for (int i = 0; s == LATHE_OK && i < v->count; i++) {
        const struct member *m = &v->members[i];
        struct lister l;
        if (!m->space)
            continue;
        open_lister(&l, v, m->kernel, out.json);
        if (out.csv)
            find_columns(&l, &out);
        if (!args->sample || (uint64_t)args->sample >= space_size(m->space))
            s = list_all(&l, m->space, &out, e);
        else
            s = list_some(&l, m->space, (uint64_t)args->sample, (uint64_t)args->seed, &out, e);
        close_lister(&l);
    }
    sb_add(&out.b, out.json ? "\n]\n" : out.csv ? "" : "\n");
    if (s == LATHE_OK)
        s = out_text(out.b.s, out.b.len, e);
    sb_free(&out.b);
    mem_free(out.names);
    return s;
}
