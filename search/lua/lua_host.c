/* lua_host.c: a Lua state with a bound on memory and time, and the two doors into it.
 *
 * Invariants:
 * 1. Lua code runs only inside lua_host_call or lua_host_resume, so an error never reaches Lua's panic function.
 * 2. The instruction hook is set on the main thread before any other thread exists, and threads inherit it.
 * 3. h->trip is TRIP_NONE whenever no script runs, and a tripped script can't go on: see lua_host_impl.h.
 *
 * Memory comes from malloc, not base/mem.h: when the limit is reached, or memory is gone, the script fails and not the
 * process. */
#include "search/lua/lua_host_impl.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include <lauxlib.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { HOOK_INSTRUCTIONS = 1000, CHUNK_NAME_MAX = 50 };

/* Process-wide because a signal handler sets it; atomic because hosts may run on several threads. It stays: a host that
 * is opened after it is meant too, be it that the signal came early, or that another thread opens one. */
static atomic_int interrupted;

void lua_host_interrupt(void)
{
    interrupted = 1;
}

struct lua_host *lua_host_of(lua_State *L)
{
    return *(struct lua_host **)lua_getextraspace(L);
}

lua_State *lua_host_state(struct lua_host *h)
{
    return h->L;
}

struct rng *lua_host_rng(struct lua_host *h)
{
    return &h->rng;
}

static void *bounded_alloc(void *ud, void *block, size_t old_size, size_t new_size)
{
    struct lua_host *h = ud;
    if (!block)
        old_size = 0;                   /* Lua passes the kind of object here */
    if (new_size == 0) {
        free(block);
        h->used -= old_size;
        return NULL;
    }
    if (new_size > old_size && new_size - old_size > h->limit - h->used)
        return NULL;
    void *p = realloc(block, new_size);
    if (!p)
        return NULL;
    h->used += new_size - old_size;
    return p;
}

static void trip_text(const struct lua_host *h, char *text, size_t size)
{
    const char *sep = h->where[0] ? ": " : "";
    switch (h->trip) {
    case TRIP_TIME:
        snprintf(text, size, "%s%sthe script ran for more than %g s without returning", h->where, sep, h->seconds);
        break;
    case TRIP_MEMORY:
        snprintf(text, size, "%s%sthe script used more than %zu MiB of memory", h->where, sep, h->limit >> 20);
        break;
    default:
        snprintf(text, size, "%s%sinterrupted", h->where, sep);
        break;
    }
}

int lua_host_raise(lua_State *L)
{
    char text[400];
    trip_text(lua_host_of(L), text, sizeof text);
    lua_pushstring(L, text);
    return lua_error(L);
}

static void on_count(lua_State *L, lua_Debug *ar)
{
    struct lua_host *h = lua_host_of(L);
    if (h->trip == TRIP_NONE) {
        if (interrupted)
            h->trip = TRIP_INTERRUPT;
        else if (clock_thread_seconds() > h->deadline)
            h->trip = TRIP_TIME;
        else
            return;
        lua_getinfo(L, "Sl", ar);
        snprintf(h->where, sizeof h->where, "%s:%d", ar->short_src, ar->currentline);
    }
    lua_host_raise(L);
}

static int open_libraries(lua_State *L)
{
    lua_sandbox_open(L);
    return 0;
}

status lua_host_open(struct lua_host **out, size_t memory_limit, double seconds_limit, uint64_t seed, struct err *e)
{
    struct lua_host *h = mem_zalloc(1, sizeof *h);
    h->limit = memory_limit;
    h->seconds = seconds_limit;
    rng_seed(&h->rng, seed);
    h->L = lua_newstate(bounded_alloc, h);
    if (!h->L) {
        mem_free(h);
        return err_set(e, LATHE_NOMEM, "no memory for a Lua state");
    }
    *(struct lua_host **)lua_getextraspace(h->L) = h;
    lua_sethook(h->L, on_count, LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
    lua_pushcfunction(h->L, open_libraries);
    status s = lua_host_call(h, 0, 0, LATHE_NOMEM, e);
    if (s) {
        lua_host_close(h);
        return s;
    }
    *out = h;
    return LATHE_OK;
}

void lua_host_close(struct lua_host *h)
{
    if (!h)
        return;
    lua_close(h->L);
    mem_free(h);
}

/* Lua shortens chunk names beyond 60 characters at their front; the file's own name, at the end, is what tells. */
static const char *short_chunk(const char *chunk)
{
    if (strlen(chunk) <= CHUNK_NAME_MAX)
        return chunk;
    const char *slash = strrchr(chunk, '/');
    return slash ? slash + 1 : chunk;
}

status lua_host_load(struct lua_host *h, const char *text, size_t len, const char *chunk, struct err *e)
{
    if (len > 0 && text[0] == LUA_SIGNATURE[0])
        return err_set(e, LATHE_SPEC, "%s: this is compiled Lua; only source text is accepted", chunk);
    char name[256];
    snprintf(name, sizeof name, "@%s", short_chunk(chunk));
    size_t mark = utf8_mark(text, len);
    int rc = luaL_loadbufferx(h->L, text + mark, len - mark, name, "t"); /* stack: function or message */
    if (rc == LUA_OK)
        return LATHE_OK;
    if (rc == LUA_ERRMEM)
        err_set(e, LATHE_SPEC, "%s: compiling it needs more than %zu MiB of memory", chunk, h->limit >> 20);
    else
        err_set(e, LATHE_SPEC, "%s", lua_tostring(h->L, -1));
    lua_pop(h->L, 1);
    return LATHE_SPEC;
}

/* Appends the lines of a traceback that lie in scripts; nothing when that is one line: the message has it already. */
static void add_script_lines(luaL_Buffer *b, const char *trace)
{
    int lines = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && lines > 1)
            luaL_addstring(b, "\nstack traceback:");
        for (const char *p = strchr(trace, '\n'); p && (pass == 0 || lines > 1); p = strchr(p, '\n')) {
            p++;
            size_t n = strcspn(p, "\n");
            if (lua_words_traced(p))
                continue;
            if (pass == 0) {
                lines++;
            } else {
                luaL_addchar(b, '\n');
                luaL_addlstring(b, p, n);
            }
        }
    }
}

