/* cmd_query.c: `lathe query`: read-only SQL on the database, as a table, CSV or JSON. */
#include "base/mem.h"
#include "cli/cli.h"
#include "console/output.h"
#include "cli/output/report.h"
#include "cli/args/select.h"
#include "console/table.h"
#include <string.h>

struct query_args {
    const char *sql, *db;
    bool table, csv, json;
};

#define AT(member) .offset = offsetof(struct query_args, member)
static const struct option_row query_options[] = {
    {"SQL", .kind = OPTION_NEEDED, AT(sql), .help = "one SELECT (or WITH, EXPLAIN, PRAGMA table_info) in quotes"},
    OPTION_DB(struct query_args, db),
    {"table", .kind = OPTION_FLAG, AT(table), .help = "aligned columns (the default)"},
    {"csv", .kind = OPTION_FLAG, AT(csv), .help = "comma-separated values with a header line (RFC 4180)"},
    {"json", .kind = OPTION_FLAG, AT(json), .help = "an array of objects, one a row"},
    {0},
};

/* query_sql's; no other value is an object. */
static bool is_infinite(const json_t *v) { return json_is_object(v); }

/* A value as text; digits: significant ones of a real. */
static void add_value(struct strbuf *b, const json_t *v, int digits)
{
    if (json_is_string(v))
        sb_add(b, json_string_value(v));
    else if (json_is_integer(v))
        sb_addf(b, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        sb_addf(b, "%.*g", digits, json_real_value(v));
    else if (is_infinite(v))
        sb_add(b, json_integer_value(json_object_get(v, "infinite")) > 0 ? "inf" : "-inf");
}

/* Is there a number in this column and nothing else but null? */
static bool numeric(const json_t *rows, size_t column)
{
    bool any = false;
    for (size_t r = 0; r < json_array_size(rows); r++) {
        const json_t *v = json_array_get(json_array_get(rows, r), column);
        if (json_is_number(v) || is_infinite(v))
            any = true;
        else if (!json_is_null(v))
            return false;
    }
    return any;
}

static struct table *as_table(const json_t *columns, const json_t *rows, int digits)
{
    struct table *t = table_new();
    for (size_t c = 0; c < json_array_size(columns); c++)
        table_column(t, json_string_value(json_array_get(columns, c)), numeric(rows, c) ? TABLE_RIGHT : TABLE_LEFT, 0);
    for (size_t r = 0; r < json_array_size(rows); r++)
        for (size_t c = 0; c < json_array_size(columns); c++) {
            struct strbuf b = {0};
            add_value(&b, json_array_get(json_array_get(rows, r), c), digits);
            table_cell(t, sb_str(&b));
            sb_free(&b);
        }
    return t;
}

static bool is_column(const json_t *columns, const char *name)
{
    for (size_t i = 0; i < json_array_size(columns); i++)
        if (!strcmp(json_string_value(json_array_get(columns, i)), name))
            return true;
    return false;
}

/* The columns' keys in an object, each its own: the name, or of one that an earlier column has already the first of
 * name_2, name_3 ... that no column is called. */
static json_t *unique_names(const json_t *columns)
{
    json_t *names = json_array(), *taken = json_object();
    for (size_t c = 0; c < json_array_size(columns); c++) {
        const char *name = json_string_value(json_array_get(columns, c));
        char *key = mem_strdup(name);
        for (int n = 2; json_object_get(taken, key) || (n > 2 && is_column(columns, key)); n++) {
            mem_free(key);
            key = mem_printf("%s_%d", name, n);
        }
        json_object_set_new(taken, key, json_true());
        json_array_append_new(names, json_string(key));
        mem_free(key);
    }
    json_decref(taken);
    return names;
}

static json_t *as_objects(const json_t *columns, const json_t *rows)
{
    json_t *out = json_array(), *names = unique_names(columns);
    for (size_t r = 0; r < json_array_size(rows); r++) {
        json_t *object = json_object();
        for (size_t c = 0; c < json_array_size(columns); c++) {
            json_t *v = json_array_get(json_array_get(rows, r), c);
            json_object_set(object, json_string_value(json_array_get(names, c)), is_infinite(v) ? json_null() : v);
        }
        json_array_append_new(out, object);
    }
    json_decref(names);
    return out;
}

static status print_rows(const struct query_args *args, const json_t *result, struct err *e)
{
    const json_t *columns = json_object_get(result, "columns"), *rows = json_object_get(result, "rows");
    if (args->json) {
        json_t *objects = as_objects(columns, rows);
        status s = out_json(objects, e);
        json_decref(objects);
        return s;
    }
    struct strbuf b = {0};
    struct table *t = as_table(columns, rows, args->csv ? 15 : 6);
    if (args->csv)
        table_csv(t, &b);
    else
        table_print(t, text_columns(stdout), &b);
    table_free(t);
    return out_buffer(&b, e);
}

static status query_run(const struct cli *cli, void *p, struct err *e)
{
    const struct query_args *args = p;
    if (args->table + args->csv + args->json > 1)
        return err_set(e, LATHE_USAGE, "query: --table, --csv and --json exclude each other\ngive one of them");
    struct query *q;
    status s = query_open(args->db, &q, e);
    if (s != LATHE_OK)
        return s;
    json_t *result = NULL;
    s = query_sql(q, args->sql, &result, e);
    if (s == LATHE_OK)
        s = print_rows(args, result, e);
    json_decref(result);
    query_close(q);
    return s;
}

const struct command command_query = {
    .name = "query",
    .summary = "answers an SQL question from the database, which it cannot change",
    .details = "The tables and views are described in docs/schema.md; "
               "`lathe query \"SELECT name, sql FROM sqlite_schema\"` prints them.",
    .options = query_options,
    .args_size = sizeof(struct query_args),
    .run = query_run,
};
