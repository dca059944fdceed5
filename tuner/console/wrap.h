/* wrap.h: text in lines that a terminal has room for, broken at blanks alone. What stands in backquotes, a command to
 * be copied, is one word. A word that is longer than a line is left whole. */
#ifndef LATHE_CONSOLE_WRAP_H
#define LATHE_CONSOLE_WRAP_H

#include "base/strbuf.h"

/* The bytes of the words at a text's beginning that stand on one line of `room` columns; one word at least. */
size_t wrap_bytes(const char *text, int room);
/* The lines that a text takes; *widest, where not NULL, is made as large as the widest of them. */
int wrap_lines(const char *text, int room, int *widest);
/* Appends a text whose first line has begun; the others begin with `indent` blanks. No newline at its end. */
void wrap_text(struct strbuf *b, const char *text, int room, int indent);
/* Appends text of any number of lines, each broken where it is wider than `width` (0: never) and going on two blanks
 * further in than it began. A line "next: COMMAND" is left whole. */
void wrap_all(struct strbuf *b, const char *text, int width);

#endif
