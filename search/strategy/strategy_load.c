/* strategy_load.c: finding a strategy's script, running it, and settling its options. The checks on what a script
 * declares, and the reading of options, are Lua: prelude.lua. */
#include "search/strategy/strategy_impl.h"

#include "base/mem.h"
#include <lauxlib.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *text;
} embedded[] = {
#include "strategies.inc"
};
enum { EMBEDDED = sizeof embedded / sizeof embedded[0] };

int strategy_count(void)
{
    return EMBEDDED;
}

const char *strategy_name_at(int i)
{
    return i >= 0 && i < EMBEDDED ? embedded[i].name : "";
}

static bool is_file_name(const char *name)
{
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".lua") == 0);
}

static status find_text(const char *name, const char *text, struct script *s, struct err *e)
{
    const char *names[EMBEDDED];
    struct strbuf list = {0};
    if (text) {
        s->chunk = mem_printf("%s%s", name, is_file_name(name) ? "" : ".lua");
        s->text = mem_strdup(text);
        return LATHE_OK;
    }
    if (is_file_name(name)) {
        s->chunk = mem_strdup(name);
        return file_read(name, &s->text, NULL, e);
    }
    for (int i = 0; i < EMBEDDED; i++) {
        names[i] = embedded[i].name;
        sb_addf(&list, "%s%s", i ? ", " : "", names[i]);
        if (strcmp(names[i], name) == 0) {
            s->chunk = mem_printf("%s.lua", name);
            s->text = mem_strdup(embedded[i].text);
            sb_free(&list);
            return LATHE_OK;
        }
    }
    const char *near = nearest_word(name, names, EMBEDDED);
    status st = err_set(e, LATHE_USAGE,
                        "there is no strategy '%.60s'%s%s%s; there are %s, or give a file whose name ends in .lua",
                        name, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", sb_str(&list));
    sb_free(&list);
    return st;
}

void script_free(struct script *s)
{
    lua_host_close(s->host);
    mem_free(s->text);
    mem_free(s->chunk);
    *s = (struct script){0};
}

/* stack: what the script returned -> the same, if it is strategy { ... } */
static int check_returned(lua_State *L)
{
    bool tagged =
        lua_istable(L, 1) && lua_getfield(L, 1, "tag") == LUA_TSTRING && strcmp(lua_tostring(L, -1), "strategy") == 0;
    if (!tagged)
        return luaL_error(L, "a strategy ends with `return strategy { ... }`; this one returned %s",
                          lua_isnil(L, 1) ? "nothing" : lua_istable(L, 1) ? "another table" : luaL_typename(L, 1));
    lua_settop(L, 1);
    return 1;
}

/* Every message of a script begins with its file. */
static status name_script(const struct script *s, status st, struct err *e)
{
    if (strncmp(e->text, s->chunk, strlen(s->chunk)) != 0)
        err_prefix(e, "%s", s->chunk);
    return st;
}

/* load_strategy(name): what the script of an embedded strategy returns, for a strategy that runs it inside itself. */
static int load_embedded(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1), *names[EMBEDDED];
    for (int i = 0; i < EMBEDDED; i++) {
        names[i] = embedded[i].name;
        if (strcmp(name, names[i]) != 0)
            continue;
        lua_pushfstring(L, "@%s.lua", name);
        if (luaL_loadbufferx(L, embedded[i].text, strlen(embedded[i].text), lua_tostring(L, -1), "t"))
            return lua_error(L);
        lua_call(L, 0, 1);
        return 1;
    }
    lua_pushliteral(L, "there is no strategy");
    return strategy_unknown(L, lua_tostring(L, -1), name, names, EMBEDDED);
}

/* stack: module */
static int add_loader(lua_State *L)
{
    lua_pushcfunction(L, load_embedded);
    lua_setfield(L, 1, "load_strategy");
    return 0;
}

status script_load(const char *name_or_file, const char *text, size_t memory, double seconds, uint64_t seed,
                   struct script *out, struct err *e)
{
    struct script s = {0};
    status st = find_text(name_or_file, text, &s, e);
    if (!st)
        st = lua_host_open(&s.host, memory, seconds, seed, e);
    if (!st)
        st = lua_host_prelude(s.host, "strategy", e);
    if (st) {
        script_free(&s);
        return st;
    }
    lua_State *L = lua_host_state(s.host); /* stack: module */
    lua_pushcfunction(L, add_loader);
    lua_pushvalue(L, -2);
    st = lua_host_call(s.host, 1, 0, LATHE_INTERNAL, e);
    lua_pushcfunction(L, model_open);
    if (!st)
        st = lua_host_call(s.host, 0, 0, LATHE_STRATEGY, e);
    lua_pushcfunction(L, check_returned);
    if (!st && lua_host_load(s.host, s.text, strlen(s.text), s.chunk, e))
        st = e->code = LATHE_STRATEGY;
    if (!st)
        st = lua_host_call(s.host, 0, 1, LATHE_STRATEGY, e);
    if (!st)
        st = lua_host_call(s.host, 1, 1, LATHE_STRATEGY, e);
    if (st) {
        name_script(&s, st, e);
        script_free(&s);
        return st;
    }
    *out = s;
    return LATHE_OK;
}

