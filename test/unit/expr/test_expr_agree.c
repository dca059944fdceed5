/* test_expr_agree.c: what the system's compiler makes of a printed expression computes what expr_eval computes, for
 * expressions written by hand and for random ones. */
#include "test/unit/expr/expr_c_fixture.h"

#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* a and b are 32-bit in the C text, and large enough that a product without a cast would overflow */
static const struct {
    int32_t a, b;
    int64_t c;
    double x, y;
    bool t;
} inputs[] = {
    {0, 1, 2, 0, 1, true},
    {7, -3, 5, 0.5, -0.25, false},
    {-7, 3, -64, -1.5, 2, true},
    {2000000000, 2000000000, 3, 1e6, 1e-6, true},
    {-2147483647 - 1, -1, INT64_C(1) << 40, -3.75, 100, false},
    {64, 8, 1, 2.5, 3.5, true},
    {1, 1, 0, -0.5, -2.5, false},
};
enum { NINPUTS = sizeof inputs / sizeof *inputs, FOLDED = 1 };

static void fill(int input, struct value *slots)
{
    memcpy(slots, known, sizeof known);
    slots[A] = value_int(inputs[input].a);
    slots[B] = value_int(inputs[input].b);
    slots[C] = value_int(inputs[input].c);
    slots[X] = value_float(inputs[input].x);
    slots[Y] = value_float(inputs[input].y);
    slots[T] = value_bool(inputs[input].t);
}

/* The same function as u and v of the C text. */
static double element(void *ctx, int slot, const int64_t *index, int rank)
{
    return slot == U ? 0.5 * (double)(index[0] % 16) : (double)(index[0] % 16) - 0.25 * (double)(index[1] % 16);
}

static const char c_head[] = "#include <stdio.h>\n"
                             "static double du(long long i) { return 0.5 * (double)(i % 16); }\n"
                             "static double dv(long long i, long long j)\n"
                             "{ return (double)(i % 16) - 0.25 * (double)(j % 16); }\n"
                             "static float fu(long long i) { return (float)du(i); }\n"
                             "static float fv(long long i, long long j) { return (float)dv(i, j); }\n";

static char *dir;

