/* strategy_config.c: configurations as a script sees them.
 *
 * config.NAME is a parameter's value, nil where it is inactive; config.kernel and config.index are what they say (a
 * parameter of that name comes first). Members are kept in a weak table by their place in the union, so the same member
 * is the same object as long as the script holds it. */
#include "search/strategy/strategy_impl.h"

#include <lauxlib.h>
#include <string.h>

#define CONFIG "configuration"
static const char MEMBERS_KEY = 'm';    /* its address is the registry key of the weak table */

enum { CANDIDATES_MAX = 128 };

static const struct kernel *kernel_of(const struct strategy *s, const struct config_object *c)
{
    return space_kernel(s->spaces[c->space]);
}

struct config_object *config_test(lua_State *L, int at)
{
    return luaL_testudata(L, at, CONFIG);
}

static struct config_object *config_check(lua_State *L, int at)
{
    return luaL_checkudata(L, at, CONFIG);
}

static struct config_object *push_new(lua_State *L, struct strategy *s, int space)
{
    size_t n = (size_t)space_kernel(s->spaces[space])->nparams;
    struct config_object *c = lua_newuserdatauv(L, sizeof *c + n * sizeof *c->choice, 0);
    memset(c, 0, sizeof *c + n * sizeof *c->choice);
    c->space = space;
    c->index = -1;
    luaL_setmetatable(L, CONFIG);
    return c;
}

void config_push_member(lua_State *L, struct strategy *s, int space, uint64_t index)
{
    lua_Integer place = (lua_Integer)(s->first[space] + index);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &MEMBERS_KEY);
    if (lua_rawgeti(L, -1, place) == LUA_TNIL) { /* stack: members, nil */
        lua_pop(L, 1);
        struct config_object *c = push_new(L, s, space);
        c->object.order = object_order(OBJECT_MEMBER, (uint64_t)place);
        c->index = (int64_t)index;
        space_at(s->spaces[space], index, c->choice);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, place);
    }
    lua_remove(L, -2);
}

void config_push_value(lua_State *L, struct value v)
{
    switch (v.type) {
    case VALUE_BOOL: lua_pushboolean(L, v.b); break;
    case VALUE_INT: lua_pushinteger(L, v.i); break;
    case VALUE_FLOAT: lua_pushnumber(L, v.f); break;
    case VALUE_STRING: lua_pushstring(L, v.s); break;
    case VALUE_NONE: lua_pushnil(L); break;
    }
}

/* Pushes the value of a parameter, nil if it is inactive; false then. */
static bool push_param(lua_State *L, struct strategy *s, const struct config_object *c, int param)
{
    const struct kernel *k = kernel_of(s, c);
    if (k->params[param].when) {
        space_param_slots(s->spaces[c->space], c->choice, s->slots);
        if (!param_active(k, param, s->slots)) {
            lua_pushnil(L);
            return false;
        }
    }
    config_push_value(L, k->params[param].values[c->choice[param]]);
    return true;
}

static int find_param(const struct kernel *k, const char *name)
{
    for (int i = 0; i < k->nparams; i++)
        if (strcmp(k->params[i].name, name) == 0)
            return i;
    return -1;
}

static int param_names(const struct kernel *k, const char **names)
{
    int n = 0;
    for (int i = 0; i < k->nparams && n < CANDIDATES_MAX - 2; i++)
        names[n++] = k->params[i].name;
    return n;
}

static int config_index(lua_State *L)
{
    struct strategy *s = strategy_of(L);
    const struct config_object *c = config_check(L, 1);
    const struct kernel *k = kernel_of(s, c);
    const char *name = luaL_checkstring(L, 2), *names[CANDIDATES_MAX];
    int param = find_param(k, name);
    if (param >= 0) {
        push_param(L, s, c, param);
    } else if (strcmp(name, "kernel") == 0) {
        lua_pushstring(L, k->name);
    } else if (strcmp(name, "index") == 0) {
        if (c->index >= 0)
            lua_pushinteger(L, (lua_Integer)(s->first[c->space] + (uint64_t)c->index + 1));
        else
            lua_pushnil(L);
    } else {
        int n = param_names(k, names);
        names[n++] = "kernel";
        names[n++] = "index";
        lua_pushfstring(L, "a configuration of kernel %s has no field", k->name);
        return strategy_unknown(L, lua_tostring(L, -1), name, names, n);
    }
    return 1;
}

