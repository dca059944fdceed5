/* table_print.c: aligned columns, and what a table does that is wider than the terminal.
 *
 * A row is one line, or several: line 0 stands at the margin, the others are indented under it. Each column stands on
 * one of them, aligned with its cells in other rows; the last column of a line may be wider than what is left of it,
 * and then goes on under itself. */
#include "base/mem.h"
#include "console/table_impl.h"
#include "console/wrap.h"
#include <stdint.h>
#include <string.h>

enum { GAP = 2, LEFT_OUT = -1 };

struct layout {
    const struct table *t;
    int n, rows;
    char **text; /* of row -1 (the titles), then of each row: what is printed, n each */
    int *width;  /* of each column's widest text; LEFT_OUT */
    int *line;   /* where each column stands */
    int lines;   /* of a row, beside the first */
    int indent;  /* of those */
    int room;    /* the terminal's width */
};

static char **text_at(const struct layout *l, int row, int column)
{
    return &l->text[(row + 1) * l->n + column];
}

/* What stands in the cell, or (row -1) above the column, cut and cleaned; mem_free. */
static char *shown(const struct table *t, int row, int column)
{
    struct strbuf b = {0};
    const struct column *of = &t->columns[column];
    const char *text = row < 0 ? of->title : table_text(t, row, column);
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
        if (*table_text(t, r, column))
            return false;
    return rows > 0;
}

static void measure(struct layout *l, int column)
{
    int width = 0;
    for (int r = -1; r < l->rows; r++) {
        int w = text_width(*text_at(l, r, column));
        width = w > width ? w : width;
    }
    l->width[column] = width;
}

static void layout_open(struct layout *l, const struct table *t, int room)
{
    *l = (struct layout){.t = t, .n = t->ncolumns, .rows = table_rows(t), .room = room};
    l->text = mem_zalloc((size_t)(l->rows + 1) * (size_t)l->n + 1, sizeof *l->text);
    l->width = mem_zalloc((size_t)l->n + 1, sizeof *l->width);
    l->line = mem_zalloc((size_t)l->n + 1, sizeof *l->line);
    for (int c = 0; c < l->n; c++) {
        for (int r = -1; r < l->rows; r++)
            *text_at(l, r, c) = shown(t, r, c);
        measure(l, c);
        if (t->columns[c].optional && column_empty(t, c))
            l->width[c] = LEFT_OUT;
    }
}

static void layout_close(struct layout *l)
{
    for (int i = 0; i < (l->rows + 1) * l->n; i++)
        mem_free(l->text[i]);
    mem_free(l->text);
    mem_free(l->width);
    mem_free(l->line);
}

/* The last column of a line, or -1. */
static int last_of(const struct layout *l, int line)
{
    for (int c = l->n - 1; c >= 0; c--)
        if (l->width[c] >= 0 && l->line[c] == line)
            return c;
    return -1;
}

static int first_shown(const struct layout *l)
{
    for (int c = 0; c < l->n; c++)
        if (l->width[c] >= 0)
            return c;
    return -1;
}

/* Where a column begins on its line. */
static int begin_of(const struct layout *l, int column)
{
    int at = l->line[column] ? l->indent : 0;
    for (int c = 0; c < column; c++)
        if (l->width[c] >= 0 && l->line[c] == l->line[column])
            at += l->width[c] + GAP;
    return at;
}

static bool fits(const struct layout *l)
{
    int last = last_of(l, 0);
    return last < 0 || begin_of(l, last) + l->width[last] <= l->room;
}

/* --- what all rows share --- */

