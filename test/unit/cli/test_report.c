/* test_report.c: trees as tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/output/report.h"
#include "console/table.h"

#include <math.h>
#include <string.h>

static json_t *read(const char *text)
{
    json_error_t e;
    json_t *j = json_loads(text, 0, &e);
    assert_non_null(j);
    return j;
}

static const char two[] =
    "[{\"id\": 12, \"campaign\": 3, \"kernel\": \"simt\", \"problem\": \"linear\","
    "  \"size\": {\"M\": 128, \"N\": 64}, \"device\": \"NVIDIA H200\", \"time_ms\": 4.9132,"
    "  \"cold_ms\": null, \"speedup\": 1.0832, \"tflops\": 54.321,"
    "  \"error\": 3.3e-6, \"configuration\": {\"BM\": 128, \"LAYOUT\": \"padded\", \"ALPHA\": 0.1, \"T\": true}},"
    " {\"id\": 7, \"campaign\": 3, \"kernel\": \"epilogue\", \"problem\": \"linear\","
    "  \"size\": {\"M\": 128, \"N\": 64}, \"device\": \"NVIDIA H200\", \"time_ms\": 15.5,"
    "  \"speedup\": null, \"tflops\": 9.1, \"error\": null,"
    "  \"configuration\": {}}]";

static void best_table(void **state)
{
    json_t *best = read(two);
    struct strbuf b = {0};
    report_best(&b, best, NULL, "lathe.db");
    assert_string_equal(b.s,
        "linear M=128 N=64 on NVIDIA H200, campaign 3\n"
        "\n"
        "rank  trial  kernel    time ms  speed-up  TFLOP/s    error  configuration\n"
        "   1     12  simt        4.913     1.08x   54.321  3.3e-06  BM=128 LAYOUT=padded ALPHA=0.1 T=true\n"
        "   2      7  epilogue   15.500         -    9.100        -\n");
    sb_free(&b);
    json_decref(best);
}

/* The format has a column where a configuration has one. */
static void front_table(void **state)
{
    json_t *front = read(two);
    struct strbuf b = {0};
    json_object_set_new(json_object_get(json_array_get(front, 0), "configuration"), "FORMAT", json_string("bf16x1"));
    json_object_set_new(json_array_get(front, 0), "outcome", json_string("inaccurate"));
    json_object_set_new(json_array_get(front, 1), "outcome", json_string("ok"));
    report_front(&b, front, "lathe.db");
    assert_string_equal(b.s,
        "linear M=128 N=64 on NVIDIA H200, campaign 3\n"
        "\n"
        "rank  trial  kernel    time ms  speed-up  TFLOP/s    error  format  outcome     configuration\n"
        "   1     12  simt        4.913     1.08x   54.321  3.3e-06  bf16x1  inaccurate  "
        "BM=128 LAYOUT=padded ALPHA=0.1 T=true FORMAT=bf16x1\n"
        "   2      7  epilogue   15.500         -    9.100        -          ok\n");
    sb_free(&b);
    json_object_del(json_object_get(json_array_get(front, 0), "configuration"), "FORMAT");
    report_front(&b, front, "lathe.db");
    assert_null(strstr(b.s, "format"));
    sb_free(&b);
    json_decref(front);
}

/* Where all rates are low they are GFLOP/s; where there are few FLOPs a byte, GB/s stand beside them. */
static void low_rates(void **state)
{
    json_t *best = read(two);
    struct strbuf b = {0};
    json_object_set_new(json_array_get(best, 0), "tflops", json_real(0.0123));
    json_object_set_new(json_array_get(best, 0), "gbps", json_real(19.68));
    json_object_set_new(json_array_get(best, 1), "tflops", json_real(0.00456));
    json_object_set_new(json_array_get(best, 1), "gbps", json_real(7.296));
    report_best(&b, best, NULL, NULL);
    assert_string_equal(
        b.s,
        "rank  trial  kernel    time ms  speed-up  GFLOP/s    GB/s    error  configuration\n"
        "   1     12  simt        4.913     1.08x   12.300  19.680  3.3e-06  BM=128 LAYOUT=padded ALPHA=0.1 T=true\n"
        "   2      7  epilogue   15.500         -    4.560   7.296        -\n");
    sb_free(&b);
    json_object_set_new(json_array_get(best, 0), "gbps", json_real(3));      /* more FLOPs a byte */
    json_object_set_new(json_array_get(best, 1), "gbps", json_real(1));
    report_best(&b, best, NULL, NULL);
    assert_null(strstr(b.s, "GB/s"));
    sb_free(&b);
    json_decref(best);
}

