/* lua_order.c: pairs and next in an order that is the same in every run.
 *
 * Lua's own order over strings follows their hashes, whose seed is taken from addresses. Here: numbers ascending, then
 * strings by bytes, then false and true, then lathe's objects (struct lua_object). Keys that have no order of their own
 * (tables, functions, coroutines) are refused. pairs takes a snapshot of the keys: fields may be set and cleared during
 * the walk, a cleared one is skipped, a new one is not seen. next costs a pass over the table. */
#include "search/lua/lua_host_impl.h"

#include <lauxlib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum key_rank { KEY_NUMBER, KEY_STRING, KEY_BOOLEAN, KEY_OBJECT };
struct key {
    enum key_rank rank;
    bool integer;
    lua_Integer i;
    double f;
    const char *s;              /* borrowed from the table */
    size_t len;
    uint64_t order;
    int place;                  /* in the list of keys */
};

static void read_key(lua_State *L, int at, struct key *k)
{
    memset(k, 0, sizeof *k);
    switch (lua_type(L, at)) {
    case LUA_TNUMBER:
        k->rank = KEY_NUMBER;
        k->integer = lua_isinteger(L, at);
        k->i = lua_tointeger(L, at);
        k->f = lua_tonumber(L, at);
        break;
    case LUA_TSTRING:
        k->rank = KEY_STRING;
        k->s = lua_tolstring(L, at, &k->len);
        break;
    case LUA_TBOOLEAN:
        k->rank = KEY_BOOLEAN;
        k->order = (uint64_t)lua_toboolean(L, at);
        break;
    case LUA_TUSERDATA:
        k->rank = KEY_OBJECT;
        k->order = ((const struct lua_object *)lua_touserdata(L, at))->order;
        break;
    default:
        luaL_error(L,
                   "pairs and next: this table has a %s as a key, so its order would change from run to run; keep "
                   "such things in a list",
                   luaL_typename(L, at));
    }
}

static int compare_keys(const void *pa, const void *pb)
{
    const struct key *a = pa, *b = pb;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->rank == KEY_STRING) {
        int order = memcmp(a->s, b->s, a->len < b->len ? a->len : b->len);
        return order ? order : (a->len > b->len) - (a->len < b->len);
    }
    if (a->rank != KEY_NUMBER)
        return (a->order > b->order) - (a->order < b->order);
    if (a->integer && b->integer)
        return (a->i > b->i) - (a->i < b->i);
    if (a->f != b->f)
        return a->f < b->f ? -1 : 1;
    return b->integer - a->integer;
}

/* next(t, k): the smallest key above k, and its value */
int lua_ordered_next(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    bool first = lua_isnil(L, 2), found = false;
    struct key after, best, k;
    if (!first)
        read_key(L, 2, &after);
    lua_pushnil(L); /* stack: t, k, best key */
    lua_pushnil(L);
    while (lua_next(L, 1)) { /* stack: t, k, best key, key, value */
        lua_pop(L, 1);
        read_key(L, 4, &k);
        if ((first || compare_keys(&k, &after) > 0) && (!found || compare_keys(&k, &best) < 0)) {
            best = k;
            found = true;
            lua_pushvalue(L, 4);
            lua_replace(L, 3);
        }
    }
    lua_settop(L, 3);
    if (!found)
        return 1;
    lua_pushvalue(L, 3);
    lua_rawget(L, 1);
    return 2;
}

/* upvalues: keys in the table's own order (nil: 1 .. count), their sorted places, count, how many are done */
static int walk(lua_State *L)
{
    lua_Integer count = lua_tointeger(L, lua_upvalueindex(3)), done = lua_tointeger(L, lua_upvalueindex(4));
    const struct key *sorted = lua_touserdata(L, lua_upvalueindex(2));
    while (done < count) {
        done++;
        if (sorted)
            lua_rawgeti(L, lua_upvalueindex(1), sorted[done - 1].place);
        else
            lua_pushinteger(L, done);
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 1) != LUA_TNIL) {
            lua_pushinteger(L, done);
            lua_replace(L, lua_upvalueindex(4));
            return 2;
        }
        lua_pop(L, 2);
    }
    lua_pushnil(L);
    return 1;
}

/* stack: t. True if its keys are 1 .. *count. */
static bool is_sequence(lua_State *L, lua_Integer *count)
{
    lua_Integer n = 0, len = (lua_Integer)lua_rawlen(L, 1);
    bool sequence = true;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1), n++)
        sequence = sequence && lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= len;
    *count = n;
    return sequence && n == len;
}

int lua_ordered_pairs(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
        lua_insert(L, 1);
        lua_call(L, 1, 3);
        return 3;
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_Integer count;
    if (is_sequence(L, &count)) {
        lua_pushnil(L);
        lua_pushnil(L);
    } else {
        if (count > INT32_MAX)
            return luaL_error(L, "pairs: the table is too large");
        lua_createtable(L, (int)count, 0);                                           /* stack: t, keys */
        struct key *sorted = lua_newuserdatauv(L, (size_t)count * sizeof *sorted, 0); /* stack: t, keys, sorted */
        int n = 0;
        for (lua_pushnil(L); lua_next(L, 1); n++) { /* stack: t, keys, sorted, key, value */
            lua_pop(L, 1);
            read_key(L, 4, &sorted[n]);
            sorted[n].place = n + 1;
            lua_pushvalue(L, 4);
            lua_rawseti(L, 2, n + 1);
        }
        qsort(sorted, (size_t)n, sizeof *sorted, compare_keys);
    }
    lua_pushinteger(L, count);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, walk, 4);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}
