/* test_expr_errors.c: expressions that are refused, what the messages say, and the limits. */
#include "test/unit/expr/expr_fixture.h"

/* The message has every part that is separated by " | ". */
static void refused(const char *text, const char *parts)
{
    struct expr *x = NULL;
    struct err e = {0};
    status s = expr_parse(text, &x, &e);
    if (!s)
        s = expr_bind(x, &scope, &e);
    expr_free(x);
    if (s != LATHE_SPEC)
        fail_msg("%s: was not refused", text);
    char copy[400];
    assert_true(strlen(parts) < sizeof copy);
    strcpy(copy, parts);
    for (char *part = copy, *next; part; part = next) {
        next = strstr(part, " | ");
        if (next) {
            *next = 0;
            next += 3;
        }
        if (!strstr(e.text, part))
            fail_msg("%s: wanted \"%s\" in: %s", text, part, e.text);
    }
}

static void refuse_all(const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        refused(pairs[i].text, pairs[i].wanted);
}
#define REFUSE_ALL(pairs) refuse_all(pairs, sizeof(pairs) / sizeof *(pairs))

static void syntax_errors(void **state)
{
    static const struct pair cases[] = {
        {"", "expected a value, got the end"}, {"  ", "got the end"}, {"1 +",
        "expected a value, got the end\n  1 +\n     ^"},
        {"(BM + ) * 2", "expected a value, got `)`\n  (BM + ) * 2\n        ^"}, {"(1", "expected `)`, got the end"},
        {"1)", "expected an operator or the end, got `)`"}, {"1 2", "expected an operator or the end, got `2`"},
        {"BM BN", "got `BN`"}, {"min(1, 2", "expected `,` or `)`, got the end"}, {"min(1,)",
        "expected a value, got `)`"},
        {"X[1 2]", "expected `,` or `]`"}, {"X[]", "an element needs its indices, as in X[i]"}, {"[1]",
        "expected a value, got `[`"},
        {"+1", "expected a value, got `+`"}, {"1 + * 2", "got `*`"}, {"a not b", "got `not`"},
        {"'this is a long word' 'b'", "got `'b'`"},
        {"1 'this is a very long word'", "`'this is a very long...`"}, {"BM == not flag",
        "put the `not` and what it applies to in parentheses"},
        {"1 < 2 < 3", "comparisons cannot be chained: write `a < b and b < c` | \n        ^"},
        {"BM == BN == 1", "cannot be chained"}, {"BM = 3", "`=` | write `==`"}, {"BM === 3", "`===` | write `==`"},
        {"BM ~= 3", "write `!=`"},
        {"BM <> 3", "write `!=`"}, {"BM =< 3", "write `<=`"}, {"BM => 3", "write `>=`"}, {"flag && flag",
        "`&&` | write `and`"},
        {"flag || flag", "`||` | write `or`"}, {"!flag", "`!` | write `not`"}, {"2 ^ 3", "`^` | write `pow(a, b)`"},
        {"2 ** 3", "`**` | write `pow(a, b)`"}, {"flag ? 1 : 2", "`?` | write `select(condition, a, b)`"},
        {"1 << 2", "no bit operations"},
        {"1 & 2", "write `and`"}, {"1 | 2", "write `or`"}, {"~1", "write `not`"}, {"1; 2", "`;` | one formula"},
        {"BM.x", "names have no fields"},
        {"'a'..'b'", "strings cannot be joined"}, {"#X", "no length operator"}, {"{1}", "`{` has no meaning here"},
        {"\xE2\x82\xAC + 1", "`\xE2\x82\xAC` has no meaning here"}, {"1 + \x01", "control character (byte 1)"},
        {"12ab", "malformed number `12a`"}, {"1..2", "malformed number `1..`"}, {"1.2.3", "malformed number"},
        {"1e", "malformed number: an exponent"},
        {"1e+", "an exponent looks like 1e-4"}, {"0x", "hexadecimal integers look like 0x1F"}, {"0xG",
        "hexadecimal"}, {"0x1.8", "hexadecimal"},
        {"1.0f", "malformed number `1.0f`"}, {"9223372036854775808",
        "does not fit in 64 bits: the largest is 9223372036854775807"},
        {"99999999999999999999", "does not fit in 64 bits: write it as a float"}, {"0x8000000000000000",
        "does not fit in 64 bits"},
        {"1e999", "too large for a float"}, {"'abc", "this string has no end"}, {"\"abc'", "expected a second \""},
        {"'a\nb'", "no end"},
        {"sqroot(3)", "unknown function `sqroot`: did you mean `sqrt`?"}, {"frobnicate(3)",
        "unknown function `frobnicate`: there are min max"},
        {"BM(3)", "unknown function `BM`"}, {"min(1)", "`min` takes at least 2 arguments, got 1"}, {"min()",
        "got 0"}, {"exp()", "`exp` takes 1 argument, got 0"},
        {"exp(1, 2)", "`exp` takes 1 argument, got 2"}, {"select(flag, 1)", "`select` takes 3 arguments, got 2"},
    };
    REFUSE_ALL(cases);
}

