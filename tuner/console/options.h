/* options.h: the options of a command as a table, and everything that follows from it: parsing, messages, help.
 *
 * A command's arguments are a struct of its own; each row says what one option is called, what it takes, and where its
 * value goes. Rows with an upper-case name are positional arguments: they stand first, in order. The table ends with a
 * row whose name is NULL. --help and -h are understood by every command and stand in no table. */
#ifndef LATHE_CONSOLE_OPTIONS_H
#define LATHE_CONSOLE_OPTIONS_H

#include "base/err.h"
#include "base/strbuf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_list { /* owns its items */
    char **items;
    int count, cap;
};
void text_list_free(struct text_list *l);

enum option_kind {              /* what the field at `offset` is */
                   OPTION_FLAG, /* bool */
                   OPTION_TEXT, /* const char *, borrowed from argv or from the table's default; the last one given wins
                                 */
                   OPTION_DATABASE, /* const char *, the file itself where a link was given, so that it is the same to
                                       the end; "none" is none */
                   OPTION_TEXTS,   /* struct text_list: may be given more than once */
                   OPTION_LIST,    /* the same, and what follows it up to the next option belongs to it: --x A B C */
                   OPTION_SIZES,   /* struct text_list of checked "DIM=N"; "M=1,N=2" gives two items; a DIM once */
                   OPTION_PAIRS,   /* struct text_list of "NAME=VALUE", one a time; each NAME once */
                   OPTION_COUNT,   /* int64_t */
                   OPTION_SECONDS, /* double */
                   OPTION_NEEDED,  /* a positional argument that must be there: const char * */
                   OPTION_WANTED,  /* a positional argument that may be left out: const char * */
                   OPTION_REST,    /* the last positional argument, any number of times: struct text_list */
};

struct option_row {
    const char *name; /* "trials"; "SPEC" for a positional argument */
    char letter;      /* 'o' for -o, or 0 */
    const char *arg;  /* "N"; NULL for a flag and for a positional argument */
    enum option_kind kind;
    size_t offset;
    const char *initial; /* the default as text, shown in the help; NULL: the field stays zero */
    int64_t min, max;    /* OPTION_COUNT; max 0: no limit */
    const char *help;
    size_t given;        /* of a bool that tells whether the option was there; 0: nobody asks */
    const char *choices; /* the values that there are, "time|energy", for completion; NULL: what complete_values.c
                            knows */
};

/* argv[0] is the first argument after the command's name; args is zeroed memory. *help: --help was given (then nothing
 * else is checked). Failures are LATHE_USAGE, name the option and value, and suggest the nearest option. */
status options_parse(const char *command, const struct option_row *rows, int argc, char *const *argv, void *args,
                     bool *help, struct err *e);
void options_free(const struct option_row *rows, void *args);

/* The "Usage:" line, and the table of arguments and options. */
bool option_positional(const struct option_row *r);
void options_usage(struct strbuf *b, const char *command, const struct option_row *rows);
void options_help(struct strbuf *b, const struct option_row *rows);
/* "-o, --output FILE", and what the help says of it, with its default. */
void option_names(struct strbuf *b, const struct option_row *r);
void option_text(struct strbuf *b, const struct option_row *r);

#endif
