/* strategy_ask.c: how a script asks: tune.evaluate, evaluate_all, submit and collect.
 *
 * They turn their arguments into s->batch, and a record of each into s->asked; what waits yields until the host has
 * told the results it waits for (strategy_tell), and its continuation turns the answers into results. What a script
 * sees follows from its proposals and their answers alone, not from when or in which order those came: it waits for
 * results by name, and collects them in the order in which it submitted. Only the script's own coroutine may wait: a
 * yield from one that the script made would end up in the script. */
#include "search/strategy/strategy_impl.h"

#include "base/mem.h"
#include <lauxlib.h>
#include <string.h>

static const char QUEUE_KEY = 'q';  /* its address is the registry key of what is submitted: number = configuration */

void asking_open(lua_State *L)
{
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &QUEUE_KEY);
}

void asking_clear_batch(struct strategy *s)
{
    for (int i = 0; i < s->count; i++) {
        mem_free(s->batch[i].choice);
        mem_free(s->batch[i].why);
    }
    s->count = 0;
}

/* Its number. */
static int64_t add_proposal(struct strategy *s, const struct config_object *c, bool submitted)
{
    int64_t number = s->first_asked + s->nasked;
    MEM_GROW(s->batch, s->count, s->cap);
    s->batch[s->count++] = (struct proposal){
        .number = number,
        .space = c->space,
        .choice = config_copy(space_kernel(s->spaces[c->space]), c->choice),
        .index = c->index,
        .why = c->index < 0 ? mem_strdup(config_why(s, c)) : NULL,
    };
    MEM_GROW(s->asked, s->nasked, s->cap_asked);
    s->asked[s->nasked++] = (struct asked){.submitted = submitted};
    s->outstanding += submitted;
    return number;
}

static struct asked *record_of(const struct strategy *s, int64_t number) { return &s->asked[number - s->first_asked]; }

static void want(struct strategy *s, int64_t number)
{
    struct asked *k = record_of(s, number);
    k->wanted = true;
    s->waiting += !k->told;
}

/* stack: ..., configuration -> ..., result. */
static void take(lua_State *L, struct strategy *s, int64_t number)
{
    struct asked *k = record_of(s, number);
    s->outstanding -= k->submitted;
    k->over = true;
    result_push(L, s, &k->answer);
}

/* Forgets the records before the first that is not over; only now and then, as the rest is moved. */
static void forget(struct strategy *s)
{
    enum { MANY = 64 };
    while (s->nover < s->nasked && s->asked[s->nover].over)
        s->nover++;
    if (s->nover < s->nasked && (s->nover < MANY || s->nover < s->nasked / 2))
        return;
    memmove(s->asked, s->asked + s->nover, (size_t)(s->nasked - s->nover) * sizeof *s->asked);
    s->nasked -= s->nover;
    s->first_asked += s->nover;
    s->nover = 0;
}

/* Arguments -------------------------------------------------------------------------------------------------------*/

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

static struct strategy *check_waiting(lua_State *L, const char *name)
{
    struct strategy *s = strategy_of(L);
    if (L != s->co)
        luaL_error(L, "%s can only be called from the strategy's run function itself, not inside a coroutine", name);
    if (!lua_isyieldable(L))    /* before anything is asked for: a script that catches the error goes on */
        luaL_error(L, "%s can only be called from the strategy's run function itself, not inside a function that was "
                   "called by table.sort, string.gsub or the like", name);
    return s;
}

/* stack: list -> configurations. Their number. */
static int to_configs(lua_State *L, struct strategy *s, const char *name)
{
    char place[80];
    lua_settop(L, 1);
    if (lua_type(L, 1) != LUA_TTABLE)
        luaL_error(L, "%s: a list of configurations was expected, but was given %s", name, strategy_describe(L, s, 1));
    lua_Unsigned count = lua_rawlen(L, 1);
    if (count == 0)
        luaL_error(L, "%s: the list is empty", name);
    if (count > STRATEGY_BATCH_MAX)
        luaL_error(L, "%s: the list has %I configurations; at most %I may be asked for at once", name,
                   (lua_Integer)count, (lua_Integer)STRATEGY_BATCH_MAX);
    lua_createtable(L, (int)count, 0);
    for (lua_Unsigned i = 1; i <= count; i++) {
        snprintf(place, sizeof place, "%s: item %llu", name, (unsigned long long)i);
        lua_rawgeti(L, 1, (lua_Integer)i);
        to_config(L, s, place);
        lua_rawseti(L, 2, (lua_Integer)i);
    }
    lua_remove(L, 1);
    return (int)count;
}