static int setup(void **state)
{
    make_scope();
    dir = mem_strdup("/tmp/lathe-test-expr-c-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    char *command = mem_printf("rm -rf '%s'", dir);
    int rc = system(command);
    mem_free(command);
    mem_free(dir);
    scope_free(&scope);
    return rc;
}

/* ---- a program of printed expressions, and what it should print ---- */

struct program {
    struct strbuf functions, body;
    double *wanted;
    char **labels;
    int count, cap, labels_cap, functions_count;
    double tolerance;
};

static void want(struct program *p, double value, const char *text, int input)
{
    int n = p->count;
    MEM_GROW(p->wanted, p->count, p->cap);
    MEM_GROW(p->labels, n, p->labels_cap);
    p->wanted[p->count] = value;
    p->labels[p->count++] = mem_printf("%s (input %d)", text, input);
}

static double as_double(struct value v)
{
    return v.type == VALUE_BOOL ? v.b : v.type == VALUE_INT ? (double)v.i : v.f;
}

/* Adds a function for x and a call for each input where evaluation gives a value; only for the input FOLDED where its
 * values were known to the printer. */
static void add(struct program *p, const struct expr *x, enum expr_c_float precision, const struct value *values,
                const char *c_text)
{
    enum value_type type = expr_type(x);
    const char *real = precision == EXPR_C_FLOAT ? "float" : "double";
    const char *own = type == VALUE_FLOAT ? real : type == VALUE_INT ? "long long" : "int";
    int id = p->functions_count++;
    sb_addf(&p->functions, "static %s f%d(int a, int b, long long c, %s x, %s y, int t)\n{\n", own, id, real, real);
    if (type != VALUE_BOOL)                         /* C's promotions have not changed the type */
        sb_addf(&p->functions, "    CHECK_TYPE(%s, %s);\n", own, c_text);
    sb_addf(&p->functions, "    return %s;\n}\n", c_text);
    int from = values == known ? 0 : FOLDED, to = values == known ? NINPUTS : FOLDED + 1;
    for (int i = from; i < to; i++) {
        struct value slots[NSLOTS], v;
        fill(i, slots);
        if (expr_eval_with(x, slots, element, NULL, &v, NULL))
            continue;
        want(p, as_double(v), expr_text(x), i);
        sb_addf(&p->body, "    printf(\"%%.17g\\n\", (double)f%d(a[%d], b[%d], c[%d], ", id, i, i, i);
        sb_addf(&p->body, "(%s)x[%d], (%s)y[%d], t[%d]));\n", real, i, real, i, i);
    }
}

static char *program_text(const struct program *p)
{
    struct strbuf b = {0};
    sb_add(&b, expr_c_helpers());
    sb_add(&b, expr_c_helpers());                   /* once more does no harm */
    sb_add(&b, c_head);
    sb_add(&b, "#ifdef __cplusplus\n#define CHECK_TYPE(t, e) (void)0\n#else\n"
               "#define CHECK_TYPE(t, e) _Static_assert(_Generic((e), t: 1, default: 0), \"type\")\n#endif\n");
    sb_add(&b, sb_str(&p->functions));
    sb_add(&b, "int main(void)\n{\n");
    static const char *const names[] = {"int a", "int b", "long long c", "double x", "double y", "int t"};
    for (int n = 0; n < 6; n++) {
        sb_addf(&b, "    static volatile %s[] = {", names[n]);
        for (int i = 0; i < NINPUTS; i++) {
            const double values[] = {inputs[i].a, inputs[i].b, (double)inputs[i].c,
                                     inputs[i].x, inputs[i].y, inputs[i].t};
            bool real = n == 3 || n == 4;
            sb_addf(&b, real ? "%.17g, " : "(long long)%.1f, ", values[n]);     /* all exact in a double */
        }
        sb_add(&b, "};\n");
    }
    sb_add(&b, sb_str(&p->body));
    sb_add(&b, "    (void)a[0], (void)b[0], (void)c[0], (void)x[0], (void)y[0], (void)t[0];\n");
    sb_add(&b, "    (void)fu(0), (void)fv(0, 0);\n");
    sb_add(&b, "    return 0;\n}\n");
    return sb_take(&b);
}

static void command(const char *fmt, const char *flags)
{
    char *line = mem_printf(fmt, dir, flags, dir, dir, dir);
    int rc = system(line);
    if (rc != 0) {
        char *log = mem_printf("cat %s/log >&2", dir);
        (void)!system(log);
        mem_free(log);
        fail_msg("failed: %s", line);
    }
    mem_free(line);
}

static bool close_enough(double got, double wanted, double tolerance)
{
    if (isnan(got) || isnan(wanted))
        return isnan(got) && isnan(wanted);
    return got == wanted || fabs(got - wanted) <= tolerance * fmax(1, fabs(wanted));
}

static void compare_output(const struct program *p)
{
    char *path = path_join(dir, "out"), *text = NULL;
    struct err e = {0};
    assert_int_equal(file_read(path, &text, NULL, &e), LATHE_OK);
    char *at = text, *end;
    for (int i = 0; i < p->count; i++, at = end) {
        double got = strtod(at, &end);
        if (end == at || !close_enough(got, p->wanted[i], p->tolerance))
            fail_msg("%s: C gives %.17g, evaluation %.17g", p->labels[i], got, p->wanted[i]);
    }
    strtod(at, &end);
    assert_ptr_equal(at, end);                      /* no line more */
    mem_free(text);
    mem_free(path);
}

/* Compiles, runs, compares; frees the program. as_cpp: also have a C++ compiler read it, if there is one. */
static void run(struct program *p, const char *flags, bool as_cpp)
{
    struct err e = {0};
    char *path = path_join(dir, "t.c"), *text = program_text(p);
    assert_int_equal(file_write_atomic(path, text, strlen(text), &e), LATHE_OK);
    command("cc -x c -std=c11 -O0 %.0s%s -o %s/t %s/t.c -lm 2>%s/log", flags);
    command("%s/t %.0s >%s/out%.0s%.0s", "");
    if (as_cpp && system("command -v c++ >/dev/null 2>&1") == 0)
        command("c++ -x c++ -std=c++17 -fsyntax-only %.0s%s %s/t.c %.0s 2>%s/log", flags);
    compare_output(p);
    for (int i = 0; i < p->count; i++)
        mem_free(p->labels[i]);
    mem_free(p->labels);
    mem_free(p->wanted);
    mem_free(text);
    mem_free(path);
    sb_free(&p->functions);
    sb_free(&p->body);
}

static const char *const by_hand[] = {
    "a + b * c", "(a + b) * c", "a - (b - c)", "a - b - c", "a * b", "a * a + b", "a + 2147483647", "-a", "- -a",
    "-(-3 - a)", "a - -3", "-9223372036854775808 + a", "a // 3", "a // b", "a // (b // c)", "a // b // c", "a % 3",
    "a % b", "a % -3", "c % a", "(a // b) * b + a % b == a", "K // 3", "K % 3 + a", "abs(a) // 3", "abs(a) % 3",
    "abs(a) // max(K, b)", "clamp(a, 0, 9) // 2", "select(t, 4, K) // 3 + a", "max(a, 0) % 16 // 3",
    "(abs(a) % 7 + 4) // 2 * 3", "ceil_div(a, K)", "ceil_div(abs(a), 16)", "ceil_div(abs(a), abs(b) + 1)",
    "ceil_div(K, 100) * a", "min(a, b)", "min(a, b, c)", "max(a, b, c, 3)", "max(a, x, b)", "min(a, 2.5)",
    "abs(a - b)", "abs(x - y)", "clamp(a, -2, 2)", "clamp(x, -1, 1)", "clamp(x, a, 3)", "floor(x)", "ceil(x) * 2",
    "round(y)", "floor(a)", "floor(x / 2) // 2", "is_pow2(c)", "log2(K) + a", "log2(64) * x", "log2(abs(c) % 2 + 1)",
    "a / b", "a / 2", "1 / 3 * x", "x / y", "x / (y / 2)", "x * (y * 3)", "x + (y + 1)", "x - (y - 1)", "-x",
    "-x * y", "x * -y", "-(x + y)", "x // 2", "x % 2", "x % -2", "a % 2.5", "y // 0.75", "a < b", "a < x", "x <= 1",
    "a == 7", "a != b", "x == a", "t == (a > b)", "t != false", "(a < b) == (b < c)", "not t", "not (a < b) and t",
    "a < b and b < c or t", "a < b or b < c and t", "(a < b or b < c) and t", "not (t or a < b)",
    "t and (a < b and b < c)", "t or (a < b or t)", "true and t", "t and true", "false or a < b", "select(t, a, b)",
    "select(t, a, x)", "select(a < b, select(t, 1, 2), select(x < y, 3, 4))", "select(t, a, b) + select(a < b, 1, 2)",
    "select(select(t, a < b, b < c), 1, 2)", "select(t and a < b, x, -x) * 2", "select(K > 100, a, b // 0)",
    "select(R == 'word', x, y)", "select(R == 'other', x, y) + K", "R != 'x' and t", "pow(x, 2)", "pow(abs(x), 0.5)",
    "sqrt(abs(x))", "rsqrt(abs(x) + 1)", "1 / rsqrt(abs(y) + 1)", "exp(-abs(x))", "expm1(y / 100)", "log(abs(x) + 1)",
    "log1p(abs(y))", "tanh(x)", "erf(y)", "sigmoid(x)", "sigmoid(-x)", "sigmoid(a / 1e9)", "x * sigmoid(y) * 2",
    "2 / sigmoid(y)", "gelu(x)", "mish(y)", "mish(-mish(x))",
    "sin(x / 1e6)", "cos(y)", "x / (1 + exp(-y / 100))",
    "0.5 * x * (1 + erf(x * 0.7071067811865476))", "max(x, 0)", "max(x, 0) + min(x, 0) * 0.01",
    "select(x > 0, x, exp(min(x, 0)) - 1)", "u[a]", "u[abs(a) % 8]", "v[abs(a) % 4, abs(b) % 4]", "v[a, b] - u[c]",
    "x * v[0, 1] + u[2] / 4", "u[floor(x)]", "max(u[1], x)", "1e-4", "3", "2.5", "true", "a * 1e10", "K", "x + K",
    "K + 0.5", "-K * x", "x - -2.5", "x * -2.5", "exp(x / 1e6) - exp(1)", "a + K // -3", "a + K % -7",
};

static void add_printed(struct program *p, const struct expr *x, enum expr_c_float precision,
                        const struct value *values)
{
    struct err e = {0};
    struct strbuf text = {0};
    if (print(&text, x, precision, values, &e))
        fail_msg("%s: %s", expr_text(x), e.text);
    add(p, x, precision, values, sb_str(&text));
    sb_free(&text);
}

/* With warnings as errors: people will read and compile this. */
static void agree_by_hand(void **state)
{
    struct program p = {0};
    struct value all[NSLOTS];
    fill(FOLDED, all);
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        struct expr *x = bound(by_hand[i]);
        add_printed(&p, x, EXPR_C_DOUBLE, known);
        add_printed(&p, x, EXPR_C_DOUBLE, all);     /* all but the tensors is folded */
        expr_free(x);
    }
    assert_true(p.count > 900);
    run(&p, "-Wall -Wextra -Werror -Wno-unused-parameter", true);
}

