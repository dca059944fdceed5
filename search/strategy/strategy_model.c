/* strategy_model.c: the script's `model`: model.gp { ... }, model.forest { ... } and what they make.
 *
 * A model is a userdata that owns a struct model; at most MODELS_MAX live at once, because Lua does not see their
 * memory. Arguments by name come in a table, whose keys are checked. */
#include "search/strategy/strategy_impl.h"

#include "search/surrogates/model.h"
#include <lauxlib.h>
#include <math.h>
#include <string.h>

#define MODEL "model"

enum { MODELS_MAX = 256, CANDIDATES_MIN = 16, CANDIDATES_MAX = 1000000, CANDIDATES = 20000, TRIES_MAX = 10000 };

struct model_object {
    struct lua_object object;
    struct model *model;
    int space;
};

static struct model_object *check_model(lua_State *L)
{
    struct model_object *o = luaL_testudata(L, 1, MODEL);
    if (!o)
        luaL_error(L, "write model:name(...), with a colon");
    return o;
}

/* Every key of the table at `at` is one of the names, or 1 where `first` says so. */
static void check_keys(lua_State *L, int at, const char *what, bool first, const char *const *names, int n)
{
    luaL_argexpected(L, lua_type(L, at) == LUA_TTABLE, at, "table");
    for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) {
        bool known = first && lua_isinteger(L, -2) && lua_tointeger(L, -2) == 1;
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
        for (int i = 0; i < n && name && !known; i++)
            known = strcmp(name, names[i]) == 0;
        if (known)
            continue;
        lua_pushfstring(L, "%s has no argument", what);
        strategy_unknown(L, lua_tostring(L, -1), name ? name : luaL_typename(L, -3), names, n);
    }
}

/* The number under a key, within bounds; otherwise `missing`. */
static double number_field(lua_State *L, int at, const char *what, const char *name, double low, double high,
                           double missing)
{
    double v = missing;
    if (lua_getfield(L, at, name) != LUA_TNIL) {
        v = lua_isnumber(L, -1) ? lua_tonumber(L, -1) : NAN;
        if (!(v >= low && v <= high)) {
            const char *given = strategy_describe(L, strategy_of(L), lua_gettop(L));
            luaL_error(L, "%s: %s is a number from %f to %f, not %s", what, name, low, high, given);
        }
    }
    lua_pop(L, 1);
    return v;
}

/* The place of a member of the model's kernel. */
static uint64_t check_member(lua_State *L, const struct model_object *o, int arg)
{
    struct strategy *s = strategy_of(L);
    const struct config_object *c = config_test(L, arg);
    if (!c)
        luaL_argerror(L, arg, lua_pushfstring(L, "configuration expected, got %s", strategy_describe(L, s, arg)));
    if (c->space != o->space)
        luaL_error(L, "the model is one of kernel %s; the configuration is one of %s",
                   space_kernel(s->spaces[o->space])->name, space_kernel(s->spaces[c->space])->name);
    if (c->index < 0)
        luaL_error(L, "the configuration is no member of the space: %s", config_why(s, c));
    return (uint64_t)c->index;
}

/* Methods ---------------------------------------------------------------------------------------------------------*/

static int model_method_spread(lua_State *L)
{
    struct model_object *o = check_model(L);
    lua_Integer tries = luaL_checkinteger(L, 2);
    uint64_t index;
    luaL_argcheck(L, tries >= 1 && tries <= TRIES_MAX, 2, "from 1 to 10000");
    if (model_spread(o->model, (int)tries, &index))
        config_push_member(L, strategy_of(L), o->space, index);
    else
        lua_pushnil(L);
    return 1;
}

static enum acquisition check_acquisition(lua_State *L)
{
    static const char *const kinds[] = {"ei", "lcb", "mean"}; /* in the order of enum acquisition */
    lua_rawgeti(L, 2, 1);
    const char *kind = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    if (!kind)
        kind = strategy_describe(L, strategy_of(L), lua_gettop(L));
    int at = strategy_word(L, "model:propose: the first is an acquisition, not", kind, kinds, 3);
    lua_pop(L, 1);
    return (enum acquisition)at;
}

