/* spec_settings.h: what the command line lets a specification's `setting` give. The word itself is in prelude.lua. */
#ifndef LATHE_SEARCH_SPEC_SETTINGS_H
#define LATHE_SEARCH_SPEC_SETTINGS_H

#include "search/lua/lua_host.h"
#include "search/spec/spec.h"

/* module: where the prelude's module stands on the stack, which stays as it is. LATHE_USAGE: a text that is no
 * NAME=VALUE, a name given twice. */
status spec_settings_give(struct lua_host *h, int module, const struct spec_settings *settings, struct err *e);
/* After the specification ran. LATHE_USAGE: something was given that it did not ask for. */
status spec_settings_check(struct lua_host *h, int module, struct err *e);
/* What it asked for, as spec_read_settings gives it. mem_free *out. */
status spec_settings_list(struct lua_host *h, int module, char **out, struct err *e);

#endif
