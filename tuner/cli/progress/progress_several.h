/* progress_several.h: what several campaigns show that run at the same time: their lines, each with the campaign's name
 * before it, and on a terminal one live block with a line for each; elsewhere how far each is, now and then. */
#ifndef LATHE_CLI_PROGRESS_SEVERAL_H
#define LATHE_CLI_PROGRESS_SEVERAL_H

#include "cli/progress/progress.h"

struct progress_several {
    struct progress screen;
    int count;
    struct progress_part {
        char *name, *counts; /* counts NULL: nothing is known yet */
    } *parts;
};

/* names: copied; those that are long are cut, and a name that another has too gets a number. */
void several_init(struct progress_several *s, FILE *out, bool quiet, const char *const *names, int count);
/* What happened in campaign i; and how far it is. */
void several_line(struct progress_several *s, int i, enum progress_shade shade, const char *text);
void several_counts(struct progress_several *s, int i, const char *text);
void several_end(struct progress_several *s); /* removes the live block; frees what s holds */

#endif
