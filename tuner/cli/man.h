/* man.h: man pages from the command table, in the `man` macros that groff and mandoc read. */
#ifndef LATHE_CLI_MAN_H
#define LATHE_CLI_MAN_H

#include "cli/cli.h"

/* lathe(1): the commands, the environment, the files, the exit codes. */
void man_lathe(struct strbuf *b, const struct cli *cli);
/* lathe-NAME(1) */
void man_command(struct strbuf *b, const struct cli *cli, const struct command *c);

#endif
