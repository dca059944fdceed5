/* cli.c: the command table: finding a command, its help, running it. */
#include "cli/cli.h"
#include "base/mem.h"
#include "cli/complete.h"
#include "console/output.h"
#include <string.h>

enum { MAX_COMMANDS = 32 };

const char cli_about[] =
    "Tunes GPU kernels: compiles a parameterized kernel once per configuration, checks each result against a "
    "double-precision reference, times it, keeps every fact in one database, and exports the winner as source.";

const struct command *const *cli_commands(void)
{
    static const struct command *const all[] = {
        &command_tune,   &command_best,   &command_show,   &command_export,  &command_import, &command_report,
        &command_explain, &command_serve, &command_space,  &command_check,   &command_verify, &command_doctor,
        &command_query,  &command_recording,
        &command_compare, &command_tune_strategy, &command_completion, &command_help, &command_version, NULL,
    };
    return all;
}

status cli_find(const char *name, const struct command **out, struct err *e)
{
    const char *names[MAX_COMMANDS];
    int n = 0;
    for (const struct command *const *c = cli_commands(); *c; c++) {
        if (!strcmp((*c)->name, name)) {
            *out = *c;
            return LATHE_OK;
        }
        names[n++] = (*c)->name;
    }
    const char *near = nearest_word(name, names, n);
    if (near)
        return err_set(e, LATHE_USAGE, "unknown command '%.200s'\ndid you mean '%s'? `lathe help` lists the commands",
                       name, near);
    return err_set(e, LATHE_USAGE, "unknown command '%.200s'\n`lathe help` lists the commands", name);
}

const struct cli_variable *cli_variables(void)
{
    static const struct cli_variable all[] = {
        {"LATHE_KERNELS",
         "folders with specifications, with colons between; asked before ./kernels and those that came with lathe"},
        {"LATHE_CACHE", "the folder of compiled kernels (default: $XDG_CACHE_HOME/lathe, ~/.cache/lathe)"},
        {"LATHE_CACHE_SIZE", "how large it may grow, in MiB (default 2048)"},
        {"LATHE_CUDA_PATH", "a CUDA toolkit, whose NVRTC, cuBLAS and headers are preferred to others that are found"},
        {"LATHE_POWERCAP", "where a processor's energy counters are (default /sys/class/powercap)"},
        {"CXX", "the C++ compiler of the host device, with options (default: the first of c++, g++, clang++)"},
        {"NO_COLOR", "no colours on a terminal"},
        {"TMPDIR", "where files go that are removed again (default /tmp)"},
        {0},
    };
    return all;
}

/* Two statuses share a code (2); their texts are joined. */
void cli_exit_codes(struct help *h)
{
    help_heading(h, "exit codes");
    for (int s = 0; s < STATUS_COUNT; s++) {
        int code = status_exit_code((status)s);
        if (s > 0 && code == status_exit_code((status)(s - 1)))
            continue;
        struct strbuf text = {0};
        sb_add(&text, status_text((status)s));
        for (int next = s + 1; next < STATUS_COUNT && status_exit_code((status)next) == code; next++)
            sb_addf(&text, ", or %s", status_text((status)next));
        char left[16];
        snprintf(left, sizeof left, "%d", code);
        help_row(h, left, sb_str(&text));
        sb_free(&text);
    }
}

void cli_help(struct strbuf *b)
{
    struct help h = {.b = b};
    help_paragraph(&h, "usage: lathe COMMAND [options] [arguments]");
    sb_add(b, "\n");
    help_paragraph(&h, cli_about);
    help_heading(&h, "commands");
    for (const struct command *const *c = cli_commands(); *c; c++)
        help_row(&h, (*c)->name, (*c)->summary);
    sb_add(b, "\n");
    help_paragraph(&h, "`lathe help COMMAND` or `lathe COMMAND --help` tells more of one.");
    help_heading(&h, "environment");
    for (const struct cli_variable *v = cli_variables(); v->name; v++)
        help_row(&h, v->name, v->text);
    cli_exit_codes(&h);
}

void cli_command_help(struct strbuf *b, const struct command *c)
{
    struct help h = {.b = b};
    struct strbuf usage = {0};
    options_usage(&usage, c->name, c->options);
    help_paragraph(&h, sb_str(&usage));
    sb_free(&usage);
    sb_add(b, "\n");
    help_paragraph(&h, c->summary);
    options_help(b, c->options);
    if (c->more_help)
        c->more_help(&h);
    if (c->details) {
        sb_add(b, "\n");
        help_paragraph(&h, c->details);
    }
}

static status run_command(const struct cli *cli, const struct command *c, int argc, char *const *argv, struct err *e)
{
    void *args = mem_zalloc(1, c->args_size ? c->args_size : 1);
    bool help = false;
    status s = options_parse(c->name, c->options, argc, argv, args, &help, e);
    if (s == LATHE_OK && help) {
        struct strbuf b = {0};
        cli_command_help(&b, c);
        s = out_buffer(&b, e);
    } else if (s == LATHE_OK) {
        s = c->run(cli, args, e);
    }
    options_free(c->options, args);
    mem_free(args);
    return s;
}

status cli_run(const struct cli *cli, int argc, char *const *argv, struct err *e)
{
    if (argc < 2) {
        struct strbuf b = {0};
        cli_help(&b);
        fputs(sb_str(&b), stderr);
        sb_free(&b);
        return err_set(e, LATHE_USAGE, "%s", "");
    }
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h"))
        return run_command(cli, &command_help, argc - 2, argv + 2, e);
    if (!strcmp(name, "--version") || !strcmp(name, "-V"))
        return run_command(cli, &command_version, argc - 2, argv + 2, e);
    if (name[0] == '-')
        return err_set(e, LATHE_USAGE,
                       "unknown option %.200s before the command\nexpected lathe COMMAND [options]; "
                       "`lathe help` lists the commands",
                       name);
    if (!strcmp(name, "complete")) /* in no help: what a shell asks; its words are another command's */
        return complete_run(cli, argc - 2, argv + 2, e);
    const struct command *c;
    status s = cli_find(name, &c, e);
    return s == LATHE_OK ? run_command(cli, c, argc - 2, argv + 2, e) : s;
}
