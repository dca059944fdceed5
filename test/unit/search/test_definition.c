/* Definitions of spaces: Python's constraints to formulas that have the same values, and what is refused. */
#include "search/spec/definition.h"
#include "search/spec/python.h"

#include "base/mem.h"
#include "model/problem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct err err;

static const struct python_name items[] = {
    {"a", VALUE_INT, 1, 1024}, {"b", VALUE_INT, -8, 8},          {"x", VALUE_FLOAT, 0, 1},
    {"t", VALUE_BOOL, 0, 0},   {"w", VALUE_STRING, 0, 0},        {"big", VALUE_INT, 1, 4e9},
};
static const struct python_names names = {items, sizeof items / sizeof *items};

static void assert_translates(const char *python, const char *formula)
{
    char *got = NULL;
    if (python_constraint(python, &names, &got, &err) != LATHE_OK)
        fail_msg("%s", err.text);
    assert_string_equal(got, formula);
    mem_free(got);
}

static void test_constraints_are_translated(void **state)
{
    assert_translates("a*b<=10", "a * b <= 10");
    assert_translates("1 <= a*b <= 8 < a", "1 <= a * b and a * b <= 8 and 8 < a");
    assert_translates("(a + b) * (a - (b - 1)) == -a // 2", "(a + b) * (a - (b - 1)) == -a // 2");
    assert_translates("a % (b * 2) == 0", "a % (b * 2) == 0");
    assert_translates("a or b", "a != 0 or b != 0");
    assert_translates("not (a and not b)", "not (a != 0 and not b != 0)");
    assert_translates("a / b", "a / b != 0");
    assert_translates("w", "w != ''");
    assert_translates("(a or b) * 2 > 3", "select(a != 0, a, b) * 2 > 3");
    assert_translates("(a and x) < 1", "select(a != 0, x, a) < 1");
    assert_translates("(a == 1) + t == 2", "select(a == 1, 1, 0) + select(t, 1, 0) == 2");
    assert_translates("t == 1", "select(t, 1, 0) == 1");
    assert_translates("t == True and t != False", "t == true and t != false");
    assert_translates("a in [1, 2,] or w not in ('x', \"it's\")", "a == 1 or a == 2 or w != 'x' and w != \"it's\"");
    assert_translates("1 < a in (b, 3)", "1 < a and (a == b or a == 3)");
    assert_translates("not a in []", "not false");
    assert_translates("w == 3 or 3 != w", "false or true");
    assert_translates("x // 0.1 == 2.0", "1.0 * round((x - x % 0.1) / 0.1) == 2.0");
    assert_translates("0x1F == 0b11 + 0o7 + 1_000", "31 == 3 + 7 + 1000");
    assert_translates("1e3 > .5 > 1.", "1000.0 > 0.5 and 0.5 > 1.0");
    assert_translates("big * big * big > 5", "1.0 * big * big * big > 5");
    assert_translates("big * 2 + 1", "big * 2 + 1 != 0");
    assert_translates("+a == - - b", "a == -(-b)");
    assert_translates("(w or a)", "w != '' or a != 0");
}

static void assert_refused(const char *python, const char *message)
{
    char *got = NULL;
    if (python_constraint(python, &names, &got, &err) != LATHE_SPEC)
        fail_msg("'%s' gave '%s'", python, got);
    if (!strstr(err.text, message))
        fail_msg("'%s' gave '%s', not '%s'", python, err.text, message);
    assert_null(got);
}

