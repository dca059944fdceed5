/* query_report_columns.c: the columns of a report and the lists that they point into; those of the parameters. */
#include "base/mem.h"
#include "db/query_report_private.h"

#include <stdlib.h>
#include <string.h>

struct names report_names_new(void)
{
    return (struct names){json_array(), json_object()};
}

void report_names_free(struct names *n)
{
    json_decref(n->list);
    json_decref(n->index);
}

/* The place of the value in column i; it is added if it is new. */
json_t *report_names_place(struct names *n, sqlite3_stmt *st, int i)
{
    json_t *value = query_column(st, i);
    const char *raw = (const char *)sqlite3_column_text(st, i);
    const char *text = json_is_string(value) ? json_string_value(value) : raw ? raw : "";
    json_t *place = json_object_get(n->index, text);
    if (place) {
        json_decref(value);
        return json_incref(place);
    }
    place = json_integer((json_int_t)json_array_size(n->list));
    json_array_append_new(n->list, value);
    json_object_set(n->index, text, place);
    return place;
}

int report_by_id(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

int report_row_of(const struct builder *b, int64_t id)
{
    struct row key = {id, 0};
    const struct row *found = bsearch(&key, b->rows, (size_t)b->nrows, sizeof key, report_by_id);
    return found ? found->at : -1;
}

/* A column of n nulls under `key`; borrowed. */
json_t *report_empty_column(json_t *columns, const char *key, int n)
{
    json_t *column = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(column, json_null());
    json_object_set_new(columns, key, column);
    return column;
}

/* Every row of a statement whose parameter is the campaign. */
status report_each_row(struct builder *b, const char *text, row_visit visit, void *ctx, struct err *e)
{
    sqlite3_stmt *st = NULL;
    bool row;
    status s = sql_prepare(&b->q->sql, text, &st, e);
    if (!s)
        s = sql_bind(&b->q->sql, st, SQL_VALUES(sql_int(b->campaign)), e);
    while (!s && !(s = query_step(b->q, st, &row, e)) && row)
        s = visit(b, st, ctx, e);
    sqlite3_finalize(st);
    return s;
}

static const char SELECT_PARAMETERS[] =
    "SELECT p.trial_id, p.name, p.type, p.value FROM trial t JOIN parameter_value p ON p.trial_id = t.id "
    "WHERE t.campaign_id = ?1 ORDER BY t.number, p.position";

struct parameter { char *name, *type; struct names values; json_t *column; };
struct parameters { struct parameter *p; int n, cap; };

/* Kernels of one campaign may have parameters of the same name and of different types: those are two. */
static struct parameter *find_parameter(struct parameters *all, const char *name, const char *type, int rows)
{
    for (int i = 0; i < all->n; i++)
        if (strcmp(all->p[i].name, name) == 0 && strcmp(all->p[i].type, type) == 0)
            return &all->p[i];
    MEM_GROW(all->p, all->n, all->cap);
    struct parameter *p = &all->p[all->n++];
    *p = (struct parameter){mem_strdup(name), mem_strdup(type), report_names_new(), json_array()};
    for (int i = 0; i < rows; i++)
        json_array_append_new(p->column, json_integer(-1));
    return p;
}

static status visit_parameter(struct builder *b, sqlite3_stmt *st, void *ctx, struct err *e)
{
    int at = report_row_of(b, sqlite3_column_int64(st, 0));
    struct parameter *p = find_parameter(ctx, (const char *)sqlite3_column_text(st, 1),
                                         (const char *)sqlite3_column_text(st, 2), b->nrows);
    if (at >= 0)
        json_array_set_new(p->column, (size_t)at, report_names_place(&p->values, st, 3));
    return LATHE_OK;
}

/* Parameters in the order met: {name, type, values, column}; column: the place of a trial's value, -1 where it is not
 * active. */
status report_add_parameters(struct builder *b, json_t *campaign, struct err *e)
{
    struct parameters all = {0};
    status s = report_each_row(b, SELECT_PARAMETERS, visit_parameter, &all, e);
    json_t *list = json_array();
    for (int i = 0; i < all.n; i++) {
        struct parameter *p = &all.p[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:O, s:o}", "name", p->name, "type", p->type, "values",
                                              p->values.list, "column", p->column));
        report_names_free(&p->values);
        mem_free(p->name);
        mem_free(p->type);
    }
    mem_free(all.p);
    json_object_set_new(campaign, "parameters", list);
    return s;
}
