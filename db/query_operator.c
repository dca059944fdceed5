/* query_operator.c: operator(problem_id), a function for this file's connection: the first problem that computes the
 * same. An edited kernel makes another problem of the same operator; an edited epilogue makes another operator, though
 * its name may be the same, and then times do not compare. */
#include "db/query_private.h"

#include <inttypes.h>
#include <stdio.h>

/* What a problem computes, whatever its kernels and fills are, of all problems of one's name. */
static const char SELECT_OPERATORS[] =
    "SELECT p.id, CASE WHEN json_valid(p.specification) THEN json_array("
    "json_extract(p.specification, '$.epilogue'), json_extract(p.specification, '$.scalars'), "
    "json_extract(p.specification, '$.reference'), (SELECT json_group_array(coalesce(json_extract(x.value, "
    "'$.\"#\"'), x.value)) FROM json_each(p.specification, '$.tensors') x)) ELSE p.id END FROM problem p "
    "WHERE p.name = (SELECT name FROM problem WHERE id = ?1) ORDER BY p.id";

static json_t *known(const struct query *q, int64_t problem)
{
    char key[24];
    snprintf(key, sizeof key, "%" PRId64, problem);
    return json_object_get(q->operators, key);
}

/* Notes the operator of each problem of this one's name; an SQLite error code. */
static int look_up(struct query *q, int64_t problem)
{
    sqlite3_stmt *st = NULL;
    json_t *first = json_object(); /* what is computed: the first problem that does */
    int code = sqlite3_prepare_v2(q->sql.db, SELECT_OPERATORS, -1, &st, NULL);
    if (!code)
        code = sqlite3_bind_int64(st, 1, problem);
    while (!code && (code = sqlite3_step(st)) == SQLITE_ROW) {
        char key[24];
        const char *text = (const char *)sqlite3_column_text(st, 1);
        snprintf(key, sizeof key, "%" PRId64, (int64_t)sqlite3_column_int64(st, 0));
        if (!json_object_get(first, text ? text : ""))
            json_object_set_new_nocheck(first, text ? text : "", json_integer(sqlite3_column_int64(st, 0)));
        json_object_set_nocheck(q->operators, key, json_object_get(first, text ? text : ""));
        code = SQLITE_OK;
    }
    sqlite3_finalize(st);
    json_decref(first);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static void call(sqlite3_context *context, int n, sqlite3_value **arguments)
{
    struct query *q = sqlite3_user_data(context);
    int64_t problem = sqlite3_value_int64(arguments[0]);
    int code = known(q, problem) ? SQLITE_OK : look_up(q, problem);
    if (code)
        sqlite3_result_error_code(context, code);
    else if (known(q, problem))
        sqlite3_result_int64(context, json_integer_value(known(q, problem)));
    else
        sqlite3_result_null(context);
}

status query_add_operator(struct query *q, struct err *e)
{
    q->operators = json_object();
    int code = sqlite3_create_function(q->sql.db, "operator", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, q, call, NULL, NULL);
    return code ? sql_fail(&q->sql, "opening the database", e) : LATHE_OK;
}
