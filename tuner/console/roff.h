/* roff.h: the parts of a man page, in the `man` macros that groff and mandoc read. */
#ifndef LATHE_CONSOLE_ROFF_H
#define LATHE_CONSOLE_ROFF_H

#include "base/strbuf.h"

/* Text as it is: what would be a request at a line's beginning, an escape, or another character in print, is none. */
void roff_text(struct strbuf *b, const char *text, size_t len);
void roff_words(struct strbuf *b, const char *text);        /* the same, of a whole string */
/* A line of the source each sentence. */
void roff_line(struct strbuf *b, const char *text, size_t len);
void roff_heading(struct strbuf *b, const char *text);
void roff_row(struct strbuf *b, const char *left, const char *right);
void roff_paragraph(struct strbuf *b, const char *text);

#endif
