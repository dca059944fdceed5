/* select.h: which trials of the database a command is about: the options that best and export share. */
#ifndef LATHE_CLI_SELECT_H
#define LATHE_CLI_SELECT_H

#include "console/options.h"
#include "db/query.h"

struct selection {
    const char *problem, *device, *kernel, *db;
    struct text_list sizes, tolerances;
    const char *inputs;
    int64_t campaign;
};

#define OPTION_DB(type, member)                                                                                        \
    {"db", .arg = "FILE", .kind = OPTION_DATABASE, .offset = offsetof(type, member), .initial = DEFAULT_DB,            \
     .help = "the database"}

/* Rows for a table of options whose struct `type` has a struct selection called `member`. */
#define SELECTION_ROWS(type, member)                                                                                   \
    {"problem", .arg = "NAME", .kind = OPTION_TEXT, .offset = offsetof(type, member.problem),                          \
     .help = "of this problem only"},                                                                                  \
    {"size", .arg = "DIM=N", .kind = OPTION_SIZES, .offset = offsetof(type, member.sizes),                             \
     .help = "of this size only; may be repeated"},                                                                    \
    {"device", .arg = "DEVICE", .kind = OPTION_TEXT, .offset = offsetof(type, member.device),                          \
     .help = "on this device only: its name (\"NVIDIA H200\"), cuda:N, or a kind (cuda, host)"},                       \
    {"kernel", .arg = "NAME", .kind = OPTION_TEXT, .offset = offsetof(type, member.kernel),                            \
     .help = "of this kernel only"},                                                                                   \
    {"tolerance", .arg = "NAME=V", .kind = OPTION_PAIRS, .offset = offsetof(type, member.tolerances),                  \
     .help = "verified to this limit only (atol, rtol, times_sgemm_error, frobenius); may be repeated"},               \
    {"inputs", .arg = "CLASS", .kind = OPTION_TEXT, .offset = offsetof(type, member.inputs),                           \
     .help = "verified and timed on these inputs only: default, normal, wide, ..."},                                   \
    {"campaign", .arg = "N", .kind = OPTION_COUNT, .offset = offsetof(type, member.campaign), .min = 1,                \
     .help = "of this campaign only"},                                                                                 \
    OPTION_DB(type, member.db)

/* The filter borrows from s; what was imported or replayed passes it only where a campaign or device is named.
 * LATHE_USAGE: there is no such class of inputs. */
status selection_filter(const struct selection *s, struct query_filter *out, struct err *e);

/* For when nothing was found: LATHE_NOTHING, which says what was looked for and what the database has (of what
 * was recorded elsewhere: how to see it). */
status selection_nothing(const struct selection *s, struct query *q, struct err *e);

/* False: --db none, where nothing is to be stored. */
bool select_stores(const char *db);

#endif
