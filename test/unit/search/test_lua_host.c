/* The sandbox: what it refuses, what it bounds, and that a run repeats. */
#include "search/lua/lua_host.h"

#include "base/clock.h"
#include <lauxlib.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct err err;

/* Runs text with limits; the result, a string, is left in `result`. */
static char result[400];
static status run_limited(const char *text, size_t memory, double seconds, uint64_t seed)
{
    struct lua_host *h;
    memset(&err, 0, sizeof err);
    assert_int_equal(lua_host_open(&h, memory, seconds, seed, &err), LATHE_OK);
    status s = lua_host_load(h, text, strlen(text), "test.lua", &err);
    if (!s)
        s = lua_host_call(h, 0, 1, LATHE_STRATEGY, &err);
    result[0] = 0;
    if (!s && lua_type(lua_host_state(h), -1) == LUA_TSTRING)
        snprintf(result, sizeof result, "%s", lua_tostring(lua_host_state(h), -1));
    assert_int_equal(lua_gettop(lua_host_state(h)), s ? 0 : 1);
    lua_host_close(h);
    return s;
}

static status run(const char *text)
{
    return run_limited(text, (size_t)64 << 20, 5, 1);
}

#define assert_contains(text, part)                                                                                    \
    do {                                                                                                               \
        if (!strstr(text, part))                                                                                       \
            fail_msg("'%s' does not contain '%s'", text, part);                                                        \
    } while (0)

static void assert_fails(const char *text, const char *message)
{
    status s = run(text);
    if (s != LATHE_STRATEGY && s != LATHE_SPEC)
        fail_msg("'%s' gave status %s, result '%s'", text, status_name(s), result);
    assert_contains(err.text, message);
}

static void assert_gives(const char *text, const char *wanted)
{
    if (run(text) != LATHE_OK)
        fail_msg("'%s' failed: %s", text, err.text);
    assert_string_equal(result, wanted);
}

static void test_ordinary_code_runs(void **state)
{
    assert_gives("local t = {} for i = 1, 5 do t[#t + 1] = i * i end return table.concat(t, ' ')", "1 4 9 16 25");
    assert_gives("return ('%d|%s'):format(7, ('ab'):rep(2, '-'))", "7|ab-ab");
    assert_gives("local co = coroutine.wrap(function() coroutine.yield('y') end) return co()", "y");
    assert_gives("local co = coroutine.wrap(function(a) local b = coroutine.yield(a .. 1) return b .. 2 end) "
                 "return co('p') .. co('q')",
                 "p1q2");
    assert_gives(
        "local log = '' local co = coroutine.wrap(function() local t <close> = setmetatable({}, { __close = function() "
        "log = 'closed' end }) error('e', 0) end) local ok, m = pcall(co) return log .. m",
        "closede");
    assert_gives("local ok, m = pcall(error, 'x') return tostring(ok) .. m", "falsex");
    assert_gives("return select('#', xpcall(function(...) return ... end, error, 1, 2, 3)) .. ''", "4");
    assert_gives("local ok, m = xpcall(error, function(m) return m .. '!' end, 'a') return m", "a!");
    assert_gives("local ok, a, b = pcall(function(...) return ... end, 4, 5) return a .. b", "45");
    assert_gives("return ('k=v'):match('^(%w+)=(%w+)$')", "k");
    assert_gives("return utf8.char(955)", "\xCE\xBB");
    assert_gives("local s = 0 for _, v in ipairs { 3, 4 } do s = s + v end return s .. ''", "7");
    assert_gives("local t = setmetatable({}, { __index = function(_, k) return k .. '?' end }) return t.x", "x?");
}

static void test_errors_have_file_line_and_traceback(void **state)
{
    assert_fails("local x = nil\nreturn x.y", "test.lua:2: attempt to index a nil value (local 'x')");
    assert_fails("return 1 +", "test.lua:1: unexpected symbol near <eof>");
    assert_fails("local function deep() error('no') end\nlocal function f() deep() end\nf()", "test.lua:1: no");
    assert_contains(err.text, "stack traceback:\n\ttest.lua:1: in upvalue 'deep'");
    assert_contains(err.text, "test.lua:3: in main chunk");
    assert_null(strstr(err.text, "[C]"));
    assert_fails("error({})", "a value of type table");
    assert_fails("error(setmetatable({}, { __tostring = function() return 'shown' end }))", "shown");
    assert_fails("error()", "a value of type nil");
    assert_int_equal(run_limited("local function f() return 1 + f() end f()", (size_t)256 << 20, 5, 1), LATHE_STRATEGY);
    assert_contains(err.text, "stack overflow");
}

