/* test_export_overflow.c: integers beyond 64 bits, wherever a formula may stand: the exported launcher refuses the
 * size, as the plan refuses it, instead of going on with what is left of them; and it is not asked where they fit. */
#include "driver/exported.h"

static const char path[] = "test/specs/huge.lua";

enum { LARGE = 2147483647 };
static const struct sizes sizes = {
    4, {{4, 6, 8, 3}, {LARGE, LARGE, LARGE, LARGE}, {LARGE, LARGE, LARGE, 1}, {LARGE, LARGE, 1, 2}}};

/* Puts the JSON text in the place of what stands at `where`: "steps/1/args/2/#/0". */
static void put(json_t *at, const char *where, const char *text)
{
    char copy[100], *rest = copy, *key, *last = copy;
    json_t *parent = NULL, *value = json_loads(text, JSON_DECODE_ANY, NULL);
    snprintf(copy, sizeof copy, "%s", where);
    while (at && (key = strtok_r(rest, "/", &rest))) {
        parent = at;
        last = key;
        at = json_is_array(parent) ? json_array_get(parent, strtoul(key, NULL, 10)) : json_object_get(parent, key);
    }
    if (!at || !value)
        fail_msg("%s: no such place, or %s is no JSON", where, text);
    if (json_is_array(parent))
        json_array_set_new(parent, strtoul(last, NULL, 10), value);
    else
        json_object_set_new(parent, last, value);
}

/* The problem with one formula changed: the launcher and the plan say the same at each size, and `served` of them are
 * served. Gives the exported text; mem_free it. */
static char *compare(bool of_problem, const char *where, const char *text, int served)
{
    json_t *tree = program_tree(path), *kernel = json_array_get(json_object_get(tree, "kernels"), 0);
    struct target t;
    struct err e = {0};
    struct strbuf exported = {0};
    config_choice choice[2];
    int found;
    if (where)
        put(of_problem ? tree : kernel, where, text);
    struct problem *p = program_problem(tree, path);
    struct kernel *k = &p->kernels[0];
    if (target_named("sm_90a", &t, &e) || config_from_text(k, "P=1", choice, &e))
        fail_msg("%s", e.text);
    stub_source(k);
    char *wanted = plans_say(p, k, &t, choice, &sizes, &found), *got = program_says(p, k, &t, choice, &sizes);
    char *in_c = c_says(p, k, &t, choice, &sizes);
    same_text(got, wanted, text ? text : "nothing changed", &sizes, p->ndims);
    same_text(in_c, wanted, text ? text : "nothing changed", &sizes, p->ndims);
    mem_free(in_c);
    if (found != served)
        fail_msg("%s: %s: %d sizes are served, expected %d", where, text, found, served);
    add_export(&exported, p, k, &t, choice);
    mem_free(wanted);
    mem_free(got);
    problem_free(p);
    return sb_take(&exported);
}

