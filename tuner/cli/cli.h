/* cli.h: the commands. Each has one file, cmd_NAME.c, which defines its row of the table and knows nothing of the
 * others. What one needs beside it is in a folder of its name (tune/, compare/, space/, export/), what several share in
 * args/, output/ and progress/; the folders know nothing of the table.
 *
 * A command writes results to stdout and progress to stderr; what goes wrong it returns, and main.c prints. A failure
 * writes nothing to stdout (a campaign that found nothing valid is a result, as is a doctor's finding). A status with
 * an empty message is only an exit code: the command has said already what there is to say. */
#ifndef LATHE_CLI_CLI_H
#define LATHE_CLI_CLI_H

#include "console/help.h"
#include "console/options.h"

struct cli {
    const char *self; /* path of this binary: workers run it, and kernels/ is looked for beside it */
    const char *version, *date; /* date: of the version, 2026-11-30 */
    const char *command_line; /* as typed, quoted for a shell */
};

struct command {
    const char *name, *summary;
    const char *details; /* paragraphs after the options in the help; NULL: none */
    const struct option_row *options;
    size_t args_size;                    /* of the struct that the options fill */
    void (*more_help)(struct help *h);   /* what only the program knows (strategies); NULL: none */
    status (*run)(const struct cli *cli, void *args, struct err *e);
};

extern const struct command command_tune, command_best, command_show, command_export, command_import, command_report,
    command_explain, command_serve, command_space, command_check, command_verify, command_doctor, command_query,
    command_recording, command_compare, command_tune_strategy, command_completion, command_help, command_version;

/* argv[0] is the program's name. Runs a command; LATHE_USAGE for one that there is not. */
status cli_run(const struct cli *cli, int argc, char *const *argv, struct err *e);

/* All commands, in the order of the help; ended by NULL. */
const struct command *const *cli_commands(void);
status cli_find(const char *name, const struct command **out, struct err *e);

/* Variables of the environment that users may set; ended by one whose name is NULL. */
struct cli_variable {
    const char *name, *text;
};
const struct cli_variable *cli_variables(void);
/* Each code once: "2", and what it stands for. */
void cli_exit_codes(struct help *h);
extern const char cli_about[]; /* what lathe is, in a sentence */

void cli_help(struct strbuf *b);                                  /* what `lathe --help` prints */
void cli_command_help(struct strbuf *b, const struct command *c); /* what `lathe help NAME` prints */

#endif
