/* lua_host_impl.h: what lua_host.c, lua_sandbox.c and the files beside them share. */
#ifndef LATHE_SEARCH_LUA_HOST_IMPL_H
#define LATHE_SEARCH_LUA_HOST_IMPL_H

#include "search/lua/lua_host.h"
#include <stdbool.h>

/* Why the running script must end. Once set it stays until the host returns to C, and every instruction hook and
 * protected call raises it again. */
enum lua_trip { TRIP_NONE, TRIP_TIME, TRIP_MEMORY, TRIP_INTERRUPT };

struct lua_host {
    lua_State *L;
    size_t used, limit;         /* bytes */
    double seconds, deadline;   /* allowed between two returns; clock_thread_seconds() at which it ends */
    enum lua_trip trip;
    char where[200];            /* "linear.lua:12" when it tripped, "" if not known */
    struct rng rng;
};

/* Opens the libraries and their bounds. Called protected; nothing is left on the stack. */
void lua_sandbox_open(lua_State *L);

/* Takes away the globals that scripts must not have, and locks the others: lua_globals.c. May raise. */
void lua_globals_lock(lua_State *L);

/* What stands in the place of Lua's own: lua_bounds.c, lua_order.c. The bounded ones have the original as upvalue 1. */
int lua_bounded_rep(lua_State *L);
int lua_bounded_pattern(lua_State *L);
int lua_bounded_table(lua_State *L);
int lua_bounded_move(lua_State *L);
int lua_ordered_pairs(lua_State *L);
int lua_ordered_next(lua_State *L);

/* Whether a line of a traceback lies in no script: in C, or in what is embedded. */
bool lua_words_traced(const char *line);

/* Raises h's trip as a Lua error; does not return. */
int lua_host_raise(lua_State *L);

#endif
