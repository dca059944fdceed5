/* Strategies: the protocol, the script's objects, what scripts may not do, and the three that are built in. */
#include "fixture.h"

#include "base/clock.h"
#include "search/lua/lua_host.h"
#include "search/strategy/strategy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define assert_contains(text, part)                                                                                    \
    do {                                                                                                               \
        if (!strstr(text, part))                                                                                       \
            fail_msg("'%s' does not contain '%s'", text, part);                                                        \
    } while (0)

static const char *const kernels[] = {
    "params = { { 'A', { 1, 2, 4, 8 } }, { 'B', { 1, 2, 4, 8 } }, { 'S', { 1, 2 }, help = 'parts' }, "
    "{ 'R', { 'two', 'last' }, when = 'S > 1' }, { 'F', { 0.5, 1.0 } }, { 'T', { false, true } } }, "
    "constraints = { 'A * B <= 16' }",
    "params = { { 'V', { 1, 2, 4 } }, { 'W', { 1, 2, 3 } } }, constraints = { 'V != W' }",
};

struct world {
    struct problem *p;
    struct space *spaces[2];
    int n;
};

static struct err err;
static double seconds = 60;             /* for a step of a script */
static char dir[] = "/tmp/lathe-test-strategy-XXXXXX", path[100];

static struct world open_world(int n)
{
    struct world w = {.p = fixture_problem(kernels, 2), .n = n};
    for (int i = 0; i < n; i++)
        w.spaces[i] = fixture_space(w.p, i);
    return w;
}

static void close_world(struct world *w)
{
    for (int i = 0; i < w->n; i++)
        space_close(w->spaces[i]);
    problem_free(w->p);
}

/* A bowl with its bottom inside, a failure here and there; the same for the same configuration. */
static struct answer judge(const struct world *w, const struct proposal *p)
{
    const struct kernel *k = space_kernel(w->spaces[p->space]);
    double value = 1 + p->space;
    unsigned sum = 0;
    for (int i = 0; i < k->nparams; i++) {
        value += (p->choice[i] - 1.3 - 0.2 * i) * (p->choice[i] - 1.3 - 0.2 * i);
        sum = sum * 7 + p->choice[i];
    }
    if (p->index < 0)
        return (struct answer){.outcome = OUTCOME_constraint, .value = NAN};
    if (sum % 11 == 3)
        return (struct answer){.outcome = OUTCOME_wrong, .value = NAN, .seconds = 0.1};
    if (sum % 11 == 4)
        return (struct answer){.outcome = OUTCOME_inaccurate, .value = NAN, .seconds = 0.2, .measured = value};
    return (struct answer){.outcome = OUTCOME_ok, .value = value, .seconds = 0.2};
}

/* What a run asked for: the place in the union of each proposal, -1 for what is no member. */
struct trace {
    int64_t *places;
    int n, cap, batches, largest;
    uint64_t options[8];
    char options_text[200];
};

static status drive(const struct world *w, struct strategy *s, int budget, struct trace *t)
{
    const struct proposal *batch;
    int n;
    status st;
    while (!(st = strategy_ask(s, &batch, &n, &err)) && n > 0) {
        t->batches++;
        t->largest = n > t->largest ? n : t->largest;
        for (int i = n - 1; i >= 0; i--) { /* answers may come in any order */
            struct answer a = judge(w, &batch[i]);
            strategy_tell(s, i, &a);
        }
        for (int i = 0; i < n; i++) {
            MEM_GROW(t->places, t->n, t->cap);
            t->places[t->n++] =
                batch[i].index < 0 ? -1 : batch[i].index + (batch[i].space ? (int64_t)space_size(w->spaces[0]) : 0);
        }
        if (budget && t->n >= budget)
            break;
    }
    return st;
}

static status run_named(int nspaces, const char *name, const char *options, uint64_t seed, int budget, struct trace *t)
{
    struct world w = open_world(nspaces);
    struct strategy *s = NULL;
    char *copy = mem_strdup(options ? options : ""), *list[8], *rest = copy;
    int n = 0;
    *t = (struct trace){0};
    memset(&err, 0, sizeof err);
    while ((list[n] = strtok_r(rest, " ", &rest)))
        n++;
    status st = strategy_open_limited(name, list, n, w.spaces, nspaces, seed, (size_t)32 << 20, seconds, &s, &err);
    if (!st) {
        struct strbuf b = {0};
        strategy_options_text(s, &b);
        snprintf(t->options_text, sizeof t->options_text, "%s", sb_str(&b));
        sb_free(&b);
        st = drive(&w, s, budget, t);
    }
    strategy_close(s);
    close_world(&w);
    mem_free(copy);
    return st;
}

