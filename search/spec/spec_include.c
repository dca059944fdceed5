/* spec_include.c: specifications in several files.
 *
 * Each file that runs has words of its own, closures over its folder, so that a path means the same wherever the
 * function that uses it is called from. Files are told apart by device and inode. A table in the registry has, by file,
 * `true` while it runs and { value } once it has returned; a file that fails is forgotten, so that a script which
 * catches that may try again.
 *
 * The words run in the host's protected call and time; a file's text is not counted in the memory, so it is bounded
 * here. */
#include "search/spec/spec_include.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include <errno.h>
#include <lauxlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_BYTES_MAX = 16 << 20 };

static const char FILES_KEY = 'f';      /* its address is the key of the table of files in the registry */

/* The words' upvalues: their file's folder, from here and from the specification's folder; "" or with a slash at the
 * end. OPENED is nil where there is none. */
enum { OPENED = 1, SEEN = 2 };

/* stack: ..., text -> ..., its part to the last slash */
static void push_folder(lua_State *L)
{
    const char *path = lua_tostring(L, -1), *slash = strrchr(path, '/');
    lua_pushlstring(L, path, slash ? (size_t)(slash - path) + 1 : 0);
    lua_remove(L, -2);
}

/* The word's one argument: a relative path. */
static const char *path_argument(lua_State *L, const char *word, const char *example)
{
    size_t len = 0;
    const char *path = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &len) : NULL;
    if (!path || len == 0 || strlen(path) != len || lua_gettop(L) != 1)
        luaL_error(L, "%s takes the name of a file: %s \"%s\"", word, word, example);
    if (*path == '/')
        luaL_error(L, "%s \"%s\": an absolute path; write it from the folder of this file", word, path);
    return path;
}

/* stack: ... -> ..., the file's key */
static void push_key(lua_State *L, const struct stat *st)
{
    lua_pushfstring(L, "%I:%I", (lua_Integer)st->st_dev, (lua_Integer)st->st_ino);
}

/* __close({ key }): what still runs when its include ends has failed. */
static int forget(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &FILES_KEY);
    lua_rawgeti(L, 1, 1); /* stack: mark, error, files, key */
    lua_pushvalue(L, -1);
    if (lua_rawget(L, -3) == LUA_TBOOLEAN) {
        lua_pop(L, 1);
        lua_pushnil(L);
        lua_rawset(L, -3);
    }
    return 0;
}

/* stack: ..., files, key. Marks the file as one that runs, until the calling C function ends. */
static void mark(lua_State *L)
{
    int files = lua_gettop(L) - 1;
    lua_pushvalue(L, -1);
    lua_pushboolean(L, 1);
    lua_rawset(L, files);
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, files + 1);
    lua_rawseti(L, -2, 1);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, forget);
    lua_setfield(L, -2, "__close");
    lua_setmetatable(L, -2);
    lua_toclose(L, -1); /* stack: files, key, { key } */
}

static int include(lua_State *L);
static int beside(lua_State *L);

static const luaL_Reg words[] = {{"include", include}, {"beside", beside}, {NULL, NULL}};

/* stack: ..., opened, seen, function -> ..., function, with the words of a file in that folder */
static void give_words(lua_State *L)
{
    lua_insert(L, -3);
    luaL_newlibtable(L, words);
    lua_insert(L, -3);
    luaL_setfuncs(L, words, 2); /* stack: function, words */
    lua_globals_push(L);
    lua_setupvalue(L, -2, 1);
}

/* stack: ... -> ..., function. path: of the file, as the including one wrote it. */
static void load(lua_State *L, const char *opened, const char *path)
{
    struct err e = {0};
    char *text;
    size_t len;
    lua_pushvalue(L, lua_upvalueindex(SEEN));
    lua_pushstring(L, path);
    lua_concat(L, 2);
    push_folder(L);
    lua_pushstring(L, opened);
    push_folder(L);
    lua_insert(L, -2); /* stack: opened's folder, seen's folder */
    status s = file_read(opened, &text, &len, &e);
    if (s)
        luaL_error(L, "include \"%s\": %s", path, e.text);
    s = lua_host_load(lua_host_of(L), text, len, opened, &e);
    mem_free(text);
    if (s) {
        lua_pushstring(L, e.text); /* has its own file and line */
        lua_error(L);
    }
    give_words(L);
}

static int include(lua_State *L)
{
    const char *path = path_argument(L, "include", "FILE.lua");
    size_t len = strlen(path);
    if (len < 4 || strcmp(path + len - 4, ".lua") != 0)
        return luaL_error(L, "include \"%s\": expected a .lua file", path);
    if (lua_isnil(L, lua_upvalueindex(OPENED)))
        return luaL_error(L, "include \"%s\": this specification is no file, so it has no folder", path);
    const char *opened = lua_pushfstring(L, "%s%s", lua_tostring(L, lua_upvalueindex(OPENED)), path);
    struct stat st;
    if (stat(opened, &st) != 0)
        return luaL_error(L, "include \"%s\": %s: cannot open: %s", path, opened, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return luaL_error(L, "include \"%s\": %s: is no regular file", path, opened);
    if (st.st_size > FILE_BYTES_MAX)
        return luaL_error(L, "include \"%s\": %s: larger than %d MiB", path, opened, FILE_BYTES_MAX >> 20);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &FILES_KEY);
    push_key(L, &st); /* stack: path, opened, files, key */
    lua_pushvalue(L, -1);
    switch (lua_rawget(L, -3)) {
    case LUA_TTABLE: lua_rawgeti(L, -1, 1); return 1;
    case LUA_TBOOLEAN: return luaL_error(L, "include \"%s\": that file is running already: it includes itself", path);
    default: lua_pop(L, 1); break;
    }
    mark(L);
    load(L, opened, path);
    lua_call(L, 0, 1); /* stack: path, opened, files, key, mark, value */
    if (lua_isnil(L, -1))
        return luaL_error(L, "include \"%s\": the file returned nothing; end it with `return ...`", path);
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, 1);
    lua_pushvalue(L, 4);
    lua_insert(L, -2);
    lua_rawset(L, 3);
    return 1;
}

static int beside(lua_State *L)
{
    const char *path = path_argument(L, "beside", "FILE.cu");
    lua_pushfstring(L, "%s%s", lua_tostring(L, lua_upvalueindex(SEEN)), path);
    return 1;
}

/* stack: path (light userdata, NULL for a text) */
static int open_words(lua_State *L)
{
    const char *path = lua_touserdata(L, 1);
    struct stat st;
    lua_newtable(L);
    if (path && stat(path, &st) == 0) {
        push_key(L, &st);
        lua_pushboolean(L, 1);
        lua_rawset(L, -3);
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &FILES_KEY);
    for (const luaL_Reg *w = words; w->name; w++) {
        if (path) {
            lua_pushstring(L, path);
            push_folder(L);
        } else {
            lua_pushnil(L);
        }
        lua_pushliteral(L, "");
        lua_pushcclosure(L, w->func, 2);
        lua_host_set_global(L, w->name);
    }
    return 0;
}

status spec_include_open(struct lua_host *h, const char *path, struct err *e)
{
    lua_State *L = lua_host_state(h);
    lua_pushcfunction(L, open_words);
    lua_pushlightuserdata(L, (void *)path);
    return lua_host_call(h, 1, 0, LATHE_INTERNAL, e);
}
