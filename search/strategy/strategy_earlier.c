/* strategy_earlier.c: what a script knows before its first trial: tune.here, where it is, tune.earlier, what earlier
 * campaigns found, and tune.parallel. Plain tables, made once; a script may change them. */
#include "search/strategy/strategy_impl.h"

#include <lauxlib.h>

static const char HERE_KEY = 'h', LIST_KEY = 'e';   /* their addresses are registry keys */

/* stack: ..., table -> the same, with problem, device, size */
static void set_place(lua_State *L, const struct place *p)
{
    lua_pushstring(L, p->problem ? p->problem : "");
    lua_setfield(L, -2, "problem");
    lua_pushstring(L, p->device ? p->device : "");
    lua_setfield(L, -2, "device");
    lua_createtable(L, 0, p->ndims);
    for (int i = 0; i < p->ndims; i++) {
        lua_pushinteger(L, p->dims[i].value);
        lua_setfield(L, -2, p->dims[i].name);
    }
    lua_setfield(L, -2, "size");
}

static void push_one(lua_State *L, struct strategy *s, const struct earlier *x)
{
    lua_createtable(L, 0, 8);
    set_place(L, &x->place);
    config_push_member(L, s, x->space, x->index);
    lua_setfield(L, -2, "config");
    lua_pushboolean(L, x->exact);
    lua_setfield(L, -2, "exact");
    lua_pushnumber(L, x->value);
    lua_setfield(L, -2, "value");
    lua_pushnumber(L, x->ratio);
    lua_setfield(L, -2, "ratio");
    lua_pushinteger(L, x->campaign);
    lua_setfield(L, -2, "campaign");
}

struct information {
    const struct place *here;
    const struct earlier *list;
    int n;
};

/* stack: struct information */
static int inform(lua_State *L)
{
    const struct information *about = lua_touserdata(L, 1);
    lua_newtable(L);
    set_place(L, about->here);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &HERE_KEY);
    lua_createtable(L, about->n, 0);
    for (int i = 0; i < about->n; i++) {
        push_one(L, strategy_of(L), &about->list[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &LIST_KEY);
    return 0;
}

status strategy_inform(struct strategy *s, const struct place *here, const struct earlier *list, int n, struct err *e)
{
    struct information about = {here, list, n};
    lua_State *L = lua_host_state(s->host);
    lua_pushcfunction(L, inform);
    lua_pushlightuserdata(L, &about);
    return lua_host_call(s->host, 1, 0, LATHE_STRATEGY, e);
}

/* The table under a key of the registry; false: an empty one, made now. */
static bool push_known(lua_State *L, const char *key)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) != LUA_TNIL)
        return true;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, key);
    return false;
}

void earlier_push_here(lua_State *L)
{
    if (!push_known(L, &HERE_KEY))
        set_place(L, &(struct place){0});
}

void earlier_push(lua_State *L)
{
    push_known(L, &LIST_KEY);
}

void strategy_set_parallel(struct strategy *s, int trials)
{
    s->parallel = trials;
}