/* Removes the columns of text that is the same in all rows, and tells it. */
static void share_columns(struct layout *l, struct strbuf *above)
{
    int first = first_shown(l);
    const char *separator = "in all rows: ";
    for (int c = first + 1; c < l->n && l->rows > 1; c++) {
        bool same = l->width[c] >= 0 && l->t->columns[c].align == TABLE_LEFT && !l->t->columns[c].pairs &&
                    **text_at(l, -1, c) && **text_at(l, 0, c) && strcmp(*text_at(l, 0, c), "-") != 0;
        for (int r = 1; r < l->rows && same; r++)
            same = strcmp(*text_at(l, 0, c), *text_at(l, r, c)) == 0;
        if (!same)
            continue;
        l->width[c] = LEFT_OUT;
        sb_addf(above, "%s%s %s", separator, *text_at(l, -1, c), *text_at(l, 0, c));
        separator = ", ";
    }
    if (above->len)
        sb_add(above, "\n");
}

static bool has_word(const char *text, const char *word, size_t len)
{
    while (*text) {
        size_t own = strcspn(text, " ");
        if (own == len && !memcmp(text, word, len))
            return true;
        text += own;
        text += strspn(text, " ");
    }
    return false;
}

/* The pairs that all cells have which have any, each with a blank before it; "" if nothing would be left of a cell, or
 * if there is but one. */
static void shared_pairs(const struct layout *l, int column, struct strbuf *shared)
{
    const char *first = "";
    int cells = 0;
    size_t least = SIZE_MAX;
    for (int r = l->rows - 1; r >= 0; r--) {
        const char *text = *text_at(l, r, column);
        if (!strchr(text, '='))
            continue;
        first = text;
        least = strlen(text) < least ? strlen(text) : least;
        cells++;
    }
    for (const char *word = cells > 1 ? first : ""; *word; word += strspn(word, " ")) {
        size_t len = strcspn(word, " ");
        bool all = memchr(word, '=', len) != NULL;
        for (int r = 0; r < l->rows && all; r++)
            all = !strchr(*text_at(l, r, column), '=') || has_word(*text_at(l, r, column), word, len);
        if (all)
            sb_addf(shared, " %.*s", (int)len, word);
        word += len;
    }
    if (shared->len > least)
        sb_free(shared);
}

static void share_pairs(struct layout *l, int column, struct strbuf *above)
{
    struct strbuf shared = {0};
    shared_pairs(l, column, &shared);
    for (int r = 0; r < l->rows && shared.len; r++) {
        struct strbuf rest = {0};
        sb_add(&rest, "");
        for (const char *word = *text_at(l, r, column); *word; word += strspn(word, " ")) {
            size_t len = strcspn(word, " ");
            if (!has_word(shared.s + 1, word, len))
                sb_addf(&rest, "%s%.*s", rest.len ? " " : "", (int)len, word);
            word += len;
        }
        mem_free(*text_at(l, r, column));
        *text_at(l, r, column) = sb_take(&rest);
    }
    if (shared.len) {
        sb_addf(above, "in every %s:%s\n", l->t->columns[column].title, shared.s);
        measure(l, column);
    }
    sb_free(&shared);
}

/* --- lines --- */

/* The widest word of a column's cells and title. */
static int widest_word(const struct layout *l, int column)
{
    int widest = 0;
    for (int r = -1; r < l->rows; r++)
        wrap_lines(*text_at(l, r, column), 1, &widest);
    return widest;
}

/* Lines that all rows take. */
static int64_t count_lines(const struct layout *l)
{
    int64_t lines = 0;
    for (int line = 0; line <= l->lines; line++) {
        int last = last_of(l, line), begin = begin_of(l, last);
        for (int r = 0; r < l->rows; r++)
            lines += !line || **text_at(l, r, last) ? wrap_lines(*text_at(l, r, last), l->room - begin, NULL) : 0;
    }
    return lines;
}

/* Lines if the last column goes on under itself; -1: there is no room for that. */
static int64_t lines_hanging(const struct layout *l)
{
    enum { LEAST = 24 };
    int last = last_of(l, 0), room = l->room - begin_of(l, last);
    if (l->t->columns[last].align != TABLE_LEFT || room < LEAST || room < widest_word(l, last))
        return -1;
    return count_lines(l);
}

