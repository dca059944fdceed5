/* test_config.c: configurations as text and JSON, activity, slots, constraints. */
#include "spec_fixture.h"

#include <math.h>
#include <stdio.h>

enum { PARAMS = 5 };

static void text_both_ways(void **state)
{
    static const struct {
        const char *written, *canonical;
    } cases[] = {
        {"BM=64,SPLIT_K=1,PADDED=false,ALPHA=0.5", "BM=64 SPLIT_K=1 PADDED=false ALPHA=0.5"},
        {"ALPHA=-1.5 PADDED=true  SPLIT_K=4,,BM=128 REDUCE=last_block",
         "BM=128 SPLIT_K=4 REDUCE=last_block PADDED=true ALPHA=-1.5"},
        {"BM=64 SPLIT_K=1 REDUCE=last_block PADDED=false ALPHA=0.5", "BM=64 SPLIT_K=1 PADDED=false ALPHA=0.5"},
        {"BM=64.0 SPLIT_K=2 REDUCE=second_kernel PADDED=false ALPHA=0.50",
         "BM=64 SPLIT_K=2 REDUCE=second_kernel PADDED=false ALPHA=0.5"},
    };
    (void)state;
    struct problem *p = fixture_changed(NULL, NULL);
    const struct kernel *k = &p->kernels[0];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        config_choice c[PARAMS], back[PARAMS], again[PARAMS];
        struct strbuf b = {0};
        struct err e = {0};
        struct value *slots = fixture_slots(p, k, cases[i].written, c);
        config_print(&b, k, slots, c);
        assert_string_equal(sb_str(&b), cases[i].canonical);
        assert_int_equal(config_from_text(k, sb_str(&b), back, &e), LATHE_OK);
        assert_true(config_equal(k, c, back));
        json_t *j = config_to_json(k, slots, c);
        assert_int_equal(config_from_json(k, j, again, &e), LATHE_OK);
        assert_true(config_equal(k, c, again));
        config_choice *copy = config_copy(k, c);
        assert_true(config_equal(k, c, copy));
        copy[0] ^= 1;
        assert_false(config_equal(k, c, copy));
        mem_free(copy);
        json_decref(j);
        sb_free(&b);
        mem_free(slots);
    }
    problem_free(p);
}

static void json_types(void **state)
{
    (void)state;
    struct problem *p = fixture_changed(NULL, NULL);
    config_choice c[PARAMS];
    struct value *slots =
        fixture_slots(p, &p->kernels[0], "BM=32 SPLIT_K=2 REDUCE=last_block PADDED=true ALPHA=0.5", c);
    json_t *j = config_to_json(&p->kernels[0], slots, c);
    char *text = json_dumps(j, JSON_COMPACT);
    assert_string_equal(text, "{\"BM\":32,\"SPLIT_K\":2,\"REDUCE\":\"last_block\",\"PADDED\":true,\"ALPHA\":0.5}");
    free(text);
    json_decref(j);
    mem_free(slots);
    problem_free(p);
}

static void bad_configurations(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"BM", "'BM': expected NAME=VALUE, as in BM=128,BN=64"},
        {"=3", "'=3': expected NAME=VALUE"},
        {"BN=3", "kernel simt has no parameter 'BN' (did you mean 'BM'?); it has BM, SPLIT_K, REDUCE, PADDED, ALPHA"},
        {"BM=48", "BM=48: not a value of BM; expected one of 32, 64, 128"},
        {"BM=true", "BM=true: not a value of BM"},
        {"PADDED=1", "PADDED=1: not a value of PADDED; expected one of false, true"},
        {"REDUCE=last", "REDUCE=last: not a value of REDUCE; expected one of second_kernel, last_block"},
        {"BM=32 BM=32", "parameter BM is given twice"},
        {"", "parameter BM of kernel simt is missing: give it one of 32, 64, 128"},
        {"BM=32 SPLIT_K=2 PADDED=true ALPHA=0.5", "parameter REDUCE of kernel simt is missing"},
        {"BM=32 SPLIT_K=1 ALPHA=0.5", "parameter PADDED of kernel simt is missing"},
    };
    (void)state;
    struct problem *p = fixture_changed(NULL, NULL);
    config_choice c[PARAMS];
    struct err e;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(config_from_text(&p->kernels[0], cases[i].text, c, &e), LATHE_USAGE);
        assert_has(e.text, cases[i].expected);
    }
    json_t *j = json_pack("{s:n}", "BM");
    assert_int_equal(config_from_json(&p->kernels[0], j, c, &e), LATHE_USAGE);
    assert_has(e.text, "BM: expected a number, a text, true or false");
    json_decref(j);
    assert_int_equal(config_from_json(&p->kernels[0], NULL, c, &e), LATHE_USAGE);
    assert_has(e.text, "expected an object");
    assert_int_equal(config_from_text(&p->kernels[1], "BM=1", c, &e), LATHE_USAGE);
    assert_has(e.text, "kernel cublas_tf32 has no parameter 'BM'; it has none");
    assert_int_equal(config_from_text(&p->kernels[1], "", c, &e), LATHE_OK);
    problem_free(p);
}

