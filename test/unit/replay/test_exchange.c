/* test_exchange.c: recordings written in each form and read back, and tables (CSV) read. */
#include "base/clock.h"
#include "test/unit/replay/fixture.h"
#include <math.h>
#include <unistd.h>

static void same_number(double a, double b)
{
    if (!(a == b || (isnan(a) && isnan(b))))
        fail_msg("%.17g is not %.17g", a, b);
}

static void same_values(const struct recording *a, uint64_t i, const struct recording *b, uint64_t j)
{
    for (int p = 0; p < a->nparams; p++) {
        struct value v = a->params[p].values[a->choices[i * (uint64_t)a->nparams + (uint64_t)p]];
        struct value w = b->params[p].values[b->choices[j * (uint64_t)b->nparams + (uint64_t)p]];
        assert_int_equal(v.type, w.type);
        assert_true(value_equal(v, w));
    }
}

/* Everything, in the order in which it was tried. */
static void same_recording(const struct recording *a, const struct recording *b)
{
    assert_string_equal(a->kernel, b->kernel);
    assert_string_equal(a->device, b->device);
    assert_string_equal(a->size, b->size);
    assert_int_equal(a->by_energy, b->by_energy);
    assert_int_equal(a->nparams, b->nparams);
    assert_int_equal(a->nconfigs, b->nconfigs);
    for (int p = 0; p < a->nparams; p++)
        assert_string_equal(a->params[p].name, b->params[p].name);
    uint64_t *first = recording_order(a), *second = recording_order(b);
    for (uint64_t i = 0; i < a->nconfigs; i++) {
        const struct recorded *x = &a->configs[first[i]], *y = &b->configs[second[i]];
        same_values(a, first[i], b, second[i]);
        assert_int_equal(x->outcome, y->outcome);
        assert_string_equal(x->reason, y->reason);
        same_number(x->value_ms, y->value_ms);
        same_number(x->compile, y->compile);
        same_number(x->validation, y->validation);
        same_number(x->framework, y->framework);
        same_number(x->search, y->search);
        same_number(x->run, y->run);
        same_number(x->energy_mj, y->energy_mj);
        assert_int_equal(x->moment, y->moment);
        assert_int_equal(x->nsamples, y->nsamples);
        for (uint32_t s = 0; s < x->nsamples; s++)
            same_number(a->samples[x->first_sample + s], b->samples[y->first_sample + s]);
    }
    mem_free(first);
    mem_free(second);
}

static struct recording *printed_and_read(const struct recording *r, enum recording_form f)
{
    struct strbuf text = {0}, again = {0};
    struct err e = {0};
    if (recording_print(r, f, &text, &e))
        fail_msg("%s", e.text);
    struct recording *b = from_text(text.s);
    assert_int_equal(recording_print(b, f, &again, &e), LATHE_OK);
    assert_string_equal(text.s, again.s);       /* a text that was written is written the same again */
    sb_free(&text);
    sb_free(&again);
    return b;
}

static void every_form_of_every_file(void **state)
{
    static const char *const files[] = {
        "test/data/recorded/small/cache.json",
        "test/data/recorded/small/t4.json",
        "test/data/recorded/small/ktt.json",
        "test/data/recorded/small/table.csv",
        "test/data/recorded/pnpoly-RTX_3090.json.gz",
        "test/data/recorded/convolution_milo-A100.t4.json.gz",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct recording *a = opened(files[i]);
        for (int f = 0; f < RECORDING_FORMS; f++) {
            struct recording *b = printed_and_read(a, (enum recording_form)f);
            same_recording(a, b);
            recording_free(b);
        }
        recording_free(a);
    }
}

