/* What scripts are given: `space`, configurations, results, models, and what misusing them says. */
#include "strategy_fixture.h"

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
        "has(why { kernel = 'k2', V = '1', W = 1 }, \"V='1' (a string) is not a value\")\n"
        "has(why { kernel = 'k2', V = 1.5, W = 1 }, 'V=1.5 is not a value')\n"
        "has(why { kernel = 'k2', V = 0 / 0, W = 1 }, 'nan is not a value')\n"
        "has(why { kernel = 'k2', V = 2^63, W = 1 }, 'V=9.223372036854776e+18 is not a value')\n"
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
    fails_with(WRAP("space:repair { kernel = 'k2', V = 'x', W = 1 }"), "V='x' (a string) is not a value");
    fails_with(WRAP("space:repair { kernel = 'k2', V = 0 / 0, W = 1 }"), "nan is not a value");
    fails_with(WRAP("space:repair { kernel = 'k2', U = 1 }"), "kernel k2 has no parameter 'U'");
    fails_with(WRAP("space:repair(5)"), "table expected, got number");
    fails_with(WRAP("space:distance(space:at(1), { kernel = 'k2', V = 1 })"), "space:distance: parameter W");
    fails_with(WRAP("space:distance(space:at(1), space:at(1), 'manhattan')"), "neighbours are adjacent or hamming");
}

static void test_results(void **state)
{
    check_body(
        WRAP("assert(tune.best == nil)\n"
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
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_misused_models),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
