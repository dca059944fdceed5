/* older.h: files of older versions of the schema, made from one of the newest. */
#ifndef LATHE_TEST_DB_OLDER_H
#define LATHE_TEST_DB_OLDER_H

#include "fixture.h"

static const char *const VERSIONS[] = {
    (const char[]){
#include "db/schema.sql.inc"
        , 0},
    (const char[]){
#include "db/schema_2.sql.inc"
        , 0},
    (const char[]){
#include "db/schema_3.sql.inc"
        , 0},
    (const char[]){
#include "db/schema_4.sql.inc"
        , 0},
    (const char[]){
#include "db/schema_5.sql.inc"
        , 0},
};

/* A file of an older version at `name`, with all that it can hold of the file at `from`. */
static inline const char *as_version(int version, const char *from, const char *name)
{
    const char *path = in_folder(name);
    for (int v = 0; v < version; v++)
        meddle(path, VERSIONS[v]);
    const char *tables[] = {"meta",     "problem",      "source",          "device",          "strategy",
                            "campaign", "campaign_dim", "trial",           "parameter_value", "measurement",
                            "sample",   "verification", "campaign_worker", "drift",           "bundle"};
    size_t there = version >= 4 ? 15 : version == 3 ? 14 : 12;
    for (size_t i = 0; i < there; i++) {
        char *question = mem_printf("SELECT group_concat(name, ', ') FROM pragma_table_info('%s')", tables[i]);
        char *columns = mem_strdup(ask(path, question));
        char *copy = mem_printf("ATTACH '%s' AS new; INSERT INTO %s (%s) SELECT %s FROM new.%s; DETACH new", from,
                                tables[i], columns, columns, tables[i]);
        meddle(path, copy);
        mem_free(question);
        mem_free(columns);
        mem_free(copy);
    }
    char *mark = mem_printf("PRAGMA application_id = 1281455208; PRAGMA user_version = %d", version);
    meddle(path, mark);
    mem_free(mark);
    return path;
}

#endif