/* What one of the formats has no word of its own for is held all the same. */
static void outcomes_energy_moments(void **state)
{
    static const char text[] =
        "a,outcome,reason,time_ms,samples_ms,search_seconds,energy_mj,timestamp\n"
        "1,ok,,2.5,2 3,0.1,7.25,2026-11-30T01:02:03.000004Z\n"
        "2,constraint,\"a < 2, says one\",,,,,\n3,compile,,,,,,\n4,resources,too many registers,,,,,\n"
        "5,launch,crash: it says,,,,,\n6,timeout,10 s,,9.5 9.25,,,\n7,crash,signal 11,,,,,1969-12-31 23:59:59.5+00:00\n"
        "8,wrong,Y[0],,,,,\n9,inaccurate,1e-3,,,,,\n10,unstable,,,,,,\n11,missing,,,,,,\n";
    struct recording *a = from_text(text);
    assert_int_equal(a->nconfigs, 11);
    same_number(a->configs[0].energy_mj, 7.25);
    assert_int_equal(a->configs[0].moment, INT64_C(1796000523000004));
    assert_int_equal(a->configs[6].moment, -500000);
    for (int f = 0; f < RECORDING_FORMS; f++) {
        struct recording *b = printed_and_read(a, (enum recording_form)f);
        same_recording(a, b);
        recording_free(b);
    }
    recording_free(a);
}

static void an_objective_of_energy(void **state)
{
    struct recording *a = opened("test/data/recorded/small/table.csv");
    a->by_energy = true;
    for (int f = RECORDING_T4; f <= RECORDING_KERNEL_TUNER; f++) {
        struct recording *b = printed_and_read(a, (enum recording_form)f);
        same_recording(a, b);
        recording_free(b);
    }
    recording_free(a);
}

/* The order of the file, which is none of the values'. */
static void order(void **state)
{
    struct recording *r = from_text("a,time_ms\n3,1\n1,2\n2,3\n1,4\n");
    uint64_t *at = recording_order(r);
    assert_int_equal(r->nconfigs, 3);
    assert_int_equal(r->duplicates, 1);
    same_number(r->configs[at[0]].value_ms, 1);
    same_number(r->configs[at[1]].value_ms, 3);
    same_number(r->configs[at[2]].value_ms, 4);
    mem_free(at);
    recording_free(r);
}

static void the_whole_enumeration_of_t4(void **state)
{
    static const char *const words[] = {"correct", "timeout", "compile", "runtime", "correctness", "constraints"};
    struct recording *r =
        from_text("a,outcome,time_ms\n1,ok,1\n2,timeout,\n3,compile,\n4,launch,\n5,wrong,\n6,constraint,\n");
    struct strbuf text = {0};
    struct err e = {0};
    assert_int_equal(recording_print(r, RECORDING_T4, &text, &e), LATHE_OK);
    for (int i = 0; i < 6; i++) {
        char member[64];
        snprintf(member, sizeof member, "\"invalidity\": \"%s\"", words[i]);
        assert_non_null(strstr(text.s, member));
    }
    sb_free(&text);
    recording_free(r);
}

/* A text where the time should be refines the outcome only within what invalidity says. */
static void invalidity_alone_is_trusted(void **state)
{
    struct recording *r = from_text("{\"metadata\": {}, \"results\": ["
                                    "{\"configuration\": {\"a\": 1}, \"invalidity\": \"compile\", \"measurements\": "
                                    "[{\"name\": \"time\", \"value\": \"crash: x\"}]},"
                                    "{\"configuration\": {\"a\": 2}, \"invalidity\": \"runtime\", \"measurements\": "
                                    "[{\"name\": \"time\", \"value\": \"crash: x\"}]},"
                                    "{\"configuration\": {\"a\": 3}, \"invalidity\": \"runtime\", \"correctness\": 1, "
                                    "\"measurements\": [{\"name\": \"time\", \"value\": 5}]}]}");
    assert_int_equal(r->configs[0].outcome, OUTCOME_compile);
    assert_string_equal(r->configs[0].reason, "compile");
    assert_int_equal(r->configs[1].outcome, OUTCOME_crash);
    assert_string_equal(r->configs[1].reason, "x");
    assert_int_equal(r->configs[2].outcome, OUTCOME_launch);
    recording_free(r);
}