/* stack: error value, thread (light userdata) -> message with that thread's traceback */
static int describe_error(lua_State *L)
{
    lua_State *of = lua_touserdata(L, 2);
    if (lua_type(L, 1) != LUA_TSTRING && !luaL_callmeta(L, 1, "__tostring"))
        lua_pushfstring(L, "the error is no message but a value of type %s", luaL_typename(L, 1));
    else if (lua_type(L, 1) == LUA_TSTRING)
        lua_pushvalue(L, 1);
    luaL_traceback(L, of, NULL, of == L ? 2 : 0); /* stack: message, thread, text, trace */
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    luaL_tolstring(L, 3, NULL);
    luaL_addvalue(&b);
    add_script_lines(&b, lua_tostring(L, 4));
    luaL_pushresult(&b);
    return 1;
}

/* Message handler: runs on the thread that failed, before its stack is unwound. */
static int add_traceback(lua_State *L)
{
    if (lua_host_of(L)->trip != TRIP_NONE)
        return 1;                       /* the trip's own text is what is shown */
    lua_pushcfunction(L, describe_error);
    lua_insert(L, 1);
    lua_pushlightuserdata(L, L);
    lua_call(L, 2, 1);
    return 1;
}

static void begin(struct lua_host *h)
{
    h->trip = TRIP_NONE;
    h->where[0] = 0;
    h->deadline = clock_thread_seconds() + h->seconds;
}

/* Fills e from the message on top of L and pops it. */
static status fail(struct lua_host *h, int rc, status on_error, struct err *e)
{
    lua_State *L = h->L;
    const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "an error without a message";
    if (rc == LUA_ERRMEM && h->trip == TRIP_NONE)
        h->trip = TRIP_MEMORY;
    if (h->trip != TRIP_NONE) {
        char text[400];
        trip_text(h, text, sizeof text);
        err_set(e, h->trip == TRIP_INTERRUPT ? LATHE_INTERRUPTED : on_error, "%s", text);
    } else {
        err_set(e, on_error, "%s", message);
    }
    lua_pop(L, 1);
    status s = h->trip == TRIP_INTERRUPT ? LATHE_INTERRUPTED : on_error;
    h->trip = TRIP_NONE;
    return s;
}

status lua_host_call(struct lua_host *h, int nargs, int nresults, status on_error, struct err *e)
{
    lua_State *L = h->L;
    int base = lua_gettop(L) - nargs; /* the function's index */
    if (interrupted) {
        lua_settop(L, base - 1);
        return err_set(e, LATHE_INTERRUPTED, "interrupted");
    }
    lua_pushcfunction(L, add_traceback);
    lua_insert(L, base);
    begin(h);
    int rc = lua_pcall(L, nargs, nresults, base);
    lua_remove(L, base);
    if (rc == LUA_OK) {
        h->trip = TRIP_NONE;
        return LATHE_OK;
    }
    return fail(h, rc, on_error, e);
}

status lua_host_resume(struct lua_host *h, lua_State *co, int nargs, int *nresults, int *finished, status on_error,
                       struct err *e)
{
    if (interrupted)
        return err_set(e, LATHE_INTERRUPTED, "interrupted");
    begin(h);
    int rc = lua_resume(co, h->L, nargs, nresults);
    if (rc == LUA_OK || rc == LUA_YIELD) {
        *finished = rc == LUA_OK;
        h->trip = TRIP_NONE;
        return LATHE_OK;
    }
    if (rc == LUA_ERRMEM && h->trip == TRIP_NONE)
        h->trip = TRIP_MEMORY;
    lua_State *L = h->L;
    lua_xmove(co, L, 1); /* stack: message */
    if (h->trip == TRIP_NONE) {
        lua_pushcfunction(L, describe_error);
        lua_insert(L, -2);
        lua_pushlightuserdata(L, co);
        int described = lua_pcall(L, 2, 1, 0);
        if (described != LUA_OK && h->trip == TRIP_NONE) {
            lua_pop(L, 1);
            lua_pushnil(L);
        }
    }
    return fail(h, rc, on_error, e);
}
