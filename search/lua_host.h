/* lua_host.h: the only way into Lua: a sandboxed, bounded state. lua.h is included by search/ alone.
 * Opened libraries: base (without load, loadfile, dofile, collectgarbage), table, string (without dump), math, utf8,
 * coroutine. Unknown globals are errors. math.random is the seeded generator of base/rng.h. Memory is bounded
 * (default 256 MiB for specifications, 1 GiB for strategies); instructions between two returns to C are bounded by time
 * (default 10 s for a specification, 60 s for a strategy step) and by lua_host_interrupt (async-signal-safe). */
#ifndef LATHE_SEARCH_LUA_HOST_H
#define LATHE_SEARCH_LUA_HOST_H

#include "base/err.h"
#include <lua.h>
#include <stddef.h>
#include <stdint.h>

struct lua_host;

status lua_host_open(struct lua_host **out, size_t memory_limit, double seconds_limit, uint64_t seed, struct err *e);
void lua_host_close(struct lua_host *h);
lua_State *lua_host_state(struct lua_host *h);

/* Compiles text (never bytecode) and leaves the function on the stack. chunk is the name in messages ("linear.lua"). */
status lua_host_load(struct lua_host *h, const char *text, size_t len, const char *chunk, struct err *e);
/* Protected call with traceback, limits and status `on_error` for failures; the only caller of lua_pcall. */
status lua_host_call(struct lua_host *h, int nargs, int nresults, status on_error, struct err *e);
/* Protected resume of a coroutine under the same limits. *nresults: values yielded or returned, on `co`'s stack. */
status lua_host_resume(struct lua_host *h, lua_State *co, int nargs, int *nresults, int *finished, status on_error,
                       struct err *e);
void lua_host_interrupt(void);

#endif