static void agree_in_float(void **state)
{
    static const char *const smooth[] = {
        "x * sigmoid(y)",
        "2 * x * sigmoid(x)",
        "x / 3 + y",
        "a / b",
        "a + x",
        "a * 2.0",
        "x * K",
        "-x * y",
        "max(x, 0, y)",
        "min(a, x)",
        "clamp(x, -1, 1)",
        "pow(abs(y), 1.5)",
        "sqrt(abs(x))",
        "rsqrt(abs(x) + 1)",
        "exp(-abs(x))",
        "expm1(y / 100)",
        "log(abs(x) + 1)",
        "log1p(abs(y))",
        "tanh(x)",
        "erf(y)",
        "gelu(x)",
        "mish(x)",
        "mish(y / 1e3)",
        "sin(y)",
        "cos(y)",
        "abs(x)",
        "x // 2",
        "x % 2",
        "select(t, x, a)",
        "select(x > 0, x, exp(min(x, 0)) - 1)",
        "0.5 * x * (1 + erf(x * 0.7071067811865476))",
        "u[3] * x + v[1, 2]",
        "1e-4 * x",
        "0.1",
        "1 / 3",
        "x + 1e-30",
        "u[a]",
    };
    struct program p = {.tolerance = 1e-5};
    for (size_t i = 0; i < sizeof smooth / sizeof *smooth; i++) {
        struct expr *x = bound(smooth[i]);
        add_printed(&p, x, EXPR_C_FLOAT, known);
        expr_free(x);
    }
    run(&p, "-Wall -Wextra -Werror -Wno-unused-parameter -Wdouble-promotion", true);
}

