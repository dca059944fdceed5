/* test_target.c: named targets, and a target's JSON both ways. */
#include "spec_fixture.h"

#include "model/target.h"

static void known_chips(void **state)
{
    static const struct {
        const char *arch;
        int sm, shared, sms;
    } chips[] = {
        {"sm_80", 80, 166912, 108},    {"sm_86", 86, 101376, 82},   {"sm_89", 89, 101376, 128},
        {"sm_90", 90, 232448, 132},    {"sm_90a", 90, 232448, 132}, {"sm_100", 100, 232448, 148},
        {"sm_100a", 100, 232448, 148}, {"host", 0, 232448, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++) {
        struct target t;
        struct err e;
        assert_int_equal(target_named(chips[i].arch, &t, &e), LATHE_OK);
        assert_string_equal(t.arch, chips[i].arch);
        assert_int_equal(t.limit[LIMIT_sm], chips[i].sm);
        assert_int_equal(t.limit[LIMIT_max_shared_per_block], chips[i].shared);
        assert_int_equal(t.limit[LIMIT_sm_count], chips[i].sms);
        for (int l = LIMIT_sm_count; l < LIMIT_COUNT; l++)
            assert_true(t.limit[l] > 0);
        assert_true(t.limit[LIMIT_max_shared_per_sm] > t.limit[LIMIT_max_shared_per_block]);
    }
}

static void unknown_chips(void **state)
{
    (void)state;
    struct target t;
    struct err e;
    assert_int_equal(target_named("sm_90b", &t, &e), LATHE_USAGE);
    assert_has(e.text, "unknown target 'sm_90b' (did you mean 'sm_90'?)");
    assert_has(e.text, "sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_100a, host");
    assert_int_equal(target_named("", &t, &e), LATHE_USAGE);
}

static void json_both_ways(void **state)
{
    (void)state;
    struct target t, back;
    struct err e;
    target_named("sm_90a", &t, &e);
    strcpy(t.uuid, "GPU-1234");
    strcpy(t.driver, "580.82");
    strcpy(t.toolchain, "NVRTC 13.0");
    strcpy(t.host, "box, some CPU");
    json_t *j = target_to_json(&t);
    assert_int_equal(json_object_size(j), 10);
    assert_int_equal(target_from_json(j, &back, &e), LATHE_OK);
    assert_memory_equal(t.limit, back.limit, sizeof t.limit);
    assert_string_equal(back.device, "sm_90a");
    assert_string_equal(back.name, "NVIDIA H200");
    assert_string_equal(back.uuid, "GPU-1234");
    assert_string_equal(back.driver, "580.82");
    assert_string_equal(back.toolchain, "NVRTC 13.0");
    assert_string_equal(back.host, "box, some CPU");
    assert_true(back.peak_gbps == 4800 && back.peak_tflops_f32 == t.peak_tflops_f32);
    json_decref(j);
}

static void bad_json(void **state)
{
    static const struct {
        const char *path, *value, *expected;
    } cases[] = {
        {"name", NULL, "target.name: expected a value, but it is missing"},
        {"name", "3", "target.name: expected a text"},
        {"device", "\"a name that is far too long for it\"", "target.device: expected a shorter text"},
        {"limits", NULL, "target.limits: expected a value"},
        {"limits", "[]", "target.limits: expected an object"},
        {"limits/sm", "1.5", "target.limits.sm: expected an integer from 0"},
        {"limits/sm_count", "-1", "target.limits.sm_count: expected an integer from 0"},
        {"limits/l2_bytes", NULL, "target.limits.l2_bytes: expected a value"},
        {"peak_gbps", "\"fast\"", "target.peak_gbps: expected a number"},
    };
    (void)state;
    struct target t, back = {.name = "untouched"};
    struct err e;
    target_named("host", &t, &e);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *j = target_to_json(&t);
        fixture_set(j, cases[i].path, cases[i].value);
        assert_int_equal(target_from_json(j, &back, &e), LATHE_SPEC);
        assert_has(e.text, cases[i].expected);
        assert_string_equal(back.name, "untouched");
        json_decref(j);
    }
    assert_int_equal(target_from_json(NULL, &back, &e), LATHE_SPEC);
    assert_has(e.text, "target: expected an object");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_chips),
        cmocka_unit_test(unknown_chips),
        cmocka_unit_test(json_both_ways),
        cmocka_unit_test(bad_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
