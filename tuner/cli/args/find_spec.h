/* find_spec.h: from what a user calls a specification to the file, and from the file to the problem at the size wanted.
 */
#ifndef LATHE_CLI_FIND_SPEC_H
#define LATHE_CLI_FIND_SPEC_H

#include "console/options.h"
#include "model/problem.h"

struct spec_place {
    char *path;          /* the specification file */
    char **include_dirs; /* where its sources' includes are looked for; ended by NULL */
};

/* name: a .lua or .json file, a folder with a spec.lua, or a name. NAME is NAME/spec.lua or NAME.lua in a kernels
 * directory; GROUP/NAME the same in a folder of it that has no spec.lua: in one that has, other files are parts of it.
 * Kernels directories, in this order: each of $LATHE_KERNELS (separated by colons), ./kernels, ../kernels and
 * ../share/lathe/kernels as seen from the folder of `self` (this binary). LATHE_USAGE lists what there is. */
status spec_find(const char *name, const char *self, struct spec_place *out, struct err *e);
void spec_place_free(struct spec_place *place);

/* The kernels directories that exist, each once; and the names of the specifications in one, sorted, numbers
 * by their value. */
void spec_directories(const char *self, struct text_list *out);
void spec_names(const char *directory, struct text_list *out);

/* A specification on a command line, with what the commands that run or count its kernels take besides. */
struct spec_args {
    const char *name;
    struct text_list sizes, wheres, settings;
};

/* Rows for a table of options whose struct `type` has a struct spec_args called `member`; SPEC comes first, with what
 * else it may be (a literal). */
#define SPEC_ROW(type, member, or_else)                                                                                \
    {"SPEC", .kind = OPTION_NEEDED, .offset = offsetof(type, member.name),                                             \
     .help = "a specification file, its folder with a spec.lua, or a name in kernels/" or_else}
#define SPEC_OPTION_ROWS(type, member)                                                                                 \
    {"size", .arg = "DIM=N", .kind = OPTION_SIZES, .offset = offsetof(type, member.sizes),                             \
     .help = "a dimension's size, M=256 or M=1,N=2; may be repeated (default: the specification's)"},                  \
    {"where", .arg = "FORMULA", .kind = OPTION_TEXTS, .offset = offsetof(type, member.wheres),                         \
     .help = "only configurations for which it is true, as in \"FORMAT == 'tf32x1'\"; may be repeated"},              \
    {"set", .arg = "NAME=VALUE", .kind = OPTION_PAIRS, .offset = offsetof(type, member.settings),                      \
     .help = "a setting of the specification, such as type=f16; may be repeated"}

/* spec_find, then the problem with sizes put in and checked, and restricted. Free with problem_free. */
status spec_load(const struct spec_args *args, const char *self, struct problem **out, struct err *e);
/* spec_find, then what it asks for by --set, as spec_read_settings. */
status spec_settings_asked(const struct spec_args *args, const char *self, char **out, struct err *e);

#endif