static void test_only_source_text_is_accepted(void **state)
{
    assert_fails("\x1bLua", "test.lua: this is compiled Lua; only source text is accepted");
}

static void test_unknown_globals_are_errors(void **state)
{
    assert_fails("return foo", "test.lua:1: unknown name 'foo'");
    assert_fails("return mat.pi", "unknown name 'mat'; did you mean 'math'?");
    assert_fails("x = 1", "test.lua:1: 'x' is not a local variable");
    assert_fails("string = nil", "'string' is not a local variable");
    assert_fails("math.foo()", "field 'foo'");
    assert_fails("setmetatable(_G, {})", "cannot change a protected metatable");
    assert_gives("return tostring(getmetatable(_G)) .. tostring(getmetatable(''))", "falsefalse");
    assert_gives("local n = 0 for _ in pairs(_G) do n = n + 1 end return n .. ''", "0");
}

static void test_absent_libraries_say_why(void **state)
{
    static const char *const names[] = {"io",       "os",   "debug",      "package", "require", "load",
                                        "loadfile", "dofile", "loadstring", "print",   "collectgarbage", "warn"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[60], message[80];
        snprintf(text, sizeof text, "return %s", names[i]);
        snprintf(message, sizeof message, "'%s' is not available in lathe's scripts: ", names[i]);
        assert_fails(text, message);
    }
    assert_gives("return tostring(string.dump) .. tostring(rawget(_G, 'io'))", "nilnil");
    assert_fails("math.randomseed(3)", "--seed");
    assert_fails("setmetatable({}, { __gc = function() end })", "__gc is not available");
}

static void assert_times_out(const char *text)
{
    double start = clock_seconds();
    status s = run_limited(text, (size_t)64 << 20, 0.1, 1);
    if (s != LATHE_STRATEGY)
        fail_msg("'%s' gave %s", text, status_name(s));
    assert_contains(err.text, "the script ran for more than 0.1 s without returning");
    assert_true(clock_seconds() - start < 2);
}

static void test_endless_loops_end(void **state)
{
    assert_times_out("while true do end");
    assert_contains(err.text, "test.lua:1: ");
    assert_times_out("local function f() return f() end f()");
    assert_times_out("while true do pcall(function() while true do end end) end");
    assert_times_out("while true do xpcall(function() while true do end end, function() while true do end end) end");
    assert_times_out("pcall(error) while true do local ok = pcall(pcall, pcall, string.rep) end");
    assert_times_out(
        "local co = coroutine.create(function() while true do end end) while true do coroutine.resume(co) end");
    assert_times_out("while true do pcall(coroutine.wrap(function() while true do end end)) end");
    assert_times_out("while true do local c = coroutine.create(function() while true do end end) coroutine.resume(c) "
                     "coroutine.close(c) end");
    assert_times_out("local t = setmetatable({}, { __index = function() while true do end end }) return t.x");
    assert_times_out("table.sort({ 3, 2, 1 }, function() while true do end end)");
    assert_times_out("('x'):gsub('x', function() while true do end end)");
    assert_times_out("error(setmetatable({}, { __tostring = function() while true do end end }))");
    assert_times_out("local t <close> = setmetatable({}, { __close = function() while true do end end })");
    assert_times_out(
        "coroutine.wrap(function() local t <close> = setmetatable({}, { __close = function() while true do end "
        "end }) while true do end end)()");
    assert_times_out("xpcall(error, function() while true do end end)");
}

static void test_long_c_calls_are_bounded(void **state)
{
    assert_fails("return ('x'):rep(1e9)", "string.rep: the result would be too large; the limit is 64 MiB");
    assert_fails("return ('').rep('', math.maxinteger)", "string.rep");
    assert_fails("return ('x'):rep(10, ('y'):rep(1e7))", "string.rep");
    assert_fails("return (('a'):rep(1000)):find(('.-'):rep(20) .. 'b')", "this pattern could take too long");
    assert_fails("return (('a'):rep(40)):match(('a?'):rep(40) .. ('a'):rep(40))", "this pattern could take too long");
    assert_fails("return (('a'):rep(1e6)):find(('a'):rep(5e5) .. 'b', 1, true)", "this pattern could take too long");
    assert_fails("for _ in ('a'):rep(1e5):gmatch('(a*)(a*)b') do end", "this pattern could take too long");
    assert_fails("return ('a'):rep(1e5):gsub('%f[a]a*b', '')", "this pattern could take too long");
    assert_fails("table.move({}, 1, math.maxinteger - 1, 2)", "table.move: more than");
    assert_fails("table.insert(setmetatable({}, { __len = function() return 1e15 | 0 end }), 1, 2)", "without __len");
    assert_fails("table.remove(setmetatable({}, { __len = function() return 1e15 | 0 end }), 1)", "without __len");
    assert_gives("return (('word '):rep(2000)):gsub('%s+', '') and 'done'", "done");
    assert_gives("return (('k=1,'):rep(60)):gsub('(%w+)=(%w+)', '%1') and 'done'", "done");
    assert_fails("return ('x'):rep('y')", "bad argument #1 to 'rep'"); /* the message still names the function */
}

