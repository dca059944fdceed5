/* spec_include.h: the words of a specification that name files: include and beside.
 *
 * include "file.lua" runs another file in the same state, once, and gives what it returns. beside "file.cu" is that
 * file's path as the specification would write it. Both take a relative path, from the folder of the file that says so.
 */
#ifndef LATHE_SEARCH_SPEC_INCLUDE_H
#define LATHE_SEARCH_SPEC_INCLUDE_H

#include "search/lua/lua_host.h"

/* Makes the words globals. path: the specification's file; NULL: it is a text, which has no folder, so that include
 * refuses. */
status spec_include_open(struct lua_host *h, const char *path, struct err *e);

#endif