static status run_script(const char *text, struct trace *t)
{
    assert_int_equal(file_write_atomic(path, text, strlen(text), &err), LATHE_OK);
    return run_named(2, path, NULL, 1, 100000, t);
}

#define WRAP(body)                                                                                                     \
    "return strategy { name = 'own', options = { n = integer { 3, min = 1 } }, run = function(tune, space, "           \
    "opt)\n" body "\nend }"

/* Runs the body of a run function; its asserts speak. */
static void check_body(const char *text)
{
    struct trace t;
    if (run_script(text, &t) != LATHE_OK)
        fail_msg("%s", err.text);
    mem_free(t.places);
}

static void fails_with(const char *text, const char *message)
{
    struct trace t;
    status st = run_script(text, &t);
    if (st != LATHE_STRATEGY)
        fail_msg("'%s' gave %s: %s", text, status_name(st), err.text);
    assert_contains(err.text, message);
    assert_contains(err.text, path);
    mem_free(t.places);
}

static int make_dir(void **state)
{
    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/own.lua", dir);
    return 0;
}

static int remove_dir(void **state)
{
    unlink(path);
    return rmdir(dir);
}

/* The objects -----------------------------------------------------------------------------------------------------*/

static void test_space_object(void **state)
{
    check_body(
        WRAP("assert(space:size('k2') == 7 and space:size() == space:size('k1') + 7)\n"
             "assert(table.concat(space:kernels(), ' ') == 'k1 k2')\n"
             "local p = space:parameters('k1')\n"
             "assert(#p == 6 and p[1].name == 'A' and p[1].type == 'integer' and table.concat(p[1].values, ' ') == '1 "
             "2 4 8')\n"
             "assert(p[3].help == 'parts' and p[4].conditional and not p[3].conditional and p[4].values[2] == 'last')\n"
             "assert(p[5].type == 'float' and p[5].values[1] == 0.5 and p[6].values[2] == true)\n"
             "for i = 1, space:size() do local c = space:at(i) assert(space:index(c) == i and c.index == i) end\n"
             "assert(space:at(1).kernel == 'k1' and space:at(1, 'k2').kernel == 'k2' and space:at(space:size()).kernel "
             "== 'k2')\n"
             "assert(space:at(7, 'k2') == space:at(space:size()))\n"
             "for i = 1, 50 do assert(space:random('k2').kernel == 'k2' and space:contains(space:random())) end"));
}

static void test_config_object(void **state)
{
    check_body(WRAP(
        "local c = space:config { kernel = 'k1', A = 2, B = 4, S = 1, F = 0.5, T = true }\n"
        "assert(c.A == 2 and math.type(c.A) == 'integer' and c.S == 1 and c.R == nil and c.F == 0.5 and c.T == true)\n"
        "assert(tostring(c) == 'A=2 B=4 S=1 F=0.5 T=true', tostring(c))\n"
        "local o = {} for name, value in pairs(c) do o[#o + 1] = name .. '=' .. tostring(value) end\n"
        "assert(table.concat(o, ' ') == tostring(c))\n"
        "local d = space:config { kernel = 'k1', A = 2.0, B = 4, S = 1, R = 'last', F = 0.5, T = true }\n"
        "assert(d == c and rawequal(d, c))\n"
        "local seen = { [c] = 'yes' } assert(seen[space:at(c.index)] == 'yes')\n"
        "local keys = { [space:at(9)] = 1, [space:at(3)] = 1 } local k = {}\n"
        "for config in pairs(keys) do k[#k + 1] = config.index end assert(table.concat(k, ' ') == '3 9')\n"
        "assert(not space:contains { kernel = 'k1', A = 8, B = 8, S = 1, F = 0.5, T = true })\n"
        "assert(getmetatable(c) == false and space:at(1) ~= space:at(2))"));
}

