/* lua_globals.c: the names that a script finds.
 *
 * A script's globals are an empty table that reads through to the real one: a script can't write one, and an unknown
 * one is an error that names the nearest. A file of a script may have words of its own before the real ones. */
#include "search/lua/lua_host_impl.h"

#include "base/strbuf.h"
#include <lauxlib.h>
#include <string.h>

enum { CANDIDATES_MAX = 200 };

static const char GLOBALS_KEY = 'g';    /* its address is the key of the real globals in the registry */

static const struct {
    const char *name, *why;
} absent[] = {
    {"collectgarbage", "memory is managed for you"},
    {"debug", "it could undo the sandbox"},
    {"dofile", "scripts can't read files"},
    {"io", "scripts can't read or write files"},
    {"load", "scripts can't compile text"},
    {"loadfile", "scripts can't read files"},
    {"loadstring", "scripts can't compile text"},
    {"os", "scripts can't reach the system"},
    {"package", "scripts can't load modules"},
    {"print", "scripts do not write to the terminal; error(value) shows a value and ends the script"},
    {"require", "scripts can't load modules; a specification may include \"FILE.lua\""},
    {"unpack", "it is table.unpack"},
    {"warn", "scripts do not write to the terminal"},
};

static const char *nearest_global(lua_State *L, const char *name)
{
    const char *words[CANDIDATES_MAX];
    int n = 0;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &GLOBALS_KEY);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
        if (n < CANDIDATES_MAX && lua_type(L, -2) == LUA_TSTRING)
            words[n++] = lua_tostring(L, -2);
    lua_pop(L, 1);
    return nearest_word(name, words, n);
}

/* __index(globals, name) */
static int unknown_global(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
        if (strcmp(name, absent[i].name) == 0)
            return luaL_error(L, "'%s' is not available in lathe's scripts: %s", name, absent[i].why);
    const char *near = nearest_global(L, name);
    if (near)
        return luaL_error(L, "unknown name '%s'; did you mean '%s'?", name, near);
    return luaL_error(L, "unknown name '%s'; a variable must be declared first, with 'local'", name);
}

/* __newindex(globals, name, value) */
static int refused_assignment(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    return luaL_error(L, "'%s' is not a local variable and globals can't be assigned; write 'local %s = ...'", name,
                      name);
}

void lua_host_set_global(lua_State *L, const char *name)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &GLOBALS_KEY);
    lua_insert(L, -2);
    lua_pushstring(L, name);
    lua_insert(L, -2); /* stack: globals, name, value */
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

/* stack: table -> an empty table that reads through to it and can't be written */
static void push_locked(lua_State *L)
{
    lua_newtable(L);
    lua_createtable(L, 0, 3); /* stack: table, empty, empty's metatable */
    lua_rotate(L, -3, -1);    /* stack: empty, empty's metatable, table */
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, refused_assignment);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}

void lua_globals_push(lua_State *L)
{
    lua_createtable(L, 0, 1); /* stack: words, words' metatable */
    lua_rawgetp(L, LUA_REGISTRYINDEX, &GLOBALS_KEY);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    push_locked(L); /* stack: words, environment */
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "_G");
    lua_remove(L, -2);
}

void lua_globals_lock(lua_State *L)
{
    lua_pushglobaltable(L);
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, absent[i].name);
    }
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &GLOBALS_KEY);
    lua_createtable(L, 0, 1); /* stack: real, real's metatable */
    lua_pushcfunction(L, unknown_global);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    push_locked(L); /* stack: real, empty */
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "_G");
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_pop(L, 1);
}