/* ---- random expressions ---- */

static uint64_t pick(struct rng *r, uint64_t n)
{
    return rng_below(r, n);
}

static void random_expr(struct strbuf *b, struct rng *r, enum value_type type, int depth);

/* I, F and B in the shape are replaced by random expressions of that type. */
static void compose(struct strbuf *b, struct rng *r, int depth, const char *shape)
{
    for (; *shape; shape++) {
        if (*shape == 'I')
            random_expr(b, r, VALUE_INT, depth - 1);
        else if (*shape == 'F')
            random_expr(b, r, VALUE_FLOAT, depth - 1);
        else if (*shape == 'B')
            random_expr(b, r, VALUE_BOOL, depth - 1);
        else
            sb_addn(b, shape, 1);
    }
}

static void random_expr(struct strbuf *b, struct rng *r, enum value_type type, int depth)
{
    static const char *const int_leaves[] = {"a", "b", "c", "K", "0", "1", "2", "7", "-3", "64", "1000000007"};
    static const char *const int_shapes[] = {
        "(I + I)", "(I - I)", "I * I", "(I // I)", "(I % I)", "I // 4 % 5", "-I", "min(I, I)", "max(I, I, I)",
        "abs(I)", "floor(F)",
        "round(F)", "ceil(F)", "select(B, I, I)", "clamp(I, -9, I)", "ceil_div(I, 8)", "ceil_div(I, I)", "log2(I)",
        "(I - (I - I))",
        "abs(I) // 3", "abs(I) % max(I, 1)",
    };
    static const char *const float_leaves[] = {"x", "y", "0.5", "-2.25", "1e3", "3.0"};
    static const char *const float_shapes[] = {
        "(F + F)", "(F - F)", "F * F", "F / F", "(F // F)", "(F % F)", "-F", "min(F, I)", "max(F, F, F)", "abs(F)",
        "(I / I)", "(F + I)",
        "I * F", "select(B, F, F)", "select(B, I, F)", "clamp(F, -1, 1)", "sigmoid(F)", "tanh(F)",
        "gelu(F)", "mish(F)", "exp(clamp(F, -5, 5))", "sqrt(F)",
        "erf(F)", "pow(F, 2)", "rsqrt(F)", "u[I % 8]", "v[abs(I) % 5, I % 3]", "(F - (F - F))", "F / (F / F)",
    };
    static const char *const bool_leaves[] = {"t", "true", "false", "R == 'word'", "R != 'word'"};
    static const char *const bool_shapes[] = {
        "(I < I)", "(I <= F)", "(F > F)", "(F >= I)", "(I == I)", "(F != F)", "(B and B)", "(B or B)",
        "B and B or B", "(not B)",
        "(B == B)", "(B != B)", "select(B, B, B)", "is_pow2(I)", "(I % 2 == 0)",
    };
#define PICK(list) (list)[pick(r, sizeof(list) / sizeof *(list))]
    bool leaf = depth <= 0 || pick(r, 6) == 0;
    if (type == VALUE_INT)
        compose(b, r, depth, leaf ? PICK(int_leaves) : PICK(int_shapes));
    else if (type == VALUE_FLOAT)
        compose(b, r, depth, leaf ? PICK(float_leaves) : PICK(float_shapes));
    else if (leaf)
        sb_addf(b, "(%s)", PICK(bool_leaves));
    else {
        sb_add(b, "(");
        compose(b, r, depth, PICK(bool_shapes));
        sb_add(b, ")");
    }
#undef PICK
}