static int model_method_propose(lua_State *L)
{
    static const char *const names[] = {"best", "kappa", "cost"}, what[] = "model:propose";
    struct model_object *o = check_model(L);
    check_keys(L, 2, what, true, names, 3);
    struct acquire a = {
        .kind = check_acquisition(L),
        .best = number_field(L, 2, what, "best", 0, HUGE_VAL, 0),
        .kappa = number_field(L, 2, what, "kappa", 0, 1e6, 2),
        .cost = number_field(L, 2, what, "cost", 0, 1e6, 0),
    };
    uint64_t index;
    double score;
    if (!model_propose(o->model, &a, &index, &score)) {
        lua_pushnil(L);
        return 1;
    }
    config_push_member(L, strategy_of(L), o->space, index);
    lua_pushnumber(L, score);
    return 2;
}

static int model_method_assume(lua_State *L)
{
    struct model_object *o = check_model(L);
    model_assume(o->model, check_member(L, o, 2));
    return 0;
}

static int model_method_tell(lua_State *L)
{
    struct model_object *o = check_model(L);
    struct answer a;
    result_check(L, 2, &a); /* stack: model, result, configuration */
    model_tell(o->model, check_member(L, o, 3), a.outcome == OUTCOME_ok, a.measured, a.seconds);
    return 0;
}

static int model_method_predict(lua_State *L)
{
    struct model_object *o = check_model(L);
    struct prediction p;
    if (!model_predict(o->model, check_member(L, o, 2), &p)) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushnumber(L, p.value);
    lua_pushnumber(L, p.deviation);
    lua_pushnumber(L, p.seconds);
    lua_pushnumber(L, p.chance);
    return 4;
}

static int model_method_left(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)model_free_count(check_model(L)->model));
    return 1;
}

static const luaL_Reg methods[] = {
    {"spread", model_method_spread}, {"propose", model_method_propose}, {"assume", model_method_assume},
    {"tell", model_method_tell},     {"predict", model_method_predict}, {"left", model_method_left},
};
enum { METHODS = sizeof methods / sizeof methods[0] };
_Static_assert((int)METHODS <= (int)METHODS_MAX, "strategy_method");

static int model_index(lua_State *L)
{
    return strategy_method(L, "a model has no field", methods, METHODS);
}

static int model_gc(lua_State *L)
{
    struct model_object *o = luaL_checkudata(L, 1, MODEL);
    if (o->model)
        strategy_of(L)->models--;
    model_free(o->model);
    o->model = NULL;
    return 0;
}

/* Making one ------------------------------------------------------------------------------------------------------*/

static int kernel_field(lua_State *L, const struct strategy *s, const char *what)
{
    const char *name = lua_getfield(L, 1, "kernel") == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    if (!name && !(s->nspaces == 1 && lua_isnil(L, -1)))
        return luaL_error(L, "%s { kernel = NAME }: there are %d kernels; name one", what, s->nspaces);
    int found = name ? strategy_kernel(L, s, name) : 0;
    lua_pop(L, 1);
    return found;
}

static int make_model(lua_State *L, enum model_kind kind, const char *what)
{
    static const char *const names[] = {"kernel", "candidates"};
    struct strategy *s = strategy_of(L);
    if (!s)
        return luaL_error(L, "%s: a model can be made inside the strategy's run function only", what);
    lua_settop(L, 1);
    if (lua_isnil(L, 1)) {
        lua_newtable(L);
        lua_replace(L, 1);
    }
    check_keys(L, 1, what, false, names, 2);
    int space = kernel_field(L, s, what);
    double candidates = number_field(L, 1, what, "candidates", CANDIDATES_MIN, CANDIDATES_MAX, CANDIDATES);
    if (s->models == MODELS_MAX)
        return luaL_error(L, "%s: there are %d models already", what, s->models);
    struct model_object *o = lua_newuserdatauv(L, sizeof *o, 0);
    *o = (struct model_object){.object.order = object_order(OBJECT_OTHER, 2 + s->made++), .space = space};
    luaL_setmetatable(L, MODEL);
    o->model = model_new(kind, s->spaces[space], lua_host_rng(s->host), (int)candidates);
    s->models++;
    return 1;
}

static int model_gp_new(lua_State *L)
{
    return make_model(L, MODEL_GP, "model.gp");
}

static int model_forest_new(lua_State *L)
{
    return make_model(L, MODEL_FOREST, "model.forest");
}

int model_open(lua_State *L)
{
    luaL_newmetatable(L, MODEL);
    lua_pushcfunction(L, model_index);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, model_gc);
    lua_setfield(L, -2, "__gc");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, model_gp_new);
    lua_setfield(L, -2, "gp");
    lua_pushcfunction(L, model_forest_new);
    lua_setfield(L, -2, "forest");
    lua_host_set_global(L, "model");
    return 0;
}