static void test_the_rest_of_python_is_refused_by_name(void **state)
{
    static const char *const rows[][2] = {
        {"a ** 2 < 3", "column 3: `**` (a power)"},
        {"a & 1", "`&` (and of bits)"},
        {"a | b", "`|` (or of bits)"},
        {"a ^ b", "`^` (exclusive or of bits)"},
        {"~a", "`~` (not of bits)"},
        {"a << 1", "`<<` (a shift)"},
        {"a @ b", "`@`"},
        {"max(a, b) < 3", "column 1: `max(...)` (a call)"},
        {"(a)(b)", "a call is not read"},
        {"a.real", "`.` (an attribute)"},
        {"a[0]", "`[` (a subscript or a list)"},
        {"[a]", "`[` (a subscript or a list)"},
        {"{a}", "`{` (a set or a dictionary)"},
        {"lambda: a", "`lambda` (a function)"},
        {"a if b else 3", "`if` (a conditional expression)"},
        {"a is b", "`is` (a test of identity)"},
        {"a is None", "`is`"},
        {"a == None", "`None` (no value)"},
        {"a = 3", "`=` (an assignment)"},
        {"(c := a)", "unknown name 'c'"},
        {"a, b", "`,` (a tuple)"},
        {"a; b", "`;` (a second statement)"},
        {"a in b", "`in` wants a list"},
        {"w in 'abc'", "`in` wants a list"},
        {"a in (b)", "`in` wants a list"},
        {"a in {}", "(a dictionary)"},
        {"a in [a for x in b]", "`for` (a comprehension)"},
        {"w < 'x'", "`<` of texts"},
        {"w < 1", "`<` of a text and a number"},
        {"w + 'x' == w", "`+` of a text"},
        {"-w", "`-` of a text"},
        {"(w or a) == 1", "may be a text or a number"},
        {"f'x' == w", "a text with a prefix"},
        {"w == '''x'''", "triple quotes"},
        {"w == 'x' 'y'", "side by side"},
        {"w == '\\x41'", "this escape"},
        {"w == 'x", "has no end"},
        {"aa < 3", "unknown name 'aa': did you mean 'a'?"},
        {"a <", "expected a value, got the end"},
        {"(a", "expected `)`"},
        {"a b", "expected an operator or the end, got `b`"},
        {"", "expected a value, got the end"},
        {"012 == a", "malformed number"},
        {"1_ == a", "malformed number"},
        {"1a", "malformed number"},
        {"3j == a", "malformed number"},
        {"0x == a", "malformed number"},
        {"99999999999999999999 > a", "does not fit in 64 bits"},
        {"1e999 > a", "too large for a float"},
        {"a $ b", "`$` has no meaning"},
        {"a <> b", "expected a value"},
        {"a not b", "expected `in`, got `b`"},
        {"a in [1 2]", "got `2`"},
        {"a ! b", "`!` has no meaning"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused(rows[i][0], rows[i][1]);
    struct strbuf deep = {0};
    for (int i = 0; i < 5000; i++)
        sb_add(&deep, "(");
    assert_refused(sb_str(&deep), "nested more than");
    deep.len = 0;
    for (int i = 0; i < 5000; i++)
        sb_add(&deep, "not ");
    assert_refused(sb_str(&deep), "nested more than");
    deep.len = 0;
    for (int i = 0; i < 70; i++)
        sb_add(&deep, "(a < ");
    sb_add(&deep, "a");
    for (int i = 0; i < 70; i++)
        sb_add(&deep, " < b)");
    assert_refused(sb_str(&deep), "too long");
    sb_free(&deep);
}

static void assert_values(const char *text, const char *wanted)
{
    json_t *j = NULL;
    if (python_values(text, 100, &j, &err))
        fail_msg("%s", err.text);
    char *got = json_dumps(j, JSON_COMPACT);
    assert_string_equal(got, wanted);
    free(got);
    json_decref(j);
}

static void test_lists_of_values(void **state)
{
    assert_values("[1, 2.5, 'x', True,]", "[1,2.5,\"x\",true]");
    assert_values("[1, 2] + list(range(32, 100, 32)) + [-7 // 2]", "[1,2,32,64,96,-4]");
    assert_values("[2**i for i in range(0, 6)]", "[1,2,4,8,16,32]");
    assert_values("[j * 10 for j in [k + 1 for k in range(4)] if j % 2 == 0]", "[20,40]");
    assert_values("range(3, 0, -1)", "[3,2,1]");
    assert_values("(1, 2)", "[1,2]");
    assert_values("[]", "[]");
    assert_values("[2 ** -1, 2.0 ** 2, -2 ** 2]", "[0.5,4.0,-4]");
    static const char *const rows[][2] = {
        {"range(1000)", "more than 100 values"}, {"range(0, 5, 0)", "the step is 0"},
        {"range(1.5)", "range takes integers"},
        {"[1, 2", "expected `]`"},               {"5", "expected a list"},            {"[1 2]", "expected `]`"},
        {"sorted([1])", "expected a list"},      {"[1 / 0]", "division by zero"},     {"[1] * 3", "expected the end"},
        {"[i for i in [1, 'a']]", "different types"},
        {"[i for i in range(3) for j in range(3)]", "several `for`"},
        {"[2 ** 80]", "does not fit"},           {"[x]", "unknown name 'x'"},         {"", "expected a list"},
        {"range(1 or 'a')", "neither"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *j = NULL;
        assert_int_equal(python_values(rows[i][0], 100, &j, &err), LATHE_SPEC);
        if (!strstr(err.text, rows[i][1]))
            fail_msg("'%s' gave '%s', not '%s'", rows[i][0], err.text, rows[i][1]);
        assert_null(j);
    }
}

static void assert_tree(const char *text, const char *wanted)
{
    json_t *j = NULL;
    if (definition_read_text(text, strlen(text), "dir/some-space.x.json", &j, &err))
        fail_msg("%s", err.text);
    char *got = json_dumps(j, JSON_COMPACT);
    assert_string_equal(got, wanted);
    free(got);
    json_decref(j);
}

static void test_both_forms_become_a_space(void **state)
{
    assert_tree("{\"parameters\": {\"z\": [3, 1], \"a\": [1, 0.5]}, \"constraints\": [\"z > a\"], \"valid\": 4}",
                "{\"tag\":\"space\",\"name\":\"some_space\",\"params\":[[\"z\",[3,1]],[\"a\",[1.0,0.5]]],"
                "\"constraints\":[\"z > a\"]}");
    assert_tree("{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"f\", \"Type\": \"float\", \"Values\": "
                "\"[1, 2]\"}, {\"Name\": \"n\", \"Values\": [4, 5]}], "
                "\"Conditions\": [{\"Expression\": \"not (n == 4 and f == 1)\"}]},"
                "\"General\": {\"BenchmarkName\": \"3d\"}, \"KernelSpecification\": {}}",
                "{\"tag\":\"space\",\"name\":\"_3d\",\"params\":[[\"f\",[1.0,2.0]],[\"n\",[4,5]]],"
                "\"constraints\":[\"not (n == 4 and f == 1)\"]}");
}

/* Whatever refuses: the reader, or the model that takes its tree. */
static void test_what_is_no_definition(void **state)
{
    static const char *const rows[][2] = {
        {"", "line 1"},
        {"[]", "expected an object"},
        {"{}", "neither a definition"},
        {"{\"parameters\": {\"a\": [1]}, \"parameters\": {}}", "duplicate"},
        {"{\"parameters\": {\"a\": [1], \"a\": [2]}}", "duplicate"},
        {"{\"parameters\": {\"a\": [1]}, \"constrains\": []}",
         "unknown key 'constrains' (did you mean 'constraints'?)"},
        {"{\"constraints\": []}", "there are no parameters"},
        {"{\"parameters\": [1]}", "parameters: expected an object"},
        {"{\"parameters\": {\"a\": 1}}", "parameter a: expected a list"},
        {"{\"parameters\": {\"a\": []}}", "parameter a: expected a list of at least one value"},
        {"{\"parameters\": {\"a\": [null]}}", "parameter a: value 1 is no number"},
        {"{\"parameters\": {\"a\": [[1]]}}", "parameter a: value 1 is no number"},
        {"{\"parameters\": {\"a\": [1, \"x\"]}}", "a[2]: the values are of different types"},
        {"{\"parameters\": {\"a\": [1, 2, 1]}}", "a[3]: the value is there already"},
        {"{\"parameters\": {\"a\": [1, 1.0]}}", "a[2]: the value is there already"},
        {"{\"parameters\": {\"a b\": [1]}}", "a parameter's name"},
        {"{\"parameters\": {\"min\": [1]}}", "'min' cannot be a parameter's name: it is a function of formulas"},
        {"{\"parameters\": {\"kernel\": [1]}}", "'kernel' cannot be a parameter's name: it is what strategies ask"},
        {"{\"parameters\": {\"index\": [1]}}", "'index' cannot be a parameter's name: it is what strategies ask"},
        {"{\"parameters\": {\"a\": [\"x y\"]}}", "cannot be a value"},
        {"{\"parameters\": {\"a\": [1]}, \"constraints\": \"a\"}", "constraints: expected a list"},
        {"{\"parameters\": {\"a\": [1]}, \"constraints\": [1]}", "constraints[1]: expected a constraint"},
        {"{\"parameters\": {\"a\": [1]}, \"constraints\": [\"a\\u0000b\"]}", "line 1"},
        {"{\"parameters\": {\"a\": [1]}, \"constraints\": [\"a > 0\", \"b\"]}",
         "constraint 2: `b`: column 1: unknown name"},
        {"{\"parameters\": {\"a\": [123456789012345678901]}}", "line 1"},
        {"{\"ConfigurationSpace\": {}}", "TuningParameters: expected a list"},
        {"{\"ConfigurationSpace\": {\"TuningParameters\": [{}]}}", "TuningParameters[1]: there is no Name"},
        {"{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": \"[1\"}]}}",
         "parameter a: Values: `[1`"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *j = NULL;
        struct problem *p = NULL;
        status s = definition_read_text(rows[i][0], strlen(rows[i][0]), "t.json", &j, &err);
        if (!s)
            s = problem_from_json(j, "t.json", NULL, &p, &err);
        assert_int_equal(s, LATHE_SPEC);
        if (!strstr(err.text, rows[i][1]) || strncmp(err.text, "t.json: ", 8))
            fail_msg("'%s' gave '%s', not '%s'", rows[i][0], err.text, rows[i][1]);
        json_decref(j);
    }
}

static void test_names_that_mean_something_elsewhere_only(void **state)
{
    static const char text[] = "{\"parameters\": {\"warp_size\": [32], \"register\": [1, 2], \"lathe__z\": [1]},"
                               "\"constraints\": [\"register < warp_size\"]}";
    json_t *j = NULL;
    struct problem *p = NULL;
    assert_int_equal(definition_read_text(text, strlen(text), "t.json", &j, &err), LATHE_OK);
    if (problem_from_json(j, "t.json", NULL, &p, &err))
        fail_msg("%s", err.text);
    assert_true(p->space_alone);
    assert_int_equal(problem_needs_kernels(p, "check", &err), LATHE_USAGE);
    problem_free(p);
    json_decref(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constraints_are_translated),
        cmocka_unit_test(test_the_rest_of_python_is_refused_by_name),
        cmocka_unit_test(test_lists_of_values),
        cmocka_unit_test(test_both_forms_become_a_space),
        cmocka_unit_test(test_what_is_no_definition),
        cmocka_unit_test(test_names_that_mean_something_elsewhere_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