static void assert_runs_out_of_memory(const char *text)
{
    status s = run_limited(text, (size_t)8 << 20, 5, 1);
    if (s != LATHE_STRATEGY)
        fail_msg("'%s' gave %s: %s", text, status_name(s), err.text);
    assert_contains(err.text, "the script used more than 8 MiB of memory");
}

static void test_memory_is_bounded(void **state)
{
    assert_runs_out_of_memory("local t = {} while true do t[#t + 1] = {} end");
    assert_runs_out_of_memory("local s = 'x' while true do s = s .. s end");
    assert_runs_out_of_memory("while true do pcall(function() local t = {} while true do t[#t + 1] = {} end end) end");
    assert_runs_out_of_memory(
        "while true do local c = coroutine.create(function() local s = 'x' while true do s = s .. s "
        "end end) coroutine.resume(c) end");
    assert_runs_out_of_memory("coroutine.wrap(function() local s = 'x' while true do s = s .. s end end)()");
    assert_runs_out_of_memory("xpcall(function() local s = 'x' while true do s = s .. s end end, function() end)");
    assert_runs_out_of_memory("return ('x'):rep(2^25)");
}

static void test_memory_that_is_freed_may_be_used_again(void **state)
{
    assert_int_equal(
        run_limited("for i = 1, 100 do local s = ('x'):rep(1000000) .. i end return 'fine'", (size_t)8 << 20, 5, 1),
        LATHE_OK);
    assert_string_equal(result, "fine");
}

static void *interrupt_soon(void *arg)
{
    clock_sleep(0.05);
    lua_host_interrupt();
    return NULL;
}

static void test_interrupt_ends_a_script(void **state)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, NULL), 0);
    status s = run_limited("while true do pcall(function() while true do end end) end", (size_t)8 << 20, 5, 1);
    pthread_join(thread, NULL);
    assert_int_equal(s, LATHE_INTERRUPTED);
    assert_int_equal(err.code, LATHE_INTERRUPTED);
    assert_contains(err.text, "interrupted");
}

static void test_interrupt_before_the_call(void **state)
{
    struct lua_host *h;
    assert_int_equal(lua_host_open(&h, (size_t)8 << 20, 5, 1, &err), LATHE_OK);
    assert_int_equal(lua_host_load(h, "return 1", 8, "test.lua", &err), LATHE_OK);
    lua_host_interrupt();
    assert_int_equal(lua_host_call(h, 0, 1, LATHE_SPEC, &err), LATHE_INTERRUPTED);
    assert_int_equal(lua_gettop(lua_host_state(h)), 0);
    lua_host_close(h);
}

/* Ctrl-C may come before the state that it is meant for, and another thread may open one after it. */
static void test_interrupt_before_opening(void **state)
{
    lua_host_interrupt();
    struct lua_host *h = NULL;
    assert_int_equal(lua_host_open(&h, (size_t)8 << 20, 5, 1, &err), LATHE_INTERRUPTED);
    assert_null(h);
}

/* An interrupt is for the whole process, and stays: each of these tests has a process of its own. */
static void in_a_process(void (*test)(void **state))
{
    int end;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        const struct CMUnitTest one[] = {{"in a process of its own", test, NULL, NULL, NULL}};
        _exit(cmocka_run_group_tests_name("interrupt", one, NULL, NULL));
    }
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 0);
}

static void test_interrupts(void **state)
{
    in_a_process(test_interrupt_ends_a_script);
    in_a_process(test_interrupt_before_the_call);
    in_a_process(test_interrupt_before_opening);
}

