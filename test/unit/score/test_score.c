/* test_score.c: the score: values that an independent implementation of the published methodology gives for real
 * recordings, and small spaces whose scores can be worked out by hand. scripts/check_recordings has the rest of the
 * reference values. */
#include "../replay/fixture.h"

#include "score/score.h"
#include <math.h>

static void assert_near(double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%.12g, expected %.12g", got, want);
}

static void check_baseline(const char *path, const double want[10])
{
    static const uint64_t after[] = {1, 2, 3, 5, 10, 20, 50, 100, 200, 400};
    struct recording *r = opened(path);
    struct recording_summary s;
    recording_summarise(r, &s);
    for (int i = 0; i < 10; i++)
        assert_near(score_baseline(s.sorted, s.valid, after[i]), want[i], 0.50001e-5);
    recording_summary_free(&s);
    recording_free(r);
}

static void baselines(void **state)
{
    check_baseline("test/data/recorded/convolution_milo-A100.t4.json.gz",
                   (const double[]){1.83341, 1.47629, 1.28861, 1.1449, 1.02822, 0.94736, 0.88666, 0.82093, 0.74784,
                                    0.66864});
    check_baseline("test/data/recorded/pnpoly-RTX_3090.json.gz",
                   (const double[]){13.51854, 12.20604, 11.76934, 11.2235, 10.74668, 10.10432, 9.37, 9.17924, 8.94597,
                                    8.77128});
}

static void ranges(void **state)
{
    static const struct {
        const char *path;
        uint64_t first, last;
        double to;
    } known[] = {{"test/data/recorded/convolution_milo-A100.t4.json.gz", 2, 1050, 2524.1},
                 {"test/data/recorded/pnpoly-RTX_3090.json.gz", 2, 198, 51.9}};
    for (size_t i = 0; i < 2; i++) {
        struct recording *r = opened(known[i].path);
        struct recording_summary s;
        struct score_space space;
        struct err e = {0};
        recording_summarise(r, &s);
        assert_int_equal(score_space_init(&space, &s, 0.95, "r", &e), LATHE_OK);
        assert_int_equal(space.first, known[i].first);
        assert_int_equal(space.last, known[i].last);
        assert_near(space.to, known[i].to, 0.05001);
        assert_near(space.from, space.to / (double)known[i].last * (double)known[i].first, 1e-9);
        assert_true(score_position_seconds(&space, 0) == space.from);
        assert_near(score_position_seconds(&space, SCORE_POSITIONS - 1), space.to, 1e-9);
        recording_summary_free(&s);
        recording_free(r);
    }
}

/* 99 values, 1 .. 99, each costing a second. The median is 50, the target of 0.9 is 5.9: value 5, so 94 from the worst:
 * ceil(94 / (100 - 94)) = 16 evaluations; that of 0.01 is 49.51: value 49, 50 from the worst: ceil(50 / 50) = 1. */
enum { VALUES = 99 };
static double ninety_nine[VALUES];
static struct recording_summary plain(void)
{
    for (int i = 0; i < VALUES; i++)
        ninety_nine[i] = i + 1;
    return (struct recording_summary){
        .configs = VALUES, .valid = VALUES, .best = 1, .median = 50, .mean_cost = 1, .median_cost = 1,
        .sorted = ninety_nine};
}

static struct score_space plain_space(void)
{
    static struct recording_summary s;
    struct score_space space;
    struct err e = {0};
    s = plain();
    assert_int_equal(score_space_init(&space, &s, 0.9, "r", &e), LATHE_OK);
    return space;
}

static void by_hand(void **state)
{
    struct score_space s = plain_space();
    assert_int_equal(s.first, 1);
    assert_int_equal(s.last, 16);
    assert_true(s.from == 1 && s.to == 16);
    /* m 100 / (m + 1) from the worst, half to even: 50; 66.67; 94.1 */
    assert_true(s.baseline[0] == 49);
    assert_true(score_baseline(s.values, s.valid, 2) == 32);
    assert_true(s.baseline[SCORE_POSITIONS - 1] == 5);
    assert_int_equal(score_rank(&s, 1), 0);
    assert_int_equal(score_rank(&s, 99), 98);
    assert_int_equal(score_rank(&s, 7.5), 7);

    /* The optimum at 4.75 s: a quarter of the range with the worst value, three quarters with the best. */
    const struct score_step found[] = {{4.75, 5, 0}};
    uint32_t ranks[SCORE_POSITIONS];
    score_over_time(&s, found, 1, ranks);
    double scores[SCORE_POSITIONS], values[SCORE_POSITIONS], want = 0;
    const struct score_cell one = {&s, ranks, 1};
    double mean = score_curve(&one, values, scores);
    for (int i = 0; i < SCORE_POSITIONS; i++) {
        double worst = (s.baseline[i] - 99) / (s.baseline[i] - 1);
        bool late = 1 + 15.0 * i / 999 >= 4.75;
        assert_int_equal(ranks[i], late ? 0 : 98);
        assert_true(values[i] == (late ? 1 : 99));
        assert_near(scores[i], late ? 1 : worst, 1e-12);
        want += (late ? 1 : worst) / SCORE_POSITIONS;
    }
    assert_near(mean, want, 1e-9);
    assert_true(ranks[249] == 98 && ranks[250] == 0);
}