static void test_tables_that_are_no_configuration(void **state)
{
    check_body(WRAP(
        "local function why(t) local c, m = space:config(t) assert(c == nil) return m end\n"
        "local function has(m, part) assert(m:find(part, 1, true), m) end\n"
        "has(why { kernel = 'k2', V = 1, W = 1 }, 'V != W: 1 != 1')\n"
        "has(why { kernel = 'k2', V = 1 }, 'parameter W of kernel k2 is missing')\n"
        "has(why { kernel = 'k2', V = 3, W = 1 }, 'V=3 is not a value of the parameter; expected one of 1, 2, 4')\n"
        "has(why { kernel = 'k2', V = '1', W = 1 }, 'V=1 is not a value')\n"
        "has(why { kernel = 'k2', V = {}, W = 1 }, 'V=(a table) is not')\n"
        "has(why { kernel = 'k2', V = 1, W = 2, X = 1 }, \"kernel k2 has no parameter 'X'\")\n"
        "has(why { kernel = 'k1', A = 2, B = 4, SS = 1 }, \"'SS'; did you mean 'S'?\")\n"
        "has(why { kernel = 'k3' }, \"there is no kernel 'k3'; expected one of k1, k2\")\n"
        "has(why { V = 1, W = 2 }, 'kernel must be one of k1, k2')\n"
        "has(why { kernel = 'k2', V = 1, W = 2, [1] = 3 }, \"no parameter '1'; a configuration is { NAME\")\n"
        "local self = { kernel = 'k2' }; self[1.5] = self; has(why(self), \"no parameter '1.5'\")\n"
        "has(why { kernel = 'k2', [true] = 1 }, \"no parameter 'boolean'; a configuration is\")\n"
        "assert(space:index { kernel = 'k2', V = 1, W = 1 } == nil)"));
}

static void test_unknown_fields_are_errors(void **state)
{
    fails_with(WRAP("local x = space:at(1).Q"),
               "a configuration of kernel k1 has no field 'Q'; known: A, B, S, R, F, T, kernel, index");
    fails_with(WRAP("local x = space:at(1).kernl"), "did you mean 'kernel'?");
    fails_with(WRAP("space:sise()"), "space has no field 'sise'; did you mean 'size'?");
    fails_with(WRAP("tune.evaluat(space:at(1))"), "tune has no field 'evaluat'; did you mean 'evaluate'?");
    fails_with(WRAP("local x = tune.evaluate(space:at(1)).valu"),
               "a result has no field 'valu'; did you mean 'value'?");
    fails_with(WRAP("return opt.m"), "strategy own has no option 'm'");
    fails_with(WRAP("space.size()"), "write space:name(...), with a colon");
    fails_with(WRAP("space:at(0)"), "space:at(0): expected 1 to ");
    fails_with(WRAP("space:at(8, 'k2')"), "space:at(8): expected 1 to 7");
    fails_with(WRAP("space:at(1, 'k')"), "there is no kernel 'k'");
    fails_with(WRAP("space:at(1).A = 3"), "a configuration can't be changed");
    fails_with(WRAP("space:neighbours(space:at(1), 'hammin')"), "did you mean 'hamming'?");
    fails_with(WRAP("space:neighbours(5, 'hamming')"), "configuration expected, got the number 5");
    fails_with(WRAP("space:parameters()"), "space:parameters(kernel): there are 2 kernels; name one");
    fails_with(WRAP("space:config(5)"), "configuration or table expected, got number");
}

static void test_neighbours(void **state)
{
    check_body(WRAP("local c = space:config { kernel = 'k2', V = 2, W = 1 }\n"
                    "local function list(kind) local o = {} for _, n in ipairs(space:neighbours(c, kind)) do o[#o + 1] "
                    "= tostring(n) end\n"
                    "return table.concat(o, '; ') end\n"
                    "assert(list('hamming') == 'V=4 W=1; V=2 W=3', list('hamming'))\n"
                    "assert(list('adjacent') == 'V=4 W=1', list('adjacent'))"));
}