static void slots_are_complete(void **state)
{
    (void)state;
    struct problem *p = fixture_changed(NULL, NULL);
    const struct kernel *k = &p->kernels[0];
    config_choice c[PARAMS];
    struct value *slots = fixture_slots(p, k, "BM=128 SPLIT_K=1 PADDED=true ALPHA=-1.5", c);
    assert_int_equal(slots[0].i, 128);
    assert_true(slots[3].type == VALUE_FLOAT && slots[3].f == 2.0);
    assert_int_equal(slots[k->first_limit + LIMIT_max_shared_per_block].i, 232448);
    assert_string_equal(slots[k->first_param + 2].s, "second_kernel");  /* inactive: its first value */
    assert_false(param_active(k, 2, slots));
    assert_true(param_active(k, 1, slots));
    assert_int_equal(slots[k->first_let].i, 64);
    assert_int_equal(slots[k->first_let + 1].i, 128 * 32 * 4);
    assert_true(slots[k->first_let + 2].type == VALUE_FLOAT && slots[k->first_let + 2].f == 64.0);
    assert_true(slots[k->first_let + 3].b);
    c[2] = 1;
    struct err e = {0};
    assert_int_equal(kernel_slots_config(k, c, slots, &e), LATHE_OK);
    assert_string_equal(slots[k->first_param + 2].s, "second_kernel");
    config_normalise(k, slots, c);
    assert_int_equal(c[2], 0);
    mem_free(slots);
    problem_free(p);
}

/* A `when` that sizes decide: it is known only once the slots are. */
static void activity_by_size(void **state)
{
    (void)state;
    struct problem *p = fixture_changed("kernels/0/params/2/when", "\"M > 100 and SPLIT_K > 1\"");
    const struct kernel *k = &p->kernels[0];
    config_choice c[PARAMS];
    struct strbuf b = {0};
    struct value *slots = fixture_slots(p, k, "BM=32 SPLIT_K=2 REDUCE=last_block PADDED=true ALPHA=0.5", c);
    assert_int_equal(c[2], 1);
    assert_true(param_active(k, 2, slots));
    mem_free(slots);
    assert_int_equal(problem_set_dim(p, "M", 64, NULL), LATHE_OK);
    slots = fixture_slots(p, k, "BM=32 SPLIT_K=2 REDUCE=last_block PADDED=true ALPHA=0.5", c);
    assert_int_equal(c[2], 1);
    config_normalise(k, slots, c);
    assert_int_equal(c[2], 0);
    config_print(&b, k, slots, c);
    assert_string_equal(sb_str(&b), "BM=32 SPLIT_K=2 PADDED=true ALPHA=0.5");
    mem_free(slots);
    slots = fixture_slots(p, k, "BM=32 SPLIT_K=2 PADDED=true ALPHA=0.5", c);     /* may be missing */
    assert_int_equal(c[2], 0);
    mem_free(slots);
    sb_free(&b);
    problem_free(p);
}

static void failing_lets_and_conditions(void **state)
{
    (void)state;
    struct problem *p = fixture_changed("kernels/0/let/0/1", "\"BM // (BM - 32)\"");
    const struct kernel *k = &p->kernels[0];
    struct value *slots = mem_zalloc((size_t)k->scope.count, sizeof *slots);
    config_choice c[PARAMS] = {0};
    struct target t;
    struct err e;
    target_named("host", &t, &e);
    kernel_slots_fixed(p, k, &t, slots);
    assert_int_equal(kernel_slots_config(k, c, slots, &e), LATHE_SPEC);
    assert_has(e.text, "kernel simt: let threads: ");
    mem_free(slots);
    problem_free(p);

    p = fixture_changed("kernels/0/params/2/when", "\"M % (SPLIT_K - 1) == 0\"");
    k = &p->kernels[0];
    slots = mem_zalloc((size_t)k->scope.count, sizeof *slots);
    kernel_slots_fixed(p, k, &t, slots);
    assert_int_equal(kernel_slots_config(k, c, slots, &e), LATHE_SPEC);
    assert_has(e.text, "kernel simt: parameter REDUCE: when: ");
    assert_false(param_active(k, 2, slots));
    mem_free(slots);
    problem_free(p);
}

