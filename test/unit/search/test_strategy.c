/* A strategy's protocol: asking and telling, what scripts may not do, options. */
#include "strategy_fixture.h"

#include "search/lua/lua_host.h"

static void test_why_a_proposal_is_no_member(void **state)
{
    struct world w = open_world(2);
    struct strategy *s;
    const struct proposal *batch, *again;
    int n;
    const char text[] = WRAP("tune.evaluate { kernel = 'k2', V = 2, W = 2 }");
    assert_int_equal(file_write_atomic(path, text, strlen(text), &err), LATHE_OK);
    assert_int_equal(strategy_open(path, NULL, 0, w.spaces, 2, 1, &s, &err), LATHE_OK);
    assert_string_equal(strategy_text(s), text);
    assert_string_equal(strategy_name(s), "own");
    assert_int_equal(strategy_ask(s, &batch, &n, &err), LATHE_OK);
    assert_int_equal(n, 1);
    assert_int_equal(batch[0].index, -1);
    assert_int_equal(batch[0].space, 1);
    assert_string_equal(batch[0].why, "V != W: 2 != 2");
    assert_int_equal(strategy_ask(s, &again, &n, &err), LATHE_OK); /* still pending: the same batch */
    assert_ptr_equal(again, batch);
    assert_int_equal(n, 1);
    struct answer a = judge(&w, batch);
    strategy_tell(s, 0, &a);
    strategy_tell(s, 0, &a);
    strategy_tell(s, 5, &a);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(strategy_ask(s, &batch, &n, &err), LATHE_OK);
        assert_int_equal(n, 0);
    }
    strategy_close(s);
    close_world(&w);
}

/* What scripts may not do -----------------------------------------------------------------------------------------*/

static void test_scripts_that_fail(void **state)
{
    fails_with(WRAP("\nerror('own words')"), "own.lua:3: own words");
    fails_with(WRAP("local function f() error('deep') end\nlocal r = tune.evaluate(space:at(1))\nf()"),
               "stack traceback:\n\t");
    fails_with(WRAP("local t = {} while true do t[#t + 1] = {} end"), "the script used more than 32 MiB of memory");
    fails_with(WRAP("local t = {} while true do t[#t + 1] = tune.evaluate(space:at(1)) t[#t + 1] = ('x'):rep(100000) "
                    ".. #t end"),
               "the script used more than 32 MiB of memory");
    fails_with("return strategy {", "own.lua:1: ");
    fails_with("local x = 1", "a strategy ends with `return strategy { ... }`; this one returned nothing");
    fails_with("return {}", "this one returned another table");
    fails_with("return problem {}", "unknown name 'problem'");
    fails_with("return strategy { name = 'x' }", "strategy: run is missing");
    fails_with("return strategy { name = 'x', run = function() end, option = {} }", "strategy: unknown field 'option'");
    fails_with("return strategy { name = 'x', run = function() end, options = { n = 3 } }",
               "option n must be made by choice, integer, number or boolean, not 3");
    fails_with("return strategy { name = 'x', run = function() end, options = { n = integer { 3, min = 5 } } }",
               "integer: the default is 3, but an integer of at least 5 was expected");
}

static void test_scripts_that_never_return(void **state)
{
    seconds = 0.3;
    fails_with("while true do end", "the script ran for more than 0.3 s without returning");
    fails_with(WRAP("while true do end"), "the script ran for more than 0.3 s without returning");
    fails_with(WRAP("tune.evaluate(space:at(1)) while true do pcall(function() while true do end end) end"),
               "the script ran for more than 0.3 s");
    seconds = 60;
}

