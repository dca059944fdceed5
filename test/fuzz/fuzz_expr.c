/* fuzz_expr.c: any text through the whole expression language: parse, bind, evaluate, explain, print as C.
 *
 * With libFuzzer: clang -fsanitize=fuzzer,address,undefined, linked with tuner/expr/expr*.c, tuner/expr/value.c and
 * tuner/base. test/unit/expr/test_expr_fuzz.c runs the same function over random texts. What must hold besides no
 * crash and no leak: a failure has a message and leaves no output, an evaluation gives the static type, and the same
 * value when it is done again. */
#include "base/mem.h"
#include "expr/expr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_SLOTS = 8 };

static void fuzz_scope(struct scope *scope, struct value *slots)
{
    static const struct {
        const char *name;
        enum value_type type;
        int rank;
        struct value value;
    } names[FUZZ_SLOTS] = {
        {"a", VALUE_INT, 0, {.type = VALUE_INT, .i = 7}},
        {"b", VALUE_INT, 0, {.type = VALUE_INT, .i = -3}},
        {"N", VALUE_INT, 0, {.type = VALUE_INT, .i = INT64_MAX}},
        {"x", VALUE_FLOAT, 0, {.type = VALUE_FLOAT, .f = 0.5}},
        {"y", VALUE_FLOAT, 0, {.type = VALUE_INT, .i = 2}},
        {"t", VALUE_BOOL, 0, {.type = VALUE_BOOL, .b = true}},
        {"w", VALUE_STRING, 0, {.type = VALUE_STRING, .s = "word"}},
        {"T", VALUE_FLOAT, 2, {.type = VALUE_NONE}},
    };
    for (int i = 0; i < FUZZ_SLOTS; i++) {
        scope_add(scope, names[i].name, names[i].type, names[i].rank);
        slots[i] = names[i].value;
    }
}

static double fuzz_element(void *ctx, int slot, const int64_t *index, int rank)
{
    return (double)index[0] + 0.5 * (double)index[rank - 1];
}

static void fuzz_name(struct strbuf *b, int slot, char *const *index, int rank, void *ctx)
{
    sb_addf(b, "v%d", slot);
    for (int i = 0; i < rank; i++)
        sb_addf(b, "[%s]", index[i]);
}

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void fuzz_bound(const struct expr *x, const struct value *slots, const struct scope *scope)
{
    struct err e = {0};
    struct value v = {0}, again = {0};
    bool ok = expr_eval(x, slots, &v, &e) == LATHE_OK;
    require(ok ? v.type == expr_type(x) : e.code == LATHE_SPEC && e.text[0]);
    if (ok) {
        require(expr_eval(x, slots, &again, &e) == LATHE_OK);
        require(value_equal(v, again) || (v.type == VALUE_FLOAT && isnan(v.f) && isnan(again.f)));
    }
    (void)expr_eval_with(x, slots, fuzz_element, NULL, &v, &e);
    int64_t i;
    double f;
    bool t;
    (void)expr_eval_int(x, slots, &i, &e);
    (void)expr_eval_double(x, slots, &f, &e);
    (void)expr_eval_bool(x, slots, &t, &e);
    struct strbuf b = {0};
    expr_explain(&b, x, slots);
    for (int variant = 0; variant < 4; variant++) {
        struct expr_c how = {.precision = variant & 1 ? EXPR_C_DOUBLE : EXPR_C_FLOAT, .name = fuzz_name};
        how.known = variant & 2 ? slots : NULL;
        size_t before = b.len;
        require(expr_print_c(&b, x, &how, &e) == LATHE_OK ? b.len > before : b.len == before && e.text[0]);
    }
    for (int slot = 0; slot < scope->count; slot++)
        (void)expr_uses(x, slot);
    sb_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_alloc(size + 1);
    struct expr *x = NULL;
    struct scope scope = {0};
    struct value slots[FUZZ_SLOTS];
    struct err e = {0};
    memcpy(text, data, size);
    text[size] = 0;
    fuzz_scope(&scope, slots);
    if (expr_parse(text, &x, &e))
        require(!x && e.code == LATHE_SPEC && e.text[0]);
    else if (expr_bind(x, &scope, &e))
        require(e.code == LATHE_SPEC && e.text[0] && expr_type(x) == VALUE_NONE);
    else
        fuzz_bound(x, slots, &scope);
    expr_free(x);
    scope_free(&scope);
    mem_free(text);
    return 0;
}
