/* help.c: the text of --help, made from the option tables so that it cannot disagree with the parser. Plain text, 80
 * columns, fewer on a terminal that has fewer, no control characters. */
#include "console/help.h"
#include "console/roff.h"
#include "console/options.h"
#include "console/output.h"
#include <stdio.h>
#include <string.h>

/* Below ROOMY columns the right ones are below the left. */
enum { WIDTH = 80, LEFT = 24, ROOMY = 60, NARROW_LEFT = 6 };

static int help_width(void)
{
    int columns = text_columns(stdout);
    return columns && columns < WIDTH ? columns : WIDTH;
}

/* Bytes of the first word; of one that is longer than a line, as a list of choices may be, up to a | that fits. */
static int word_length(const char *text, int room)
{
    int len = (int)strcspn(text, " \n");
    for (int part = room; len > room && part > 0; part--)
        if (text[part - 1] == '|')
            return part;
    return len;
}

/* Appends words of `text`, breaking lines before the help's width; `at` is the column already reached on this line, `indent`
 * where the next lines begin. A newline in the text starts a new line there. */
static void wrap(struct strbuf *b, const char *text, int at, int indent)
{
    int width = help_width();
    bool fresh = true; /* nothing stands on this line yet */
    while (*text) {
        if (*text == '\n') {
            sb_addf(b, "\n%*s", indent, "");
            at = indent;
            fresh = true;
            text++;
            continue;
        }
        int len = word_length(text, width - indent);
        if (!fresh && at + 1 + len > width) {
            sb_addf(b, "\n%*s", indent, "");
            at = indent;
            fresh = true;
        }
        if (!fresh) {
            sb_add(b, " ");
            at++;
        }
        sb_addn(b, text, (size_t)len);
        at += len;
        fresh = false;
        text += len;
        text += *text == ' ';
    }
    sb_add(b, "\n");
}

void help_heading(struct help *h, const char *text)
{
    struct strbuf line = {0};
    if (h->man) {
        roff_heading(h->b, text);
        return;
    }
    sb_addf(&line, "%s:", text);
    sb_add(h->b, "\n");
    wrap(h->b, sb_str(&line), 0, 0);
    sb_free(&line);
}

void help_row(struct help *h, const char *left, const char *right)
{
    struct strbuf *b = h->b;
    if (h->man) {
        roff_row(b, left, right);
        return;
    }
    sb_addf(b, "  %s", left);
    int column = help_width() < ROOMY ? NARROW_LEFT : LEFT, at = 2 + (int)strlen(left);
    if (at > column - 2)
        sb_addf(b, "\n%*s", column, "");
    else
        sb_addf(b, "%*s", column - at, "");
    wrap(b, right, column, column);
}

void help_paragraph(struct help *h, const char *text)
{
    if (h->man)
        roff_paragraph(h->b, text);
    else
        wrap(h->b, text, 0, 0);
}

void option_names(struct strbuf *b, const struct option_row *r)
{
    if (r->letter)
        sb_addf(b, "-%c, ", r->letter);
    sb_addf(b, "--%s", r->name);
    if (r->arg)
        sb_addf(b, " %s", r->arg);
}

void option_text(struct strbuf *b, const struct option_row *r)
{
    sb_add(b, r->help);
    if (r->initial)
        sb_addf(b, " (default %s)", r->initial);
}

void options_usage(struct strbuf *b, const char *command, const struct option_row *rows)
{
    sb_addf(b, "usage: lathe %s [options]", command);
    for (const struct option_row *r = rows; r->name; r++)
        if (option_positional(r))
            sb_addf(b, r->kind == OPTION_NEEDED ? " %s" : r->kind == OPTION_REST ? " [%s...]" : " [%s]", r->name);
}

void options_help(struct strbuf *b, const struct option_row *rows)
{
    struct help h = {.b = b};
    sb_add(b, option_positional(rows) && rows->name ? "\n" : "");
    for (const struct option_row *r = rows; r->name; r++)
        if (option_positional(r))
            help_row(&h, r->name, r->help);
    help_heading(&h, "options");
    for (const struct option_row *r = rows; r->name; r++) {
        if (option_positional(r))
            continue;
        struct strbuf left = {0}, right = {0};
        option_names(&left, r);
        option_text(&right, r);
        help_row(&h, sb_str(&left), sb_str(&right));
        sb_free(&left);
        sb_free(&right);
    }
    help_row(&h, "-h, --help", "this text");
}
