/* query_report_private.h: what the files of query_report.c share. */
#ifndef LATHE_DB_QUERY_REPORT_PRIVATE_H
#define LATHE_DB_QUERY_REPORT_PRIVATE_H

#include "db/query_private.h"

/* The columns whose values are places in lists of texts, in the order of their keys. */
enum { TEXT_KERNEL, TEXT_OUTCOME, TEXT_ROLE, TEXT_REASON, NTEXTS };

/* A list of distinct values, and the index of each. */
struct names {
    json_t *list, *index;       /* index: the value as text -> its place */
};

struct row {
    int64_t id;
    int at;
};

struct builder {
    struct query *q;
    int64_t campaign, sample_limit;
    json_t *columns;
    struct names texts[NTEXTS], regimes;
    struct row *rows;           /* by id */
    int nrows, cap;
};

struct names report_names_new(void);
void report_names_free(struct names *n);
/* The place of the value in column i; it is added if it is new. A new reference. */
json_t *report_names_place(struct names *n, sqlite3_stmt *st, int i);

/* The order of struct row, for qsort and bsearch. */
int report_by_id(const void *a, const void *b);
/* The row of the trial with this id; -1: there is none. */
int report_row_of(const struct builder *b, int64_t id);
/* A column of n nulls under `key`; borrowed. */
json_t *report_empty_column(json_t *columns, const char *key, int n);

/* Every row of a statement whose parameter is the campaign. */
typedef status (*row_visit)(struct builder *b, sqlite3_stmt *st, void *ctx, struct err *e);
status report_each_row(struct builder *b, const char *text, row_visit visit, void *ctx, struct err *e);

/* After the trials: columns of their own, and of the campaign `measurements`, `samples` and `parameters`. */
status report_add_verifications(struct builder *b, struct err *e);
status report_add_measurements(struct builder *b, json_t *campaign, struct err *e);
status report_add_parameters(struct builder *b, json_t *campaign, struct err *e);

#endif