static void history(void **state)
{
    /* the first failed; others after 41 were slower */
    json_t *c = read("{\"trials\": 80, \"objective\": \"time\", \"falls\": [[2, 8], [41, 4]]}");
    struct strbuf b = {0};
    report_history(&b, c, 0, false);
    assert_string_equal(b.s, "best so far  8 to 4 ms, found after 41 of 80 trials\n");
    sb_free(&b);
    report_history(&b, c, 120, true);
    assert_int_equal(strncmp(b.s, "best so far  \xe2\x96\x88\xe2\x96\x88", 19), 0);
    assert_non_null(strstr(b.s, "\xe2\x96\x88\xe2\x96\x81\xe2\x96\x81"));
    assert_non_null(strstr(b.s, "\xe2\x96\x81  8 to 4 ms"));
    assert_int_equal(text_width(b.s), 13 + 40 + 2 + (int)strlen("8 to 4 ms, found after 41 of 80 trials") + 1);
    sb_free(&b);
    static const int narrow[] = {50, 40, 30};                   /* bars stay on the line that they begin */
    for (int i = 0; i < 3; i++) {
        report_history(&b, c, narrow[i], true);
        char *bars_end = strstr(b.s, "  8 to 4 ms");
        assert_non_null(bars_end);
        *bars_end = 0;
        assert_int_equal(text_width(b.s), narrow[i]);
        sb_free(&b);
    }
    report_history(&b, c, 20, true);                             /* no room for any */
    assert_string_equal(b.s, "best so far  8 to 4 ms, found after 41 of 80 trials\n");
    sb_free(&b);
    json_object_set_new(c, "objective", json_string("energy"));
    report_history(&b, c, 0, false);
    assert_string_equal(b.s, "best so far  8 to 4 mJ, found after 41 of 80 trials\n");
    sb_free(&b);
    json_object_set_new(c, "trials", json_integer(9));
    report_history(&b, c, 120, true);
    assert_int_equal(b.len, 0);                                  /* too few to say anything */
    json_decref(c);
}

static void csv_rows(void **state)
{
    json_t *rows = read("[{\"id\": 1, \"size\": {\"M\": 2, \"N\": 3}, \"seconds\": {\"load\": 0.5, \"all\": [1]}, "
                        "\"reason\": \"a, \\\"b\\\"\","
                        "  \"text\": \"x\", \"finals\": [1], \"ok\": true},"
                        " {\"id\": null, \"late\": 1e-7, \"reason\": \"\", \"ok\": false}]");
    struct strbuf b = {0};
    report_csv(&b, rows);
    assert_string_equal(b.s, "id,size,seconds_load,reason,ok,late\n"
                             "1,M=2 N=3,0.5,\"a, \"\"b\"\"\",1,\n"
                             ",,,,0,1e-07\n");
    sb_free(&b);
    json_decref(rows);
    rows = json_array();
    report_csv(&b, rows);
    assert_int_equal(b.len, 0);
    json_decref(rows);
}

static void mixed_table(void **state)
{
    json_t *best = read(two), *baselines = read(two);
    json_object_set_new(json_object_get(json_array_get(best, 1), "size"), "M", json_integer(1));
    json_object_set_new(json_array_get(best, 1), "device", json_string("host"));
    json_object_set_new(json_array_get(baselines, 0), "outcome", json_string("wrong"));
    json_array_remove(baselines, 1);
    struct strbuf b = {0};
    report_best(&b, best, baselines, NULL);
    assert_string_equal(b.s,
        "rank  trial  size        device       kernel    time ms  speed-up  TFLOP/s    error  configuration\n"
        "   1     12  M=128 N=64  NVIDIA H200  simt        4.913     1.08x   54.321  3.3e-06  "
        "BM=128 LAYOUT=padded ALPHA=0.1 T=true\n"
        "   2      7  M=1 N=64    host         epilogue   15.500         -    9.100        -\n"
        "base     12  M=128 N=64  NVIDIA H200  simt        4.913     1.08x   54.321  3.3e-06  "
        "BM=128 LAYOUT=padded ALPHA=0.1 T=true (wrong)\n");
    sb_free(&b);
    json_decref(best);
    json_decref(baselines);
}

