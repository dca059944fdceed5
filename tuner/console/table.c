/* table.c: aligned columns.
 *
 * Invariant: ncells is rows * columns when a row is complete; table_print of an incomplete row pads it with empty
 * cells. */
#include "console/table.h"
#include "base/mem.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct column {
    char *title;
    enum table_align align;
    int limit;
    bool optional;
};

struct table {
    struct column *columns;
    int ncolumns, columns_cap;
    char **cells;
    int ncells, cells_cap;
};

/* Decodes one character; bytes that are no UTF-8 stand for themselves (as U+FFFD, one byte long). */
static unsigned decode(const unsigned char *s, int *len)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    int n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    *len = 1;
    if (n == 1)
        return s[0];
    if (n == 0)
        return 0xfffd;
    unsigned c = s[0] & (0x7fu >> n);
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0xfffd;
        c = c << 6 | (s[i] & 0x3fu);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0xfffd;
    *len = n;
    return c;
}

static bool between(unsigned c, unsigned lo, unsigned hi)
{
    return c >= lo && c <= hi;
}

static int char_width(unsigned c)
{
    if (between(c, 0x300, 0x36f) || between(c, 0x200b, 0x200f) || between(c, 0xfe00, 0xfe0f) ||
        between(c, 0x20d0, 0x20ff))
        return 0;
    if (between(c, 0x1100, 0x115f) || between(c, 0x2e80, 0xa4cf) || between(c, 0xac00, 0xd7a3) ||
        between(c, 0xf900, 0xfaff) || between(c, 0xfe30, 0xfe6f) || between(c, 0xff00, 0xff60) ||
        between(c, 0xffe0, 0xffe6) || between(c, 0x1f300, 0x1faff) || between(c, 0x20000, 0x3fffd))
        return 2;
    return 1;
}

static bool is_control(unsigned c)
{
    return c < 0x20 || between(c, 0x7f, 0x9f) || c == 0x2028 || c == 0x2029 || between(c, 0x202a, 0x202e) ||
           between(c, 0x2066, 0x2069);
}

int text_width(const char *utf8)
{
    int width = 0, len;
    for (const unsigned char *s = (const unsigned char *)utf8; *s; s += len) {
        unsigned c = decode(s, &len);
        width += is_control(c) ? 1 : char_width(c);
    }
    return width;
}

void text_escape(struct strbuf *b, const char *utf8)
{
    int len;
    for (const unsigned char *s = (const unsigned char *)utf8; *s; s += len) {
        unsigned c = decode(s, &len);
        bool invalid = c == 0xfffd && len == 1;
        if (c == '\n' || c == '\t' || !(invalid || is_control(c)))
            sb_addn(b, (const char *)s, (size_t)len);
        else
            for (int i = 0; i < len; i++)
                sb_addf(b, "\\x%02x", s[i]);
    }
}

void text_cut(struct strbuf *b, const char *utf8, int limit)
{
    bool cut = limit > 0 && text_width(utf8) > limit;
    int dots = limit < 3 ? limit : 3, room = limit - dots, used = 0, len;
    for (const unsigned char *s = (const unsigned char *)utf8; *s; s += len) {
        unsigned c = decode(s, &len);
        used += is_control(c) ? 1 : char_width(c);
        if (cut && used > room)
            break;
        if (is_control(c))
            sb_add(b, " ");
        else if (c == 0xfffd)
            sb_add(b, "?");
        else
            sb_addn(b, (const char *)s, (size_t)len);
    }
    if (cut)
        sb_addn(b, "...", (size_t)dots);
}

struct table *table_new(void)
{
    return mem_zalloc(1, sizeof(struct table));
}

void table_free(struct table *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->ncolumns; i++)
        mem_free(t->columns[i].title);
    for (int i = 0; i < t->ncells; i++)
        mem_free(t->cells[i]);
    mem_free(t->columns);
    mem_free(t->cells);
    mem_free(t);
}

void table_column(struct table *t, const char *title, enum table_align align, int limit)
{
    MEM_GROW(t->columns, t->ncolumns, t->columns_cap);
    t->columns[t->ncolumns++] = (struct column){mem_strdup(title), align, limit, false};
}

void table_optional(struct table *t)
{
    t->columns[t->ncolumns - 1].optional = true;
}

void table_cell(struct table *t, const char *text)
{
    MEM_GROW(t->cells, t->ncells, t->cells_cap);
    t->cells[t->ncells++] = mem_strdup(text ? text : "");
}

void table_cellf(struct table *t, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    table_cell(t, text);
}

int table_rows(const struct table *t)
{
    return t->ncolumns ? (t->ncells + t->ncolumns - 1) / t->ncolumns : 0;
}

static const char *cell_at(const struct table *t, int row, int column)
{
    int i = row * t->ncolumns + column;
    return i < t->ncells ? t->cells[i] : "";
}

/* What stands in the cell, or (row -1) above the column, cut and cleaned; mem_free. */
static char *shown(const struct table *t, int row, int column)
{
    struct strbuf b = {0};
    const struct column *of = &t->columns[column];
    const char *text = row < 0 ? of->title : cell_at(t, row, column);
    if (row >= 0 && !*text && of->align == TABLE_RIGHT)
        text = "-";
    sb_add(&b, "");
    text_cut(&b, text, row < 0 ? 0 : of->limit);
    while (b.len && b.s[b.len - 1] == ' ')
        b.s[--b.len] = 0;
    return sb_take(&b);
}

static bool column_empty(const struct table *t, int column)
{
    int rows = table_rows(t);
    for (int r = 0; r < rows; r++)
        if (*cell_at(t, r, column))
            return false;
    return rows > 0;
}

/* -1: left out */
static int column_width(const struct table *t, int column)
{
    if (t->columns[column].optional && column_empty(t, column))
        return -1;
    int width = 0;
    for (int r = -1; r < table_rows(t); r++) {
        char *text = shown(t, r, column);
        int w = text_width(text);
        mem_free(text);
        if (w > width)
            width = w;
    }
    return width;
}

/* Blanks after the last cell of a line are never printed. */
static void print_line(const struct table *t, const int *widths, int row, struct strbuf *b)
{
    int pending = 0; /* blanks owed before the next cell */
    for (int c = 0; c < t->ncolumns; c++) {
        if (widths[c] < 0)
            continue;
        char *text = shown(t, row, c);
        int gap = widths[c] - text_width(text);
        if (t->columns[c].align == TABLE_RIGHT)
            pending += gap;
        if (*text) {
            sb_addf(b, "%*s%s", pending, "", text);
            pending = 0;
        }
        pending += 2 + (t->columns[c].align == TABLE_LEFT ? gap : 0);
        mem_free(text);
    }
    sb_add(b, "\n");
}

void table_print(const struct table *t, struct strbuf *b)
{
    int *widths = mem_zalloc((size_t)t->ncolumns, sizeof *widths);
    for (int c = 0; c < t->ncolumns; c++)
        widths[c] = column_width(t, c);
    for (int r = -1; r < table_rows(t); r++)
        print_line(t, widths, r, b);
    mem_free(widths);
}

static void csv_field(struct strbuf *b, const char *text, bool last)
{
    sb_csv(b, text);
    sb_add(b, last ? "\n" : ",");
}

void table_csv(const struct table *t, struct strbuf *b)
{
    for (int c = 0; c < t->ncolumns; c++)
        csv_field(b, t->columns[c].title, c == t->ncolumns - 1);
    for (int r = 0; r < table_rows(t); r++)
        for (int c = 0; c < t->ncolumns; c++)
            csv_field(b, cell_at(t, r, c), c == t->ncolumns - 1);
}