static int config_tostring(lua_State *L)
{
    struct strategy *s = strategy_of(L);
    const struct config_object *c = config_check(L, 1);
    struct strbuf *b = strategy_scratch(s);
    space_param_slots(s->spaces[c->space], c->choice, s->slots);
    config_print(b, kernel_of(s, c), s->slots, c->choice);
    lua_pushstring(L, sb_str(b));
    return 1;
}

static int config_eq(lua_State *L)
{
    const struct config_object *a = config_test(L, 1), *b = config_test(L, 2);
    lua_pushboolean(L, a && b && a->space == b->space &&
                           config_equal(kernel_of(strategy_of(L), a), a->choice, b->choice));
    return 1;
}

/* upvalue: the next parameter to look at. (config, name before) -> name, value */
static int config_next(lua_State *L)
{
    struct strategy *s = strategy_of(L);
    const struct config_object *c = config_check(L, 1);
    const struct kernel *k = kernel_of(s, c);
    for (int i = (int)lua_tointeger(L, lua_upvalueindex(1)); i < k->nparams; i++) {
        lua_pushstring(L, k->params[i].name);
        if (push_param(L, s, c, i)) {
            lua_pushinteger(L, i + 1);
            lua_replace(L, lua_upvalueindex(1));
            return 2;
        }
        lua_pop(L, 2);
    }
    lua_pushnil(L);
    return 1;
}

static int config_pairs(lua_State *L)
{
    config_check(L, 1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, config_next, 1);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

static int config_newindex(lua_State *L)
{
    return luaL_error(
        L, "a configuration can't be changed; make a new one with space:config { kernel = ..., NAME = value, ... }");
}

void config_open(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"__index", config_index}, {"__newindex", config_newindex}, {"__tostring", config_tostring},
        {"__eq", config_eq},       {"__pairs", config_pairs},       {NULL, NULL},
    };
    luaL_newmetatable(L, CONFIG);
    luaL_setfuncs(L, methods, 0);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &MEMBERS_KEY);
}

/* From tables -----------------------------------------------------------------------------------------------------*/

/* The space that a table's field `kernel` means; -1, with the reason in the scratch buffer, if it means none. */
static int space_of_table(lua_State *L, struct strategy *s, int at)
{
    lua_pushliteral(L, "kernel");
    lua_rawget(L, at);
    int space = s->nspaces == 1 && lua_isnil(L, -1) ? 0 : -1;
    const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    for (int i = 0; i < s->nspaces && name && space < 0; i++)
        if (strcmp(space_kernel(s->spaces[i])->name, name) == 0)
            space = i;
    if (space < 0) {
        struct strbuf *b = strategy_scratch(s);
        if (name)
            sb_addf(b, "there is no kernel '%.60s'; expected one of ", name);
        else
            sb_add(b, "kernel must be one of ");
        for (int i = 0; i < s->nspaces; i++)
            sb_addf(b, "%s%s", i ? ", " : "", space_kernel(s->spaces[i])->name);
    }
    lua_pop(L, 1);
    return space;
}

/* stack: ..., value -> as a struct value; a string is borrowed from Lua */
static struct value read_value(lua_State *L)
{
    switch (lua_type(L, -1)) {
    case LUA_TBOOLEAN: return value_bool(lua_toboolean(L, -1));
    case LUA_TNUMBER: return lua_isinteger(L, -1) ? value_int(lua_tointeger(L, -1)) : value_float(lua_tonumber(L, -1));
    case LUA_TSTRING: return value_string(lua_tostring(L, -1));
    default: return (struct value){0};
    }
}