static void test_a_host_works_after_a_failure(void **state)
{
    struct lua_host *h;
    assert_int_equal(lua_host_open(&h, (size_t)8 << 20, 0.05, 1, &err), LATHE_OK);
    static const char *const texts[] = {"while true do end", "error('x')",
                                        "local s = 'x' while true do s = s .. s end"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(lua_host_load(h, texts[i], strlen(texts[i]), "bad.lua", &err), LATHE_OK);
        assert_int_equal(lua_host_call(h, 0, 0, LATHE_SPEC, &err), LATHE_SPEC);
        assert_int_equal(lua_host_load(h, "return 5", 8, "good.lua", &err), LATHE_OK);
        assert_int_equal(lua_host_call(h, 0, 1, LATHE_SPEC, &err), LATHE_OK);
        assert_int_equal(lua_tointeger(lua_host_state(h), -1), 5);
        lua_pop(lua_host_state(h), 1);
    }
    lua_host_close(h);
}

static int wait_a_while(lua_State *L)
{
    (void)L;
    clock_sleep(0.3);
    return 0;
}

/* As where the machine was stopped, or others had the processor: none of that is the script's. */
static void test_only_the_scripts_own_time_counts(void **state)
{
    struct lua_host *h;
    static const char text[] = "local wait = ... wait() for i = 1, 100000 do end return 'done'";
    assert_int_equal(lua_host_open(&h, (size_t)8 << 20, 0.2, 1, &err), LATHE_OK);
    assert_int_equal(lua_host_load(h, text, sizeof text - 1, "slow.lua", &err), LATHE_OK);
    lua_pushcfunction(lua_host_state(h), wait_a_while);
    assert_int_equal(lua_host_call(h, 1, 1, LATHE_SPEC, &err), LATHE_OK);
    assert_string_equal(lua_tostring(lua_host_state(h), -1), "done");
    lua_host_close(h);
}

static void test_coroutines_resume_under_the_limits(void **state)
{
    struct lua_host *h;
    int n, finished;
    const char text[] =
        "local a = coroutine.yield(1, 2) pcall(function() a = coroutine.yield(a) end) while true do end";
    assert_int_equal(lua_host_open(&h, (size_t)8 << 20, 0.1, 1, &err), LATHE_OK);
    lua_State *L = lua_host_state(h), *co = lua_newthread(L);
    assert_int_equal(lua_host_load(h, text, sizeof text - 1, "co.lua", &err), LATHE_OK);
    lua_xmove(L, co, 1);
    assert_int_equal(lua_host_resume(h, co, 0, &n, &finished, LATHE_STRATEGY, &err), LATHE_OK);
    assert_int_equal(n, 2);
    assert_false(finished);
    lua_pop(co, n);
    lua_pushinteger(co, 9);
    assert_int_equal(lua_host_resume(h, co, 1, &n, &finished, LATHE_STRATEGY, &err), LATHE_OK);
    assert_int_equal(lua_tointeger(co, -1), 9); /* yielded through pcall */
    lua_pop(co, n);
    assert_int_equal(lua_host_resume(h, co, 0, &n, &finished, LATHE_STRATEGY, &err), LATHE_STRATEGY);
    assert_contains(err.text, "co.lua:1: the script ran for more than 0.1 s");
    assert_int_equal(lua_gettop(L), 1);
    lua_host_close(h);
}

static void test_errors_in_coroutines_have_a_traceback(void **state)
{
    struct lua_host *h;
    int n, finished;
    const char text[] = "local function f() error('bad') end\nlocal function g() f() end\ng()";
    assert_int_equal(lua_host_open(&h, (size_t)8 << 20, 1, 1, &err), LATHE_OK);
    lua_State *L = lua_host_state(h), *co = lua_newthread(L);
    assert_int_equal(lua_host_load(h, text, sizeof text - 1, "co.lua", &err), LATHE_OK);
    lua_xmove(L, co, 1);
    assert_int_equal(lua_host_resume(h, co, 0, &n, &finished, LATHE_STRATEGY, &err), LATHE_STRATEGY);
    assert_contains(err.text, "co.lua:1: bad\nstack traceback:\n\tco.lua:1: in upvalue 'f'\n\tco.lua:2: in local 'g'");
    lua_host_close(h);
}