/* stack: ..., configurations -> ..., configurations. The first's number; the others follow. */
static int64_t add_proposals(lua_State *L, struct strategy *s, int count, bool submitted)
{
    int64_t first = s->first_asked + s->nasked;
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        add_proposal(s, config_test(L, -1), submitted);
        lua_pop(L, 1);
    }
    return first;
}

/* Asking ----------------------------------------------------------------------------------------------------------*/

static int yield(lua_State *L, struct strategy *s, int64_t first, lua_KFunction then)
{
    s->from_tune = true;
    return lua_yieldk(L, 0, (lua_KContext)first, then);
}

static int evaluated(lua_State *L, int rc, lua_KContext number)
{
    struct strategy *s = strategy_of(L);
    lua_settop(L, 1); /* stack: configuration */
    take(L, s, number);
    forget(s);
    return 1;
}

int tune_evaluate(lua_State *L)
{
    struct strategy *s = check_waiting(L, "tune.evaluate");
    lua_settop(L, 1);
    to_config(L, s, "tune.evaluate");
    int64_t number = add_proposal(s, config_test(L, 1), false);
    want(s, number);
    return yield(L, s, number, evaluated);
}

static int evaluated_all(lua_State *L, int rc, lua_KContext first)
{
    struct strategy *s = strategy_of(L);
    lua_settop(L, 1); /* stack: configurations */
    int count = (int)lua_rawlen(L, 1);
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, 1, i + 1);
        take(L, s, first + i);
        lua_rawseti(L, 2, i + 1);
    }
    forget(s);
    return 1;
}

int tune_evaluate_all(lua_State *L)
{
    struct strategy *s = check_waiting(L, "tune.evaluate_all");
    int count = to_configs(L, s, "tune.evaluate_all");
    int64_t first = add_proposals(L, s, count, false);
    for (int i = 0; i < count; i++)
        want(s, first + i);
    return yield(L, s, first, evaluated_all);
}

int tune_submit(lua_State *L)
{
    struct strategy *s = strategy_of(L);
    int count = to_configs(L, s, "tune.submit"); /* stack: configurations */
    if (count > STRATEGY_BATCH_MAX - s->outstanding)
        return luaL_error(L, "tune.submit: %d configurations, with %d outstanding; at most %d may be", count,
                          s->outstanding, (int)STRATEGY_BATCH_MAX);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &QUEUE_KEY);
    for (int i = 0; i < count; i++) { /* where memory ends in here, nothing is submitted */
        lua_rawgeti(L, 1, i + 1);
        lua_rawseti(L, 2, s->first_asked + s->nasked + i);
    }
    lua_pop(L, 1);
    add_proposals(L, s, count, true);
    return 0;
}

/* Calls f for the `count` oldest that are submitted and not yet collected. */
static void each_oldest(lua_State *L, struct strategy *s, int count, void (*f)(lua_State *, struct strategy *, int64_t))
{
    for (int i = s->nover; count > 0; i++) {
        if (!s->asked[i].submitted || s->asked[i].over)
            continue;
        f(L, s, s->first_asked + i);
        count--;
    }
}

static void want_it(lua_State *L, struct strategy *s, int64_t number)
{
    (void)L;
    want(s, number);
}

/* stack: queue, results -> queue, results */
static void take_it(lua_State *L, struct strategy *s, int64_t number)
{
    lua_rawgeti(L, 1, number);
    take(L, s, number);
    lua_rawseti(L, 2, (lua_Integer)lua_rawlen(L, 2) + 1);
    lua_pushnil(L);
    lua_rawseti(L, 1, number);
}

static int collected(lua_State *L, int rc, lua_KContext count)
{
    struct strategy *s = strategy_of(L);
    lua_settop(L, 0);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &QUEUE_KEY);
    lua_createtable(L, (int)count, 0);
    each_oldest(L, s, (int)count, take_it);
    forget(s);
    return 1;
}

int tune_collect(lua_State *L)
{
    struct strategy *s = check_waiting(L, "tune.collect");
    lua_Integer count = luaL_optinteger(L, 1, s->outstanding);
    if (!s->outstanding)
        return luaL_error(L, "tune.collect: nothing is outstanding: what tune.submit was given is collected");
    luaL_argcheck(L, count >= 1, 1, "at least 1");
    if (count > s->outstanding)
        count = s->outstanding;
    each_oldest(L, s, (int)count, want_it);
    if (!s->waiting)
        return collected(L, LUA_OK, (lua_KContext)count);
    return yield(L, s, (int64_t)count, collected);
}