static void agree_at_random(void **state)
{
    struct program p = {0};
    struct rng r;
    int made = 0, refused = 0;
    rng_seed(&r, 20);
    struct value all[NSLOTS];
    fill(FOLDED, all);
    for (int i = 0; i < 450; i++) {
        static const enum value_type types[] = {VALUE_INT, VALUE_FLOAT, VALUE_BOOL};
        struct strbuf text = {0}, c_text = {0};
        random_expr(&text, &r, types[i % 3], 1 + (int)pick(&r, 5));
        struct expr *x = bound(sb_str(&text));
        struct err e = {0};
        const struct value *values = pick(&r, 4) ? known : all;
        if (print(&c_text, x, EXPR_C_DOUBLE, values, &e)) {
            refused++;                              /* a constant part cannot be computed, as in (1 - 1) % 0 */
            assert_non_null(strstr(e.text, "this cannot be computed"));
        } else {
            made++;
            add(&p, x, EXPR_C_DOUBLE, values, sb_str(&c_text));
        }
        expr_free(x);
        sb_free(&c_text);
        sb_free(&text);
    }
    assert_true(made > 350);
    assert_true(p.count > 1300);
    run(&p, "-w", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agree_by_hand),
        cmocka_unit_test(agree_in_float),
        cmocka_unit_test(agree_at_random),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