static void test_what_is_no_proposal(void **state)
{
    fails_with(WRAP("tune.evaluate(nil)"), "tune.evaluate: a configuration was expected, but was given nil");
    fails_with(WRAP("tune.evaluate()"), "but was given nil");
    fails_with(WRAP("tune.evaluate(3.5)"), "but was given the number 3.5");
    fails_with(WRAP("tune.evaluate('A=1')"), "but was given the string 'A=1'");
    fails_with(WRAP("tune.evaluate({})"), "tune.evaluate: the table is no configuration: kernel must be one of k1, k2");
    fails_with(WRAP("tune.evaluate(tune)"), "but was given an object of lathe's");
    fails_with(WRAP("tune.evaluate_all({})"), "tune.evaluate_all: the list is empty");
    fails_with(WRAP("tune.evaluate_all(space:at(1))"),
               "a list of configurations was expected, but was given a configuration");
    fails_with(WRAP("tune.evaluate_all { space:at(1), 7 }"),
               "tune.evaluate_all: item 2: a configuration was expected, but was given the number 7");
    fails_with(WRAP("tune.evaluate_all { space:at(1), { kernel = 'k2', V = 9 } }"),
               "item 2: the table is no configuration: V=9 is not");
    fails_with(WRAP("local t, c = {}, space:at(1) for i = 1, 1000001 do t[i] = c end tune.evaluate_all(t)"),
               "the list has 1000001 configurations; at most 1000000 may be asked for at once");
    fails_with(WRAP("coroutine.yield(space:at(1))"),
               "own.lua:2: the script yielded a configuration to lathe with coroutine.yield");
    fails_with(WRAP("coroutine.yield(nil, 3)"), "the script yielded nil to lathe");
    fails_with(WRAP("coroutine.yield()"), "the script yielded nothing to lathe");
    fails_with(WRAP("coroutine.wrap(function() tune.evaluate(space:at(1)) end)()"),
               "tune.evaluate can only be called from the strategy's run function itself");
    fails_with(WRAP("table.sort({ 2, 1 }, function() tune.evaluate(space:at(1)) end)"),
               "not inside a function that was called by table.sort");
}

static void test_errors_of_asking_can_be_caught(void **state)
{
    struct trace t;
    assert_int_equal(
        run_script(
            WRAP("local ok, m = pcall(tune.evaluate_all, { space:at(1), 7 }) assert(not ok and m:find('item 2'))\n"
                 "local ok, r = pcall(tune.evaluate, space:at(2)) assert(ok and r.config.index == 2)\n"
                 "pcall(tune.evaluate_all, { space:at(1), 7 })"),
            &t),
        LATHE_OK);
    assert_int_equal(t.n, 1);
    mem_free(t.places);
}

static void test_repeats_are_passed_on(void **state)
{
    struct trace t;
    assert_int_equal(
        run_script(
            WRAP("for i = 1, 5 do tune.evaluate(space:at(3)) end tune.evaluate_all { space:at(3), space:at(3) }"), &t),
        LATHE_OK);
    assert_int_equal(t.n, 7);
    mem_free(t.places);
}

/* Whatever a script was doing when memory ran out, that is a failure of the script; with enough it works. */
static void test_every_amount_of_memory(void **state)
{
    struct world w = open_world(2);
    int failed = 0, worked = 0;
    for (size_t memory = 10000; memory < 150000; memory += memory < 80000 ? 397 : 4001) {
        struct strategy *s;
        struct trace t = {0};
        char *options[] = {"batch=50"};
        status st = strategy_open_limited("random", options, 1, w.spaces, 2, 1, memory, 60, &s, &err);
        if (!st) {
            st = drive(&w, s, 0, &t);
            strategy_close(s);
        }
        if (st && !strstr(err.text, "memory"))
            fail_msg("%zu bytes: %s: %s", memory, status_name(st), err.text);
        st ? failed++ : worked++;
        mem_free(t.places);
    }
    assert_true(failed > 50 && worked > 5);
    close_world(&w);
}

static void test_interrupt(void **state)
{
    struct world w = open_world(1);
    struct strategy *s;
    const struct proposal *batch;
    int n;
    assert_int_equal(strategy_open("random", NULL, 0, w.spaces, 1, 1, &s, &err), LATHE_OK);
    lua_host_interrupt();
    assert_int_equal(strategy_ask(s, &batch, &n, &err), LATHE_INTERRUPTED);
    assert_int_equal(n, 0);
    strategy_close(s);
    close_world(&w);
}

