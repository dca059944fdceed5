/* man.h: man pages from the command table, in the `man` macros that groff and mandoc read. */
#ifndef LATHE_CLI_MAN_H
#define LATHE_CLI_MAN_H

#include "cli/cli.h"

/* lathe(1): the commands, the environment, the files, the exit codes. */
void man_lathe(struct strbuf *b, const struct cli *cli);
/* lathe-NAME(1) */
void man_command(struct strbuf *b, const struct cli *cli, const struct command *c);

/* What help.c calls for a page's parts. */
void man_heading(struct strbuf *b, const char *text);
void man_row(struct strbuf *b, const char *left, const char *right);
void man_paragraph(struct strbuf *b, const char *text);

#endif
