/* spec.c: runs a specification and turns the table it returns into JSON.
 *
 * The conversion runs outside a protected call, so it uses only those functions of Lua that raise no error and allocate
 * nothing: lua_next, lua_rawgeti, lua_rawget, lua_tolstring on strings, lua_pushstring of a short string that exists
 * (LUAI_MAXSHORTLEN), lua_checkstack. Keys are sorted, because the order in which
 * Lua gives them changes from run to run and the tree's text is the specification's identity. */
#include "search/spec/spec.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "search/spec/definition.h"
#include "search/lua/lua_host.h"
#include "search/spec/spec_include.h"
#include "search/spec/spec_settings.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 32,
    NAME_MAX_LENGTH = 40,       /* of a key: Lua keeps strings up to this length once, see above */
    VALUES_MAX = 1000000,       /* a table that is used twice is written twice: this bounds what that can grow to */
    TEXT_MAX = 64 << 20,        /* bytes of all strings */
};

struct converter {
    lua_State *L;
    struct strbuf at;           /* the field being converted */
    long values;
    size_t text;
    struct err *e;
};

static status convert(struct converter *c, int depth, json_t **out);

static status refuse(struct converter *c, const char *what)
{
    return err_set(c->e, LATHE_SPEC, "%s%s%s", sb_str(&c->at), c->at.len ? ": " : "", what);
}

static void leave(struct converter *c, size_t mark)
{
    if (c->at.s)
        c->at.s[mark] = 0;
    c->at.len = mark;
}

/* stack: ..., value. The name that a table { "name", ... } begins with, or NULL. */
static const char *item_name(lua_State *L)
{
    if (!lua_istable(L, -1))
        return NULL;
    int keys = 0;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
        if (++keys == 2) {
            lua_pop(L, 2);
            break;
        }
    lua_rawgeti(L, -1, 1);
    const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL; /* the table keeps it */
    lua_pop(L, 1);
    return keys == 2 && name && strlen(name) <= NAME_MAX_LENGTH ? name : NULL;
}

/* stack: ..., value. Named items go by their name, as in the messages of model/problem/problem_json.c. */
static void enter_item(struct converter *c, lua_Integer i)
{
    const char *name = item_name(c->L);
    if (name)
        sb_addf(&c->at, "%s%s", c->at.len ? "." : "", name);
    else
        sb_addf(&c->at, "[%lld]", (long long)i);
}

