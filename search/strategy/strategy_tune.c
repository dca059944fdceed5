/* strategy_tune.c: the script's `tune`, and the results it gives.
 *
 * tune.evaluate and tune.evaluate_all turn their arguments into s->batch and yield; the host answers with
 * strategy_tell; on the next resume their continuation turns the answers into results. Only the script's own coroutine
 * may ask: a yield from one that the script made would end up in the script. */
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

/* stack: ..., configuration -> ..., result. Keeps the best. */
static void push_result(lua_State *L, struct strategy *s, const struct answer *a)
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

/* Asking ----------------------------------------------------------------------------------------------------------*/

static void clear_batch(struct strategy *s)
{
    for (int i = 0; i < s->count; i++) {
        mem_free(s->batch[i].choice);
        mem_free(s->batch[i].why);
    }
    s->count = s->pending = 0;
}

static void add_proposal(struct strategy *s, const struct config_object *c)
{
    if (s->count == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 32;
        s->batch = mem_resize(s->batch, (size_t)s->cap, sizeof *s->batch);
        s->answers = mem_resize(s->answers, (size_t)s->cap, sizeof *s->answers);
        s->told = mem_resize(s->told, (size_t)s->cap, sizeof *s->told);
    }
    s->batch[s->count] = (struct proposal){
        .space = c->space,
        .choice = config_copy(space_kernel(s->spaces[c->space]), c->choice),
        .index = c->index,
        .why = c->index < 0 ? mem_strdup(config_why(s, c)) : NULL,
    };
    s->told[s->count++] = false;
    s->pending++;
}

/* stack: ..., what the script gave -> ..., configuration. `place` says where, for messages. */
static void to_config(lua_State *L, struct strategy *s, const char *place)
{
    if (config_test(L, -1))
        return;
    if (lua_type(L, -1) != LUA_TTABLE)
        luaL_error(L, "%s: a configuration was expected, but was given %s", place,
                   strategy_describe(L, s, lua_gettop(L)));
    if (!config_from_table(L, s, lua_gettop(L)))
        luaL_error(L, "%s: the table is no configuration: %s", place, sb_str(&s->scratch));
    lua_remove(L, -2);
}

static struct strategy *check_asking(lua_State *L, const char *name)
{
    struct strategy *s = strategy_of(L);
    if (L != s->co)
        luaL_error(L, "%s can only be called from the strategy's run function itself, not inside a coroutine", name);
    return s;
}

static int evaluated(lua_State *L, int rc, lua_KContext context)
{
    struct strategy *s = strategy_of(L);
    lua_settop(L, 1); /* stack: configuration */
    push_result(L, s, &s->answers[0]);
    return 1;
}

static int tune_evaluate(lua_State *L)
{
    struct strategy *s = check_asking(L, "tune.evaluate");
    lua_settop(L, 1);
    to_config(L, s, "tune.evaluate");
    clear_batch(s);
    add_proposal(s, config_test(L, 1));
    s->asked = true;
    return lua_yieldk(L, 0, 0, evaluated);
}

static int evaluated_all(lua_State *L, int rc, lua_KContext count)
{
    struct strategy *s = strategy_of(L);
    lua_settop(L, 1); /* stack: configurations */
    lua_createtable(L, (int)count, 0);
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, 1, i + 1);
        push_result(L, s, &s->answers[i]);
        lua_rawseti(L, 2, i + 1);
    }
    return 1;
}

static int tune_evaluate_all(lua_State *L)
{
    char place[80];
    struct strategy *s = check_asking(L, "tune.evaluate_all");
    lua_settop(L, 1);
    if (lua_type(L, 1) != LUA_TTABLE)
        return luaL_error(L, "tune.evaluate_all: a list of configurations was expected, but was given %s",
                          strategy_describe(L, s, 1));
    lua_Unsigned count = lua_rawlen(L, 1);
    if (count == 0)
        return luaL_error(L, "tune.evaluate_all: the list is empty");
    if (count > STRATEGY_BATCH_MAX)
        return luaL_error(L, "tune.evaluate_all: the list has %I configurations; at most %I may be asked for at once",
                          (lua_Integer)count, (lua_Integer)STRATEGY_BATCH_MAX);
    clear_batch(s);
    lua_createtable(L, (int)count, 0);
    for (lua_Unsigned i = 1; i <= count; i++) {
        snprintf(place, sizeof place, "tune.evaluate_all: item %llu", (unsigned long long)i);
        lua_rawgeti(L, 1, (lua_Integer)i);
        to_config(L, s, place);
        add_proposal(s, config_test(L, -1));
        lua_rawseti(L, 2, (lua_Integer)i); /* stack: list, configurations */
    }
    lua_remove(L, 1);
    s->asked = true;
    return lua_yieldk(L, 0, (lua_KContext)count, evaluated_all);
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
    static const char *const names[] = {"evaluate", "evaluate_all", "random",  "random_integer",
                                        "best",     "here",         "earlier", "parallel"};
    static const lua_CFunction functions[] = {tune_evaluate, tune_evaluate_all, tune_random, tune_random_integer};
    const char *name = luaL_checkstring(L, 2);
    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0) {
            lua_pushcfunction(L, functions[i]);
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
    else
        return strategy_unknown(L, "tune has no field", name, names, 8);
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
