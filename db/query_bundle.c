/* query_bundle.c: what was exported into the database for liblathe. */
#include "db/query_private.h"

#include "base/mem.h"
#include <string.h>

enum { SINCE_VERSION = 4 };

struct wanted {
    const char *problem;                /* NULL: the only one */
    char *data;
    size_t len;
};

/* Of the row. malloc aligns to 16, as bundle_decode wants. */
static void take(sqlite3_stmt *st, struct wanted *w)
{
    const void *data = sqlite3_column_blob(st, 1);
    mem_free(w->data);
    w->len = (size_t)sqlite3_column_bytes(st, 1);
    w->data = mem_alloc(w->len + 1);
    if (w->len)
        memcpy(w->data, data, w->len);
    w->data[w->len] = 0;
}

static status nothing(const struct query *q, const struct wanted *w, const struct strbuf *names, int n, struct err *e)
{
    const char *path = q->sql.path;
    if (n > 1 && !w->problem)
        return err_set(e, LATHE_NOTHING, "%.400s: bundles of several problems are in it: %.400s: say which", path,
                       sb_str(names));
    if (n)
        return err_set(e, LATHE_NOTHING, "%.400s: it has no bundle of %.200s; of those there are: %.400s", path,
                       w->problem, sb_str(names));
    return err_set(e, LATHE_NOTHING,
                   "%.400s: nothing was exported into it: lathe export --format bundle --into-database --db %.400s",
                   path, path);
}

static status bundle_body(struct query *q, const void *args, json_t **out, struct err *e)
{
    struct wanted *w = *(struct wanted *const *)args;
    struct strbuf names = {0};
    sqlite3_stmt *st = NULL;
    bool row = false, found = false;
    int n = 0;
    status s = LATHE_OK;
    if (q->version >= SINCE_VERSION)
        s = query_ask(q, QUESTION_bundles, NULL, 0, &st, e);
    while (st && !s && !(s = query_step(q, st, &row, e)) && row) {
        const char *name = (const char *)sqlite3_column_text(st, 0);
        sb_addf(&names, "%s%s", n++ ? ", " : "", name);
        if (!w->problem || !strcmp(name, w->problem)) {
            take(st, w);
            found = true;
        }
    }
    sqlite3_reset(st);
    if (!s && (!found || (n > 1 && !w->problem)))
        s = nothing(q, w, &names, n, e);
    sb_free(&names);
    if (!s)
        *out = json_null();
    return s;
}

status query_bundle(struct query *q, const char *problem, char **data, size_t *len, struct err *e)
{
    struct wanted w = {.problem = problem}, *wanted = &w;
    json_t *unused = NULL;
    status s = query_in_snapshot(q, bundle_body, &wanted, &unused, e);
    json_decref(unused);
    if (s)
        mem_free(w.data);
    *data = s ? NULL : w.data;
    *len = s ? 0 : w.len;
    return s;
}
