/* test_earlier.c: configurations found elsewhere as configurations of a space here, and the way from a database to a
 * strategy. */
#include "campaign/earlier.h"

#include "../db/fixture.h"
#include "../search/fixture.h"

/* What `here` tunes; elsewhere, kernels of the same names had other parameters and values. */
static const char *const here_kernels[] = {
    "params = { { 'A', { 8, 1, 2, 4 } }, { 'B', { 1, 2, 4, 8 } }, { 'R', { 'two', 'last' }, when = 'A > 1' }, "
    "{ 'F', { 0.5, 1.0 } }, { 'T', { false, true } } }, constraints = { 'A * B <= 16' }",
    "params = { { 'V', { 1, 2, 4 } } }",
    "params = { { 'P', { 1, 2 } } }",
};
static const char *const there_kernels[] = {
    "params = { { 'A', { 4, 16 } }, { 'B', { 2, 8 } }, { 'R', { 'last', 'gone' } }, { 'F', { 1.0 } }, "
    "{ 'T', { true } } }",
    "params = { { 'V', { 2, 3 } } }",
    "params = { { 'Q', { 1, 2 } } }",
};

static struct problem *here, *there;
static struct space *spaces[3];
static struct target target;

static void assert_match(const char *found, const char *wanted, bool exact)
{
    char *text = quoted(found);
    json_t *j = json_loads(text, 0, NULL);
    config_choice c[SPACE_PARAMS_MAX];
    const struct kernel *k = space_kernel(spaces[0]);
    struct value *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *slots);
    struct strbuf b = {0};
    bool same = false;
    assert_non_null(j);
    assert_true(earlier_match(spaces[0], j, c, &same));
    assert_true(space_index(spaces[0], c) >= 0);
    assert_ok(space_slots(spaces[0], c, slots, e));
    config_print(&b, k, slots, c);
    assert_string_equal(sb_str(&b), wanted);
    if (same != exact)
        fail_msg("%s is %sexact", found, same ? "" : "not ");
    sb_free(&b);
    mem_free(slots);
    mem_free(text);
    json_decref(j);
}

static void test_match(void **state)
{
    assert_match("{'A': 4, 'B': 2, 'R': 'last', 'F': 1.0, 'T': true}", "A=4 B=2 R=last F=1.0 T=true", true);
    assert_match("{'T': true, 'F': 1, 'R': 'last', 'B': '2', 'A': 4.0}", "A=4 B=2 R=last F=1.0 T=true", true);
    assert_match("{'A': 1, 'B': 8, 'F': 0.5, 'T': false}", "A=1 B=8 F=0.5 T=false", true);
    /* a parameter that is inactive here, that is active here and was not there, that is gone, that is new */
    assert_match("{'A': 1, 'B': 8, 'R': 'two', 'F': 0.5, 'T': false}", "A=1 B=8 F=0.5 T=false", false);
    assert_match("{'A': 2, 'B': 8, 'F': 0.5, 'T': false}", "A=2 B=8 R=two F=0.5 T=false", false);
    assert_match("{'A': 4, 'B': 2, 'R': 'last', 'F': 1.0, 'T': true, 'U': 3}", "A=4 B=2 R=last F=1.0 T=true", false);
    assert_match("{'A': 4, 'B': 2, 'R': 'last', 'F': 1.0}", "A=4 B=2 R=last F=1.0 T=false", false);
    /* values that are none here: the nearest number, else whatever is valid */
    assert_match("{'A': 16, 'B': 2, 'R': 'last', 'F': 0.7, 'T': true}", "A=8 B=2 R=last F=0.5 T=true", false);
    assert_match("{'A': 4, 'B': 2, 'R': 'gone', 'F': 1.0, 'T': 'yes'}", "A=4 B=2 R=two F=1.0 T=false", false);
    assert_match("{'A': 4, 'B': null, 'R': [], 'F': {}, 'T': 1}", "A=4 B=1 R=two F=0.5 T=false", false);
    /* not valid: as few parameters as can be change, and by little */
    assert_match("{'A': 8, 'B': 8, 'R': 'last', 'F': 1.0, 'T': true}", "A=8 B=2 R=last F=1.0 T=true", false);
}

static void test_nothing_in_common(void **state)
{
    config_choice c[SPACE_PARAMS_MAX];
    bool exact;
    json_t *j = json_pack("{s:i, s:n}", "a", 1, "B");
    assert_false(earlier_match(spaces[0], j, c, &exact));
    json_object_clear(j);
    assert_false(earlier_match(spaces[0], j, c, &exact));
    json_decref(j);
    assert_false(earlier_match(spaces[0], NULL, c, &exact));
}

