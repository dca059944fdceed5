/* help.h: what a command says of itself, as text of 80 columns (of fewer where stdout is a narrower terminal) or as the
 * source of a man page: written once. */
#ifndef LATHE_CONSOLE_HELP_H
#define LATHE_CONSOLE_HELP_H

#include "base/strbuf.h"
#include <stdbool.h>

struct help {
    struct strbuf *b;
    bool man; /* false: plain text */
};

void help_heading(struct help *h, const char *text);
/* Two columns: `left` at the margin, `right` wrapped beside it. A left that begins with blanks belongs to
 * the row before. */
void help_row(struct help *h, const char *left, const char *right);
/* A paragraph wrapped to the help's width; newlines in it are kept. */
void help_paragraph(struct help *h, const char *text);

#endif
