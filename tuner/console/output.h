/* output.h: results to stdout, notes to stderr, and what is known of the terminals.
 *
 * A reader that went away (`lathe best | head`) is no failure: the rest of the output is dropped silently. Any other
 * failure of stdout (a full disk, a closed descriptor) is LATHE_IO. */
#ifndef LATHE_CONSOLE_OUTPUT_H
#define LATHE_CONSOLE_OUTPUT_H

#include "base/err.h"
#include "base/strbuf.h"
#include <jansson.h>
#include <stdio.h>

status out_text(const char *text, size_t len, struct err *e);
status out_buffer(struct strbuf *b, struct err *e); /* writes and frees b */
/* Likewise, for people: control characters escaped (table.h), and lines broken where the terminal ends (wrap.h). */
status out_report(struct strbuf *b, struct err *e);
/* A line, or several, to stderr, for people: likewise; the last one's end is added. */
void note_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
status out_json(const json_t *j, struct err *e);    /* indented, with a newline at the end */
/* The same text, appended. */
status json_pretty(struct strbuf *b, const json_t *j, struct err *e);
/* JSON must be UTF-8, and a name, a compiler's words or what was cut off may not be: bytes that are none are U+FFFD. */
json_t *out_string(const char *text);
json_t *out_number(double v);       /* null where it is not finite */
/* One line, no blanks to spare; appended. */
void json_line(struct strbuf *b, const json_t *j);
/* From now on a reader that takes nothing for two seconds is as one that went away, if `when` says so then. NULL: it is
 * waited for. */
void out_give_up(bool (*when)(void));
bool out_reader_gone(void); /* stdout's reader has closed its end: stop making output */

bool is_terminal(FILE *f);     /* a terminal that understands cursor movement */
bool wants_colour(FILE *f);    /* a terminal, and NO_COLOR is not set */
int text_columns(FILE *f);     /* what lines of text have to fit: a terminal's width; 0: it is none, or does not tell */
int terminal_columns(FILE *f); /* 80 if it cannot be told */
int terminal_rows(FILE *f);    /* 0 if it cannot be told */

#endif