/* Which column leaves line 0 next: the widest text, else the last number; never the first. */
static int next_under(const struct layout *l)
{
    int first = first_shown(l), next = -1;
    for (int c = first + 1; c < l->n; c++)
        if (l->width[c] >= 0 && !l->line[c] && l->t->columns[c].align == TABLE_LEFT &&
            (next < 0 || l->width[c] >= l->width[next]))
            next = c;
    int last = last_of(l, 0);
    return next >= 0 ? next : last > first ? last : -1;
}

static bool goes_on(const struct layout *l, int column, int at)
{
    enum { LEAST = 40 };
    int room = l->room - at;
    for (int c = column + 1; c < l->n; c++)
        if (l->line[c] && l->width[c] >= 0)
            return false;
    return l->t->columns[column].align == TABLE_LEFT && room >= LEAST && room >= widest_word(l, column);
}

/* Columns go under the row until the others fit, and stand side by side there as far as they do. */
static void move_under(struct layout *l)
{
    enum { SHORT = 8, INDENT = 4 };
    int first = first_shown(l), next;
    while (!fits(l) && (next = next_under(l)) >= 0)
        l->line[next] = 1;
    l->indent = l->width[first] <= SHORT ? l->width[first] + GAP : INDENT;
    int at = l->room + 1;
    for (int c = 0; c < l->n; c++) {
        if (l->width[c] < 0 || !l->line[c])
            continue;
        if (at + l->width[c] > l->room && (!l->lines || !goes_on(l, c, at))) {
            l->lines++;
            at = l->indent;
        }
        l->line[c] = l->lines;
        at += l->width[c] + GAP;
    }
}

static void lay_out(struct layout *l, struct strbuf *above)
{
    for (int c = 0; c < l->n && !fits(l); c++)
        if (l->t->columns[c].spare)
            l->width[c] = LEFT_OUT;
    if (!fits(l))
        share_columns(l, above);
    for (int c = 0; c < l->n && !fits(l); c++)
        if (l->t->columns[c].pairs && l->width[c] >= 0)
            share_pairs(l, c, above);
    if (fits(l))
        return;
    int64_t hanging = lines_hanging(l);
    move_under(l);
    if (hanging < 0 || hanging > count_lines(l))
        return;
    memset(l->line, 0, (size_t)l->n * sizeof *l->line);
    l->lines = 0;
}

/* Blanks after the last cell of a line are never printed; a line under the row that has no text at all is not. */
static void print_line(const struct layout *l, int row, int line, struct strbuf *b)
{
    int pending = line ? l->indent : 0, last = last_of(l, line); /* blanks owed before the next cell */
    bool any = !line;
    for (int c = 0; c < l->n; c++) {
        if (l->width[c] < 0 || l->line[c] != line)
            continue;
        const char *text = *text_at(l, row, c);
        int gap = l->width[c] - text_width(text);
        if (l->t->columns[c].align == TABLE_RIGHT)
            pending += gap;
        if (*text) {
            sb_addf(b, "%*s", pending, "");
            if (c == last && l->room)
                wrap_text(b, text, l->room - begin_of(l, c), begin_of(l, c));
            else
                sb_add(b, text);
            pending = 0;
            any = true;
        }
        pending += GAP + (l->t->columns[c].align == TABLE_LEFT ? gap : 0);
    }
    sb_add(b, any ? "\n" : "");
}

void table_print(const struct table *t, int width, struct strbuf *b)
{
    struct layout l;
    layout_open(&l, t, width);
    if (width && !fits(&l)) {
        struct strbuf above = {0};
        lay_out(&l, &above);
        wrap_all(b, sb_str(&above), width);
        sb_add(b, above.len ? "\n" : "");
        sb_free(&above);
    }
    for (int r = -1; r < l.rows; r++)
        for (int line = 0; line <= l.lines; line++)
            print_line(&l, r, line, b);
    layout_close(&l);
}
