/* help.c: the text of --help, made from the option tables so that it cannot disagree with the parser. Plain text, 80
 * columns, no control characters. */
#include "console/help.h"
#include "console/roff.h"
#include "console/options.h"
#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, LEFT = 24 };

/* Bytes of the first word; of one that is longer than a line, as a list of choices may be, up to a | that fits. */
static int word_length(const char *text, int room)
{
    int len = (int)strcspn(text, " \n");
    for (int part = room; len > room && part > 0; part--)
        if (text[part - 1] == '|')
            return part;
    return len;
}

/* Appends words of `text`, breaking lines before `WIDTH`; `at` is the column already reached on this line, `indent`
 * where the next lines begin. A newline in the text starts a new line there. */
static void wrap(struct strbuf *b, const char *text, int at, int indent)
{
    bool fresh = true; /* nothing stands on this line yet */
    while (*text) {
        if (*text == '\n') {
            sb_addf(b, "\n%*s", indent, "");
            at = indent;
            fresh = true;
            text++;
            continue;
        }
        int len = word_length(text, WIDTH - indent);
        if (!fresh && at + 1 + len > WIDTH) {
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
    if (h->man)
        roff_heading(h->b, text);
    else
        sb_addf(h->b, "\n%s:\n", text);
}

void help_row(struct help *h, const char *left, const char *right)
{
    struct strbuf *b = h->b;
    if (h->man) {
        roff_row(b, left, right);
        return;
    }
    sb_addf(b, "  %s", left);
    int at = 2 + (int)strlen(left);
    if (at > LEFT - 2)
        sb_addf(b, "\n%*s", LEFT, "");
    else
        sb_addf(b, "%*s", LEFT - at, "");
    wrap(b, right, LEFT, LEFT);
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