static void type_errors(void **state)
{
    static const struct pair cases[] = {
        {"BMM + 1", "unknown name `BMM`: did you mean `BM`?\n  BMM + 1\n  ^"}, {"1 + max_sharde",
        "did you mean `max_shared`? |     ^"},
        {"quux", "unknown name `quux`: the names here are BM, BN, neg, zero"}, {"min",
        "`min` is a function: write its arguments, as in min(...)"},
        {"X", "`X` is a tensor: use an element of it, with 2 indices, as in X[i, ...]"}, {"b + 1",
        "with 1 index, as in b[i]"},
        {"BM[1]", "`BM` is no tensor and takes no index"}, {"X[1]", "`X` has 2 dimensions, got 1 index"},
        {"b[1, 2]", "`b` has 1 dimension, got 2 indices"},
        {"Z[1]", "unknown name `Z`"}, {"X[1, s]", "an index is an integer, but `s` is a float | \n       ^"},
        {"X[flag, 1]", "`flag` is a boolean"},
        {"flag + 1", "`+` takes numbers, but `flag` is a boolean: write `select(condition, 1, 0)`"}, {"REDUCE * 2",
        "`REDUCE` is a string"},
        {"-flag", "`-` takes numbers"}, {"flag < 1", "`<` takes numbers"}, {"REDUCE < 'b'",
        "`<` takes numbers, but `REDUCE` is a string"},
        {"BM and flag", "`and` takes conditions, but `BM` is an integer: write `x != 0`"}, {"flag or (BM + 1)",
        "`(BM + 1)` is an integer: write `x != 0`"},
        {"not BM", "`not` takes conditions | write `x != 0`"}, {"not s", "`s` is a float: write `x != 0`"},
        {"flag and REDUCE", "`REDUCE` is a string"},
        {"select(BM, 1, 2)", "`select` takes a condition first, but `BM` is an integer: write `x != 0`"},
        {"select(flag, 1, 'a')", "`select` takes two of a kind, but `1` is an integer and `'a'` is a string"},
        {"BM == REDUCE", "`==` takes two of a kind, but `BM` is an integer and `REDUCE` is a string"},
        {"flag != 1", "`!=` takes two of a kind"},
        {"ceil_div(BM, 2.0)", "`ceil_div` takes integers, but `2.0` is a float: use floor, ceil or round first"},
        {"log2(s)", "takes integers"},
        {"is_pow2(BM / 2)", "`BM / 2` is a float"}, {"log2(flag)", "`flag` is a boolean"}, {"exp(flag)",
        "`exp` takes numbers"}, {"floor('a')", "takes numbers"},
        {"min(1, flag)", "`min` takes numbers, but `flag` is a boolean"}, {"clamp(1, 2, REDUCE)",
        "`clamp` takes numbers"},
    };
    REFUSE_ALL(cases);
}

