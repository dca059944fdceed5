/* strategy_tune.c: the script's `tune`, and the results it gives; what asks for them is in strategy_ask.c. */
#include "search/strategy/strategy_impl.h"

#include "base/mem.h"
#include <lauxlib.h>
#include <math.h>
#include <string.h>

#define RESULT "result"
#define TUNE "tune"
static const char BEST_KEY = 'b';       /* its address is the registry key of the best result */

struct result_object {                  /* its user value is the configuration */
    struct lua_object object;
    enum outcome outcome;
    bool ok;
    double value, seconds, measured;
};

/* Results ---------------------------------------------------------------------------------------------------------*/

/* A failure never wins; a NaN never wins either. */
static bool is_better(const struct result_object *a, const struct result_object *b)
{
    if (!b)
        return true;
    return a->ok && (!b->ok || a->value < b->value);
}

static int better_than(lua_State *L)
{
    const struct result_object *a = luaL_checkudata(L, 1, RESULT);
    const struct result_object *b = lua_isnoneornil(L, 2) ? NULL : luaL_checkudata(L, 2, RESULT);
    lua_pushboolean(L, is_better(a, b));
    return 1;
}

static int result_index(lua_State *L)
{
    static const char *const names[] = {"config", "outcome", "ok", "value", "seconds", "measured", "better_than"};
    const struct result_object *r = luaL_checkudata(L, 1, RESULT);
    const char *name = luaL_checkstring(L, 2);
    if (strcmp(name, "config") == 0)
        lua_getiuservalue(L, 1, 1);
    else if (strcmp(name, "outcome") == 0)
        lua_pushstring(L, outcome_name(r->outcome));
    else if (strcmp(name, "ok") == 0)
        lua_pushboolean(L, r->ok);
    else if (strcmp(name, "value") == 0 && r->ok)
        lua_pushnumber(L, r->value);
    else if (strcmp(name, "value") == 0)
        lua_pushnil(L);
    else if (strcmp(name, "seconds") == 0)
        lua_pushnumber(L, r->seconds);
    else if (strcmp(name, "measured") == 0 && r->measured > 0)
        lua_pushnumber(L, r->measured);
    else if (strcmp(name, "measured") == 0)
        lua_pushnil(L);
    else if (strcmp(name, "better_than") == 0)
        lua_pushcfunction(L, better_than);
    else
        return strategy_unknown(L, "a result has no field", name, names, 7);
    return 1;
}

void result_check(lua_State *L, int arg, struct answer *out)
{
    const struct result_object *r = luaL_checkudata(L, arg, RESULT);
    *out = (struct answer){r->outcome, r->value, r->seconds, r->measured};
    lua_getiuservalue(L, arg, 1);
}

void result_push(lua_State *L, struct strategy *s, const struct answer *a)
{
    struct result_object *r = lua_newuserdatauv(L, sizeof *r, 1);
    *r = (struct result_object){
        .object.order = object_order(OBJECT_RESULT, s->made++),
        .outcome = a->outcome,
        .ok = a->outcome == OUTCOME_ok && isfinite(a->value),
        .value = a->value,
        .seconds = a->seconds,
        .measured = a->outcome == OUTCOME_ok ? a->value : a->measured,
    };
    luaL_setmetatable(L, RESULT);
    lua_insert(L, -2);
    lua_setiuservalue(L, -2, 1); /* stack: ..., result */
    lua_rawgetp(L, LUA_REGISTRYINDEX, &BEST_KEY);
    const struct result_object *best = lua_touserdata(L, -1);
    lua_pop(L, 1);
    if (r->ok && is_better(r, best)) {
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &BEST_KEY);
    }
}

static int tune_random(lua_State *L)
{
    lua_pushnumber(L, rng_unit(lua_host_rng(lua_host_of(L))));
    return 1;
}

static int tune_random_integer(lua_State *L)
{
    lua_Integer low = luaL_checkinteger(L, 1), high = luaL_checkinteger(L, 2);
    luaL_argcheck(L, low <= high, 2, "the second number must not be below the first");
    uint64_t span = (uint64_t)high - (uint64_t)low;
    struct rng *r = lua_host_rng(lua_host_of(L));
    lua_pushinteger(L, (lua_Integer)((uint64_t)low + (span == UINT64_MAX ? rng_next(r) : rng_below(r, span + 1))));
    return 1;
}

static int tune_index(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"evaluate", tune_evaluate}, {"evaluate_all", tune_evaluate_all}, {"submit", tune_submit},
        {"collect", tune_collect},   {"random", tune_random},             {"random_integer", tune_random_integer},
    };
    static const char *const names[] = {"evaluate",       "evaluate_all", "submit", "collect", "random",
                                        "random_integer", "best",         "here",   "earlier", "parallel",
                                        "outstanding"};
    enum { FUNCTIONS = sizeof functions / sizeof functions[0], NAMES = sizeof names / sizeof names[0] };
    const char *name = luaL_checkstring(L, 2);
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(name, functions[i].name) == 0) {
            lua_pushcfunction(L, functions[i].func);
            return 1;
        }
    if (strcmp(name, "best") == 0)
        lua_rawgetp(L, LUA_REGISTRYINDEX, &BEST_KEY);
    else if (strcmp(name, "here") == 0)
        earlier_push_here(L);
    else if (strcmp(name, "earlier") == 0)
        earlier_push(L);
    else if (strcmp(name, "parallel") == 0)
        lua_pushinteger(L, strategy_of(L)->parallel ? strategy_of(L)->parallel : 1);
    else if (strcmp(name, "outstanding") == 0)
        lua_pushinteger(L, strategy_of(L)->outstanding);
    else
        return strategy_unknown(L, "tune has no field", name, names, NAMES);
    return 1;
}

static void make_metatable(lua_State *L, const char *name, lua_CFunction index)
{
    luaL_newmetatable(L, name);
    lua_pushcfunction(L, index);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
}

void tune_object_push(lua_State *L)
{
    make_metatable(L, RESULT, result_index);
    lua_pop(L, 1);
    struct lua_object *o = lua_newuserdatauv(L, sizeof *o, 0);
    o->order = object_order(OBJECT_OTHER, 0);
    make_metatable(L, TUNE, tune_index);
    lua_setmetatable(L, -2);
}
