/* lua_host.h: the only way into Lua: a sandboxed, bounded state. lua.h is included by search/ alone.
 *
 * Opened: base (without load, loadfile, dofile, collectgarbage, print, warn), table, string (without dump), math, utf8,
 * coroutine. Reading or writing an unknown global is an error that names it. What is said in lua_sandbox.c makes a run
 * repeatable: math.random is the seeded generator of base/rng.h, pairs and next go in a fixed order.
 *
 * Memory is bounded, and so is the time between two returns to C (the figures below); lua_host_interrupt ends it too.
 * A script can't catch these three failures: pcall, xpcall and coroutine.resume raise them again.
 *
 * NOTE: only functions called through lua_host_call and lua_host_resume may use Lua functions that raise errors. */
#ifndef LATHE_SEARCH_LUA_HOST_H
#define LATHE_SEARCH_LUA_HOST_H

#include "base/err.h"
#include "base/rng.h"
#include <lua.h>
#include <stddef.h>
#include <stdint.h>

#define LUA_HOST_SPEC_MEMORY ((size_t)256 << 20)
#define LUA_HOST_STRATEGY_MEMORY ((size_t)1 << 30)
#define LUA_HOST_SPEC_SECONDS 10.0
#define LUA_HOST_STRATEGY_SECONDS 60.0

struct lua_host;

/* Every full userdata made in a state begins with this: its place among the keys of a table, for pairs and next. */
struct lua_object {
    uint64_t order;
};

/* memory_limit in bytes; seconds_limit of the calling thread's processor time, so that a machine that is stopped or has
 * other work costs no script. LATHE_INTERRUPTED: lua_host_interrupt was called. */
status lua_host_open(struct lua_host **out, size_t memory_limit, double seconds_limit, uint64_t seed, struct err *e);
void lua_host_close(struct lua_host *h);            /* NULL is fine */
lua_State *lua_host_state(struct lua_host *h);
struct lua_host *lua_host_of(lua_State *L);         /* of any thread of the state */
struct rng *lua_host_rng(struct lua_host *h);       /* the generator behind math.random */

/* Compiles text (never bytecode) and leaves the function on the stack. chunk is the name in messages ("linear.lua").
 * Failures are LATHE_SPEC; the message carries chunk and line. */
status lua_host_load(struct lua_host *h, const char *text, size_t len, const char *chunk, struct err *e);

/* Protected call with traceback, limits and status `on_error` for failures (LATHE_INTERRUPTED when interrupted); the
 * only caller of lua_pcall. On failure the function and its arguments are gone and nothing is pushed. */
status lua_host_call(struct lua_host *h, int nargs, int nresults, status on_error, struct err *e);

/* Protected resume of a coroutine under the same limits. *nresults: values yielded or returned, on `co`'s stack. */
status lua_host_resume(struct lua_host *h, lua_State *co, int nargs, int *nresults, int *finished, status on_error,
                       struct err *e);

/* Makes the value on top of the stack a global of scripts, and pops it. May raise: call it protected. */
void lua_host_set_global(lua_State *L, const char *name);

/* Puts a table of words, on top of the stack, before the globals: leaves an environment for functions in its place,
 * which knows both and can't be written. May raise. */
void lua_globals_push(lua_State *L);

/* Runs the embedded prelude.lua and makes the words of one set ("spec" or "strategy") globals. Leaves the prelude's
 * module table on the stack. */
status lua_host_prelude(struct lua_host *h, const char *set, struct err *e);

/* Ends whatever script runs, now or later, in every host of the process, with LATHE_INTERRUPTED. Async-signal-safe. */
void lua_host_interrupt(void);

#endif