static void constraints(void **state)
{
    static const struct {
        const char *path, *value, *why;     /* a change of the specification, and how the refusal begins; NULL:
                                               allowed */
    } cases[] = {
        {"summary", "\"x\"", NULL},
        {"kernels/0/requires/0", "\"sm < 80\"", "requires sm < 80: 90 < 80"},
        {"kernels/0/requires/0", "[\"sm < 80\", \"old chips only\"]", "requires sm < 80: 90 < 80 (old chips only)"},
        {"kernels/0/constraints/0", "[\"threads < 64\", \"too many\"]", "threads < 64: 64 < 64 (too many)"},
        {"kernels/0/constraints/0", "{\"#\": [\"threads < 64\", \"too many\"], \"search\": true}",
         "threads < 64: 64 < 64 (right, but kept from the search: too many)"},
        {"kernels/0/constraints/2", "\"K % SPLIT_K == 1\"", "K % SPLIT_K == 1: "},
        {"kernels/0/constraints/2", "\"K % (SPLIT_K - 1) == 1\"", ""},
        {"kernels/0/constraints/2", "true", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct problem *p = fixture_changed(cases[i].path, cases[i].value);
        const struct kernel *k = &p->kernels[0];
        config_choice c[PARAMS];
        struct strbuf why = {0};
        struct value *slots = fixture_slots(p, k, "BM=128 SPLIT_K=1 PADDED=true ALPHA=0.5", c);
        assert_int_equal(kernel_allows(k, slots, &why), cases[i].why == NULL);
        assert_int_equal(why.len > 0, cases[i].why != NULL);
        if (cases[i].why && strncmp(sb_str(&why), cases[i].why, strlen(cases[i].why)) != 0)
            fail_msg("got %s, wanted %s", sb_str(&why), cases[i].why);
        sb_free(&why);
        mem_free(slots);
        problem_free(p);
    }
}

static void values_from_elsewhere(void **state)
{
    (void)state;
    struct value floats[] = {{VALUE_FLOAT, .f = 2}, {VALUE_FLOAT, .f = 0.5}, {VALUE_FLOAT, .f = 1}},
                 words[] = {{VALUE_STRING, .s = ""}, {VALUE_STRING, .s = "4"}, {VALUE_STRING, .s = "true"}},
                 truths[] = {{VALUE_BOOL, .b = true}, {VALUE_BOOL, .b = false}};
    struct param numbers = {.values = floats, .nvalues = 3}, texts = {.values = words, .nvalues = 3},
                 flags = {.values = truths, .nvalues = 2};
    assert_int_equal(param_find_value(&numbers, value_int(1)), 2);
    assert_int_equal(param_find_value(&numbers, value_string("0.5")), 1);
    assert_int_equal(param_find_value(&numbers, value_float(0.25)), -1);
    assert_int_equal(param_find_value(&numbers, value_bool(true)), -1);
    assert_int_equal(param_find_value(&texts, value_int(4)), 1);
    assert_int_equal(param_find_value(&texts, value_bool(true)), 2);
    assert_int_equal(param_find_value(&texts, (struct value){0}), -1);
    assert_int_equal(param_find_value(&texts, value_string("")), 0);
    assert_int_equal(param_find_value(&flags, value_string("false")), 1);
    assert_int_equal(param_find_value(&flags, value_int(1)), -1);
    assert_int_equal(param_nearest_number(&numbers, 0.75), 1);
    assert_int_equal(param_nearest_number(&numbers, 1.6), 0);
    assert_int_equal(param_nearest_number(&numbers, -INFINITY), 1);
    assert_int_equal(param_nearest_number(&numbers, 1e308), 0);
    assert_int_equal(param_nearest_number(&numbers, NAN), -1);
    assert_int_equal(param_nearest_number(&texts, 4), -1);
}

/* In a space alone a text may read as a number, and is found again by its text. */
static void texts_that_read_as_numbers(void **state)
{
    json_t *tree = json_pack("{s:s, s:s, s:[[s, [s, s, s]], [s, [i, i]]]}", "tag", "space", "name", "mixed", "params",
                             "A", "auto", "1", "true", "B", 1, 2);
    struct problem *p;
    struct err e = {0};
    config_choice c[2];
    assert_int_equal(problem_from_json(tree, "mixed", NULL, &p, &e), LATHE_OK);
    assert_int_equal(config_from_text(&p->kernels[0], "A=1,B=2", c, &e), LATHE_OK);
    assert_int_equal(c[0], 1);
    assert_int_equal(c[1], 1);
    assert_int_equal(config_from_text(&p->kernels[0], "A=true B=1", c, &e), LATHE_OK);
    assert_int_equal(c[0], 2);
    assert_int_equal(config_from_text(&p->kernels[0], "A=1.0 B=1", c, &e), LATHE_USAGE);
    problem_free(p);
    json_decref(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_both_ways),
        cmocka_unit_test(json_types),
        cmocka_unit_test(bad_configurations),
        cmocka_unit_test(slots_are_complete),
        cmocka_unit_test(activity_by_size),
        cmocka_unit_test(failing_lets_and_conditions),
        cmocka_unit_test(constraints),
        cmocka_unit_test(values_from_elsewhere),
        cmocka_unit_test(texts_that_read_as_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
