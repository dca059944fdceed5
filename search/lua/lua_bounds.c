/* lua_bounds.c: limits on the functions of Lua's library that could run long, in C, between two instructions.
 *
 * The instruction hook that bounds a script's time does not run inside a C function. Most of the library's are bounded
 * by the memory limit; these are not: string.rep of nothing, patterns that backtrack, table functions on tables whose
 * __len lies, table.move over absent elements. Each wrapper refuses the excess, then runs the original, its upvalue. */
#include "search/lua/lua_host_impl.h"

#include <lauxlib.h>
#include <math.h>
#include <stdbool.h>

#define REP_BYTES_MAX 67108864.0        /* string.rep's result */
#define REP_COUNT_MAX 67108864.0
#define MOVE_COUNT_MAX 100000000        /* table.move's elements */
#define PATTERN_STEPS_MAX 1e10          /* a pattern's worst case, steps */

int lua_bounded_rep(lua_State *L)
{
    size_t len, sep_len = 0;
    luaL_checklstring(L, 1, &len);
    double count = (double)luaL_checkinteger(L, 2);
    luaL_optlstring(L, 3, "", &sep_len);
    if (count > REP_COUNT_MAX || count * ((double)len + (double)sep_len) > REP_BYTES_MAX)
        return luaL_error(L, "string.rep: the result would be too large; the limit is 64 MiB");
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* Skips one single-character item of a pattern; returns its end. */
static const char *skip_item(const char *p, const char *end, int *loops)
{
    if (*p == '%' && p + 1 < end) {
        if (p[1] == 'b')
            ++*loops;
        return p[1] == 'b' ? (end - p < 4 ? end : p + 4) : p + 2;
    }
    if (*p != '[')
        return p + 1;
    p++;
    if (p < end && *p == '^')
        p++;
    do { /* the first ']' is a member */
        if (p < end && *p == '%')
            p++;
        if (p < end)
            p++;
    } while (p < end && *p != ']');
    return p < end ? p + 1 : end;
}

/* An upper bound on the steps of matching a pattern at every place of a subject: with q repetitions that something
 * follows (a last one never has to give back), their ends can be chosen in C(n + q, q) ways. */
static double pattern_steps(double n, const char *p, size_t len)
{
    const char *end = p + len;
    int loops = 0, optional = 0, open_end = 0;
    double anchored = len > 0 && *p == '^';
    while (p < end) {
        if (*p == '(' || *p == ')') {
            p++;
            continue;
        }
        if (open_end) {
            loops++;
            open_end = 0;
        }
        if (*p == '%' && p + 1 < end && p[1] >= '0' && p[1] <= '9')
            loops++; /* a back-reference compares up to n characters */
        p = skip_item(p, end, &loops);
        if (p < end && (*p == '*' || *p == '+' || *p == '-')) {
            open_end = 1;
            p++;
        } else if (p < end && *p == '?') {
            optional++;
            p++;
        }
    }
    double steps = (anchored ? 1 : n + 1) * ((double)len + 1);
    for (int i = 1; i <= loops; i++)
        steps *= (n + i) / i;
    return steps * exp2(optional);
}

/* find, match, gmatch, gsub: subject, pattern, ... */
int lua_bounded_pattern(lua_State *L)
{
    size_t n, len;
    luaL_checklstring(L, 1, &n);
    const char *pattern = luaL_checklstring(L, 2, &len);
    bool plain = lua_type(L, 4) == LUA_TBOOLEAN && lua_toboolean(L, 4);
    double steps = plain ? (double)n * (double)len : pattern_steps((double)n, pattern, len);
    if (steps > PATTERN_STEPS_MAX)
        return luaL_error(L, "this pattern could take too long on a string of %I characters; use a shorter string, or "
                             "fewer repetitions in the pattern",
                          (lua_Integer)n);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

int lua_bounded_table(lua_State *L)
{
    for (int arg = 1; arg <= 5; arg += 4) /* table.move has a second table */
        if (lua_type(L, arg) == LUA_TTABLE && luaL_getmetafield(L, arg, "__len") != LUA_TNIL)
            return luaL_error(L, "functions of 'table' take plain tables, without __len");
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

int lua_bounded_move(lua_State *L)
{
    lua_Integer from = luaL_checkinteger(L, 2), to = luaL_checkinteger(L, 3);
    if (to >= from && (lua_Unsigned)to - (lua_Unsigned)from >= MOVE_COUNT_MAX)
        return luaL_error(L, "table.move: more than %d elements", MOVE_COUNT_MAX);
    return lua_bounded_table(L);
}
