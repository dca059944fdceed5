/* parse_inputs.h: classes of inputs, and objectives, as users type them, and the list of classes for the help. */
#ifndef LATHE_CLI_PARSE_INPUTS_H
#define LATHE_CLI_PARSE_INPUTS_H

#include "console/help.h"
#include "console/options.h"
#include "model/inputs.h"
#include "model/problem.h"
#include "model/result.h"

/* LATHE_USAGE names the nearest and what there is. */
status parse_inputs(const char *name, enum inputs *out, struct err *e);
/* Of "a,b" texts, each class once, in the order given; all of them where there are no texts. */
status parse_inputs_list(const struct text_list *texts, enum inputs out[INPUTS_COUNT], int *n, struct err *e);

/* Is there such a class of p's inputs? LATHE_USAGE: `check`, and no tensor has check values; where the classes were not
 * named, it is left out of them instead. */
status inputs_of_problem(const struct problem *p, bool named, enum inputs *list, int *n, struct err *e);

/* "time" or "energy"; LATHE_USAGE. */
status parse_objective(const char *text, enum objective *out, struct err *e);

/* "auto", "yes" or "no"; LATHE_USAGE. */
status parse_delays(const char *text, enum delays *out, struct err *e);

void inputs_help(struct help *h);

#endif
