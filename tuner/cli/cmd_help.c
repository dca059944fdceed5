/* cmd_help.c: `lathe help [COMMAND]` and `lathe version`. */
#include "cli/cli.h"
#include "cli/output.h"

struct help_args {
    const char *command;
};

static const struct option_row help_options[] = {
    {"COMMAND", .kind = OPTION_WANTED, .offset = offsetof(struct help_args, command), .help = "the command to tell of"},
    {0},
};

static status help_run(const struct cli *cli, void *p, struct err *e)
{
    const struct help_args *args = p;
    struct strbuf b = {0};
    if (args->command) {
        const struct command *c;
        status s = cli_find(args->command, &c, e);
        if (s != LATHE_OK)
            return s;
        cli_command_help(&b, c);
    } else {
        cli_help(&b);
    }
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