static void test_distance_and_repair(void **state)
{
    check_body(WRAP("local c = space:config { kernel = 'k2', V = 2, W = 1 }\n"
                    "local d = space:config { kernel = 'k2', V = 4, W = 1 }\n"
                    "assert(space:distance(c, c) == 0 and space:distance(c, d) == 1)\n"
                    "assert(space:distance(c, { kernel = 'k2', V = 1, W = 3 }, 'adjacent') == 3)\n"
                    "assert(space:distance(c, space:at(1)) == math.huge)\n"
                    "assert(rawequal(space:repair(c), c))\n"
                    "assert(rawequal(space:repair { kernel = 'k2', V = 2.4, W = 0 }, c))\n"
                    "assert(rawequal(space:repair { kernel = 'k2', V = math.huge, W = -math.huge }, d))\n"
                    "assert(space:repair({ kernel = 'k2', W = 3 }).W == 3)\n"
                    "local whole = space:repair { kernel = 'k2', V = 2, W = 2 }\n"
                    "assert(space:contains(whole) and space:distance(whole, { kernel = 'k2', V = 2, W = 2 }) == 1)"));
    fails_with(WRAP("space:repair { kernel = 'k2', V = 'x', W = 1 }"), "V=x is not a value");
    fails_with(WRAP("space:repair { kernel = 'k2', U = 1 }"), "kernel k2 has no parameter 'U'");
    fails_with(WRAP("space:repair(5)"), "table expected, got number");
    fails_with(WRAP("space:distance(space:at(1), { kernel = 'k2', V = 1 })"), "space:distance: parameter W");
    fails_with(WRAP("space:distance(space:at(1), space:at(1), 'manhattan')"), "neighbours are adjacent or hamming");
}

static void test_results(void **state)
{
    check_body(WRAP("assert(tune.best == nil)\n"
                    "local first, best, failed, rounds\n"
                    "for i = 1, space:size() do\n"
                    "  local r = tune.evaluate(space:at(i))\n"
                    "  assert(rawequal(r.config, space:at(i)))\n"
                    "  if r.ok then assert(r.outcome == 'ok' and r.value > 0 and r.seconds == 0.2 and r.measured == r.value)\n"
                    "  elseif r.outcome == 'inaccurate' then assert(r.value == nil and r.measured > 0) rounds = r\n"
                    "  else assert(r.outcome == 'wrong' and r.value == nil and r.seconds == 0.1) failed = r\n"
                    "    assert(r.measured == nil) end\n"
                    "  if r:better_than(best) then best = r end\n"
                    "  assert(not r:better_than(r))\n"
                    "end\n"
                    "assert(rounds and best.ok and rawequal(tune.best, best))\n"
                    "assert(best:better_than(failed) and not failed:better_than(best) and best:better_than(nil))"));
}

