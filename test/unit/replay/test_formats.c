/* test_formats.c: what each format's fields become, and what is refused: recordings cut off, with duplicates, without a
 * parameter, with times that are none. */
#include "fixture.h"
#include "replay/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#define HEAD                                                                                                           \
    "{\n\"device_name\": \"GPU\",\n\"kernel_name\": \"k\",\n\"problem_size\": [64, 2],\n"                              \
    "\"tune_params_keys\": [\"b\", \"a\"],\n\"tune_params\": {\"b\": [4, 2], \"a\": [1.5, 1]},\n\"objective\": "       \
    "\"time\",\n"                                                                                                      \
    "\"cache\": {\n"
#define ONE "\"2,1\": {\"b\": 2, \"a\": 1, \"time\": 2.5, \"times\": [2, 3], \"compile_time\": 1000, " \
    "\"verification_time\": 20, \"framework_time\": 300, \"strategy_time\": 4}"
#define TWO "\"4,1.5\": {\"b\": 4, \"a\": 1.5, \"time\": \"CompilationFailedConfig\", \"compile_time\": 10}"

static const struct recorded *find(const struct recording *r, int b, int a)
{
    const config_choice choice[2] = {(config_choice)b, (config_choice)a};
    int64_t at = recording_find(r, choice);
    if (at < 0)
        fail_msg("no configuration %d %d", b, a);
    return &r->configs[at];
}

static void a_cache(void **state)
{
    struct recording *r = from_text(HEAD ONE ",\n" TWO "}\n}\n");
    assert_string_equal(r->size, "[64,2]");
    assert_int_equal(r->nparams, 2);
    assert_int_equal(r->nconfigs, 2);
    assert_string_equal(r->params[0].name, "b");
    assert_int_equal(r->params[0].type, VALUE_INT);
    assert_int_equal(r->params[0].values[0].i, 4);      /* the file's own order */
    assert_int_equal(r->params[1].type, VALUE_FLOAT);   /* 1 among floats is one */
    assert_true(value_equal(r->params[1].values[1], value_float(1)));
    const struct recorded *one = find(r, 1, 1), *two = find(r, 0, 0);
    assert_int_equal(one->outcome, OUTCOME_ok);
    assert_true(one->value_ms == 2.5);
    assert_int_equal(one->nsamples, 2);
    assert_true(r->samples[one->first_sample + 1] == 3);
    assert_true(fabs(recorded_cost(one) - (1 + 0.02 + 0.3 + 0.004 + 0.005)) < 1e-12);
    assert_true(fabs(recorded_trial_seconds(one) - (1 + 0.02 + 0.005)) < 1e-12);
    assert_int_equal(two->outcome, OUTCOME_compile);
    assert_string_equal(two->reason, "CompilationFailedConfig");
    assert_true(isnan(two->value_ms));
    assert_false(r->cut);
    recording_free(r);
}