/* What the keys of the table on top are. *items: how many positional ones; *names: the others, sorted, mem_free it. */
struct keys {
    lua_Integer items;
    const char **names;         /* borrowed from the table */
    int nnames, cap;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* stack: ..., key. A name: no NUL, not too long, and not "#", which the tree uses itself. */
static bool good_name(lua_State *L)
{
    size_t len;
    const char *s = lua_tolstring(L, -1, &len);
    return strlen(s) == len && len <= NAME_MAX_LENGTH && strcmp(s, "#") != 0;
}

static status read_keys(struct converter *c, struct keys *k)
{
    lua_State *L = c->L;
    lua_Integer highest = 0;
    for (lua_pushnil(L); lua_next(L, -2);) {
        lua_pop(L, 1); /* stack: ..., table, key */
        if (lua_type(L, -1) == LUA_TSTRING && good_name(L)) {
            MEM_GROW(k->names, k->nnames, k->cap);
            k->names[k->nnames++] = lua_tostring(L, -1);
        } else if (lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 1) {
            k->items++;
            if (lua_tointeger(L, -1) > highest)
                highest = lua_tointeger(L, -1);
        } else {
            bool text = lua_type(L, -1) == LUA_TSTRING;
            err_set(c->e, LATHE_SPEC,
                    "%s%sa key must be a name of at most %d characters or a position from 1, not %s%.60s",
                    sb_str(&c->at), c->at.len ? ": " : "", NAME_MAX_LENGTH, text ? "the text " : "a ",
                    text ? lua_tostring(L, -1) : lua_typename(L, lua_type(L, -1)));
            lua_pop(L, 1);
            return LATHE_SPEC;
        }
    }
    if (highest != k->items) {
        lua_Integer hole = 1;
        while (lua_rawgeti(L, -1, hole) != LUA_TNIL) {
            lua_pop(L, 1);
            hole++;
        }
        lua_pop(L, 1);
        return err_set(c->e, LATHE_SPEC, "%s%sitem %lld of the list is missing (nil), and item %lld is there",
                       sb_str(&c->at), c->at.len ? ": " : "", (long long)hole, (long long)highest);
    }
    if (k->nnames)
        qsort(k->names, (size_t)k->nnames, sizeof *k->names, by_name);
    return LATHE_OK;
}

/* stack: ..., table */
static status convert_items(struct converter *c, lua_Integer count, int depth, json_t **out)
{
    json_t *list = json_array();
    for (lua_Integer i = 1; i <= count; i++) {
        size_t mark = c->at.len;
        json_t *item = NULL;
        lua_rawgeti(c->L, -1, i);
        enter_item(c, i);
        status s = convert(c, depth, &item);
        lua_pop(c->L, 1);
        if (s) {
            json_decref(list);
            return s;
        }
        leave(c, mark);
        json_array_append_new(list, item);
    }
    *out = list;
    return LATHE_OK;
}

/* stack: ..., table */
static status convert_names(struct converter *c, const struct keys *k, int depth, json_t *object)
{
    for (int i = 0; i < k->nnames; i++) {
        size_t mark = c->at.len;
        json_t *value = NULL;
        lua_pushstring(c->L, k->names[i]); /* exists already, so nothing is allocated */
        lua_rawget(c->L, -2);              /* stack: ..., table, value */
        sb_addf(&c->at, "%s%s", c->at.len ? "." : "", k->names[i]);
        status s = convert(c, depth, &value);
        lua_pop(c->L, 1);
        if (s)
            return s;
        leave(c, mark);
        if (json_object_set_new(object, k->names[i], value))
            return refuse(c, "a key is not valid UTF-8");
    }
    return LATHE_OK;
}

/* stack: ..., table */
static status convert_table(struct converter *c, int depth, json_t **out)
{
    struct keys k = {0};
    json_t *items = NULL, *object = NULL;
    if (depth > DEPTH_MAX)
        return refuse(c, "tables nested more than 32 deep; does one contain itself?");
    if (!lua_checkstack(c->L, 8))
        return refuse(c, "no memory to read the table");
    if (lua_getmetatable(c->L, -1)) {
        lua_pop(c->L, 1);
        return refuse(c, "a table with a metatable can't be part of a specification; write its fields out");
    }
    status s = read_keys(c, &k);
    if (!s && (k.items > 0 || k.nnames == 0))
        s = convert_items(c, k.items, depth + 1, &items);
    if (!s && k.nnames > 0) {
        object = json_object();
        s = convert_names(c, &k, depth + 1, object);
    }
    mem_free(k.names);
    if (s) {
        json_decref(items);
        json_decref(object);
        return s;
    }
    if (object && items)
        json_object_set_new(object, "#", items);
    *out = object ? object : items;
    return LATHE_OK;
}

static status convert_number(struct converter *c, json_t **out)
{
    if (lua_isinteger(c->L, -1)) {
        *out = json_integer(lua_tointeger(c->L, -1));
        return LATHE_OK;
    }
    double v = lua_tonumber(c->L, -1);
    if (!isfinite(v))
        return refuse(c, isnan(v) ? "not a number (0/0)" : "infinite");
    *out = json_real(v);
    return LATHE_OK;
}

static status convert_string(struct converter *c, json_t **out)
{
    size_t len;
    const char *s = lua_tolstring(c->L, -1, &len);
    c->text += len;
    if (c->text > TEXT_MAX)
        return refuse(c, "the specification holds more than 64 MiB of text");
    *out = json_stringn(s, len);
    return *out ? LATHE_OK : refuse(c, "the string is not valid UTF-8");
}

/* stack: ..., value; it stays. depth: of the tables around it. */
static status convert(struct converter *c, int depth, json_t **out)
{
    if (++c->values > VALUES_MAX)
        return refuse(c, "the specification holds more than 1000000 values");
    switch (lua_type(c->L, -1)) {
    case LUA_TBOOLEAN: *out = json_boolean(lua_toboolean(c->L, -1)); return LATHE_OK;
    case LUA_TNUMBER: return convert_number(c, out);
    case LUA_TSTRING: return convert_string(c, out);
    case LUA_TTABLE: return convert_table(c, depth, out);
    case LUA_TFUNCTION: return refuse(c, "a function can't be part of a specification; formulas are strings");
    default: return refuse(c, "this kind of value can't be part of a specification");
    }
}

/* stack: what the script returned. Whether it is problem { ... } or space { ... }. */
static status check_returned(lua_State *L, struct err *e)
{
    bool tagged = false;
    if (lua_istable(L, -1)) {
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
            if (lua_type(L, -2) == LUA_TSTRING && strcmp(lua_tostring(L, -2), "tag") == 0)
                tagged = lua_type(L, -1) == LUA_TSTRING &&
                         (!strcmp(lua_tostring(L, -1), "problem") || !strcmp(lua_tostring(L, -1), "space"));
        if (tagged)
            return LATHE_OK;
    }
    const char *type = lua_isnil(L, -1) ? "nothing" : lua_typename(L, lua_type(L, -1));
    return err_set(e, LATHE_SPEC, "a specification ends with `return problem { ... }`; this one returned %s%s",
                   lua_istable(L, -1) ? "another " : lua_isnil(L, -1) ? "" : "a ", type);
}

/* A text that a caller gave, with the file that it is from if it is from one. */
struct script {
    const char *text;
    size_t len;
    const char *name;
    bool file;                  /* `name` is its path */
    struct spec_settings settings;
    char **asked;               /* spec_read_settings' out; NULL: nobody wants them */
};

static status run(struct lua_host *h, const struct script *script, json_t **out, struct err *e)
{
    struct converter c = {.L = lua_host_state(h), .e = e};
    status s = lua_host_prelude(h, "spec", e);
    if (s)
        return s;
    int module = lua_gettop(c.L);
    if ((s = spec_settings_give(h, module, &script->settings, e)) ||
        (s = spec_include_open(h, script->file ? script->name : NULL, e)) ||
        (s = lua_host_load(h, script->text, script->len, script->name, e)) ||
        (s = lua_host_call(h, 0, 1, LATHE_SPEC, e)) ||
        (s = spec_settings_check(h, module, e)) || (s = check_returned(c.L, e)))
        return s;
    if (script->asked)
        return spec_settings_list(h, module, script->asked, e);
    s = convert(&c, 1, out); /* stack: prelude's module, problem */
    sb_free(&c.at);
    return s;
}

static status read_as(const struct script *script, double seconds, json_t **out, struct err *e)
{
    const char *name = script->name;
    struct lua_host *h;
    struct err own;
    if (!e)
        e = &own;
    status s = lua_host_open(&h, LUA_HOST_SPEC_MEMORY, seconds, 0, e);
    if (s)
        return s;
    s = run(h, script, out, e);
    lua_host_close(h);
    return s && strncmp(e->text, name, strlen(name)) != 0 ? err_prefix(e, "%s", name) : s;
}

status spec_read_text(const char *text, size_t len, const char *name, double seconds, json_t **out, struct err *e)
{
    return read_as(&(struct script){.text = text, .len = len, .name = name}, seconds, out, e);
}

static bool is_json(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && !strcmp(dot, ".json");
}

static status read_file(const char *path, const struct spec_settings *settings, char **asked, json_t **out,
                        struct err *e)
{
    char *text;
    size_t len;
    status s = file_read(path, &text, &len, e);
    if (s)
        return s;
    struct script script = {text, len, path, true, *settings, asked};
    s = read_as(&script, LUA_HOST_SPEC_SECONDS, out, e);
    mem_free(text);
    return s;
}

status spec_read_with(const char *path, const struct spec_settings *settings, json_t **out, struct err *e)
{
    if (is_json(path) && settings->count)
        return err_set(e, LATHE_USAGE, "%.300s: %.200s: a definition in JSON asks for no setting", path,
                       settings->texts[0]);
    return is_json(path) ? definition_read(path, out, e) : read_file(path, settings, NULL, out, e);
}

status spec_read_settings(const char *path, const struct spec_settings *settings, char **out, struct err *e)
{
    if (!is_json(path))
        return read_file(path, settings, out, NULL, e);
    *out = mem_strdup("");
    return LATHE_OK;
}

status spec_read(const char *path, json_t **out, struct err *e)
{
    return spec_read_with(path, &(struct spec_settings){0}, out, e);
}
