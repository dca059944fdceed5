/* complete.h: what may stand next on a command line, for the shell's tab key.
 *
 * `lathe complete -- WORD...` is what the scripts of `lathe completion` run: the words after "lathe" up to the one at
 * the cursor, which may be empty. It prints a line for each word that this one may become, a tab, and what it means; a
 * line ":file" or ":folder" asks the shell for paths as well. What ends in = or : is to be gone on with, without a
 * blank. */
#ifndef LATHE_CLI_COMPLETE_H
#define LATHE_CLI_COMPLETE_H

#include "cli/cli.h"

struct completion {
    const struct cli *cli;
    const struct command *command;
    struct strbuf out;
    const char *word;       /* the value as far as it was typed */
    const char *before;     /* what stands before it in the same word, not NUL-terminated: "--device=" */
    size_t before_len;
    const char *spec, *kernel, *strategy, *db; /* what the words before say; NULL: nothing */
    struct text_list settings;
};

/* argv: "--", then the words. Nothing to offer is no failure. */
status complete_run(const struct cli *cli, int argc, char *const *argv, struct err *e);

/* Offers it if it begins as the word does. text: what it means, or NULL. */
void complete_offer(struct completion *c, const char *value, const char *text);
void complete_option_value(struct completion *c, const struct option_row *r);
/* Goes on behind the last `stop` in the word: in a list behind its last comma, in NAME=V behind the =. */
void complete_behind(struct completion *c, char stop);
/* "time|energy" */
void complete_words(struct completion *c, const char *list);

/* complete_spec.c: what the specification on the command line has. */
void complete_kernels(struct completion *c);
void complete_baselines(struct completion *c);
void complete_sizes(struct completion *c);    /* DIM= */
void complete_settings(struct completion *c); /* NAME=, NAME=VALUE */
void complete_parameters(struct completion *c);

#endif