static bool unknown_key(lua_State *L, struct strategy *s, const struct kernel *k, int at)
{
    const char *names[CANDIDATES_MAX];
    for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
        if (name && (strcmp(name, "kernel") == 0 || find_param(k, name) >= 0))
            continue;
        struct strbuf *b = strategy_scratch(s);
        lua_pushvalue(L, -2); /* a copy: lua_tostring changes what it looks at */
        sb_addf(b, "kernel %s has no parameter '%.60s'", k->name,
                lua_isstring(L, -1) ? lua_tostring(L, -1) : luaL_typename(L, -1));
        lua_pop(L, 1);
        if (!name)
            sb_add(b, "; a configuration is { NAME = value, ... }");
        const char *near = name ? nearest_word(name, names, param_names(k, names)) : NULL;
        if (near)
            sb_addf(b, "; did you mean '%s'?", near);
        lua_pop(L, 2);
        return true;
    }
    return false;
}

/* stack: ..., the value given for a parameter. Its place among the parameter's values, -1 if it is none of them. */
static int find_value(lua_State *L, struct strategy *s, const struct param *p)
{
    struct value v = read_value(L);
    for (int i = 0; i < p->nvalues; i++)
        if (v.type != VALUE_NONE && value_equal(p->values[i], v))
            return i;
    struct strbuf *b = strategy_scratch(s);
    sb_addf(b, "%s=", p->name);
    if (v.type == VALUE_NONE)
        sb_addf(b, "(a %s)", luaL_typename(L, -1));
    else if (v.type == VALUE_STRING && p->type != VALUE_STRING)
        sb_addf(b, "'%.60s' (a string)", v.s);
    else
        value_print(b, v);
    sb_add(b, " is not a value of the parameter; expected one of ");
    for (int i = 0; i < p->nvalues && i < 20; i++) {
        sb_add(b, i ? ", " : "");
        value_print(b, p->values[i]);
    }
    if (p->nvalues > 20)
        sb_add(b, ", ...");
    return -1;
}

bool config_from_table(lua_State *L, struct strategy *s, int at)
{
    int space = space_of_table(L, s, at);
    if (space < 0)
        return false;
    const struct space *sp = s->spaces[space];
    const struct kernel *k = space_kernel(sp);
    if (unknown_key(L, s, k, at))
        return false;
    struct config_object *c = push_new(L, s, space);
    for (int i = 0; i < k->nparams; i++) {
        lua_pushstring(L, k->params[i].name);
        bool given = lua_rawget(L, at) != LUA_TNIL; /* stack: ..., configuration, value */
        int value = given ? find_value(L, s, &k->params[i]) : 0;
        lua_pop(L, 1);
        space_param_slots(sp, c->choice, s->slots);
        bool active = param_active(k, i, s->slots);
        if (!given && active)
            sb_addf(strategy_scratch(s), "parameter %s of kernel %s is missing", k->params[i].name, k->name);
        if (value < 0 || (!given && active)) {
            lua_pop(L, 1);
            return false;
        }
        c->choice[i] = active ? (config_choice)value : 0;
    }
    int64_t index = space_index(sp, c->choice);
    if (index >= 0) {
        lua_pop(L, 1);
        config_push_member(L, s, space, (uint64_t)index);
    } else {
        c->object.order = object_order(OBJECT_OUTSIDER, s->made++);
    }
    return true;
}

/* stack: ..., a number. The place of the value nearest to it, the smaller of two; -1 if the parameter has no numbers.
 */
static int nearest_value(lua_State *L, const struct param *p)
{
    return lua_type(L, -1) == LUA_TNUMBER ? param_nearest_number(p, lua_tonumber(L, -1)) : -1;
}

int config_wishes(lua_State *L, struct strategy *s, int at, int *wanted)
{
    int space = space_of_table(L, s, at);
    if (space < 0)
        return -1;
    const struct kernel *k = space_kernel(s->spaces[space]);
    if (unknown_key(L, s, k, at))
        return -1;
    for (int i = 0; i < k->nparams; i++) {
        lua_pushstring(L, k->params[i].name);
        bool given = lua_rawget(L, at) != LUA_TNIL;
        wanted[i] = given ? nearest_value(L, &k->params[i]) : -1;
        if (given && wanted[i] < 0)
            wanted[i] = find_value(L, s, &k->params[i]);
        lua_pop(L, 1);
        if (given && wanted[i] < 0)
            return -1;
    }
    return space;
}

const char *config_why(struct strategy *s, const struct config_object *c)
{
    struct strbuf *b = strategy_scratch(s);
    space_explain(s->spaces[c->space], c->choice, b);
    return sb_str(b);
}