/* As Kernel Tuner leaves it when it is ended: entries that are whole count. */
static void a_cache_cut_off(void **state)
{
    static const struct {
        const char *text;
        uint64_t configs;
    } cases[] = {
        {HEAD ONE ",\n" TWO ",\n", 2}, {HEAD ONE ",\n" TWO "\n", 2},       {HEAD ONE ",\n" TWO "}\n", 2},
        {HEAD ONE ",\n" TWO, 2},       {HEAD ONE ",\n\"4,1.5\": {\"b\"", 1}, {HEAD ONE ",\n\"4,1", 1},
        {HEAD ONE ",\n\"4,1.5\":", 1}, {HEAD ONE ",", 1},                  {HEAD ONE "}", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recording *r = from_text(cases[i].text);
        struct strbuf b = {0};
        assert_true(r->cut);
        assert_int_equal(r->nconfigs, cases[i].configs);
        recording_notes(r, &b);
        assert_non_null(strstr(sb_str(&b), "without its closing braces"));
        sb_free(&b);
        recording_free(r);
    }
    refused(HEAD, LATHE_NOTHING, "empty");
    refused("{\n\"device_name\": \"GPU\",\n\"tune_par", LATHE_IO, "r.json:3: the text ends here, in the middle");
    refused("", LATHE_IO, "cut off");
}

static void a_cache_of_any_order(void **state)
{
    struct recording *r = from_text("{\"cache\": {" ONE "}, \"note\": [NaN, -Infinity, {\"x\": \"}\\\"\"}], "
                                    "\"tune_params\": {\"b\": [2], \"a\": [1]}}");
    assert_int_equal(r->nconfigs, 1);
    assert_int_equal(find(r, 0, 0)->outcome, OUTCOME_ok);
    recording_free(r);
}

static void failures_of_a_cache(void **state)
{
    static const struct {
        const char *time;
        enum outcome outcome;
    } cases[] = {
        {"\"InvalidConfig\"", OUTCOME_resources},
        {"\"CompilationFailedConfig\"", OUTCOME_compile},
        {"\"RuntimeFailedConfig\"", OUTCOME_launch},
        {"\"SomethingElse\"", OUTCOME_launch},
        {"1e20", OUTCOME_launch},
        {"1.7976931348623157e308", OUTCOME_launch},
        {"NaN", OUTCOME_unstable},
        {"Infinity", OUTCOME_unstable},
        {"-1", OUTCOME_unstable},
        {"0", OUTCOME_unstable},
        {"null", OUTCOME_unstable},
        {"0.25, \"__error__\": \"CompilationFailedConfig\"", OUTCOME_compile},
        {"0.25", OUTCOME_ok},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        snprintf(text, sizeof text, "%s\"2,1\": {\"b\": 2, \"a\": 1, \"time\": %s}}}", HEAD, cases[i].time);
        struct recording *r = from_text(text);
        const struct recorded *c = find(r, 1, 1);
        if (c->outcome != cases[i].outcome)
            fail_msg("%s: %s", cases[i].time, outcome_name(c->outcome));
        assert_true(isnan(c->value_ms) == (c->outcome != OUTCOME_ok));
        assert_true(!*c->reason == (c->outcome == OUTCOME_ok));
        assert_int_equal(r->not_times, c->outcome == OUTCOME_unstable);
        recording_free(r);
    }
}

static void costs_that_are_none(void **state)
{
    struct recording *r = from_text(HEAD "\"2,1\": {\"b\": 2, \"a\": 1, \"time\": 1, \"times\": [1, NaN, -3, 1], "
                                         "\"compile_time\": -5, \"framework_time\": NaN, \"verification_time\": null, "
                                         "\"strategy_time\": 1e300}}}");
    const struct recorded *c = find(r, 1, 1);
    assert_int_equal(c->outcome, OUTCOME_ok);
    assert_true(fabs(recorded_cost(c) - 0.002) < 1e-12);
    assert_int_equal(c->nsamples, 2);
    assert_int_equal(r->not_costs, 5);
    recording_free(r);
}

static void duplicates(void **state)
{
    struct recording *r = from_text(HEAD ONE ", " TWO ", \"2,1.0\": {\"b\": 2, \"a\": 1.0, \"time\": 7}}}");
    assert_int_equal(r->nconfigs, 2);
    assert_int_equal(r->duplicates, 1);
    assert_true(find(r, 1, 1)->value_ms == 7);          /* the last one counts */
    recording_free(r);
}

static void caches_refused(void **state)
{
    refused(HEAD "}}", LATHE_NOTHING, "it has no configuration");
    refused("{\"cache\": {" ONE "}}", LATHE_IO, "no tune_params_keys and no tune_params");
    refused(HEAD "\"2\": {\"b\": 2, \"time\": 1}}}", LATHE_IO, "r.json:9: cache[\"2\"] has no a, which is a parameter");
    refused(HEAD "\"2\": {\"b\": 2, \"a\": null}}}", LATHE_IO, "the value of a is null");
    refused(HEAD "\"2\": {\"b\": 2, \"a\": {}}}}", LATHE_IO, "the value of a is an object");
    refused(HEAD "\"2\": {\"b\": 2, \"a\": \"x\"}}}", LATHE_IO, "the values of a are of different types");
    refused(HEAD "\"2\": 3}}", LATHE_IO, "cache[\"2\"] is no object");
    refused(HEAD ONE "} {", LATHE_IO, "expected ',' or '}', and found '{'");
    refused(HEAD ONE "}} {", LATHE_IO, "text after the end");
    refused(HEAD ONE ", 7: 8}}", LATHE_IO, "expected a key in quotes");
    refused(HEAD ONE "}, \"cache\": {" TWO "}}", LATHE_IO, "a second list");
    refused("{\"tune_params_keys\": [\"a\", \"a\"], \"cache\": {}}", LATHE_IO, "a is there twice");
    refused("{\"tune_params_keys\": [\"a\"], \"tune_params\": {\"b\": []}, \"cache\": {}}", LATHE_IO,
            "has b, which tune_params_keys lacks");
    refused("[1]", LATHE_IO, "expected '{', and found '['");
    refused("\x1f\x8b", LATHE_IO, "the byte 0x1f");
    refused("{\"a\": 1}", LATHE_IO, "no recording that is known");
    refused("{\"metadata\": bogus}", LATHE_IO, "not JSON");
    refused("{\"metadata\": 1e999}", LATHE_IO, "not JSON");
    refused("{\"other\": [1, 2", LATHE_IO, "cut off");
}

#define T4(metadata, results)                                                                                          \
    "{\"metadata\": {" metadata "}, \"results\": [" results "], \"schema_version\": \"1.0.0\"}"
#define ITEM(value, times, rest)                                                                                       \
    "{\"configuration\": {\"p\": " value ", \"q\": true}, \"times\": {" times "}, " rest "}"
#define TIMES                                                                                                          \
    "\"compilation_time\": 5, \"framework\": 1, \"search_algorithm\": 2, \"validation\": 3, \"runtimes\": [4, 6]"

static void t4_results(void **state)
{
    struct recording *r = from_text(T4(
        "\"timeunit\": \"miliseconds\"",
        ITEM("9", TIMES, "\"invalidity\": \"correct\", \"correctness\": 0, \"objectives\": [\"time\"], "
                         "\"measurements\": [{\"name\": \"time\", \"value\": 5, \"unit\": \"\"}]") ", "
        ITEM("3", "\"compilation\": 7", "\"invalidity\": \"correctness\", \"correctness\": 1")));
    assert_int_equal(r->nconfigs, 2);
    assert_int_equal(r->params[0].values[0].i, 3);      /* by size: the file has no list */
    const struct recorded *ok = find(r, 1, 0), *wrong = find(r, 0, 0);
    assert_int_equal(ok->outcome, OUTCOME_ok);          /* invalidity alone says so */
    assert_true(ok->value_ms == 5);
    assert_true(fabs(recorded_cost(ok) - 0.021) < 1e-12);
    assert_int_equal(ok->nsamples, 2);
    assert_int_equal(wrong->outcome, OUTCOME_wrong);
    assert_true(fabs(recorded_cost(wrong) - 0.007) < 1e-12);
    recording_free(r);
}

static void units_of_t4(void **state)
{
    static const struct {
        const char *metadata, *unit;
        double ms, compile;
    } cases[] = {
        {"", "", 5, 0.005},
        {"\"timeunit\": \"milliseconds\"", "us", 0.005, 0.005},
        {"\"timeunit\": \"seconds\"", "", 5000, 5},
        {"\"timeunit\": \"microseconds\"", "ms", 5, 5e-6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        snprintf(
            text, sizeof text,
            "{\"results\": [%s\"objectives\": [\"time\"], \"measurements\": [{\"name\": \"GFLOP/s\", \"value\": 1, "
            "\"unit\": \"GFLOP/s\"}, {\"name\": \"time\", \"value\": 5, \"unit\": \"%s\"}]}], \"metadata\": {%s}}",
            "{\"configuration\": {\"p\": 1, \"q\": 2}, \"times\": {\"compilation\": 5}, \"invalidity\": \"correct\", ",
            cases[i].unit, cases[i].metadata);
        struct recording *r = from_text(text);
        assert_true(fabs(find(r, 0, 0)->value_ms / cases[i].ms - 1) < 1e-12);
        assert_true(fabs(find(r, 0, 0)->compile / cases[i].compile - 1) < 1e-12);
        assert_int_equal(find(r, 0, 0)->nsamples, 1);
        recording_free(r);
    }
}

static void t4_refused(void **state)
{
#define MIXED(value)                                                                                                   \
    "{\"configuration\": {\"p\": " value "}, \"times\": {\"runtimes\": [1]}, \"invalidity\": \"correct\"}"
#define RIGHT ITEM("9", TIMES, "\"invalidity\": \"correct\"")
    refused(T4("\"timeunit\": \"fortnights\"", RIGHT), LATHE_IO, "metadata.timeunit is fortnights");
    refused(T4("", RIGHT ", " ITEM("9", TIMES, "\"invalidity\": \"odd\"")), LATHE_IO, "results[1].invalidity is odd");
    refused(T4("", ITEM("9", TIMES, "\"correctness\": 1")), LATHE_IO, "results[0].invalidity is not there");
    refused(T4("", RIGHT ", {\"configuration\": {\"p\": 1}, \"invalidity\": \"correct\"}"), LATHE_IO,
            "results[1] lacks the parameter q");
    refused(T4("", RIGHT ", {\"configuration\": {\"p\": 1, \"q\": true, \"z\": 1}, \"invalidity\": \"correct\"}"),
            LATHE_IO, "results[1] has a parameter z, which the first result lacks");
    /* among floats a whole number that none is could be the same as another */
    refused(T4("", MIXED("9007199254740993") ", " MIXED("2.5")), LATHE_IO,
            "r.json: the value 9007199254740993 of p is among floats, of which none is that number");
    refused(T4("", MIXED("0.5") ", " MIXED("9007199254740992") ", " MIXED("9223372036854775807")), LATHE_IO,
            "r.json: the value 9223372036854775807 of p is among floats");
    struct recording *large = from_text(T4("", MIXED("0.5") ", " MIXED("-9007199254740992")));
    assert_int_equal(large->nconfigs, 2);
    recording_free(large);
    refused(T4("", RIGHT ", {\"invalidity\": \"correct\"}"), LATHE_IO, "results[1] has no configuration");
    refused(T4("", ""), LATHE_NOTHING, "empty");
    refused(T4("",
               "{\"configuration\": {\"p\": 1}, \"times\": {}, \"invalidity\": \"correct\", \"objectives\": [\"e\"], "
               "\"measurements\": [{\"name\": \"e\", \"value\": 5, \"unit\": \"J\"}]}"),
            LATHE_IO, "the objective e is measured in J, which is no unit of time");
    refused("{\"metadata\": {}, \"results\": [" RIGHT ", {\"conf", LATHE_IO, "cut off");
    refused("{\"metadata\": {}, \"results\": [" RIGHT, LATHE_IO, "cut off");
}

#define KTT(results) "{\"Metadata\": {\"TimeUnit\": \"Nanoseconds\", \"Device\": \"D\"}, \"Results\": [" results "]}"
#define PAIRS "\"Configuration\": [{\"Name\": \"p\", \"Value\": 1}, {\"Name\": \"q\", \"Value\": \"w\"}]"

static void ktt_output(void **state)
{
    struct recording *r = from_text(
        KTT("{\"KernelName\": \"k\", \"Status\": \"Ok\", \"TotalDuration\": 2e6, \"TotalOverhead\": "
            "1e9, \"DataMovementOverhead\": 1e8, \"ValidationOverhead\": 2e8, "
            "\"SearcherOverhead\": 3e8, " PAIRS "}"));
    const struct recorded *c = find(r, 0, 0);
    assert_true(fabs(c->value_ms - 2) < 1e-12);
    assert_true(fabs(c->compile - 0.4) < 1e-12);
    assert_true(fabs(recorded_cost(c) - 1.002) < 1e-12);
    recording_free(r);
    static const struct {
        const char *status;
        enum outcome outcome;
    } cases[] = {{"ComputationFailed", OUTCOME_launch}, {"ValidationFailed", OUTCOME_wrong},
                 {"CompilationFailed", OUTCOME_compile}, {"DeviceLimitsExceeded", OUTCOME_resources}};
    for (int i = 0; i < 4; i++) {
        char text[600];
        snprintf(text, sizeof text, KTT("{\"Status\": \"%s\", \"TotalOverhead\": 1.8446744073709552e19, " PAIRS "}"),
                 cases[i].status);
        r = from_text(text);
        assert_int_equal(find(r, 0, 0)->outcome, cases[i].outcome);
        assert_true(recorded_cost(find(r, 0, 0)) == 0);  /* KTT's mark of a time that it does not know */
        recording_free(r);
    }
    refused(KTT("{\"Status\": \"Odd\", " PAIRS "}"), LATHE_IO, "Results[0].Status is Odd");
    refused(KTT("{\"Status\": \"Ok\"}"), LATHE_IO, "Results[0] has no Configuration");
    refused(KTT("{\"Status\": \"Ok\", \"KernelName\": \"a\", \"TotalDuration\": 1, " PAIRS "}, {\"Status\": \"Ok\", "
                "\"KernelName\": \"b\", \"TotalDuration\": 1, " PAIRS "}"),
            LATHE_IO, "expected one kernel");
    refused("{\"Metadata\": {\"TimeUnit\": \"Weeks\"}, \"Results\": []}", LATHE_IO, "Metadata.TimeUnit is Weeks");
    refused("{\"Results\": []}", LATHE_IO, "Metadata.TimeUnit is not there");
}

/* One value of more than JSON_STREAM_VALUE_MAX is not kept in memory; passing over it costs none. */
static void large_values(void **state)
{
    enum { LONG = 17 << 20 };
    char *text = mem_alloc(LONG + 2000), *at = text;
    at += sprintf(at, "%s\"2,1\": {\"b\": 2, \"a\": 1, \"time\": 1, \"log\": \"", HEAD);
    memset(at, 'x', LONG);
    at += LONG;
    sprintf(at, "\"}}}");
    refused(text, LATHE_IO, "one value is longer than 16 MiB: too large");
    mem_free(text);
    at = text = mem_alloc(LONG + 2000);
    at += sprintf(at, "{\"log\": [\"");
    memset(at, 'x', LONG);
    at += LONG;
    sprintf(at, "\"], %s", HEAD ONE "}}" + 1);
    struct recording *r = from_text(text);
    assert_int_equal(r->nconfigs, 1);
    recording_free(r);
    mem_free(text);
}

/* As many values as a specification may have; names and values of a sane length. */
static void limits(void **state)
{
    struct strbuf b = {0};
    sb_add(&b, "{\"tune_params_keys\": [\"a\"], \"cache\": {");
    for (int i = 0; i < 4096; i++)
        sb_addf(&b, "%s\"%d\": {\"a\": %d, \"time\": 1}", i ? "," : "", i, i);
    size_t len = b.len;
    sb_add(&b, "}}");
    struct recording *r = from_text(sb_str(&b));
    assert_int_equal(r->params[0].nvalues, 4096);
    recording_free(r);
    b.len = len;
    sb_add(&b, ",\"x\": {\"a\": 4096, \"time\": 1}}}");
    refused(sb_str(&b), LATHE_IO, "a has more than 4096 values: too large");
    b.len = 0;
    sb_addf(&b, "{\"tune_params_keys\": [\"a\"], \"cache\": {\"1\": {\"a\": \"%0300d\", \"time\": 1}}}", 0);
    refused(sb_str(&b), LATHE_IO, "is too long");
    b.len = 0;
    sb_addf(&b, "{\"tune_params_keys\": [\"%0300d\"], \"cache\": {}}", 0);
    refused(sb_str(&b), LATHE_IO, "is too long");
    b.len = 0;
    sb_add(&b, "{\"tune_params_keys\": [\"a0\"");
    for (int i = 1; i < 257; i++)
        sb_addf(&b, ", \"a%d\"", i);
    sb_add(&b, "], \"cache\": {}}");
    refused(sb_str(&b), LATHE_IO, "more than 256 parameters: too large");
    sb_free(&b);

    struct builder *builder = builder_new("T4");
    struct recorded *entry;
    config_choice *choice;
    struct err e = {0};
    assert_int_equal(builder_entry(builder, &entry, &choice, &e), LATHE_OK);
    builder_recording(builder)->nsamples = RECORDING_BYTES_MAX / sizeof(double);   /* as if it had them */
    assert_int_equal(builder_entry(builder, &entry, &choice, &e), LATHE_IO);
    assert_non_null(strstr(e.text, "too large: 1 configurations and 268435456 samples take more than 2048 MiB"));
    builder_free(builder);
}

static void write_gz(const char *path, const char *text, size_t len)
{
    gzFile f = gzopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, text, (unsigned)len), (int)len);
    assert_int_equal(gzclose(f), Z_OK);
}