/* Ranks are averaged and not values, and a half goes to the even rank. */
static void mean_of_ranks(void **state)
{
    struct score_space s = plain_space();
    static uint32_t ranks[3 * SCORE_POSITIONS];
    double scores[SCORE_POSITIONS], values[SCORE_POSITIONS];
    for (int i = 0; i < SCORE_POSITIONS; i++) {
        ranks[i] = 0;
        ranks[SCORE_POSITIONS + i] = i < 500 ? 5 : 7;
    }
    const struct score_cell two = {&s, ranks, 2};
    score_curve(&two, values, scores);
    assert_true(values[0] == 3);        /* 2.5: rank 2 */
    assert_true(values[999] == 5);      /* 3.5: rank 4 */
}

static void over_evaluations(void **state)
{
    struct score_space s = plain_space();
    const struct score_step a[] = {{2, 2, 40}, {9, 9, 4}}, b[] = {{1, 1, 20}}, c[] = {{3, 16, 0}};
    uint32_t ranks[3 * 16];
    score_over_evaluations(&s, a, 2, ranks);
    score_over_evaluations(&s, b, 1, ranks + 16);
    score_over_evaluations(&s, c, 1, ranks + 32);
    assert_int_equal(ranks[0], 98);
    assert_int_equal(ranks[1], 40);
    assert_int_equal(ranks[7], 40);
    assert_int_equal(ranks[8], 4);
    assert_int_equal(ranks[32 + 14], 98);
    assert_int_equal(ranks[32 + 15], 0);
    double want = 0;
    for (int m = 1; m <= 16; m++) {
        double base = score_baseline(s.values, s.valid, (uint64_t)m);
        double median = m == 1 ? 99 : m < 9 ? 41 : m < 16 ? 21 : 5;     /* the middle one of three */
        want += (base - median) / (base - 1) / 16;
    }
    assert_near(score_of_evaluations(&s, ranks, 3), want, 1e-12);
    /* two runs: the mean of the middle ones, (20 + 98) / 2 = 59, and so on */
    want = 0;
    for (int m = 1; m <= 16; m++) {
        double base = score_baseline(s.values, s.valid, (uint64_t)m);
        double median = m == 1 ? 60 : m < 9 ? 31 : 13;
        want += (base - median) / (base - 1) / 16;
    }
    assert_near(score_of_evaluations(&s, ranks, 2), want, 1e-12);
}

/* The mean over spaces, its deviation over the positions; equal runs leave no doubt. */
static void summaries(void **state)
{
    struct score_space s = plain_space();
    static uint32_t early[2 * SCORE_POSITIONS], late[2 * SCORE_POSITIONS];
    const struct score_step at_once[] = {{1, 1, 0}}, half_way[] = {{8.5, 9, 0}};
    for (int r = 0; r < 2; r++) {
        score_over_time(&s, at_once, 1, early + r * SCORE_POSITIONS);
        score_over_time(&s, half_way, 1, late + r * SCORE_POSITIONS);
    }
    const struct score_cell cells[] = {{&s, early, 2}, {&s, late, 2}};
    double curve[SCORE_POSITIONS], own[SCORE_POSITIONS];
    struct score_summary m;
    score_summarise(cells, 2, 0.95, 200, curve, &m);
    double second = score_curve(&cells[1], NULL, own), squares = 0;
    assert_near(m.mean, (1 + second) / 2, 1e-12);
    for (int i = 0; i < SCORE_POSITIONS; i++) {
        assert_near(curve[i], (1 + own[i]) / 2, 1e-12);
        squares += (curve[i] - m.mean) * (curve[i] - m.mean);
    }
    assert_near(m.deviation, sqrt(squares / SCORE_POSITIONS), 1e-12);
    assert_near(m.low, m.mean, 1e-12);
    assert_near(m.high, m.mean, 1e-12);
}

/* One run of two finds the optimum at once, the other never: a resample has 0, 1 or 2 good ones with chances 1/4, 1/2,
 * 1/4, so the interval reaches from the score of the bad run to that of the good one. */