/* The script's body, run once it was informed from the database; its asserts speak. */
static void run_informed(const char *path, const char *body, const char *unread_words)
{
    const char *file = in_folder("script.lua");
    struct strategy *s = NULL;
    const struct proposal *batch;
    struct err err = {0};
    json_t *told = NULL;
    char *unread = NULL,
         *text = mem_printf("return strategy { name = 'own', run = function(tune, space) %s end }", body);
    int n;
    assert_ok(file_write_atomic(file, text, strlen(text), e));
    assert_ok(strategy_open(file, NULL, 0, spaces, 3, 1, &s, e));
    assert_ok(earlier_inform(path, 0, NULL, here, &target, spaces, 3, s, &told, &unread, e));
    if (unread_words)
        assert_non_null(strstr(unread, unread_words));
    else
        assert_null(unread);
    if (strategy_ask(s, &batch, &n, &err))
        fail_msg("%s", err.text);
    assert_int_equal(n, 0);
    strategy_close(s);
    json_decref(told);
    mem_free(unread);
    mem_free(text);
}

static void test_from_a_database(void **state)
{
    const char *path = in_folder("lathe.db");
    struct store *s = NULL;
    struct campaign_record c = toy_campaign(there, &target);
    int64_t id;
    c.kernels = "k1 k2 k3";
    assert_ok(store_open(path, 1, &s, e));
    assert_ok(store_campaign_begin(s, &c, &id, e));
    put_trial(s, there, &target, id, 1, 0, (config_choice[]){1, 0, 0, 0, 0}, 3);
    put_trial(s, there, &target, id, 2, 0, (config_choice[]){0, 0, 0, 0, 0}, 2);
    put_trial(s, there, &target, id, 3, 1, (config_choice[]){1}, 5);
    put_trial(s, there, &target, id, 4, 1, (config_choice[]){0}, 4);
    put_trial(s, there, &target, id, 5, 2, (config_choice[]){0}, 1); /* no parameter in common */
    assert_ok(problem_set_dim(there, "M", 32, e));
    assert_ok(store_campaign_begin(s, &c, &id, e));
    put_trial(s, there, &target, id, 1, 1, (config_choice[]){0}, 7);
    store_close(s);
    meddle(path, "UPDATE parameter_value SET name = 'gone' WHERE trial_id = 3");
    run_informed(path,
                 "assert(tune.here.problem == 't' and tune.here.device == 'Toy GPU' and tune.here.size.M == 64) "
                 "local text = {} "
                 "for i, x in ipairs(tune.earlier) do text[i] = ('%s %s exact=%s %g %g campaign %d M=%d'):format("
                 "x.config.kernel, x.config, x.exact, x.value, x.ratio, x.campaign, x.size.M) end "
                 "text = table.concat(text, '; ') "
                 "assert(text == 'k2 V=2 exact=true 7 1 campaign 2 M=32; "
                 "k1 A=4 B=2 R=last F=1.0 T=true exact=true 2 1 campaign 1 M=64; "
                 "k1 A=8 B=2 R=last F=1.0 T=true exact=false 3 1.5 campaign 1 M=64; "
                 "k2 V=2 exact=true 4 1 campaign 1 M=64', text)",
                 NULL);
    run_informed(NULL, "assert(#tune.earlier == 0 and tune.here.problem == 't')", NULL);
}

/* What cannot be read is said, and is not there. */
static void test_unreadable(void **state)
{
    const char *path = in_folder("broken.db"), *empty = in_folder("empty.db");
    struct store *s = NULL;
    assert_ok(store_open(empty, 1, &s, e));
    store_close(s);
    run_informed(empty, "assert(#tune.earlier == 0)", NULL);
    assert_ok(file_write_atomic(path, "no database", 11, e));
    run_informed(path, "assert(#tune.earlier == 0)", "what earlier campaigns found cannot be read: ");
    run_informed(in_folder("absent.db"), "assert(#tune.earlier == 0)", "there is no such database");
}

static int set_up(void **state)
{
    here = fixture_problem(here_kernels, 3);
    there = fixture_problem(there_kernels, 3);
    for (int i = 0; i < 3; i++)
        spaces[i] = fixture_space(here, i);
    target = toy_target();
    return make_folder(state);
}

static int tear_down(void **state)
{
    for (int i = 0; i < 3; i++)
        space_close(spaces[i]);
    problem_free(here);
    problem_free(there);
    return remove_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_nothing_in_common),
        cmocka_unit_test(test_from_a_database),
        cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