static void files(void **state)
{
    char path[] = "/tmp/lathe-recording-XXXXXX";
    struct recording *r = NULL;
    struct err e = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    const char *text = HEAD ONE ",\n" TWO "}\n}\n";
    write_gz(path, text, strlen(text));
    r = opened(path);
    assert_int_equal(r->nconfigs, 2);
    recording_free(r);
    assert_true(truncate(path, 60) == 0);
    assert_int_equal(recording_open(path, NULL, &r, &e), LATHE_IO);
    assert_non_null(strstr(e.text, "the compressed data end in the middle"));
    assert_true(truncate(path, 0) == 0);
    assert_int_equal(recording_open(path, NULL, &r, &e), LATHE_IO);
    assert_int_equal(pwrite(fd, text, strlen(text), 0), (long)strlen(text));
    r = opened(path);
    assert_int_equal(r->nconfigs, 2);
    recording_free(r);
    close(fd);
    unlink(path);
    assert_int_equal(recording_open(path, NULL, &r, &e), LATHE_IO);
    assert_non_null(strstr(e.text, "No such file"));
    assert_int_equal(recording_open("/tmp", NULL, &r, &e), LATHE_IO);
    assert_non_null(strstr(e.text, "is a directory"));
}

/* gzip's own program says it too; zlib does not. */
static void what_stands_behind_compressed_data(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        bool told;
    } cases[] = {{"", 0, false},     {"\0\0\0", 3, false}, {"junk", 4, true}, {"\0\0x", 3, true},
                 {"\x1f", 1, true}, {"\n", 1, true}};
    const char *text = HEAD ONE ",\n" TWO "}\n}\n";
    char *path = mem_printf("/tmp/lathe-rest-%d", (int)getpid());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int members = 1; members <= 2; members++) {
            size_t half = members == 2 ? strlen(text) / 2 : 0;
            gzFile f = gzopen(path, "wb");
            assert_int_equal(gzwrite(f, text, (unsigned)(half ? half : strlen(text))), half ? half : strlen(text));
            assert_int_equal(gzclose(f), Z_OK);
            if (half) {
                f = gzopen(path, "ab");
                assert_int_equal(gzwrite(f, text + half, (unsigned)(strlen(text) - half)), strlen(text) - half);
                assert_int_equal(gzclose(f), Z_OK);
            }
            FILE *file = fopen(path, "ab");
            assert_int_equal(fwrite(cases[i].bytes, 1, cases[i].n, file), cases[i].n);
            assert_int_equal(fclose(file), 0);
            struct recording *r = opened(path);
            struct strbuf notes = {0};
            assert_int_equal(r->nconfigs, 2);
            recording_notes(r, &notes);
            assert_int_equal(strstr(sb_str(&notes), "stands behind the compressed data") != NULL, cases[i].told);
            sb_free(&notes);
            recording_free(r);
        }
    unlink(path);
    mem_free(path);
}