static void a_table(void **state)
{
    struct recording *r = opened("test/data/recorded/small/table.csv");
    assert_string_equal(r->format, "CSV");
    assert_string_equal(r->size, "M=64 N=32");
    assert_string_equal(r->device, "GPU, the \"second\"");
    assert_int_equal(r->nparams, 4);
    assert_int_equal(r->params[0].type, VALUE_INT);
    assert_int_equal(r->params[1].type, VALUE_STRING);
    assert_int_equal(r->params[2].type, VALUE_BOOL);
    assert_int_equal(r->params[3].type, VALUE_FLOAT);
    assert_string_equal(r->params[1].name, "layout");
    assert_string_equal(r->params[1].values[1].s, "col.2");
    const struct recorded *c = &r->configs[0];
    same_number(c->value_ms, 2.5);
    assert_int_equal(c->nsamples, 3);
    assert_int_equal(r->configs[1].outcome, OUTCOME_compile);
    assert_string_equal(r->configs[1].reason, "line 3: error\ntoo large");
    recording_free(r);
}

static void tables_as_others_write_them(void **state)
{
    struct recording *r = from_text("\xef\xbb\xbf" "time,BM\r\n\r\n1.5 , 16\r\n2.5,32\r\n");
    assert_int_equal(r->nconfigs, 2);
    assert_string_equal(r->params[0].name, "BM");
    same_number(r->configs[0].value_ms, 1.5);
    recording_free(r);
    r = from_text("BM,time_s\n16,0.0015");
    assert_true(fabs(r->configs[0].value_ms - 1.5) < 1e-12);
    recording_free(r);
    r = from_text("BM,samples_ms\n16,1 2 3\n32,0 nan\n");        /* the mean where there is no time */
    same_number(r->configs[0].value_ms, 2);
    assert_int_equal(r->configs[1].outcome, OUTCOME_unstable);
    recording_free(r);
    r = from_text("w,time_ms\n\"\",1\nx,2\n");                   /* an empty text, and no value that lacks */
    assert_string_equal(r->params[0].values[0].s, "");
    recording_free(r);
    r = from_text("BM,time_ms,compile_seconds\n1,-3,-1\n2,inf,nan\n3,,\n");
    assert_int_equal(r->not_times, 3);
    assert_int_equal(r->not_costs, 2);
    recording_free(r);
}

static void tables_refused(void **state)
{
    refused("a,time_ms\n1,2,3\n", LATHE_IO, "r.json:2: 3 fields, where the first line has 2");
    refused("a,b,time_ms\n1,2,3\n1,2", LATHE_IO, "r.json:3: 2 fields, where the first line has 3: cut off");
    refused("a,time_ms\n1,\"2", LATHE_IO, "r.json:2: a quoted field without its end: the file was cut off");
    refused("a,time_ms\n1,\"2\"3\n", LATHE_IO, "r.json:2: text behind a quoted field");
    refused("a,time_ms\n1,2\"\n", LATHE_IO, "r.json:2: a quote within a field");
    refused("a,time_ms\n,2\n", LATHE_IO, "r.json:2: no value for the parameter a");
    refused("a,time_ms\n1,fast\n", LATHE_IO, "r.json:2: time_ms is 'fast', which is no number");
    refused("a,time_ms,time_us\n1,2,3\n", LATHE_IO, "r.json:1: the columns time_ms and time_us say the same");
    refused("a,a,time_ms\n1,2,3\n", LATHE_IO, "r.json:1: column 2: the parameter a is there twice");
    refused("a,,time_ms\n1,2,3\n", LATHE_IO, "r.json:1: column 2: a parameter without a name");
    refused("a,outcome\n1,compiled\n", LATHE_IO, "r.json:2: the outcome 'compiled' (did you mean compile?) is none");
    refused("a,time_ms,device\n1,2,A\n2,2,B\n", LATHE_IO, "r.json:3: the device 'B', where rows before have 'A'");
    refused("a,time_ms,samples_ms\n1,2,1 x\n", LATHE_IO, "r.json:2: samples_ms has 'x'");
    refused("a,time_ms,compile_seconds\n1,2,soon\n", LATHE_IO, "r.json:2: compile_seconds is 'soon'");
    refused("a,time_ms,energy_mj\n1,2,much\n", LATHE_IO, "r.json:2: energy_mj is 'much'");
    refused("a,time_ms\n\xff,2\n", LATHE_IO, "r.json:2: text that is no UTF-8");
    refused("a,time_ms\n", LATHE_NOTHING, "the recording is empty");
    refused("a,b\n1,2\n", LATHE_IO, "r.json:1: no recording that is known: neither JSON");
    refused("a,Time_MS\n1,2\n", LATHE_IO, "'Time_MS': did you mean time_ms?");
    refused("a|time_ms\n1|2\n", LATHE_IO, "commas are to separate them, not '|'");
    refused("time_ms\n2\n", LATHE_IO, "r.json:1: no column is a parameter");
    refused("{\"tune_params_keys\": [\"w\"], \"tune_params\": {\"w\": [true, \"x\"]}, \"cache\": {\"x\": {\"w\": "
            "\"x\", \"time\": 1}}}",
            LATHE_IO, "the values of w are of different types");
}

