/* cmd_help.c: `lathe help [COMMAND]` and `lathe version`. */
#include "cli/cli.h"
#include "cli/man.h"
#include "console/output.h"

struct help_args {
    const char *command;
    bool man, list;
};

static const struct option_row help_options[] = {
    {"COMMAND", .kind = OPTION_WANTED, .offset = offsetof(struct help_args, command), .help = "the command to tell of"},
    {"man", .kind = OPTION_FLAG, .offset = offsetof(struct help_args, man),
     .help = "as the source of a man page: lathe help --man tune | man -l -"},
    {"list", .kind = OPTION_FLAG, .offset = offsetof(struct help_args, list),
     .help = "the names of the commands, one a line"},
    {0},
};

static status help_run(const struct cli *cli, void *p, struct err *e)
{
    const struct help_args *args = p;
    const struct command *c = NULL;
    struct strbuf b = {0};
    status s = args->command ? cli_find(args->command, &c, e) : LATHE_OK;
    if (s == LATHE_OK && args->list && (args->man || c))
        s = err_set(e, LATHE_USAGE, "--list: goes with nothing else");
    if (s != LATHE_OK)
        return s;
    for (const struct command *const *all = cli_commands(); args->list && *all; all++)
        sb_addf(&b, "%s\n", (*all)->name);
    if (args->man && c)
        man_command(&b, cli, c);
    else if (args->man)
        man_lathe(&b, cli);
    else if (c)
        cli_command_help(&b, c);
    else if (!args->list)
        cli_help(&b);
    return out_buffer(&b, e);
}

const struct command command_help = {
    .name = "help",
    .summary = "tells of lathe, or of one command",
    .options = help_options,
    .args_size = sizeof(struct help_args),
    .run = help_run,
};

static const struct option_row version_options[] = {{0}};

static status version_run(const struct cli *cli, void *args, struct err *e)
{
    struct strbuf b = {0};
    sb_addf(&b, "lathe %s\n", cli->version);
    return out_buffer(&b, e);
}

const struct command command_version = {
    .name = "version",
    .summary = "prints the version",
    .options = version_options,
    .run = version_run,
};