static void test_random_numbers_are_the_seeds(void **state)
{
    const char *draw = "local t = {} for i = 1, 4 do t[i] = math.random(1000) end t[5] = math.random() "
                       "t[6] = math.random(-3, 3) t[7] = math.random(0) return table.concat(t, ' ')";
    char first[400];
    assert_int_equal(run_limited(draw, (size_t)8 << 20, 1, 42), LATHE_OK);
    strcpy(first, result);
    assert_int_equal(run_limited(draw, (size_t)8 << 20, 1, 42), LATHE_OK);
    assert_string_equal(result, first);
    assert_int_equal(run_limited(draw, (size_t)8 << 20, 1, 43), LATHE_OK);
    assert_string_not_equal(result, first);
    assert_gives(
        "for i = 1, 1000 do local x = math.random(7) assert(x >= 1 and x <= 7 and math.type(x) == 'integer') end "
        "return 'in range'",
        "in range");
    assert_gives("return math.random(math.mininteger, math.maxinteger) and 'whole range'", "whole range");
    assert_fails("math.random(3, 2)", "interval is empty");
    assert_fails("math.random(1, 2, 3)", "at most two arguments");
}

static void test_pairs_goes_in_order(void **state)
{
    assert_gives(
        "local t = { z = 1, a = 1, [3] = 1, [1] = 1, [2.5] = 1, [-1] = 1, [true] = 1, [false] = 1, b = 1, ab = 1 }"
        "local o = {} for k in pairs(t) do o[#o + 1] = tostring(k) end return table.concat(o, ' ')",
        "-1 1 2.5 3 a ab b z false true");
    assert_gives("local t = { z = 1, a = 1, [10] = 1, y = 1 } local o = {} local k = next(t) "
                 "while k do o[#o + 1] = k k = next(t, k) end return table.concat(o, ' ')",
                 "10 a y z");
    assert_gives(
        "local o = {} for k, v in pairs { 'x', 'y', nil, 'w' } do o[#o + 1] = k .. v end return table.concat(o)",
        "1x2y4w");
    assert_gives(
        "local t = { a = 1, b = 2, c = 3 } local n = 0 for k in pairs(t) do t[k] = nil t.b = nil n = n + 1 end "
        "return n .. tostring(next(t))",
        "2nil");
    assert_gives("local t = { 1, 2, 3, 4 } local n = 0 for k in pairs(t) do t[3] = nil n = n + k end return n .. ''",
                 "7");
    assert_gives(
        "for k, v in pairs(setmetatable({}, { __pairs = function() return next, { q = 1 } end })) do return k end",
        "q");
    assert_gives("for k in pairs {} do return 'none' end return tostring(next({}))", "nil");
    assert_fails("for k in pairs { [{}] = 1 } do end", "this table has a table as a key");
    assert_fails("next({ [function() end] = 1 })", "this table has a function as a key");
    assert_fails("pairs(nil)", "bad argument #1 to 'pairs'");
}

static void test_prelude_installs_one_set_of_words(void **state)
{
    struct lua_host *h;
    assert_int_equal(lua_host_open(&h, (size_t)8 << 20, 1, 1, &err), LATHE_OK);
    assert_int_equal(lua_host_prelude(h, "strategy", &err), LATHE_OK);
    assert_int_equal(lua_gettop(lua_host_state(h)), 1);
    assert_int_equal(lua_host_load(h, "return shuffled(3), problem", 27, "t.lua", &err), LATHE_OK);
    assert_int_equal(lua_host_call(h, 0, 0, LATHE_STRATEGY, &err), LATHE_STRATEGY);
    assert_contains(err.text, "t.lua:1: unknown name 'problem'");
    lua_host_close(h);
}

static void test_a_state_needs_some_memory(void **state)
{
    struct lua_host *h;
    for (size_t limit = 0; limit < 30000; limit += 500) {
        status s = lua_host_open(&h, limit, 1, 1, &err);
        assert_true(s == LATHE_OK || s == LATHE_NOMEM);
        if (!s)
            lua_host_close(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordinary_code_runs),
        cmocka_unit_test(test_errors_have_file_line_and_traceback),
        cmocka_unit_test(test_only_source_text_is_accepted),
        cmocka_unit_test(test_unknown_globals_are_errors),
        cmocka_unit_test(test_absent_libraries_say_why),
        cmocka_unit_test(test_endless_loops_end),
        cmocka_unit_test(test_long_c_calls_are_bounded),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_memory_that_is_freed_may_be_used_again),
        cmocka_unit_test(test_interrupts),
        cmocka_unit_test(test_a_host_works_after_a_failure),
        cmocka_unit_test(test_only_the_scripts_own_time_counts),
        cmocka_unit_test(test_coroutines_resume_under_the_limits),
        cmocka_unit_test(test_errors_in_coroutines_have_a_traceback),
        cmocka_unit_test(test_random_numbers_are_the_seeds),
        cmocka_unit_test(test_pairs_goes_in_order),
        cmocka_unit_test(test_prelude_installs_one_set_of_words),
        cmocka_unit_test(test_a_state_needs_some_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
