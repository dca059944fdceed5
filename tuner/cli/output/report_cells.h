/* report_cells.h: what the tables of report.h have in their cells. Rows are objects of the queries' JSON
 * (docs/json.md). */
#ifndef LATHE_CLI_REPORT_CELLS_H
#define LATHE_CLI_REPORT_CELLS_H

#include "cli/output/report.h"
#include "console/table.h"

/* The same for every row of both arrays? key "size" is compared as a tree. */
bool cells_uniform(const json_t *rows, const json_t *more, const char *key);
/* Decimals for a column of positive numbers: four significant digits for the smallest of them; CELLS_POWERS where
 * that is so small that powers of ten tell it. */
enum { CELLS_POWERS = -1 };
int cells_decimals(const json_t *rows, const json_t *more, const char *key);
/* fmt: of precision and number, "%.*f" and what may follow; powers of ten instead where the precision is CELLS_POWERS,
 * and of a number that fmt would show as zero. */
void cell_scaled(struct table *t, const json_t *row, const char *key, double scale, const char *fmt, int precision);
void cell_number(struct table *t, const json_t *row, const char *key, const char *fmt, int precision);
void cell_size(struct table *t, const json_t *row);
void cell_tolerance(struct table *t, const json_t *row);
/* A trial that is not ok (a baseline may be shown all the same) has its outcome behind its configuration, if `tell`. */
void cell_configuration(struct table *t, const json_t *row, bool tell);

#endif
