/* table.h: rows and columns as aligned text, or as CSV.
 *
 * A table that is wider than the terminal is made to fit: text that is the same in all rows is told once above it, and
 * where that does not do, a row has several lines: the last column goes on under itself, or columns stand on lines
 * under the row, the widest texts first. Nothing is cut for it.
 *
 * Cells and titles are text; control characters in them are printed as blanks, so that none can break the table or
 * drive the terminal. Width is counted in columns of the terminal: UTF-8 is decoded, wide characters count two,
 * combining marks none. */
#ifndef LATHE_CONSOLE_TABLE_H
#define LATHE_CONSOLE_TABLE_H

#include "base/strbuf.h"

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table;

struct table *table_new(void);
void table_free(struct table *t);

/* All columns are declared before the first cell. limit: cells wider than this are cut with "..."; 0: never. */
void table_column(struct table *t, const char *title, enum table_align align, int limit);
/* The column just declared is left out by table_print if all its cells are empty. */
void table_optional(struct table *t);
/* It says what another column says too, as a bar does: left out where the table does not fit the terminal. */
void table_spare(struct table *t);
/* Its cells are words NAME=VALUE: those that all of them share are told once where the table does not fit. */
void table_pairs(struct table *t);

/* The next cell, row by row. NULL or "": empty, printed as "-" in a number column. */
void table_cell(struct table *t, const char *text);
void table_cellf(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int table_rows(const struct table *t);

/* Header, then rows, two blanks between columns. width: of the terminal, in columns; 0: as wide as it comes. */
void table_print(const struct table *t, int width, struct strbuf *b);
/* RFC 4180 but for lines that end in LF: header line, quoted where needed. */
void table_csv(const struct table *t, struct strbuf *b);

int text_width(const char *utf8); /* columns on a terminal */
/* Appends text of any number of lines; bytes of control characters but \n and \t, and those that are no UTF-8, are
 * written as \xNN, so that text from elsewhere cannot drive the terminal. */
void text_escape(struct strbuf *b, const char *utf8);
/* Appends text, with control characters as blanks, cut to `limit` columns with "..." at its end (0: whole). */
void text_cut(struct strbuf *b, const char *utf8, int limit);

#endif
