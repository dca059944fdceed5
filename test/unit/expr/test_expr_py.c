/* test_expr_py.c: the text of expressions printed as Python, of numbers and of torch tensors.
 * test/cli/export_torch.bats runs such text. */
#include "test/unit/expr/expr_c_fixture.h"

/* x and a are tensors, as all elements are; y, b and c are numbers. */
static bool is_tensor(int slot, void *ctx)
{
    (void)ctx;
    return slot == X || slot == A;
}

static void name(struct strbuf *b, int slot, char *const *index, int rank, void *ctx)
{
    (void)ctx;
    sb_add(b, scope.names[slot].name);
    for (int i = 0; i < rank; i++)
        sb_addf(b, "%s%s%s", i ? ", " : "[", index[i], i + 1 < rank ? "" : "]");
}

static const struct expr_py how = {.name = name, .tensor = is_tensor};

static int setup(void **state)
{
    make_scope();
    return 0;
}

static int teardown(void **state)
{
    scope_free(&scope);
    return 0;
}

static void texts(void **state)
{
    static const struct {
        const char *text, *python;
    } cases[] = {
        {"2.5 * x * sigmoid(x)", "2.5 * x * torch.sigmoid(x)"},
        {"y * sigmoid(-y)", "y * (1.0 / (1.0 + math.exp(-(-y))))"},
        {"x - (y - 1)", "x - (y - 1)"},
        {"-x * -1", "-x * -1"},
        {"-(x + 1)", "-(x + 1)"},
        {"(a + b) // 2 % c", "(a + b) // 2 % c"},
        {"ceil_div(b, 8) * 2", "lathe_ceil_div(b, 8) * 2"},
        {"x / 2 * 0.25", "x / 2 * 0.25"},
        {"1 / 4 * x", "0.25 * x"},
        {"max(x, 0)", "torch.clamp(x, min=0)"},
        {"min(1.5, x)", "torch.clamp(x, max=1.5)"},
        {"max(x, u[a])", "torch.maximum(x, u[a])"},
        {"min(b, c, 3)", "min(min(b, c), 3)"},
        {"max(y, x, v[a, b])", "torch.maximum(torch.clamp(x, min=y), v[a, b])"},
        {"clamp(x, -1.0, y)", "torch.clamp(torch.clamp(x, min=-1.0), max=y)"},
        {"clamp(x, u[b], 1)", "torch.clamp(torch.maximum(x, u[b]), max=1)"},
        {"select(x > 0, x, 0.1 * x)", "torch.where(x > 0, x, 0.1 * x)"},
        {"select(b > 0, x, y) * 2", "(x if b > 0 else y) * 2"},
        {"select(x > 0 and y > 0 or not t, 1, 2)", "torch.where(((x > 0) & (y > 0)) | (not t), 1, 2)"},
        {"select(not (x > 0), 1, 2)", "torch.where(~(x > 0), 1, 2)"},
        {"select(b > 0 and c > 0 or t, 1, 2)", "1 if b > 0 and c > 0 or t else 2"},
        {"select((b > 0) == (c > 0), 1, 2)", "1 if (b > 0) == (c > 0) else 2"},
        {"select(t and true, x, y)", "x if t and True else y"},
        {"tanh(x) + exp(y) + pow(x, 2)", "torch.tanh(x) + math.exp(y) + torch.pow(x, 2)"},
        {"rsqrt(x) + rsqrt(y)", "torch.rsqrt(x) + 1.0 / math.sqrt(y)"},
        {"gelu(x) * mish(y)",
         "torch.nn.functional.gelu(x) * (lambda v: v * math.tanh(math.log1p(math.exp(min(v, 20.0)))))(y)"},
        {"mish(x) * gelu(y)",
         "torch.nn.functional.mish(x) * (lambda v: 0.5 * v * (1.0 + math.erf(v * 0.7071067811865476)))(y)"},
        {"abs(x) + abs(b)", "abs(x) + abs(b)"},
        {"floor(x) + ceil(y) + round(x) + floor(b)",
         "torch.floor(x).long() + math.ceil(y) + lathe_round(x) + b"},
        {"v[a + 1, b // 2]", "v[a + 1, b // 2]"},
        {"log2(b) + log2(8)", "lathe_log2(b) + 3"},
        {"-9223372036854775808 + b", "-9223372036854775808 + b"},
        {"b - -1", "b - -1"},
    };
    struct err e = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr *x = bound(cases[i].text);
        struct strbuf b = {0};
        if (expr_print_py(&b, x, &how, &e))
            fail_msg("%s: %s", cases[i].text, e.text);
        assert_string_equal(sb_str(&b), cases[i].python);
        sb_free(&b);
        expr_free(x);
    }
}

static void no_texts(void **state)
{
    struct err e = {0};
    struct strbuf b = {0};
    struct expr *x = bound("select(R == 'word', x, y)");
    sb_add(&b, "before");
    assert_int_equal(expr_print_py(&b, x, &how, &e), LATHE_SPEC);
    assert_non_null(strstr(e.text, "a string has no form in Python"));
    assert_string_equal(sb_str(&b), "before");
    sb_free(&b);
    expr_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(no_texts)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