static void small_times(void **state)
{
    json_t *best = read("[{\"id\": 1, \"kernel\": \"k\", \"time_ms\": 0.0123456, \"error\": 0, \"configuration\": {}},"
                        " {\"id\": 2, \"kernel\": \"k\", \"time_ms\": 1.5, \"error\": 0, \"configuration\": {}}]");
    struct strbuf b = {0};
    report_best(&b, best, NULL, NULL);
    assert_non_null(strstr(b.s, " 0.01235 "));
    assert_non_null(strstr(b.s, " 1.50000 "));
    sb_free(&b);
    json_decref(best);
}

/* What decimals would show as zeros is shown by powers of ten, in the whole column. */
static void smaller_numbers(void **state)
{
    json_t *best = read("[{\"id\": 1, \"kernel\": \"k\", \"time_ms\": 1.5, \"energy_mj\": 2.34567e-9,"
                        "  \"speedup\": 0.001, \"tflops\": 3.25e-12, \"configuration\": {}},"
                        " {\"id\": 2, \"kernel\": \"k\", \"time_ms\": 2.5, \"energy_mj\": 3.5, \"speedup\": 0.5,"
                        "  \"tflops\": 0, \"configuration\": {}}]");
    struct strbuf b = {0};
    report_best(&b, best, NULL, NULL);
    assert_string_equal(b.s,
        "rank  trial  kernel  time ms  energy mJ  speed-up    GFLOP/s  error  configuration\n"
        "   1      1  k         1.500  2.346e-09  1.0e-03x  3.250e-09      -\n"
        "   2      2  k         2.500  3.500e+00     0.50x  0.000e+00      -\n");
    sb_free(&b);
    json_decref(best);
}

static void campaign_lines(void **state)
{
    json_t *c = read("{\"id\": 3, \"problem\": \"linear\", \"size\": {\"M\": 1}, \"device\": \"host\","
                     " \"strategy\": \"local\", \"options\": \"kind=hamming\", \"seed\": 7, \"inputs\": \"wide\","
                     " \"restrictions\": [\"BM > 1\", \"BN > BM\"],"
                     " \"tolerance\": {\"atol\": 0, \"rtol\": 1e-3, \"times_sgemm_error\": 0.0, \"frobenius\": 0.01},"
                     " \"state\": \"finished\", \"seconds\": 61.24,"
                     " \"outcomes\": {\"ok\": 2, \"wrong\": 0, \"compile\": 1}, \"trials\": [{}, {}, {}]}");
    struct strbuf b = {0};
    report_campaign(&b, c);
    assert_string_equal(b.s, "campaign 3: linear M=1 on host, strategy local (kind=hamming), seed 7\n"
                             "tolerance atol=0 rtol=0.001 frobenius=0.01, inputs wide\n"
                             "only where BM > 1\nonly where BN > BM\n"
                             "finished after 61.2 s; 3 trials: 2 ok, 1 compile\n");
    sb_free(&b);
    json_object_set_new(c, "objective", json_string("energy"));
    json_object_set_new(c, "seconds", json_real(0.0123));
    report_campaign(&b, c);
    assert_non_null(strstr(b.s, ", seed 7, for the least energy\n"));
    assert_non_null(strstr(b.s, "\nfinished after 0.012 s; 3 trials"));
    sb_free(&b);
    json_object_set_new(c, "device_kind", json_string("replay"));
    json_object_set_new(c, "recorded_seconds", json_real(78.84));
    report_campaign(&b, c);
    assert_non_null(strstr(b.s, "\nfinished after 78.8 s of recorded time; 3 trials"));
    sb_free(&b);
    json_decref(c);
}

