/* table.c: the cells of a table, its CSV, and widths of text; table_print.c prints it.
 *
 * Invariant: ncells is rows * columns when a row is complete; cells that an incomplete row lacks are empty. */
#include "console/table_impl.h"
#include "base/mem.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    t->columns[t->ncolumns++] = (struct column){.title = mem_strdup(title), .align = align, .limit = limit};
}

void table_optional(struct table *t)
{
    t->columns[t->ncolumns - 1].optional = true;
}

void table_spare(struct table *t)
{
    t->columns[t->ncolumns - 1].spare = true;
}

void table_pairs(struct table *t)
{
    t->columns[t->ncolumns - 1].pairs = true;
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

const char *table_text(const struct table *t, int row, int column)
{
    int i = row * t->ncolumns + column;
    return i < t->ncells ? t->cells[i] : "";
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
            csv_field(b, table_text(t, r, c), c == t->ncolumns - 1);
}
