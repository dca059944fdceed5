/* lua_words.c: the words that scripts are given, which are Lua themselves and embedded. */
#include "search/lua/lua_host_impl.h"

#include "base/strbuf.h"
#include <lauxlib.h>
#include <string.h>

static const char PRELUDE[] = {
#include "search/lua/prelude.lua.inc"
    , 0};
static const char COMPANIONS[] = {
#include "search/lua/companions.lua.inc"
    , 0};
static const char TOOLBOX[] = {
#include "search/lua/toolbox.lua.inc"
    , 0};
static const char POINTS[] = {
#include "search/lua/points.lua.inc"
    , 0};
static const char GUIDED[] = {
#include "search/lua/guided.lua.inc"
    , 0};

/* What strategies are given beside the prelude, in the order that they are run. */
static const struct {
    const char *name, *text;
    size_t len;
} words[] = {
    {"companions.lua", COMPANIONS, sizeof COMPANIONS - 1},
    {"toolbox.lua", TOOLBOX, sizeof TOOLBOX - 1},
    {"points.lua", POINTS, sizeof POINTS - 1},
    {"guided.lua", GUIDED, sizeof GUIDED - 1},
};
enum { WORDS = sizeof words / sizeof words[0] };

bool lua_words_traced(const char *line)
{
    bool own = strncmp(line, "\t[C]", 4) == 0 || strncmp(line, "\tprelude.lua", 12) == 0 ||
               strncmp(line, "\t(...", 5) == 0;
    for (int i = 0; i < WORDS && !own; i++)
        own = line[0] == '\t' && strncmp(line + 1, words[i].name, strlen(words[i].name)) == 0;
    return own;
}

/* nearest(word, candidates): the candidate that may have been meant, or nil. */
static int nearest(lua_State *L)
{
    enum { MANY = 256 };
    const char *candidates[MANY];
    int n = 0;
    luaL_checktype(L, 2, LUA_TTABLE);
    /* what is on the stack stays alive */
    for (lua_Integer i = 1; n < MANY && lua_rawgeti(L, 2, i) == LUA_TSTRING; i++) {
        luaL_checkstack(L, 2, NULL);
        candidates[n++] = lua_tostring(L, -1);
    }
    lua_pushstring(L, nearest_word(luaL_checkstring(L, 1), candidates, n));
    return 1;
}

static int install_words(lua_State *L)
{
    lua_pushcfunction(L, nearest);
    lua_setfield(L, 1, "nearest");
    /* stack: module, set's name (light userdata) */
    lua_getfield(L, 1, lua_touserdata(L, 2));
    luaL_checktype(L, 3, LUA_TTABLE);
    lua_pushnil(L);
    while (lua_next(L, 3)) /* stack: module, name, words, word's name, word */
        lua_host_set_global(L, lua_tostring(L, -2));
    return 0;
}

/* Runs a text with the module, which is on top of the stack and stays there. */
static status add_words(struct lua_host *h, const char *text, size_t len, const char *name, struct err *e)
{
    status s = lua_host_load(h, text, len, name, e);
    if (s)
        return s;
    lua_pushvalue(h->L, -2); /* stack: module, text, module */
    return lua_host_call(h, 1, 0, LATHE_INTERNAL, e);
}

status lua_host_prelude(struct lua_host *h, const char *set, struct err *e)
{
    lua_State *L = h->L;
    status s = lua_host_load(h, PRELUDE, sizeof PRELUDE - 1, "prelude.lua", e);
    if (s || (s = lua_host_call(h, 0, 1, LATHE_INTERNAL, e))) /* stack: module */
        return s;
    for (int i = 0; i < WORDS && !s && strcmp(set, "strategy") == 0; i++)
        s = add_words(h, words[i].text, words[i].len, words[i].name, e);
    if (s) {
        lua_pop(L, 1);
        return s;
    }
    lua_pushcfunction(L, install_words);
    lua_pushvalue(L, -2);
    lua_pushlightuserdata(L, (void *)set);
    if ((s = lua_host_call(h, 2, 0, LATHE_INTERNAL, e)))
        lua_pop(L, 1);
    return s;
}
