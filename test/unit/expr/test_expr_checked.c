/* test_expr_checked.c: printed C that notes what has no value (struct expr_c's `undefined`): for random formulas of
 * integers it has the value that expr_eval has, or says that there is none where that fails, and does nothing that C
 * leaves undefined; and a formula's bounds hold its values. */
#include "test/unit/expr/expr_c_fixture.h"

#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct expr_range ranges[NSLOTS] = {
    [A] = {1, INT32_MAX}, [B] = {INT32_MIN, INT32_MAX}, [C] = {INT64_MIN, INT64_MAX}, [K] = {128, 128}};
static const int64_t inputs[][3] = {
    {1, 0, 0}, {1, -1, 1}, {7, 3, -5}, {64, -8, 1024}, {2147483647, 2147483647, INT64_MAX},
    {2147483647, -2147483647 - 1, INT64_MIN}, {2, -1, INT64_MIN}, {3, 1, INT64_MAX}, {2147483647, 2, (int64_t)1 << 62}};
enum { NINPUTS = sizeof inputs / sizeof *inputs, FORMULAS = 3000, MOST_TEXT = 200 };

static void random_formula(struct strbuf *b, struct rng *r, bool integer, int depth)
{
    static const char *const leaves[] = {"a", "b", "c", "K", "0", "1", "2", "7", "-1", "64", "9223372036854775807",
                                         "4611686018427387904"};
    static const char *const integers[] = {
        "(I + I)", "(I - I)", "I * I", "I * I", "(I // I)", "(I % I)", "-I", "min(I, I)", "max(I, I, I)", "abs(I)",
        "ceil_div(I, I)", "ceil_div(abs(I), 64)", "clamp(I, -9, I)", "select(B, I, I)", "log2(I)", "floor(I * 1.5)",
        "round(I / I)", "ceil(I - 0.5)", "I"};
    static const char *const booleans[] = {"I < I", "I == I", "I > 0 and I < 9", "B or B", "not B", "is_pow2(I)"};
    if (integer && depth <= 0) {
        sb_add(b, leaves[rng_below(r, sizeof leaves / sizeof *leaves)]);
        return;
    }
    const char *shape = integer ? integers[rng_below(r, sizeof integers / sizeof *integers)]
                                : booleans[rng_below(r, depth > 0 ? sizeof booleans / sizeof *booleans : 2)];
    sb_add(b, integer ? "" : "(");
    for (; *shape; shape++) {
        if (*shape == 'I' || *shape == 'B') random_formula(b, r, *shape == 'I', depth - 1);
        else sb_addn(b, shape, 1);
    }
    sb_add(b, integer ? "" : ")");
}

/* Adds a function of the formula and what it gives at each input; false if it cannot be printed. */
static bool add(struct strbuf *functions, struct strbuf *body, struct strbuf *wanted, int id, const struct expr *x,
                int *values, int *none)
{
    struct expr_c how = {.precision = EXPR_C_DOUBLE, .known = known, .name = print_name, .undefined = "undefined",
                         .ranges = ranges};
    struct strbuf text = {0};
    struct err ignored = {0};
    how.ctx = &how;
    if (expr_print_c(&text, x, &how, &ignored))
        return false;
    sb_addf(functions, "static void f%d(int a, int b, long long c)\n{\n    int undefined = 0;\n    long long v = %s;\n"
            "    if (undefined) puts(\"none\");\n    else printf(\"%%lld\\n\", v);\n    (void)a, (void)b, (void)c;\n}\n",
            id, sb_str(&text));
    sb_free(&text);
    struct expr_range within = expr_range_of(x, known, ranges);
    for (int i = 0; i < NINPUTS; i++) {
        struct value slots[NSLOTS], v;
        memcpy(slots, known, sizeof known);
        for (int s = 0; s < 3; s++)
            slots[A + s] = value_int(inputs[i][s]);
        bool has = !expr_eval(x, slots, &v, NULL);
        sb_addf(body, "    f%d((int)%lldLL, (int)%lldLL, (long long)%lluULL);\n", id, (long long)inputs[i][0],
                (long long)inputs[i][1], (unsigned long long)inputs[i][2]);
        if (has) sb_addf(wanted, "%lld\n", (long long)v.i);
        else sb_add(wanted, "none\n");
        *values += has;
        *none += !has;
        if (has && (v.i < within.low || v.i > within.high))
            fail_msg("%s is %lld, not within %lld and %lld", expr_text(x), (long long)v.i, (long long)within.low,
                     (long long)within.high);
    }
    return true;
}

/* The first line that differs, with its formula's function. */
static void same_lines(const char *got, const char *wanted, char *const *formulas)
{
    for (int i = 0; *wanted || *got; i++) {
        size_t g = strcspn(got, "\n"), w = strcspn(wanted, "\n");
        if (g != w || strncmp(got, wanted, g))
            fail_msg("%s, input %d: C gives %.*s, evaluation %.*s", formulas[i / NINPUTS], i % NINPUTS, (int)g, got,
                     (int)w, wanted);
        got += g + (got[g] == '\n');
        wanted += w + (wanted[w] == '\n');
    }
}

static void agree(void **state)
{
    static char dir[] = "/tmp/lathe-test-checked-XXXXXX";
    static char *formulas[FORMULAS];
    struct strbuf functions = {0}, body = {0}, wanted = {0}, said = {0};
    struct rng r;
    int n = 0, values = 0, none = 0;
    if (system("command -v ${CC:-cc} >/dev/null"))
        skip();
    make_scope();
    rng_seed(&r, 11);
    while (n < FORMULAS) {
        struct strbuf text = {0};
        random_formula(&text, &r, true, 1 + (int)rng_below(&r, 4));
        if (text.len <= MOST_TEXT) {
            struct expr *x = bound(sb_str(&text));
            if (add(&functions, &body, &wanted, n, x, &values, &none))
                formulas[n++] = mem_strdup(sb_str(&text));
            expr_free(x);
        }
        sb_free(&text);
    }
    assert_in_range(none, FORMULAS, 8 * FORMULAS);
    assert_in_range(values, FORMULAS, 8 * FORMULAS);
    assert_non_null(mkdtemp(dir));
    char *path = path_join(dir, "t.c"), part[4096];
    char *program = mem_printf("#include <limits.h>\n#include <stdio.h>\n%s%s%sint main(void)\n{\n%s    return 0;\n}\n",
                               expr_c_helpers(), expr_c_guards(), sb_str(&functions), sb_str(&body));
    assert_int_equal(file_write_atomic(path, program, strlen(program), NULL), LATHE_OK);
    char *command = mem_printf("${CC:-cc} -std=c11 -O0 -w -fsanitize=signed-integer-overflow,integer-divide-by-zero,"
                               "float-cast-overflow -fsanitize-undefined-trap-on-error -o %s/t %s -lm 2>&1 && %s/t; "
                               "rm -rf %s", dir, path, dir, dir);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    for (size_t got; (got = fread(part, 1, sizeof part, f)) > 0;)
        sb_addn(&said, part, got);
    assert_int_equal(pclose(f), 0);
    same_lines(sb_str(&said), sb_str(&wanted), formulas);
    for (int i = 0; i < n; i++)
        mem_free(formulas[i]);
    mem_free(command);
    mem_free(program);
    mem_free(path);
    sb_free(&functions);
    sb_free(&body);
    sb_free(&wanted);
    sb_free(&said);
    scope_free(&scope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
