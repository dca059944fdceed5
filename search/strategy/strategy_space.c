/* strategy_space.c: the script's `space`: the union of the kernels' spaces, kernel by kernel, from 1. */
#include "search/strategy/strategy_impl.h"

#include "base/mem.h"
#include <lauxlib.h>
#include <math.h>
#include <string.h>

#define SPACE "space"

/* The optional name of a kernel; -1: all of them. */
static int optional_kernel(lua_State *L, const struct strategy *s, int arg)
{
    const char *name = luaL_optstring(L, arg, NULL);
    return name ? strategy_kernel(L, s, name) : -1;
}

static struct strategy *check_self(lua_State *L)
{
    if (!luaL_testudata(L, 1, SPACE))
        luaL_error(L, "write space:name(...), with a colon");
    return strategy_of(L);
}

/* A place in the union, from 0, as space and index. */
static void push_place(lua_State *L, struct strategy *s, uint64_t place)
{
    int space = 0;
    while (place >= s->first[space + 1])
        space++;
    config_push_member(L, s, space, place - s->first[space]);
}

static int method_size(lua_State *L)
{
    struct strategy *s = check_self(L);
    int kernel = optional_kernel(L, s, 2);
    lua_pushinteger(L, (lua_Integer)(kernel < 0 ? s->first[s->nspaces] : space_size(s->spaces[kernel])));
    return 1;
}

static int method_at(lua_State *L)
{
    struct strategy *s = check_self(L);
    lua_Integer i = luaL_checkinteger(L, 2);
    int kernel = optional_kernel(L, s, 3);
    uint64_t n = kernel < 0 ? s->first[s->nspaces] : space_size(s->spaces[kernel]);
    if (i < 1 || (uint64_t)i > n)
        return luaL_error(L, "space:at(%I): expected 1 to %I", i, (lua_Integer)n);
    push_place(L, s, (kernel < 0 ? 0 : s->first[kernel]) + (uint64_t)i - 1);
    return 1;
}

static int method_random(lua_State *L)
{
    struct strategy *s = check_self(L);
    struct rng *r = lua_host_rng(s->host);
    int kernel = optional_kernel(L, s, 2);
    if (kernel < 0)
        push_place(L, s, rng_below(r, s->first[s->nspaces]));
    else
        config_push_member(L, s, kernel, space_random(s->spaces[kernel], r));
    return 1;
}

/* Pushes the configuration that argument `arg` is or means; false, with the reason in the scratch buffer. */
static bool push_config(lua_State *L, struct strategy *s, int arg)
{
    if (config_test(L, arg)) {
        lua_pushvalue(L, arg);
        return true;
    }
    luaL_argexpected(L, lua_type(L, arg) == LUA_TTABLE, arg, "configuration or table");
    return config_from_table(L, s, arg);
}

static int method_config(lua_State *L)
{
    struct strategy *s = check_self(L);
    if (push_config(L, s, 2)) {
        const struct config_object *c = config_test(L, -1);
        if (c->index >= 0)
            return 1;
        config_why(s, c);
    }
    lua_pushnil(L);
    lua_pushstring(L, sb_str(&s->scratch));
    return 2;
}

static int method_contains(lua_State *L)
{
    struct strategy *s = check_self(L);
    lua_pushboolean(L, push_config(L, s, 2) && config_test(L, -1)->index >= 0);
    return 1;
}

static int method_index(lua_State *L)
{
    struct strategy *s = check_self(L);
    if (!push_config(L, s, 2) || config_test(L, -1)->index < 0)
        return 0;
    const struct config_object *c = config_test(L, -1);
    lua_pushinteger(L, (lua_Integer)(s->first[c->space] + (uint64_t)c->index + 1));
    return 1;
}

static enum neighbourhood check_kind(lua_State *L, const char *name)
{
    static const char *const kinds[] = {"adjacent", "hamming"}; /* in the order of enum neighbourhood */
    return (enum neighbourhood)strategy_word(L, "neighbours are adjacent or hamming, not", name, kinds, 2);
}