static void evaluates(const char *text, int64_t wanted)
{
    struct expr *x = bound(text);
    struct err e = {0};
    int64_t got = 0;
    if (expr_eval_int(x, slots, &got, &e))
        fail_msg("%s", e.text);
    assert_int_equal(got, wanted);
    expr_free(x);
}

static void limits(void **state)
{
    struct strbuf b = {0};
    for (int i = 0; i < 199; i++)
        sb_add(&b, "(");
    sb_add(&b, "BM");
    for (int i = 0; i < 199; i++)
        sb_add(&b, ")");
    evaluates(sb_str(&b), 64);
    char *deeper = mem_printf("(%s)", sb_str(&b));
    refused(deeper, "nested too deeply | ...");
    mem_free(deeper);
    sb_free(&b);
    sb_add(&b, "1");
    for (int i = 0; i < 998; i++)
        sb_add(&b, " + BM");
    evaluates(sb_str(&b), 63873);
    for (int i = 0; i < 100; i++)
        sb_add(&b, " + BM");
    refused(sb_str(&b), "more than 1000 operations in a chain: split the expression");
    sb_free(&b);
    sb_add(&b, "max(1");
    for (int i = 0; i < 10000; i++)
        sb_addf(&b, ",%d", i);
    sb_add(&b, ")");
    evaluates(sb_str(&b), 9999);
    while (b.len <= 64 << 10)
        sb_add(&b, "      ");
    refused(sb_str(&b), "is too long (at most 65536)");
    sb_free(&b);
    for (int i = 0; i < 98; i++)                    /* products wait on the stack */
        sb_add(&b, "BM * 1 - (");
    sb_add(&b, "1");
    for (int i = 0; i < 98; i++)
        sb_add(&b, ")");
    evaluates(sb_str(&b), 1);
    sb_free(&b);
    for (int i = 0; i < 40; i++)                    /* seven wait in each of 40 levels */
        sb_add(&b, "V[BM+0,BM+0,BM+0,BM+0,BM+0,BM+0,BM+0,floor(");
    sb_add(&b, "1.5");
    for (int i = 0; i < 40; i++)
        sb_add(&b, ")]");
    struct scope deep = {0};
    struct expr *x = NULL;
    struct err e = {0};
    scope_add(&deep, "V", VALUE_FLOAT, 8);
    scope_add(&deep, "BM", VALUE_INT, 0);
    assert_int_equal(expr_parse(sb_str(&b), &x, &e), LATHE_OK);
    assert_int_equal(expr_bind(x, &deep, &e), LATHE_SPEC);
    assert_non_null(strstr(e.text, "nested too deeply"));
    assert_int_equal(expr_type(x), VALUE_NONE);
    expr_free(x);
    scope_free(&deep);
    sb_free(&b);
}

static void long_text_in_messages(void **state)
{
    struct strbuf b = {0};
    for (int i = 0; i < 100; i++)
        sb_add(&b, "BM + ");
    sb_add(&b, "oops");
    for (int i = 0; i < 100; i++)
        sb_add(&b, " + BM");
    struct expr *x = NULL;
    struct err e = {0};
    assert_int_equal(expr_parse(sb_str(&b), &x, &e), LATHE_OK);
    assert_int_equal(expr_bind(x, &scope, &e), LATHE_SPEC);
    assert_true(strlen(e.text) < 400);
    const char *line = strchr(e.text, '\n') + 1, *caret = strchr(line, '\n') + 1;
    assert_int_equal(strstr(line, "oops") - line, strchr(caret, '^') - caret);
    expr_free(x);
    sb_free(&b);
    refused("'\xC3\xA9\xC3\xA9' == oops", "\n          ^");    /* the caret counts characters, not bytes */
    refused("1 +\n oops", "1 +  oops\n       ^");               /* one line, whatever the text has */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syntax_errors), cmocka_unit_test(type_errors), cmocka_unit_test(limits),
        cmocka_unit_test(long_text_in_messages),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
