/* strategy.c: a script's coroutine as ask and tell.
 *
 * States: not started; waiting (for answers, waiting > 0); answered (waiting 0, the next ask resumes); ended (it
 * returned, or failed: it is never resumed again). The batch is filled inside the coroutine (strategy_ask.c), where
 * Lua errors are caught; here no function of Lua is called that could raise one. */
#include "search/strategy/strategy_impl.h"

#include "base/mem.h"
#include <lauxlib.h>
#include <string.h>

enum { KERNELS_NAMED = 128 };           /* that a message looks for a near name in */

static const char STRATEGY_KEY = 's';   /* its address is the registry key of the struct strategy */
static const char THREAD_KEY = 't';     /* of its coroutine */

struct strategy *strategy_of(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &STRATEGY_KEY);
    struct strategy *s = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return s;
}

struct strbuf *strategy_scratch(struct strategy *s)
{
    s->scratch.len = 0;
    if (s->scratch.s)
        s->scratch.s[0] = 0;
    return &s->scratch;
}

int strategy_unknown(lua_State *L, const char *what, const char *name, const char *const *candidates, int n)
{
    const char *near = nearest_word(name, candidates, n);
    if (near)
        return luaL_error(L, "%s '%s'; did you mean '%s'?", what, name, near);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (int i = 0; i < n; i++) {
        luaL_addstring(&b, i ? ", " : "");
        luaL_addstring(&b, candidates[i]);
    }
    luaL_pushresult(&b);
    return luaL_error(L, "%s '%s'; known: %s", what, name, lua_tostring(L, -1));
}

int strategy_word(lua_State *L, const char *what, const char *name, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name, words[i]) == 0)
            return i;
    return strategy_unknown(L, what, name, words, n);
}

int strategy_kernel(lua_State *L, const struct strategy *s, const char *name)
{
    const char *names[KERNELS_NAMED];
    for (int i = 0; i < s->nspaces; i++) {
        names[i < KERNELS_NAMED ? i : 0] = space_kernel(s->spaces[i])->name;
        if (strcmp(space_kernel(s->spaces[i])->name, name) == 0)
            return i;
    }
    return strategy_unknown(L, "there is no kernel", name, names, s->nspaces < KERNELS_NAMED ? s->nspaces : 1);
}

int strategy_method(lua_State *L, const char *what, const luaL_Reg *methods, int n)
{
    const char *names[METHODS_MAX];
    for (int i = 0; i < n; i++)
        names[i] = methods[i].name;
    lua_pushcfunction(L, methods[strategy_word(L, what, luaL_checkstring(L, 2), names, n)].func);
    return 1;
}

const char *strategy_describe(lua_State *L, struct strategy *s, int at)
{
    struct strbuf *b = strategy_scratch(s);
    switch (lua_type(L, at)) {
    case LUA_TNIL: sb_add(b, "nil"); break;
    case LUA_TBOOLEAN: sb_add(b, lua_toboolean(L, at) ? "true" : "false"); break;
    case LUA_TNUMBER:
        sb_add(b, "the number ");
        value_print(b, lua_isinteger(L, at) ? value_int(lua_tointeger(L, at)) : value_float(lua_tonumber(L, at)));
        break;
    case LUA_TSTRING: sb_addf(b, "the string '%.60s'", lua_tostring(L, at)); break;
    case LUA_TUSERDATA: sb_add(b, config_test(L, at) ? "a configuration" : "an object of lathe's"); break;
    default: sb_addf(b, "a %s", luaL_typename(L, at)); break;
    }
    return sb_str(b);
}

/* stack: module, script's table, option values, struct strategy */
static int prepare(lua_State *L)
{
    struct strategy *s = lua_touserdata(L, 4);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &STRATEGY_KEY);
    config_open(L);
    asking_open(L);
    s->co = lua_newthread(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &THREAD_KEY);
    lua_getfield(L, 2, "name");
    s->name = mem_strdup(lua_tostring(L, -1));
    lua_getfield(L, 2, "run");
    tune_object_push(L);
    space_object_push(L);
    lua_pushvalue(L, 3);
    lua_xmove(L, s->co, 4); /* its stack: run, tune, space, opt */
    return 0;
}

static status add_spaces(struct strategy *s, struct space *const *spaces, int nspaces, struct err *e)
{
    int slots = 0;
    struct space **copy = mem_zalloc((size_t)nspaces, sizeof *copy);
    s->spaces = copy;
    s->nspaces = nspaces;
    s->first = mem_zalloc((size_t)nspaces + 1, sizeof *s->first);
    for (int i = 0; i < nspaces; i++) {
        copy[i] = spaces[i];
        if (space_kernel(spaces[i])->scope.count > slots)
            slots = space_kernel(spaces[i])->scope.count;
        s->first[i + 1] = s->first[i] + space_size(spaces[i]);
        if (s->first[i + 1] > INT64_MAX)
            return err_set(e, LATHE_SPEC,
                           "the kernels have more than 2^63 valid configurations together: tune fewer at once");
    }
    s->slots = mem_zalloc((size_t)slots, sizeof *s->slots);
    return LATHE_OK;
}

