/* fuzz_definition.c: any text as a definition of a space in JSON, as a constraint of Python, and as a list of values.
 * No crash, no leak; a failure has a message; a constraint that is read is a formula that can be parsed, is a
 * condition, and evaluates to one or fails with a message; a space that opens agrees with itself and with
 * kernel_allows, in either order of its parameters. A libFuzzer target; seeds: test/data/spaces. */
#include "base/mem.h"
#include "model/problem.h"
#include "search/spec/definition.h"
#include "search/spec/python.h"
#include "search/space/space_impl.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void use_constraint(const char *text)
{
    static const struct python_name items[] = {
        {"a", VALUE_INT, 7, 7}, {"b", VALUE_INT, -3, -3}, {"x", VALUE_FLOAT, 0.5, 0.5}, {"t", VALUE_BOOL, 0, 0},
        {"w", VALUE_STRING, 0, 0}, {"n", VALUE_INT, 4e18, 4e18},
    };
    enum { COUNT = sizeof items / sizeof *items };
    struct value slots[COUNT] = {value_int(7), value_int(-3), value_float(0.5), value_bool(true), value_string("word"),
                                 value_int(4000000000000000000)};
    struct python_names names = {items, COUNT};
    struct scope scope = {0};
    struct err e = {0};
    struct expr *x = NULL;
    char *formula = NULL;
    bool yes;
    if (python_constraint(text, &names, &formula, &e)) {
        require(!formula && e.code == LATHE_SPEC && e.text[0]);
        return;
    }
    for (int i = 0; i < COUNT; i++)
        scope_add(&scope, items[i].name, items[i].type, 0);
    if (expr_parse(formula, &x, &e) == LATHE_OK) {      /* it may be longer or deeper than a formula can be */
        require(expr_bind(x, &scope, &e) == LATHE_OK ? expr_type(x) == VALUE_BOOL : strstr(e.text, "nested") != NULL);
        if (expr_type(x) == VALUE_BOOL && expr_eval_bool(x, slots, &yes, &e))
            require(e.text[0] && !strstr(e.text, "64 bits"));
    } else {
        require(strstr(e.text, "nest") || strstr(e.text, "long"));
    }
    expr_free(x);
    scope_free(&scope);
    mem_free(formula);
}

/* A member of a space and what is next to it. */
static void use_member(const struct space *s, const config_choice *c, uint64_t index)
{
    const struct kernel *k = space_kernel(s);
    int wanted[SPACE_PARAMS_MAX];
    config_choice other[SPACE_PARAMS_MAX];
    struct strbuf why = {0};
    struct value *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *slots);
    require(space_index(s, c) == (int64_t)index);
    require(!space_slots(s, c, slots, NULL) && kernel_allows(k, slots, &why));
    for (int i = 0; i < k->nparams; i++)
        wanted[i] = c[i];
    space_nearest(s, wanted, other);
    require(config_equal(k, c, other) && space_distance(s, c, other).changed == 0);
    sb_free(&why);
    mem_free(slots);
}

static uint64_t use_space(const struct problem *p, double first)
{
    struct space_limits limits = {.seconds = 5, .evaluations = 200000, .first = first, .edges = 1 << 18};
    struct target t = {0};
    struct err e = {0};
    struct space *s = NULL;
    struct rng r;
    config_choice c[SPACE_PARAMS_MAX];
    status st = space_open_limited(p, &p->kernels[0], &t, &limits, &s, &e);
    if (st) {
        require((st == LATHE_NOTHING || st == LATHE_SPEC) && e.text[0]);
        return st == LATHE_NOTHING ? 0 : UINT64_MAX;
    }
    uint64_t size = space_size(s), *list;
    rng_seed(&r, 1);
    for (int i = 0; i < 5; i++) {
        uint64_t index = i == 0 ? 0 : i == 1 ? size - 1 : space_random(s, &r);
        space_at(s, index, c);
        use_member(s, c, index);
    }
    if (p->kernels[0].nparams < 8) {
        (void)space_neighbours(s, c, NEIGHBOURS_HAMMING, &list);
        mem_free(list);
    }
    space_close(s);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = {0};
    json_t *tree = NULL, *values = NULL;
    struct problem *p = NULL;
    char *text = mem_alloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    if (definition_read_text(text, size, "fuzz.json", &tree, &e) || problem_from_json(tree, "fuzz.json", NULL, &p, &e))
        require(e.code == LATHE_SPEC && !strncmp(e.text, "fuzz.json", 9));
    if (p) {
        uint64_t as_written = use_space(p, 100000), narrow = use_space(p, 0);
        require(as_written == narrow || as_written == UINT64_MAX || narrow == UINT64_MAX);
    }
    problem_free(p);
    json_decref(tree);
    use_constraint(text);
    if (python_values(text, 1000, &values, &e))
        require(!values && e.code == LATHE_SPEC && e.text[0]);
    json_decref(values);
    mem_free(text);
    return 0;
}