static void test_a_large_batch(void **state)
{
    struct trace t;
    assert_int_equal(
        run_script(WRAP("local t = {} for i = 1, 100000 do t[i] = space:at(1 + i % space:size()) end\n"
                        "local r = tune.evaluate_all(t) assert(#r == 100000 and rawequal(r[7].config, t[7]))"),
                   &t),
        LATHE_OK);
    assert_int_equal(t.largest, 100000);
    mem_free(t.places);
}

/* Options ---------------------------------------------------------------------------------------------------------*/

static void test_options(void **state)
{
    struct trace t;
    assert_int_equal(run_named(1, "local", NULL, 1, 1, &t), LATHE_OK);
    assert_string_equal(t.options_text, "batch=8 first=true kind=hamming starts=4");
    mem_free(t.places);
    assert_int_equal(run_named(1, "local", "kind=adjacent first=false batch=4", 1, 1, &t), LATHE_OK);
    assert_string_equal(t.options_text, "batch=4 first=false kind=adjacent starts=4");
    mem_free(t.places);
    static const char *const bad[][2] = {
        {"bacth=3", "strategy local has no option 'bacth' (did you mean 'batch'?); it has: batch, first, kind, starts"},
        {"batch=0", "option batch of strategy local: an integer from 1 to 100000 was expected, got '0'"},
        {"batch=x", "an integer from 1 to 100000 was expected, got 'x'"},
        {"batch=1.5", "an integer from 1 to 100000 was expected, got '1.5'"},
        {"first=yes", "true or false was expected, got 'yes'"},
        {"kind=", "one of hamming, adjacent was expected, got ''"},
        {"batch", "option 'batch': write NAME=VALUE"},
        {"batch=3 first=false batch=4", "is given twice"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(run_named(1, "local", bad[i][0], 1, 1, &t), LATHE_USAGE);
        assert_contains(err.text, bad[i][1]);
        assert_null(strstr(err.text, "traceback"));
    }
}

static void test_which_strategies_there_are(void **state)
{
    struct trace t;
    struct strategy_option o[32];
    assert_int_equal(run_named(1, "lokal", NULL, 1, 1, &t), LATHE_USAGE);
    assert_contains(err.text, "there is no strategy 'lokal' (did you mean 'local'?); there are ");
    assert_contains(err.text, ", exhaustive, ");
    assert_contains(err.text, ", or give a file whose name ends in .lua");
    assert_int_equal(run_named(1, "/nonexistent/x.lua", NULL, 1, 1, &t), LATHE_IO);
    assert_contains(err.text, "/nonexistent/x.lua");
    assert_string_equal(strategy_name_at(strategy_count()), "");
    for (int i = 0; i < strategy_count(); i++) {
        if (i > 0)
            assert_true(strcmp(strategy_name_at(i - 1), strategy_name_at(i)) < 0);
        assert_true(strlen(strategy_summary_at(i)) > 10);
        int n = strategy_declared_options(strategy_name_at(i), o, 32);
        assert_in_range(n, 1, 32);
        for (int j = 0; j < n; j++)
            assert_true(strlen(o[j].help) > 5 && strlen(o[j].text_default) > 0 && strlen(o[j].range) > 0);
    }
    assert_int_equal(strategy_declared_options("local", o, 1), 4);
    assert_string_equal(o[0].name, "batch");
    assert_string_equal(o[0].type, "integer");
    assert_string_equal(o[0].text_default, "8");
    assert_string_equal(o[0].range, "1..100000");
    assert_int_equal(strategy_declared_options("nothing", o, 32), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_why_a_proposal_is_no_member),
        cmocka_unit_test(test_scripts_that_fail),
        cmocka_unit_test(test_scripts_that_never_return),
        cmocka_unit_test(test_what_is_no_proposal),
        cmocka_unit_test(test_errors_of_asking_can_be_caught),
        cmocka_unit_test(test_repeats_are_passed_on),
        cmocka_unit_test(test_every_amount_of_memory),
        cmocka_unit_test(test_a_large_batch),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_which_strategies_there_are),
        cmocka_unit_test(test_interrupt),       /* last: it stays */
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