/* A * B * C is 2^62 + 3 * 2^31 - 1, modulo 2^64, at the large sizes. */
static void test_places(void **state)
{
    static const struct {
        bool of_problem;
        const char *where, *text;
        int served;
    } cases[] = {
        {false, NULL, NULL, 4},
        {false, "let/0/1", "\"A * B * C\"", 2},
        {false, "constraints/0", "\"A * B * C != 1\"", 2},
        {false, "constraints/0", "\"D < 3 or A * B * C != 1\"", 3},      /* not evaluated where D is 1 or 2 */
        {false, "workspace/1/#/2/0", "\"min(A * B * C, 3)\"", 2},
        {false, "workspace/1/#/2", "[\"A\", \"B\", \"C\"]", 1},          /* more than 2^60 bytes */
        {false, "workspace/1/when", "\"A * B * C != 7\"", 2},
        {false, "steps/1/when", "\"A * B * C != 7\"", 2},
        {false, "steps/1/grid", "\"min(A * B * C, 3)\"", 2},
        {false, "steps/1/block", "\"min(A * B * C, 3)\"", 2},
        {false, "steps/1/shared", "\"min(A * B * C, 3)\"", 2},
        {false, "steps/1/programmatic", "\"A * B * C != 7\"", 2},
        {false, "steps/1/l2_window/ratio", "\"1.0 / min(A * B * C, 3)\"", 2},
        {false, "steps/1/l2_window/when", "\"A * B * C != 7\"", 2},
        {false, "steps/1/args/2/#/0", "\"min(A * B * C, 3)\"", 2},
        {false, "steps/1/args/3/#/0", "\"A * B * C\"", 2},
        {false, "steps/1/args/4/#/0", "\"A * B * C\"", 2},
        {false, "steps/1/args/5/box/0", "\"min(A * B * C, 4)\"", 2},
        {true, "tensors/0/2/0", "\"min(A * B * C, 3)\"", 2},
        {true, "tensors/0/2", "[\"A\", \"B\"]", 1},                    /* more than 2^60 bytes */
        {true, "tensors/0/2", "[\"A\", \"D\"]", 3},
        {true, "tensors/1/#/2/0", "\"D - 1\"", 3},                       /* none at all */
    };
    needs_compiler();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        mem_free(compare(cases[i].of_problem, cases[i].where, cases[i].text, cases[i].served));
}

/* A * B * 2 + 8589934589 is 2^63 - 1 where A and B are large. */
static void test_operations(void **state)
{
#define LEAST "(-A * B * 2 - 8589934590)"
    static const struct {
        const char *text;
        int served;
    } cases[] = {
        {"A * B * 2 + C * D * 2 != 1", 3},
        {"A * B * 2 + 8589934589 != 1", 4},
        {"A * B * 2 + 8589934590 != 1", 1},
        {LEAST " != 1", 4},
        {LEAST " - C + 8 != 1", 1},
        {"-" LEAST " != 1", 1},
        {"abs" LEAST " != 1", 1},
        {LEAST " // (1 - D) != 1", 2},      /* by -1, and by 0 */
        {LEAST " % -1 == 0", 4},
        {LEAST " % (D - 4) != 77", 4},
        {"floor(A * 1.0 * B * C) != 1 and D != 2", 1},
        {"ceil(A * 1.0 * B * C) != 1 and D != 2", 1},
        {"round(0.0 - A * 1.0 * B * C) != 1 and D != 2", 1},
        {"ceil_div(abs(A) * abs(B) * 2 + 8589934589, 7) > 0", 4},
        {"clamp(A * B * C, 1, 3) > 0", 2},
        {"select(D < 3, 1, A * B * C) != 7", 3},
        {"max(A, B) * min(C, D) * max(D, A) != 7", 3},
        {"log2(2) * A * B * C != 7 or true", 2},
    };
    needs_compiler();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *text = json_string(cases[i].text);
        char *quoted = json_dumps(text, JSON_ENCODE_ANY);
        mem_free(compare(false, "constraints/0", quoted, cases[i].served));
        free(quoted);
        json_decref(text);
    }
}

/* What cannot leave 64 bits at any size is printed as it is. */
static void test_not_asked(void **state)
{
    static const char *const texts[] = {
        "\"A * B + C * D != 1\"", "\"l * A * B != 1\"", "\"(A * B // 7) % 5 - 3 * C != 9\"",
        "\"min(A * B, 1) * C * D - abs(A - B) != 1\"", "\"-clamp(A * B, 1, 3) * C != 1\"",
        "\"ceil_div(A, 64) * ceil_div(B, 64) * (C % 1000) != 1\""};
    needs_compiler();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *exported = compare(false, "constraints/0", texts[i], 4);
        if (strstr(exported, "lathe_undefined"))
            fail_msg("%s: asks for what cannot be:\n%s", texts[i], strstr(exported, "lathe_undefined"));
        mem_free(exported);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_not_asked),
    };
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