static int method_neighbours(lua_State *L)
{
    struct strategy *s = check_self(L);
    const struct config_object *c = config_test(L, 2);
    if (!c)
        return luaL_argerror(L, 2, lua_pushfstring(L, "configuration expected, got %s", strategy_describe(L, s, 2)));
    enum neighbourhood kind = check_kind(L, luaL_checkstring(L, 3));
    if (c->index < 0)
        return luaL_error(L, "space:neighbours: the configuration is no member of the space: %s", config_why(s, c));
    uint64_t *list;
    int n = space_neighbours(s->spaces[c->space], c->choice, kind, &list);
    /* into Lua's memory first: an error below must not leak the list */
    uint64_t *own = n ? lua_newuserdatauv(L, (size_t)n * sizeof *own, 0) : NULL;
    if (n)
        memcpy(own, list, (size_t)n * sizeof *own);
    mem_free(list);
    lua_createtable(L, n, 0);
    for (int i = 0; i < n; i++) {
        config_push_member(L, s, c->space, own[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* The configuration that argument `arg` is, or means; whether it is valid does not matter. Pushed. */
static const struct config_object *any_config(lua_State *L, struct strategy *s, const char *method, int arg)
{
    if (!push_config(L, s, arg))
        luaL_error(L, "space:%s: %s", method, sb_str(&s->scratch));
    return config_test(L, -1);
}

static int method_distance(lua_State *L)
{
    struct strategy *s = check_self(L);
    enum neighbourhood kind = check_kind(L, luaL_optstring(L, 4, "hamming"));
    const struct config_object *a = any_config(L, s, "distance", 2), *b = any_config(L, s, "distance", 3);
    if (a->space != b->space) {
        lua_pushnumber(L, HUGE_VAL);
        return 1;
    }
    struct space_distance d = space_distance(s->spaces[a->space], a->choice, b->choice);
    lua_pushinteger(L, kind == NEIGHBOURS_HAMMING ? d.changed : (lua_Integer)d.steps);
    return 1;
}

static int method_repair(lua_State *L)
{
    struct strategy *s = check_self(L);
    int wanted[SPACE_PARAMS_MAX], space;
    const struct config_object *c = config_test(L, 2);
    if (c && c->index >= 0) {
        lua_pushvalue(L, 2);
        return 1;
    }
    if (c) {
        space = c->space;
        for (int i = 0; i < space_kernel(s->spaces[space])->nparams; i++)
            wanted[i] = c->choice[i];
    } else {
        luaL_checktype(L, 2, LUA_TTABLE);
        space = config_wishes(L, s, 2, wanted);
        if (space < 0)
            return luaL_error(L, "space:repair: %s", sb_str(&s->scratch));
    }
    config_choice choice[SPACE_PARAMS_MAX];
    space_nearest(s->spaces[space], wanted, choice);
    config_push_member(L, s, space, (uint64_t)space_index(s->spaces[space], choice));
    return 1;
}

static int method_kernels(lua_State *L)
{
    struct strategy *s = check_self(L);
    lua_createtable(L, s->nspaces, 0);
    for (int i = 0; i < s->nspaces; i++) {
        lua_pushstring(L, space_kernel(s->spaces[i])->name);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static void push_param(lua_State *L, const struct param *p)
{
    lua_createtable(L, 0, 5);
    lua_pushstring(L, p->name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, value_type_name(p->type));
    lua_setfield(L, -2, "type");
    lua_pushstring(L, p->help ? p->help : "");
    lua_setfield(L, -2, "help");
    lua_pushboolean(L, p->when != NULL);
    lua_setfield(L, -2, "conditional");
    lua_createtable(L, p->nvalues, 0);
    for (int i = 0; i < p->nvalues; i++) {
        config_push_value(L, p->values[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "values");
}

static int method_parameters(lua_State *L)
{
    struct strategy *s = check_self(L);
    int kernel = optional_kernel(L, s, 2);
    if (kernel < 0 && s->nspaces > 1)
        return luaL_error(L, "space:parameters(kernel): there are %d kernels; name one", s->nspaces);
    const struct kernel *k = space_kernel(s->spaces[kernel < 0 ? 0 : kernel]);
    lua_createtable(L, k->nparams, 0);
    for (int i = 0; i < k->nparams; i++) {
        push_param(L, &k->params[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static const luaL_Reg methods[] = {
    {"size", method_size},         {"at", method_at},
    {"random", method_random},     {"config", method_config},
    {"contains", method_contains}, {"index", method_index},
    {"kernels", method_kernels},   {"neighbours", method_neighbours},
    {"parameters", method_parameters}, {"distance", method_distance},
    {"repair", method_repair},
};
enum { METHODS = sizeof methods / sizeof methods[0] };
_Static_assert((int)METHODS <= (int)METHODS_MAX, "strategy_method");

static int space_object_index(lua_State *L)
{
    return strategy_method(L, "space has no field", methods, METHODS);
}

void space_object_push(lua_State *L)
{
    struct lua_object *o = lua_newuserdatauv(L, sizeof *o, 0);
    o->order = object_order(OBJECT_OTHER, 1);
    luaL_newmetatable(L, SPACE);
    lua_pushcfunction(L, space_object_index);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}