static void test_tables_may_be_proposed(void **state)
{
    struct trace t;
    assert_int_equal(
        run_script(WRAP("local r = tune.evaluate { kernel = 'k2', V = 1, W = 2 }\n"
                        "assert(r.config.index and r.config == space:config { kernel = 'k2', V = 1, W = 2 })\n"
                        "local list = tune.evaluate_all { { kernel = 'k2', V = 1, W = 1 }, space:at(1) }\n"
                        "assert(list[1].outcome == 'constraint' and list[1].config.index == nil and "
                        "list[2].config.index == 1)\n"
                        "assert(list[1].config.V == 1 and tostring(list[1].config) == 'V=1 W=1')"),
                   &t),
        LATHE_OK);
    assert_int_equal(t.n, 3);
    assert_true(t.places[0] >= 0);
    assert_int_equal(t.places[1], -1);
    assert_int_equal(t.places[2], 0);
    mem_free(t.places);
}

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
               "attempt to yield across a C-call boundary");
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
    assert_int_equal(run_named(1, "local", "kind=adjacent first=false batch=3 batch=4", 1, 1, &t), LATHE_OK);
    assert_string_equal(t.options_text, "batch=4 first=false kind=adjacent starts=4");
    mem_free(t.places);
    static const char *const bad[][2] = {
        {"bacth=3", "strategy local has no option 'bacth'; it has: batch, first, kind, starts"},
        {"batch=0", "option batch of strategy local: an integer from 1 to 100000 was expected, got '0'"},
        {"batch=x", "an integer from 1 to 100000 was expected, got 'x'"},
        {"batch=1.5", "an integer from 1 to 100000 was expected, got '1.5'"},
        {"first=yes", "true or false was expected, got 'yes'"},
        {"kind=", "one of hamming, adjacent was expected, got ''"},
        {"batch", "option 'batch': write NAME=VALUE"},
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

/* Models ----------------------------------------------------------------------------------------------------------*/

static void test_models(void **state)
{
    check_body(WRAP("local m = model.gp { kernel = 'k1', candidates = 100 }\n"
               "local all, told = m:left(), {}\n"
               "assert(all == space:size('k1') and m:predict(space:at(1)) == nil)\n"
               "for i = 1, 6 do local c = m:spread(10) m:assume(c) assert(m:left() == all - i)\n"
               "  told[i] = tune.evaluate(c) m:tell(told[i]) end\n"
               "assert(m:left() == all - 6)\n"
               "local value, deviation, seconds = m:predict(space:at(1))\n"
               "assert(value > 0 and deviation > 0 and seconds > 0)\n"
               "for _, how in ipairs { { 'ei', best = tune.best.value }, { 'lcb', kappa = 3 }, { 'mean' } } do\n"
               "  local c, score = m:propose(how)\n"
               "  assert(c.kernel == 'k1' and score == score)\n"
               "  for _, r in ipairs(told) do assert(r.config ~= c) end end\n"
               "for i = 1, 1000 do model.gp { kernel = 'k2' } if i % 100 == 0 then tune.evaluate(space:at(1)) end\n"
               "  local junk = {} for j = 1, 300 do junk[j] = ('x'):rep(1000) .. j end end"));
}

static void test_misused_models(void **state)
{
    static const char *const cases[][2] = {
        {"model.gp {}", "there are 2 kernels; name one"},
        {"model.gp { kernel = 'k3' }", "there is no kernel 'k3'"},
        {"model.gp { kernel = 'k1', candidate = 3 }",
         "model.gp has no argument 'candidate'; did you mean 'candidates'"},
        {"model.gp { kernel = 'k1', candidates = 3 }", "candidates is a number from 16"},
        {"model.gp { kernel = 'k1', candidates = 'x' }", "not the string 'x'"},
        {"model.gp(7)", "table expected"},
        {"model.forest {}", "forest"},
        {"local m = model.gp { kernel = 'k1' } m:ask()", "a model has no field 'ask'"},
        {"local m = model.gp { kernel = 'k1' } m.left()", "with a colon"},
        {"local m = model.gp { kernel = 'k1' } m:assume(space:at(space:size()))", "the configuration is one of k2"},
        {"local m = model.gp { kernel = 'k1' } m:assume(7)", "configuration expected"},
        {"local m = model.gp { kernel = 'k1' } m:tell(space:at(1))", "result expected"},
        {"local m = model.gp { kernel = 'k1' } m:propose { 'best' }", "is an acquisition, not 'best'"},
        {"local m = model.gp { kernel = 'k1' } m:propose {}", "is an acquisition, not 'nil'"},
        {"local m = model.gp { kernel = 'k1' } m:propose { 'ei', best = -1 }", "best is a number from 0"},
        {"local m = model.gp { kernel = 'k1' } m:propose { 'ei', bets = 1 }", "did you mean 'best'"},
        {"local m = model.gp { kernel = 'k1' } m:spread(0)", "from 1 to 10000"},
        {"local t = {} for i = 1, 300 do t[i] = model.gp { kernel = 'k1' } end", "there are 256 models already"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = mem_printf(WRAP("%s"), cases[i][0]);
        fails_with(text, cases[i][1]);
        mem_free(text);
    }
}

/* The built-in ones -----------------------------------------------------------------------------------------------*/

static void check_each_once(const char *name, const char *options, uint64_t seed)
{
    struct trace t;
    struct world w = open_world(2);
    int64_t size = (int64_t)(space_size(w.spaces[0]) + space_size(w.spaces[1]));
    bool *seen = mem_zalloc((size_t)size, sizeof *seen);
    close_world(&w);
    if (run_named(2, name, options, seed, 0, &t) != LATHE_OK)
        fail_msg("%s: %s", name, err.text);
    assert_int_equal(t.n, size);
    for (int i = 0; i < t.n; i++) {
        assert_true(t.places[i] >= 0 && t.places[i] < size);
        assert_false(seen[t.places[i]]);
        seen[t.places[i]] = true;
    }
    mem_free(seen);
    mem_free(t.places);
}

static void test_every_member_is_visited_once(void **state)
{
    check_each_once("exhaustive", NULL, 1);
    check_each_once("exhaustive", "batch=1", 1);
    check_each_once("exhaustive", "batch=5", 1);
    for (uint64_t seed = 1; seed < 6; seed++) {
        check_each_once("random", NULL, seed);
        check_each_once("random", "batch=7", seed);
        check_each_once("local", NULL, seed);
        check_each_once("local", "kind=adjacent", seed);
        check_each_once("local", "first=false batch=1", seed);
        check_each_once("local", "first=false kind=adjacent batch=1000", seed);
        check_each_once("portfolio", NULL, seed);
        check_each_once("portfolio", "batch=7 patience=0", seed);
        for (int i = 0; i < 2; i++) {
            const char *guided = i ? "forest" : "gp";
            check_each_once(guided, NULL, seed);
            check_each_once(guided, "batch=7 starts=1 candidates=16", seed);
            check_each_once(guided, "batch=1000", seed);
        }
    }
}

static void test_exhaustive_goes_in_order(void **state)
{
    struct trace t;
    assert_int_equal(run_named(2, "exhaustive", "batch=10", 1, 0, &t), LATHE_OK);
    for (int i = 0; i < t.n; i++)
        assert_int_equal(t.places[i], i);
    assert_int_equal(t.largest, 10);
    mem_free(t.places);
}

static void test_the_seed_decides(void **state)
{
    static const char *const names[] = {"random", "local", "gp", "forest", "portfolio"};
    for (int i = 0; i < 5; i++) {
        struct trace a, b, c;
        assert_int_equal(run_named(2, names[i], NULL, 5, 60, &a), LATHE_OK);
        assert_int_equal(run_named(2, names[i], NULL, 5, 60, &b), LATHE_OK);
        assert_int_equal(run_named(2, names[i], NULL, 6, 60, &c), LATHE_OK);
        assert_int_equal(a.n, b.n);
        assert_memory_equal(a.places, b.places, (size_t)a.n * sizeof *a.places);
        assert_true(a.n != c.n || memcmp(a.places, c.places, (size_t)a.n * sizeof *a.places) != 0);
        mem_free(a.places);
        mem_free(b.places);
        mem_free(c.places);
    }
}

/* Wherever it starts, a descent over all neighbours ends at a minimum; so the best is found soon. */
static void test_local_finds_the_minimum(void **state)
{
    struct world w = open_world(1);
    double best = INFINITY;
    struct trace t;
    for (uint64_t i = 0; i < space_size(w.spaces[0]); i++) {
        config_choice c[8];
        space_at(w.spaces[0], i, c);
        struct answer a = judge(&w, &(struct proposal){.choice = c, .index = (int64_t)i});
        best = a.outcome == OUTCOME_ok && a.value < best ? a.value : best;
    }
    assert_int_equal(run_named(1, "local", "batch=4", 3, 70, &t), LATHE_OK);
    double found = INFINITY;
    for (int i = 0; i < t.n; i++) {
        config_choice c[8];
        space_at(w.spaces[0], (uint64_t)t.places[i], c);
        struct answer a = judge(&w, &(struct proposal){.choice = c, .index = t.places[i]});
        found = a.outcome == OUTCOME_ok && a.value < found ? a.value : found;
    }
    assert_true(found == best);
    mem_free(t.places);
    close_world(&w);
}

/* Its memory and start do not depend on the size of the space. */
static void test_random_on_a_huge_space(void **state)
{
    struct strbuf b = {0};
    sb_add(&b, "params = { ");
    for (int i = 0; i < 12; i++)
        sb_addf(&b, "{ 'P%d', { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 } }, ", i);
    sb_add(&b, "}");
    char *text = sb_take(&b);
    struct problem *p = fixture_problem((const char *const *)&text, 1);
    struct space *space = fixture_space(p, 0);
    static const char *const names[] = {"random", "local", "gp", "forest"};
    for (int i = 0; i < 4; i++) {
        struct strategy *s;
        const struct proposal *batch;
        int n;
        double start = clock_seconds();
        assert_int_equal(strategy_open_limited(names[i], NULL, 0, &space, 1, 1, (size_t)32 << 20, 2, &s, &err),
                         LATHE_OK);
        for (int total = 0; total < (i < 2 ? 2000 : 120); total += n) {
            assert_int_equal(strategy_ask(s, &batch, &n, &err), LATHE_OK);
            assert_true(n > 0);
            for (int j = 0; j < n; j++)
                strategy_tell(
                    s, j,
                    &(struct answer){.outcome = OUTCOME_ok, .value = (double)(batch[j].index % 9973), .seconds = 0.1});
        }
        assert_true(clock_seconds() - start < 4);
        strategy_close(s);
    }
    space_close(space);
    problem_free(p);
    mem_free(text);
}

/* How many of 80 trials a strategy gives to k2, which takes `times` as long as k1; none, or all, of it is wrong but timed. */
static int trials_of_slower(const char *name, double times, bool wrong)
{
    static const char *const twins[] = {
        "params = { { 'A', { 1, 2, 3, 4, 5, 6, 7, 8 } }, { 'B', { 1, 2, 3, 4, 5, 6, 7, 8 } }, { 'C', { 1, 2, 3, 4 } } }",
        "params = { { 'D', { 1, 2, 3, 4, 5, 6, 7, 8 } }, { 'E', { 1, 2, 3, 4, 5, 6, 7, 8 } }, { 'F', { 1, 2, 3, 4 } } }",
    };
    struct problem *p = fixture_problem(twins, 2);
    struct space *spaces[2] = {fixture_space(p, 0), fixture_space(p, 1)};
    struct strategy *s;
    char *options[] = {"batch=4"};
    const struct proposal *batch;
    int n, count = 0;
    assert_int_equal(strategy_open(name, options, 1, spaces, 2, 1, &s, &err), LATHE_OK);
    for (int total = 0; total < 80; total += n) {
        assert_int_equal(strategy_ask(s, &batch, &n, &err), LATHE_OK);
        assert_in_range(n, 4, 5);
        for (int i = 0; i < n; i++) {
            const config_choice *c = batch[i].choice;
            double value = 5 + abs(c[0] - 5) + abs(c[1] - 2) + c[2];
            struct answer a = {.outcome = OUTCOME_ok, .value = value, .measured = value, .seconds = 1};
            if (batch[i].space == 1) {
                a.value = a.measured = times * value;
                a.outcome = wrong ? OUTCOME_inaccurate : OUTCOME_ok;
                count++;
            }
            strategy_tell(s, i, &a);
        }
    }
    strategy_close(s);
    space_close(spaces[0]);
    space_close(spaces[1]);
    problem_free(p);
    return count;
}

static void test_models_weigh_kernels(void **state)
{
    static const char *const names[] = {"gp", "portfolio"};
    for (int i = 0; i < 2; i++) {
        int same = trials_of_slower(names[i], 1, false), slower = trials_of_slower(names[i], 3, false);
        int wrong = trials_of_slower(names[i], 0.5, true);
        assert_true(same >= 20 && same <= 60);
        assert_true(slower >= 4 && slower <= 25);
        assert_true(wrong >= 4 && wrong <= 40);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_space_object),
        cmocka_unit_test(test_config_object),
        cmocka_unit_test(test_tables_that_are_no_configuration),
        cmocka_unit_test(test_unknown_fields_are_errors),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_distance_and_repair),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_tables_may_be_proposed),
        cmocka_unit_test(test_why_a_proposal_is_no_member),
        cmocka_unit_test(test_scripts_that_fail),
        cmocka_unit_test(test_scripts_that_never_return),
        cmocka_unit_test(test_what_is_no_proposal),
        cmocka_unit_test(test_errors_of_asking_can_be_caught),
        cmocka_unit_test(test_repeats_are_passed_on),
        cmocka_unit_test(test_every_amount_of_memory),
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_a_large_batch),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_which_strategies_there_are),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_misused_models),
        cmocka_unit_test(test_every_member_is_visited_once),
        cmocka_unit_test(test_exhaustive_goes_in_order),
        cmocka_unit_test(test_the_seed_decides),
        cmocka_unit_test(test_models_weigh_kernels),
        cmocka_unit_test(test_local_finds_the_minimum),
        cmocka_unit_test(test_random_on_a_huge_space),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
