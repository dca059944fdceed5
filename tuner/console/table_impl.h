/* table_impl.h: what a table is, for table.c and table_print.c. */
#ifndef LATHE_CONSOLE_TABLE_IMPL_H
#define LATHE_CONSOLE_TABLE_IMPL_H

#include "console/table.h"

struct column {
    char *title;
    enum table_align align;
    int limit;
    bool optional, spare, pairs;
};

struct table {
    struct column *columns;
    int ncolumns, columns_cap;
    char **cells;
    int ncells, cells_cap;
};

/* The cell as it was given; borrowed. */
const char *table_text(const struct table *t, int row, int column);

#endif
