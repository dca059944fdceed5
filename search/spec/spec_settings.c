/* spec_settings.c: see spec_settings.h. Both ask the prelude's module. */
#include "search/spec/spec_settings.h"
#include "base/mem.h"

/* stack: module, settings -> */
static int give(lua_State *L)
{
    const struct spec_settings *settings = lua_touserdata(L, 2);
    lua_getfield(L, 1, "give");
    lua_createtable(L, settings->count, 0);
    for (int i = 0; i < settings->count; i++) {
        lua_pushstring(L, settings->texts[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_call(L, 1, 0);
    return 0;
}

/* stack: module -> */
static int check(lua_State *L)
{
    lua_getfield(L, 1, "check_given");
    lua_call(L, 0, 0);
    return 0;
}

/* stack: module, where the text goes to -> */
static int list(lua_State *L)
{
    char **out = lua_touserdata(L, 2);
    lua_getfield(L, 1, "settings_text");
    lua_call(L, 0, 1);
    *out = mem_strdup(lua_tostring(L, -1));
    return 0;
}

status spec_settings_give(struct lua_host *h, int module, const struct spec_settings *settings, struct err *e)
{
    lua_State *L = lua_host_state(h);
    lua_pushcfunction(L, give);
    lua_pushvalue(L, module);
    lua_pushlightuserdata(L, (void *)settings);
    return lua_host_call(h, 2, 0, LATHE_USAGE, e);
}

status spec_settings_check(struct lua_host *h, int module, struct err *e)
{
    lua_State *L = lua_host_state(h);
    lua_pushcfunction(L, check);
    lua_pushvalue(L, module);
    return lua_host_call(h, 1, 0, LATHE_USAGE, e);
}

status spec_settings_list(struct lua_host *h, int module, char **out, struct err *e)
{
    lua_State *L = lua_host_state(h);
    lua_pushcfunction(L, list);
    lua_pushvalue(L, module);
    lua_pushlightuserdata(L, out);
    return lua_host_call(h, 2, 0, LATHE_SPEC, e);
}