static status open_script(const char *name_or_file, const char *text, char *const *options, int noptions,
                          struct space *const *spaces, int nspaces, uint64_t seed, int compilers, size_t memory,
                          double seconds, struct strategy **out, struct err *e)
{
    struct script script;
    struct err own;
    if (!e)
        e = &own;
    status st = script_load(name_or_file, text, memory, seconds, seed, &script, e);
    if (st)
        return st;
    struct strategy *s = mem_zalloc(1, sizeof *s);
    st = script_resolve(&script, options, noptions, compilers, &s->options_text, e); /* stack: module, table, values */
    s->host = script.host;
    s->text = script.text;
    s->chunk = script.chunk;
    if (!st)
        st = add_spaces(s, spaces, nspaces, e);
    if (!st) {
        lua_State *L = lua_host_state(s->host);
        lua_pushcfunction(L, prepare);
        lua_insert(L, 1);
        lua_pushlightuserdata(L, s);
        st = lua_host_call(s->host, 4, 0, LATHE_STRATEGY, e);
    }
    if (st) {
        strategy_close(s);
        return st;
    }
    *out = s;
    return LATHE_OK;
}

status strategy_open_limited(const char *name_or_file, char *const *options, int noptions, struct space *const *spaces,
                             int nspaces, uint64_t seed, size_t memory, double seconds, struct strategy **out,
                             struct err *e)
{
    return open_script(name_or_file, NULL, options, noptions, spaces, nspaces, seed, 0, memory, seconds, out, e);
}

status strategy_open_text(const char *name, const char *text, char *const *options, int noptions,
                          struct space *const *spaces, int nspaces, uint64_t seed, int compilers,
                          struct strategy **out, struct err *e)
{
    return open_script(name, text, options, noptions, spaces, nspaces, seed, compilers, LUA_HOST_STRATEGY_MEMORY,
                       LUA_HOST_STRATEGY_SECONDS, out, e);
}

status strategy_open(const char *name_or_file, char *const *options, int noptions, struct space *const *spaces,
                     int nspaces, uint64_t seed, struct strategy **out, struct err *e)
{
    return strategy_open_limited(name_or_file, options, noptions, spaces, nspaces, seed, LUA_HOST_STRATEGY_MEMORY,
                                 LUA_HOST_STRATEGY_SECONDS, out, e);
}

void strategy_close(struct strategy *s)
{
    if (!s)
        return;
    lua_host_close(s->host);
    asking_clear_batch(s);
    mem_free((void *)s->spaces);
    mem_free(s->first);
    mem_free(s->name);
    mem_free(s->text);
    mem_free(s->chunk);
    mem_free(s->options_text);
    mem_free(s->batch);
    mem_free(s->asked);
    mem_free(s->slots);
    sb_free(&s->scratch);
    mem_free(s);
}

const char *strategy_name(const struct strategy *s)
{
    return s->name;
}

const char *strategy_text(const struct strategy *s)
{
    return s->text;
}

void strategy_options_text(const struct strategy *s, struct strbuf *b)
{
    sb_add(b, s->options_text);
}

/* The script yielded by itself: says what. */
static status yielded_something(struct strategy *s, int nresults, struct err *e)
{
    lua_Debug at;
    int line = 0;
    if (lua_getstack(s->co, 1, &at) && lua_getinfo(s->co, "l", &at))
        line = at.currentline;
    return err_set(e, LATHE_STRATEGY,
                   "%s:%d: the script yielded %s to lathe with coroutine.yield; configurations are asked for with "
                   "tune.evaluate(config) or tune.evaluate_all(list)",
                   s->chunk, line, nresults == 0 ? "nothing" : strategy_describe(s->co, s, -nresults));
}

static status resume(struct strategy *s, struct err *e)
{
    int nresults = 0, finished = 0;
    s->from_tune = false;
    asking_clear_batch(s);
    status st = lua_host_resume(s->host, s->co, s->started ? 0 : 3, &nresults, &finished, LATHE_STRATEGY, e);
    s->started = true;
    if (!st && !finished && !s->from_tune)
        st = yielded_something(s, nresults, e);
    if (st) {
        s->ended = true;
        s->waiting = 0;
        if (strncmp(e->text, s->chunk, strlen(s->chunk)) != 0)
            err_prefix(e, "%s", s->chunk);
        return st;
    }
    s->ended = finished;
    lua_pop(s->co, nresults);
    return LATHE_OK;
}

status strategy_ask(struct strategy *s, const struct proposal **batch, int *count, struct err *e)
{
    struct err own;
    *batch = NULL;
    *count = 0;
    if (s->ended)
        return LATHE_OK;
    status st = s->waiting ? LATHE_OK : resume(s, e ? e : &own);
    if (st)
        return st;
    *batch = s->batch;          /* one that ended may have submitted some before */
    *count = s->count;
    return LATHE_OK;
}

bool strategy_waits(const struct strategy *s) { return s->waiting > 0; }
bool strategy_ended(const struct strategy *s) { return s->ended; }

void strategy_tell(struct strategy *s, int64_t number, const struct answer *a)
{
    int64_t at = number - s->first_asked;
    if (at < 0 || at >= s->nasked || s->asked[at].told)
        return;
    struct asked *k = &s->asked[at];
    k->answer = *a;
    k->told = true;
    s->waiting -= k->wanted && !s->ended;
}

void strategy_interrupt(void) { lua_host_interrupt(); }
