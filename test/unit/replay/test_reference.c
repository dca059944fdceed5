/* test_reference.c: real recordings of each format, against values that an independent implementation of the
 * published methodology gives for them (Willemsen et al., FGCS 159 (2024) 489-504). scripts/check_recordings has the
 * rest of that table. */
#include "fixture.h"

#include <math.h>

struct known {
    const char *path, *format;
    uint64_t configs, valid;
    double best, median, mean_cost, median_cost;
    uint64_t to[5];             /* evaluations to 0.5, 0.8, 0.9, 0.95, 0.99 */
    double time_95;
};

static void assert_digits(double got, double want, double unit)
{
    if (!(fabs(got - want) <= unit / 2 * 1.0001))
        fail_msg("%.9g, expected %.9g", got, want);
}

static void check(const struct known *k)
{
    static const double cutoffs[] = {0.5, 0.8, 0.9, 0.95, 0.99};
    struct recording *r = opened(k->path);
    struct recording_summary s;
    recording_summarise(r, &s);
    assert_string_equal(r->format, k->format);
    assert_int_equal(s.configs, k->configs);
    assert_int_equal(s.valid, k->valid);
    assert_digits(s.best, k->best, 1e-6);
    assert_digits(s.median, k->median, 1e-6);
    assert_digits(s.mean_cost, k->mean_cost, 1e-4);
    assert_digits(s.median_cost, k->median_cost, 1e-4);
    for (int i = 0; i < 5; i++)
        assert_int_equal(recording_evaluations_to(&s, cutoffs[i]), k->to[i]);
    assert_digits((double)recording_evaluations_to(&s, 0.95) * s.median_cost, k->time_95, 0.1);
    recording_summary_free(&s);
    recording_free(r);
}

static void kernel_tuner(void **state)
{
    check(&(struct known){"test/data/recorded/pnpoly-RTX_3090.json.gz", "Kernel Tuner cache", 4092, 3774, 8.714240,
                          13.535019, 0.3034, 0.2621, {6, 31, 96, 198, 539}, 51.9});
}

static void t4(void **state)
{
    check(&(struct known){"test/data/recorded/convolution_milo-A100.t4.json.gz", "T4", 4362, 4201, 0.553600, 1.833952,
                          2.8949, 2.4039, {5, 113, 381, 1050, 1400}, 2524.1});
}

/* Counted from the file with another reader; the first result's overheads add up to its TotalOverhead. */
static void ktt(void **state)
{
    struct recording *r = opened("test/data/recorded/convolution-RTX_3090.ktt.json.gz");
    struct recording_summary s;
    recording_summarise(r, &s);
    assert_string_equal(r->format, "KTT");
    assert_string_equal(r->device, "NVIDIA GeForce RTX 3090");
    assert_string_equal(r->kernel, "Convolution");
    assert_int_equal(s.configs, 6768);
    assert_int_equal(s.valid, 5240);
    static const struct {
        const char *name;
        int64_t value;
    } first[] = {{"BLOCK_SIZE_X", 2}, {"BLOCK_SIZE_Y", 32}, {"TILE_SIZE_X", 1},    {"TILE_SIZE_Y", 1}, {"PADDING", 0},
                 {"IMAGE_WIDTH", 4096}, {"IMAGE_HEIGHT", 4096}, {"HFS", 7}, {"READ_ONLY", 0}};
    config_choice choice[9];
    assert_int_equal(r->nparams, 9);
    for (int i = 0; i < 9; i++) {
        const struct recorded_param *p = &r->params[i];
        assert_string_equal(p->name, first[i].name);
        choice[i] = UINT16_MAX;
        for (int v = 0; v < p->nvalues; v++)
            if (value_equal(p->values[v], value_int(first[i].value)))
                choice[i] = (config_choice)v;
    }
    int64_t at = recording_find(r, choice);
    assert_true(at >= 0);
    const struct recorded *c = &r->configs[at];
    assert_int_equal(c->outcome, OUTCOME_ok);
    assert_digits(c->value_ms, 7.368064, 1e-9);
    assert_digits(c->compile, 0.276986685, 1e-12);
    assert_digits(c->framework, 0.012152562, 1e-12);
    assert_digits(recorded_cost(c), 0.289187528 + 0.007368064, 1e-12);
    recording_summary_free(&s);
    recording_free(r);
}

/* What the first entry of the file says, and that each configuration is found where it is. */
static void entries(void **state)
{
    struct recording *r = opened("test/data/recorded/pnpoly-RTX_3090.json.gz");
    assert_string_equal(r->device, "NVIDIA GeForce RTX 3090");
    assert_string_equal(r->kernel, "cn_pnpoly");
    assert_string_equal(r->size, "20000000");
    assert_int_equal(r->nparams, 4);
    assert_string_equal(r->params[1].name, "block_size_x");
    assert_int_equal(r->params[1].nvalues, 31);
    for (uint64_t i = 0; i < r->nconfigs; i++)
        assert_int_equal(recording_find(r, r->choices + i * 4), (int64_t)i);
    const config_choice none[4] = {0, 0, 0, 9};
    assert_int_equal(recording_find(r, none), -1);
    const struct recorded *c = &r->configs[0];      /* 0,32,1,0 */
    assert_int_equal(c->nsamples, 10);
    assert_digits(c->value_ms, 43.55386238098144, 1e-12);
    assert_digits(r->samples[c->first_sample], 43.293697357177734, 1e-12);
    assert_digits(c->compile, 0.03068055957555771e-3, 1e-12);
    assert_digits(recorded_trial_seconds(c), 0.00003068055957555771 + 0.435538623809814, 1e-9);
    struct strbuf notes = {0};
    recording_notes(r, &notes);
    assert_string_equal(sb_str(&notes), "");
    sb_free(&notes);
    recording_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_tuner),
        cmocka_unit_test(t4),
        cmocka_unit_test(ktt),
        cmocka_unit_test(entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