static void what_a_form_cannot_tell(void **state)
{
    static const char t4[] =
        "{\"metadata\": {}, \"results\": [{\"configuration\": {\"%s\": %s}, \"invalidity\": \"correct\", "
        "\"measurements\": [{\"name\": \"time\", \"value\": 1}]}]}";
    static const struct {
        enum recording_form form;
        const char *name, *value, *message;
    } cases[] = {
        {RECORDING_CSV, "outcome", "1", "the parameter outcome has the name of a column"},
        {RECORDING_CSV, "w", "\"16\"", "the values of w are texts that CSV cannot tell from numbers"},
        {RECORDING_KERNEL_TUNER, "time", "1", "the parameter time has the name of a figure"},
        {RECORDING_KERNEL_TUNER, "compile_time", "1", "the parameter compile_time has the name of a figure"},
        {RECORDING_KERNEL_TUNER, "lathe_energy_mj", "1", "write it as t4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = mem_printf(t4, cases[i].name, cases[i].value);
        struct recording *r = from_text(text);
        struct strbuf out = {0};
        struct err e = {0};
        assert_int_equal(recording_print(r, cases[i].form, &out, &e), LATHE_USAGE);
        assert_non_null(strstr(e.text, cases[i].message));
        sb_free(&out);
        recording_free(r);
        mem_free(text);
    }
}

static void moments(void **state)
{
    static const struct {
        const char *text;
        int64_t us;
    } good[] = {{"1970-01-01T00:00:00Z", 0},
                {"2026-11-30 04:16:00.123456+01:00", INT64_C(1796008560123456)},
                {"2026-11-30 04:16:00.123456-0130", INT64_C(1796017560123456)},
                {"2026-11-30T03:16:00", INT64_C(1796008560000000)}};
    static const char *const bad[] = {"", "2026", "2026-11-30", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00X",
                                      "2026-01-01T00:00:00Z ", "2026-01-01x00:00:00Z", "0000-01-01T00:00:00Z", "nan"};
    int64_t us;
    char text[32];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!clock_read_moment(good[i].text, &us) || us != good[i].us)
            fail_msg("%s: %lld", good[i].text, (long long)us);
        clock_print_moment(us, text);
        assert_true(clock_read_moment(text, &us) && us == good[i].us);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (clock_read_moment(bad[i], &us))
            fail_msg("accepted: %s", bad[i]);
    clock_print_moment(-1, text);
    assert_string_equal(text, "1969-12-31T23:59:59.999999Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_every_file),
        cmocka_unit_test(outcomes_energy_moments),
        cmocka_unit_test(an_objective_of_energy),
        cmocka_unit_test(order),
        cmocka_unit_test(the_whole_enumeration_of_t4),
        cmocka_unit_test(invalidity_alone_is_trusted),
        cmocka_unit_test(a_table),
        cmocka_unit_test(tables_as_others_write_them),
        cmocka_unit_test(tables_refused),
        cmocka_unit_test(what_a_form_cannot_tell),
        cmocka_unit_test(moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
