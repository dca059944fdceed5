/* lua_sandbox.c: what a script finds in its state, and why it can neither hang, nor reach out, nor vary.
 *
 * 1. Globals are an empty table that reads through to the real one: lua_globals.c.
 * 2. Finalizers (__gc) are refused, because instruction hooks do not run inside them.
 * 3. Protected calls raise a trip again (lua_host_impl.h).
 * 4. C functions that could run long between two instructions are bounded: lua_bounds.c.
 * 5. pairs and next go in a fixed order: lua_order.c. Random numbers come from the host's seed.
 *
 * Wrapped functions keep the original as an upvalue and run it in their own frame, so that its messages name what the
 * script called. */
#include "search/lua/lua_host_impl.h"

#include <lauxlib.h>
#include <lualib.h>
#include <string.h>

static const char RESUME_KEY = 'r';     /* its address is the key of Lua's own coroutine.resume in the registry */

/* Protected calls -------------------------------------------------------------------------------------------------*/

/* Leaves what the call left above `skip` slots; a trip goes on up. */
static int finish_call(lua_State *L, int rc, lua_KContext skip)
{
    struct lua_host *h = lua_host_of(L);
    if (rc == LUA_ERRMEM && h->trip == TRIP_NONE)
        h->trip = TRIP_MEMORY;
    if (h->trip != TRIP_NONE)
        return lua_host_raise(L);
    if (rc == LUA_OK || rc == LUA_YIELD)
        return lua_gettop(L) - (int)skip;
    lua_pushboolean(L, 0);
    lua_pushvalue(L, -2);
    return 2;
}

static int safe_pcall(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_pushboolean(L, 1);
    lua_insert(L, 1); /* stack: true, function, arguments */
    return finish_call(L, lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, finish_call), 0);
}

/* upvalue: the script's handler. NOTE: hooks are off while an error raised by the hook is handled, so a handler that
 * ran then could never be stopped. */
static int guarded_handler(lua_State *L)
{
    if (lua_host_of(L)->trip != TRIP_NONE)
        return 1;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

static int safe_xpcall(lua_State *L)
{
    luaL_checktype(L, 2, LUA_TFUNCTION);
    int nargs = lua_gettop(L) - 2;
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, guarded_handler, 1);
    lua_replace(L, 2);
    lua_pushboolean(L, 1);
    lua_pushvalue(L, 1);
    lua_rotate(L, 3, 2); /* stack: function, handler, true, function, arguments */
    return finish_call(L, lua_pcallk(L, nargs, LUA_MULTRET, 2, 2, finish_call), 2);
}

static void raise_if_tripped(lua_State *L, lua_State *co)
{
    struct lua_host *h = lua_host_of(L);
    if (co && lua_status(co) == LUA_ERRMEM && h->trip == TRIP_NONE)
        h->trip = TRIP_MEMORY;
    if (h->trip != TRIP_NONE)
        lua_host_raise(L);
}

/* coroutine.resume and coroutine.close: the original, then a trip of the other thread goes on up. NOTE: closing a
 * thread that the hook ended would run its __close with hooks off. */
static int safe_coroutine(lua_State *L)
{
    raise_if_tripped(L, NULL);
    int n = lua_tocfunction(L, lua_upvalueindex(1))(L);
    raise_if_tripped(L, lua_tothread(L, 1));
    return n;
}

/* What coroutine.wrap returns. upvalues: coroutine.resume, the coroutine */
static int wrapped(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_insert(L, 1); /* stack: coroutine, arguments */
    lua_State *co = lua_tothread(L, 1);
    int n = lua_tocfunction(L, lua_upvalueindex(1))(L); /* stack: ..., whether it went well, values */
    raise_if_tripped(L, co);
    if (lua_toboolean(L, -n))
        return n - 1;
    if (lua_status(co) > LUA_YIELD)
        lua_resetthread(co); /* closes its variables */
    return lua_error(L);
}

/* upvalue: coroutine.wrap itself, which is not used; it closes a failed coroutine whatever ended it */
static int safe_wrap(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &RESUME_KEY);
    lua_State *co = lua_newthread(L); /* stack: function, ..., resume, coroutine */
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushcclosure(L, wrapped, 2);
    return 1;
}

