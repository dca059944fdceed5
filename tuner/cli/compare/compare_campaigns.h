/* compare_campaigns.h: `lathe compare A B` where A and B are campaigns: what each found, in a row each. */
#ifndef LATHE_CLI_COMPARE_CAMPAIGNS_H
#define LATHE_CLI_COMPARE_CAMPAIGNS_H

#include "base/err.h"
#include "console/options.h"

struct campaigns_asked {
    const char *db;
    const struct text_list *ids; /* "3": numbers of campaigns */
    bool json, csv;              /* one of them at most */
};

/* *named: the words are numbers, and there is one. LATHE_USAGE: only some of them are. */
status campaigns_named(const struct text_list *words, bool *named, struct err *e);

/* To stdout. Times are compared with the first's where problem, size, device, inputs and objective are the same.
 * LATHE_USAGE: fewer than two, or one twice. LATHE_NOTHING: there is no such campaign. */
status campaigns_compare(const struct campaigns_asked *asked, struct err *e);

#endif