static void reasons_and_trials(void **state)
{
    json_t *reasons = read("[{\"outcome\": \"compile\", \"count\": 12, \"reason\": "
                           "\"kernel.cu(3): error: a long story of more than forty columns\\nwith two lines\"}]");
    struct strbuf b = {0};
    report_reasons(&b, reasons, 60);
    assert_string_equal(b.s, "outcome  count  reason\ncompile     12  kernel.cu(3): error: a long story of ...\n");
    sb_free(&b);
    report_reasons(&b, reasons, 0);
    assert_non_null(strstr(b.s, "forty columns with two lines\n"));
    sb_free(&b);
    json_decref(reasons);

    json_t *trials = read("[{\"number\": 1, \"id\": 4, \"kernel\": \"a\", \"outcome\": \"ok\", \"time_ms\": 2,"
                          "  \"error\": 1e-7, \"configuration\": {\"X\": 1}, \"reason\": \"\"},"
                          " {\"number\": 2, \"id\": 5, \"kernel\": \"b\", \"outcome\": \"wrong\", \"time_ms\": null,"
                          "  \"configuration\": {\"X\": 2}, \"reason\": \"Y[0,0]\"}]");
    report_trials(&b, trials, 2, 80);
    assert_string_equal(b.s, "number  trial  kernel  outcome  time ms    error  configuration  reason\n"
                             "     1      4  a       ok         2.000  1.0e-07  X=1\n"
                             "     2      5  b       wrong          -        -  X=2            Y[0,0]\n");
    sb_free(&b);
    json_array_remove(trials, 0);
    report_trials(&b, trials, 2, 80);
    assert_memory_equal(b.s, "the last 1 of 2 trials (all of them with --all):\n", 49);
    assert_null(strstr(b.s, "X=1"));
    sb_free(&b);
    json_decref(trials);
}

/* A compiler's log is one line of bounded length wherever it is printed, terminal or not. */
static void long_reasons(void **state)
{
    char log[1000];
    memset(log, 'x', sizeof log - 1);
    log[sizeof log - 1] = 0;
    log[50] = '\n';
    json_t *trials = json_pack("[{s:i, s:s, s:s}]", "id", 1, "outcome", "compile", "reason", log);
    json_t *reasons = json_pack("[{s:i, s:s, s:s}]", "count", 1, "outcome", "compile", "reason", log);
    struct strbuf b = {0};
    report_trials(&b, trials, 1, 0);
    const char *at = strchr(b.s, 'x');
    assert_true(at && strcspn(at, "\n") == 100);
    assert_string_equal(at + 97, "...\n");
    sb_free(&b);
    report_reasons(&b, reasons, 0);
    at = strstr(b.s, "xxx");
    assert_true(at && strcspn(at, "\n") == 500);
    assert_string_equal(at + 497, "...\n");
    sb_free(&b);
    json_decref(trials);
    json_decref(reasons);
}

static void missing_keys(void **state)
{
    json_t *o = read("{\"a\": null, \"b\": \"text\", \"c\": 1, \"d\": true}");
    assert_true(isnan(tree_number(o, "a")) && isnan(tree_number(o, "b")) && isnan(tree_number(o, "none")));
    assert_true(tree_number(o, "c") == 1);
    assert_int_equal(tree_int(o, "a"), 0);
    assert_string_equal(tree_text(o, "c"), "");
    assert_true(tree_true(o, "c") && tree_true(o, "d") && !tree_true(o, "a") && !tree_true(NULL, "a"));
    json_decref(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(low_rates),    cmocka_unit_test(history),        cmocka_unit_test(csv_rows),
        cmocka_unit_test(best_table),   cmocka_unit_test(front_table),    cmocka_unit_test(mixed_table),
        cmocka_unit_test(small_times),  cmocka_unit_test(smaller_numbers), cmocka_unit_test(campaign_lines),
        cmocka_unit_test(reasons_and_trials),
        cmocka_unit_test(missing_keys), cmocka_unit_test(long_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