static void intervals(void **state)
{
    struct score_space s = plain_space();
    static uint32_t ranks[2 * SCORE_POSITIONS];
    const struct score_step at_once[] = {{1, 1, 0}};
    double scores[SCORE_POSITIONS], curve[SCORE_POSITIONS];
    struct score_summary m, again;
    score_over_time(&s, at_once, 1, ranks);
    score_over_time(&s, NULL, 0, ranks + SCORE_POSITIONS);
    const struct score_cell both = {&s, ranks, 2}, bad = {&s, ranks + SCORE_POSITIONS, 1};
    score_summarise(&both, 1, 0.95, 400, curve, &m);
    score_summarise(&both, 1, 0.95, 400, curve, &again);
    assert_near(m.high, 1, 1e-12);
    assert_near(m.low, score_curve(&bad, NULL, scores), 1e-12);
    assert_true(m.low < m.mean && m.mean < m.high);
    assert_memory_equal(&m, &again, sizeof m);
    score_summarise(&both, 1, 0.4, 400, curve, &m);     /* the middle 40 % are within the middle half */
    assert_near(m.low, m.mean, 1e-12);
    assert_near(m.high, m.mean, 1e-12);
}

/* Two runs against two: of the 6 ways to deal them 2 are as far apart as the good ones against the bad ones, so p is
 * about a third; of 5 against 5, 2 of 252. */
static void permutations(void **state)
{
    struct score_space s = plain_space();
    static uint32_t good[5 * SCORE_POSITIONS], bad[5 * SCORE_POSITIONS];
    const struct score_step at_once[] = {{1, 1, 0}};
    for (int r = 0; r < 5; r++) {
        score_over_time(&s, at_once, 1, good + r * SCORE_POSITIONS);
        score_over_time(&s, NULL, 0, bad + r * SCORE_POSITIONS);
    }
    struct score_cell a = {&s, good, 2}, b = {&s, bad, 2};
    assert_near(score_permutation(&a, &b, 1, 9999), 2 / 6.0, 0.02);
    assert_near(score_permutation(&b, &a, 1, 9999), 2 / 6.0, 0.02);
    assert_true(score_permutation(&a, &a, 1, 99) == 1);
    a.runs = b.runs = 5;
    assert_near(score_permutation(&a, &b, 1, 9999), 2 / 252.0, 0.004);
    /* two spaces: both must be dealt so */
    const struct score_cell as[] = {a, a}, bs[] = {b, b};
    assert_near(score_permutation(as, bs, 2, 9999), 2 / (252.0 * 252.0), 0.0005);
    b.runs = 3;
    assert_near(score_permutation(&a, &b, 1, 9999), 1 / 56.0, 0.006);
}

/* The example of Holm's procedure by hand: sorted .01 .02 .03 .04 times 4 3 2 1, never descending. */
static void holm(void **state)
{
    double p[] = {0.04, 0.01, 0.03, 0.02, 0.9};
    score_holm(p, 4);
    const double want[] = {0.06, 0.04, 0.06, 0.06, 0.9};
    for (int i = 0; i < 5; i++)
        assert_near(p[i], want[i], 1e-12);
    double large[] = {0.5, 0.6};
    score_holm(large, 2);
    assert_true(large[0] == 1 && large[1] == 1);
    score_holm(NULL, 0);
}

static void refused_space(struct recording_summary s, double cutoff, const char *fragment)
{
    struct score_space space;
    struct err e = {0};
    assert_int_equal(score_space_init(&space, &s, cutoff, "r.json", &e), LATHE_USAGE);
    if (!strstr(e.text, fragment) || strncmp(e.text, "r.json: ", 8) != 0)
        fail_msg("\"%s\" lacks \"%s\"", e.text, fragment);
}

static void refusals(void **state)
{
    struct recording_summary s = plain();
    s.valid = 1;
    refused_space(s, 0.95, "only one of its configurations is valid");
    s.valid = 0;
    s.best = s.median = NAN;
    refused_space(s, 0.95, "none of them is valid");
    s = plain();
    s.median = 1;
    refused_space(s, 0.95, "as good as the best");
    s = plain();
    s.mean_cost = s.median_cost = 0;
    refused_space(s, 0.95, "no times");
    /* Three values: the range is widened to two evaluations, and random search has the best of three after two. */
    s = plain();
    s.valid = s.configs = 3;
    s.median = 2;
    refused_space(s, 0.95, "random search is expected to find the best");
    /* Random search is charged less than the median for a configuration, so it is over before the range. */
    s = plain();
    s.mean_cost = 0.01;
    refused_space(s, 0.95, "lower --cutoff");
}

/* A range of less than two evaluations ends later: 0.02 of the way from the median is reached by one evaluation too. */
static void widened(void **state)
{
    struct recording_summary s = plain();
    struct score_space space;
    struct err e = {0};
    assert_int_equal(score_space_init(&space, &s, 0.02, "r", &e), LATHE_OK);
    assert_int_equal(space.first, 1);
    assert_int_equal(space.last, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(baselines),    cmocka_unit_test(ranges),      cmocka_unit_test(by_hand),
        cmocka_unit_test(mean_of_ranks), cmocka_unit_test(over_evaluations), cmocka_unit_test(summaries),
        cmocka_unit_test(intervals),    cmocka_unit_test(permutations), cmocka_unit_test(holm),
        cmocka_unit_test(refusals),     cmocka_unit_test(widened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