struct resolve_request {
    char *const *options;
    int n, compilers;
    struct strbuf text;
};

/* stack: module, strategy, request -> values */
static int resolve(lua_State *L)
{
    struct resolve_request *r = lua_touserdata(L, 3);
    lua_pushinteger(L, r->compilers);       /* also for strategies that this one runs inside itself */
    lua_setfield(L, 1, "compilers");
    lua_getfield(L, 1, "resolve");
    lua_pushvalue(L, 2);
    lua_createtable(L, r->n, 0);
    for (int i = 0; i < r->n; i++) {
        lua_pushstring(L, r->options[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_call(L, 2, 1); /* stack: module, strategy, request, values */
    lua_getfield(L, 1, "options_text");
    lua_pushvalue(L, 4);
    lua_call(L, 1, 1);
    sb_add(&r->text, lua_tostring(L, -1));
    lua_settop(L, 4);
    return 1;
}

status script_resolve(struct script *s, char *const *options, int noptions, int compilers, char **options_text,
                      struct err *e)
{
    lua_State *L = lua_host_state(s->host);
    struct resolve_request r = {.options = options, .n = noptions, .compilers = compilers};
    lua_pushcfunction(L, resolve);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_pushlightuserdata(L, &r);
    status st = lua_host_call(s->host, 3, 1, LATHE_USAGE, e);
    if (st)
        sb_free(&r.text);
    else
        *options_text = r.text.s ? sb_take(&r.text) : mem_strdup("");
    return st;
}

/* Declared options ------------------------------------------------------------------------------------------------*/

struct describe_request {
    struct strategy_option *out;
    int max, count;
};

static void copy_field(lua_State *L, const char *name, char *out, size_t size)
{
    lua_getfield(L, -1, name); /* stack: ..., row, text */
    snprintf(out, size, "%s", lua_tostring(L, -1));
    lua_pop(L, 1);
}

/* stack: module, strategy, request */
static int describe(lua_State *L)
{
    struct describe_request *r = lua_touserdata(L, 3);
    lua_getfield(L, 1, "describe_options");
    lua_pushvalue(L, 2);
    lua_call(L, 1, 1); /* stack: module, strategy, request, rows */
    r->count = (int)lua_rawlen(L, 4);
    for (int i = 0; i < r->count && i < r->max; i++) {
        lua_rawgeti(L, 4, i + 1);
        copy_field(L, "name", r->out[i].name, sizeof r->out[i].name);
        copy_field(L, "type", r->out[i].type, sizeof r->out[i].type);
        copy_field(L, "default", r->out[i].text_default, sizeof r->out[i].text_default);
        copy_field(L, "range", r->out[i].range, sizeof r->out[i].range);
        copy_field(L, "help", r->out[i].help, sizeof r->out[i].help);
        lua_pop(L, 1);
    }
    return 0;
}

int strategy_declared_options(const char *name, struct strategy_option *out, int max)
{
    struct script s;
    struct err e;
    struct describe_request r = {.out = out, .max = max, .count = -1};
    if (script_load(name, NULL, LUA_HOST_STRATEGY_MEMORY, LUA_HOST_STRATEGY_SECONDS, 0, &s, &e))
        return -1;
    lua_State *L = lua_host_state(s.host);
    lua_pushcfunction(L, describe);
    lua_insert(L, 1);
    lua_pushlightuserdata(L, &r);
    if (lua_host_call(s.host, 3, 0, LATHE_STRATEGY, &e))
        r.count = -1;
    script_free(&s);
    return r.count;
}

/* Summaries are what the scripts declare, so they are known only after running each; once, and kept for good, because
 * callers hold on to the text. */
static char summaries[EMBEDDED][200];
static pthread_once_t summaries_once = PTHREAD_ONCE_INIT;

/* stack: module, strategy, buffer */
static int read_summary(lua_State *L)
{
    lua_getfield(L, 2, "summary");
    snprintf(lua_touserdata(L, 3), sizeof summaries[0], "%s", lua_tostring(L, -1));
    return 0;
}

static void read_summaries(void)
{
    for (int i = 0; i < EMBEDDED; i++) {
        struct script s;
        struct err e;
        if (script_load(embedded[i].name, NULL, LUA_HOST_STRATEGY_MEMORY, LUA_HOST_STRATEGY_SECONDS, 0, &s, &e))
            continue;
        lua_State *L = lua_host_state(s.host);
        lua_pushcfunction(L, read_summary);
        lua_insert(L, 1);
        lua_pushlightuserdata(L, summaries[i]);
        lua_host_call(s.host, 3, 0, LATHE_STRATEGY, &e);
        script_free(&s);
    }
}

const char *strategy_summary_at(int i)
{
    pthread_once(&summaries_once, read_summaries);
    return i >= 0 && i < EMBEDDED ? summaries[i] : "";
}
