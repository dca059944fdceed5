/* cmd_completion.c: `lathe completion`: the scripts by which shells ask `lathe complete` (complete.h). */
#include "cli/cli.h"
#include "console/output.h"
#include <string.h>

static const char BASH[] = {
#include "tuner/cli/completion.bash.inc"
, 0};
static const char ZSH[] = {
#include "tuner/cli/completion.zsh.inc"
, 0};
static const char FISH[] = {
#include "tuner/cli/completion.fish.inc"
, 0};

struct completion_args {
    const char *shell;
};

static const struct option_row completion_options[] = {
    {"SHELL", .kind = OPTION_NEEDED, .offset = offsetof(struct completion_args, shell), .help = "bash, zsh or fish",
     .choices = "bash|zsh|fish"},
    {0},
};

static status completion_run(const struct cli *cli, void *p, struct err *e)
{
    const struct completion_args *args = p;
    static const char *const names[] = {"bash", "zsh", "fish"}, *const texts[] = {BASH, ZSH, FISH};
    for (int i = 0; i < 3; i++)
        if (!strcmp(args->shell, names[i]))
            return out_text(texts[i], strlen(texts[i]), e);
    const char *near = nearest_word(args->shell, (const char *const[]){"bash", "zsh", "fish"}, 3);
    return err_set(e, LATHE_USAGE, "completion: there is none for '%.100s'%s%s%s\nSHELL is bash, zsh or fish",
                   args->shell, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

const struct command command_completion = {
    .name = "completion",
    .summary = "prints what makes a shell's tab key know lathe",
    .details =
        "For this shell: source <(lathe completion bash), source <(lathe completion zsh), or lathe completion fish "
        "| source. For all to come: the same in ~/.bashrc or ~/.zshrc, or fish's in "
        "~/.config/fish/completions/lathe.fish. `make install` puts them where the shells look.\n"
        "Commands, options, specifications and their kernels and dimensions, strategies and their options, "
        "devices, campaigns of the database and files are completed.",
    .options = completion_options,
    .args_size = sizeof(struct completion_args),
    .run = completion_run,
};
