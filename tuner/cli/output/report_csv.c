/* report_csv.c: trees of the database as rows for a spreadsheet. */
#include "base/mem.h"
#include "console/output.h"
#include "cli/output/report.h"
#include "console/table.h"
#include <string.h>

/* An object of plain values whose keys a row has of its own: a size, a configuration. As one cell of NAME=VALUE. */
static bool is_pairs(const char *key)
{
    return !strcmp(key, "size") || !strcmp(key, "configuration") || !strcmp(key, "tolerance");
}

/* Calls f for each cell that a row has: its key, and the key within it (or ""). Lists are left out. */
static void each_cell(const json_t *row, void (*f)(void *ctx, const char *key, const char *sub, const json_t *value),
                      void *ctx)
{
    const char *key, *sub;
    json_t *value, *inner;
    json_object_foreach((json_t *)row, key, value)
    {
        if (json_is_array(value) || !strcmp(key, "text")) /* the configuration once more */
            continue;
        if (!json_is_object(value) || is_pairs(key)) {
            f(ctx, key, "", value);
            continue;
        }
        json_object_foreach(value, sub, inner) if (!json_is_object(inner) && !json_is_array(inner))
            f(ctx, key, sub, inner);
    }
}

static char *cell_name(const char *key, const char *sub)
{
    return *sub ? mem_printf("%s_%s", key, sub) : mem_strdup(key);
}

/* ctx: the object whose keys are the columns, in the order in which they were met. */
static void note_column(void *ctx, const char *key, const char *sub, const json_t *value)
{
    char *name = cell_name(key, sub);
    if (!json_object_get(ctx, name))
        json_object_set_new(ctx, name, json_true());
    mem_free(name);
}

static void set_cell(void *ctx, const char *key, const char *sub, const json_t *value)
{
    struct strbuf b = {0};
    char *name = cell_name(key, sub);
    sb_add(&b, "");
    if (json_is_object(value))
        report_configuration(&b, value);
    else if (json_is_string(value))
        sb_add(&b, json_string_value(value));
    else if (json_is_boolean(value))
        sb_add(&b, json_is_true(value) ? "1" : "0");
    else if (json_is_integer(value))
        sb_addf(&b, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        sb_addf(&b, "%.15g", json_real_value(value));
    json_object_set_new(ctx, name, json_stringn(sb_str(&b), b.len));
    sb_free(&b);
    mem_free(name);
}

void report_csv(struct strbuf *b, const json_t *rows)
{
    json_t *columns = json_object(), *value;
    const char *name;
    struct table *t = table_new();
    for (size_t i = 0; i < json_array_size(rows); i++) each_cell(json_array_get(rows, i), note_column, columns);
    json_object_foreach(columns, name, value) table_column(t, name, TABLE_LEFT, 0);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *cells = json_object();
        each_cell(json_array_get(rows, i), set_cell, cells);
        json_object_foreach(columns, name, value) table_cell(t, tree_text(cells, name));
        json_decref(cells);
    }
    if (json_array_size(rows))
        table_csv(t, b);
    table_free(t);
    json_decref(columns);
}

status report_csv_out(const json_t *rows, struct err *e)
{
    struct strbuf b = {0};
    report_csv(&b, rows);
    return out_buffer(&b, e);
}

status report_csv_rows_out(const json_t *rows, const char *columns, struct err *e)
{
    struct strbuf b = {0};
    if (json_array_size(rows))
        return report_csv_out(rows, e);
    sb_addf(&b, "%s\n", columns);
    return out_buffer(&b, e);
}

status report_one_form(const char *command, bool json, bool csv, struct err *e)
{
    return json && csv ? err_set(e, LATHE_USAGE, "%s: --csv and --json exclude each other\ngive one of them", command)
                       : LATHE_OK;
}