static int safe_setmetatable(lua_State *L)
{
    if (lua_type(L, 2) == LUA_TTABLE) {
        lua_pushliteral(L, "__gc");
        if (lua_rawget(L, 2) != LUA_TNIL)
            return luaL_error(L, "setmetatable: __gc is not available in lathe's scripts");
        lua_pop(L, 1);
    }
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* Random numbers --------------------------------------------------------------------------------------------------*/

static int seeded_random(lua_State *L)
{
    struct rng *r = lua_host_rng(lua_host_of(L));
    int nargs = lua_gettop(L);
    luaL_argcheck(L, nargs <= 2, 3, "at most two arguments");
    if (nargs == 0) {
        lua_pushnumber(L, rng_unit(r));
        return 1;
    }
    lua_Integer low = nargs == 2 ? luaL_checkinteger(L, 1) : 1, high = luaL_checkinteger(L, nargs);
    if (nargs == 1 && high == 0) {
        lua_pushinteger(L, (lua_Integer)rng_next(r));
        return 1;
    }
    luaL_argcheck(L, low <= high, nargs, "interval is empty");
    uint64_t span = (uint64_t)high - (uint64_t)low;
    uint64_t draw = span == UINT64_MAX ? rng_next(r) : rng_below(r, span + 1);
    lua_pushinteger(L, (lua_Integer)((uint64_t)low + draw));
    return 1;
}

static int refused_randomseed(lua_State *L)
{
    return luaL_error(L,
                      "math.randomseed: the campaign's seed rules, so that a run can be repeated; give it with --seed");
}

/* Opening ---------------------------------------------------------------------------------------------------------*/

static void open_library(lua_State *L, const char *name, lua_CFunction open)
{
    luaL_requiref(L, name, open, 1);
    lua_pop(L, 1);
}

/* library NULL: the globals. Puts `f` in place of a function, with that function as its upvalue. */
static void replace(lua_State *L, const char *library, const char *name, lua_CFunction f)
{
    lua_pushglobaltable(L);
    if (library)
        lua_getfield(L, -1, library);
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, f, 1);
    lua_setfield(L, -2, name);
    lua_pop(L, library ? 2 : 1);
}

static void replace_functions(lua_State *L)
{
    lua_pushglobaltable(L);
    lua_getfield(L, -1, LUA_COLIBNAME);
    lua_getfield(L, -1, "resume");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &RESUME_KEY);
    lua_pop(L, 2);
    static const struct {
        const char *library, *name;
        lua_CFunction f;
    } list[] = {
        {NULL, "pcall", safe_pcall},
        {NULL, "xpcall", safe_xpcall},
        {NULL, "setmetatable", safe_setmetatable},
        {NULL, "pairs", lua_ordered_pairs},
        {NULL, "next", lua_ordered_next},
        {LUA_COLIBNAME, "resume", safe_coroutine},
        {LUA_COLIBNAME, "close", safe_coroutine},
        {LUA_COLIBNAME, "wrap", safe_wrap},
        {LUA_STRLIBNAME, "rep", lua_bounded_rep},
        {LUA_STRLIBNAME, "find", lua_bounded_pattern},
        {LUA_STRLIBNAME, "match", lua_bounded_pattern},
        {LUA_STRLIBNAME, "gmatch", lua_bounded_pattern},
        {LUA_STRLIBNAME, "gsub", lua_bounded_pattern},
        {LUA_TABLIBNAME, "concat", lua_bounded_table},
        {LUA_TABLIBNAME, "insert", lua_bounded_table},
        {LUA_TABLIBNAME, "move", lua_bounded_move},
        {LUA_TABLIBNAME, "remove", lua_bounded_table},
        {LUA_TABLIBNAME, "sort", lua_bounded_table},
        {LUA_TABLIBNAME, "unpack", lua_bounded_table},
        {LUA_MATHLIBNAME, "random", seeded_random},
        {LUA_MATHLIBNAME, "randomseed", refused_randomseed},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        replace(L, list[i].library, list[i].name, list[i].f);
}

static void lock_string_metatable(lua_State *L)
{
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 2);
}

void lua_sandbox_open(lua_State *L)
{
    open_library(L, LUA_GNAME, luaopen_base);
    open_library(L, LUA_TABLIBNAME, luaopen_table);
    open_library(L, LUA_STRLIBNAME, luaopen_string);
    open_library(L, LUA_MATHLIBNAME, luaopen_math);
    open_library(L, LUA_UTF8LIBNAME, luaopen_utf8);
    open_library(L, LUA_COLIBNAME, luaopen_coroutine);
    replace_functions(L);
    lua_pushglobaltable(L);
    lua_getfield(L, -1, LUA_STRLIBNAME);
    lua_pushnil(L);
    lua_setfield(L, -2, "dump");
    lua_pop(L, 2);
    lock_string_metatable(L);
    lua_globals_lock(L);
}