/* What is written is read back the same, but for the outcomes that T4 does not tell apart. */
static void written_as_t4(void **state)
{
    static const char *const files[] = {"test/data/recorded/small/cache.json", "test/data/recorded/small/ktt.json",
                                        "test/data/recorded/convolution_milo-A100.t4.json.gz"};
    static const char *const suffixes[] = {".json", ".json.gz"};
    for (int i = 0; i < 6; i++) {
        struct recording *a = opened(files[i / 2]), *b;
        struct err e = {0};
        char *path = mem_printf("/tmp/lathe-written-%d%s", (int)getpid(), suffixes[i % 2]);
        if (recording_write(a, RECORDING_T4, path, &e))
            fail_msg("%s", e.text);
        b = opened(path);
        unlink(path);
        mem_free(path);
        assert_string_equal(b->format, "T4");
        assert_string_equal(a->device, b->device);
        assert_string_equal(a->kernel, b->kernel);
        assert_string_equal(a->size, b->size);
        assert_int_equal(a->nconfigs, b->nconfigs);
        assert_int_equal(a->nparams, b->nparams);
        for (uint64_t c = 0; c < a->nconfigs; c++) {
            const struct recorded *x = &a->configs[c], *y = NULL;
            for (uint64_t d = 0; d < b->nconfigs && !y; d++) {     /* values may be in another order */
                bool same = true;
                uint64_t n = (uint64_t)a->nparams;
                for (uint64_t p = 0; p < n && same; p++)
                    same = value_equal(a->params[p].values[a->choices[c * n + p]],
                                       b->params[p].values[b->choices[d * n + p]]);
                y = same ? &b->configs[d] : NULL;
            }
            assert_non_null(y);
            assert_int_equal(x->outcome == OUTCOME_ok, y->outcome == OUTCOME_ok);
            assert_true(x->value_ms == y->value_ms || x->outcome != OUTCOME_ok);
            assert_true(fabs(recorded_cost(x) - recorded_cost(y)) <= 1e-12 * recorded_cost(x));
            assert_true(fabs(recorded_trial_seconds(x) - recorded_trial_seconds(y)) <= 1e-12 * recorded_cost(x));
            assert_int_equal(x->nsamples, y->nsamples);
            if (x->nsamples)
                assert_memory_equal(a->samples + x->first_sample, b->samples + y->first_sample,
                                    x->nsamples * sizeof(double));
        }
        recording_free(a);
        recording_free(b);
    }
    struct recording *r = opened(files[0]);
    struct err e = {0};
    assert_int_equal(recording_write(r, RECORDING_T4, "/tmp/no such folder/x.json", &e), LATHE_IO);
    recording_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cache),
        cmocka_unit_test(a_cache_cut_off),
        cmocka_unit_test(a_cache_of_any_order),
        cmocka_unit_test(failures_of_a_cache),
        cmocka_unit_test(costs_that_are_none),
        cmocka_unit_test(duplicates),
        cmocka_unit_test(caches_refused),
        cmocka_unit_test(t4_results),
        cmocka_unit_test(units_of_t4),
        cmocka_unit_test(t4_refused),
        cmocka_unit_test(ktt_output),
        cmocka_unit_test(large_values),
        cmocka_unit_test(limits),
        cmocka_unit_test(written_as_t4),
        cmocka_unit_test(files),
        cmocka_unit_test(what_stands_behind_compressed_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
