/* The strategies that come with lathe, through the host, in a space of 10^9 valid configurations: what they propose is
 * valid and new, the same for the same seed, and their own time is small. Their behaviour: test/lua. */
#include "fixture.h"

#include "search/spec/definition.h"
#include "search/strategy/strategy.h"
#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { TRIALS = 1500, MODEL_TRIALS = 200, ATTEMPTS = 8 };
static const double OWN_SECONDS = 1e-4, MODEL_SECONDS = 3e-3;   /* an evaluation in the mean, without and with a
                                                                   model */
static const double WORK_SECONDS = 4.5e-3;
static const char *const MODELS[] = {"forest", "gp", "portfolio", "transfer"};

/* Tiles and threads under a limit that joins them all, as in a stencil; and what hangs together with nothing. */
static const char BIG[] =
    "{\"name\": \"big\", \"parameters\": {"
    "\"tx\": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16], \"ty\": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"
    "\"bx\": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16], \"by\": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"
    "\"stages\": [1,2,3,4], \"unroll\": [1,2,4,8], \"layout\": [\"row\",\"column\",\"tiled\",\"swizzled\"],"
    "\"prefetch\": [true,false], \"fast\": [true,false], \"vector\": [1,2,4,8,16], \"split\": [1,2,3,4,6,8,12,16],"
    "\"order\": [0,1,2,3,4]}, \"constraints\": [\"bx * by <= 128\", \"tx % unroll == 0 or unroll == 1\","
    "\"(bx * tx + by * ty) * stages <= 512\"]}";

struct big {
    struct problem *problem;
    struct target target;
    struct space *space;
};

static void big_open(struct big *b)
{
    json_t *j = NULL;
    if (definition_read_text(BIG, sizeof BIG - 1, "big", &j, &fixture_err) ||
        problem_from_json(j, "big", NULL, &b->problem, &fixture_err))
        fail_msg("%s", fixture_err.text);
    json_decref(j);
    b->target = fixture_target();
    if (space_open(b->problem, &b->problem->kernels[0], &b->target, &b->space, &fixture_err))
        fail_msg("%s", fixture_err.text);
    assert_true(space_size(b->space) > 1000000000);
}

static void big_close(struct big *b)
{
    space_close(b->space);
    problem_free(b->problem);
}

/* Smooth, with a lowest place inside, and one in eight fails. */
static struct answer answer_for(const struct kernel *k, const struct proposal *p)
{
    double sum = 1;
    uint32_t hash = 7;
    for (int i = 0; i < k->nparams; i++) {
        double away = p->choice[i] - 0.6 * k->params[i].nvalues;
        sum += away * away * (1 + i % 3);
        hash = hash * 31 + p->choice[i];
    }
    if (hash / 8 % 8 == 0)
        return (struct answer){.outcome = OUTCOME_wrong, .value = NAN, .seconds = 1};
    return (struct answer){.outcome = OUTCOME_ok, .value = sum, .seconds = 1};
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* How much longer a fixed work takes now than WORK_SECONDS, what it takes on an idle core of the server (AMD EPYC) that
 * the bars are held on: other programs share a core's units and caches, and other machines are slower. At least 1. */
static double slowness(void)
{
    enum { N = 160, TIMES = 4 };
    static double a[N][N], b[N][N], c[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i + 0.5 * j;
            b[i][j] = i - 0.25 * j;
        }
    double start = cpu_seconds();
    for (int ij = 0; ij < TIMES * N * N; ij++) {
        int i = ij / N % N, j = ij % N;
        double sum = 0;
        for (int k = 0; k < N; k++)
            sum += a[i][k] * b[k][j];
        c[i][j] += sum;
    }
    double took = cpu_seconds() - start;
    assert_true(c[N - 1][N - 1] != 0);
    return fmax(1, took / WORK_SECONDS);
}

static bool has_model(const char *name)
{
    bool found = false;
    for (size_t i = 0; i < sizeof MODELS / sizeof MODELS[0]; i++)
        found = found || strcmp(name, MODELS[i]) == 0;
    return found;
}

/* So many evaluations; their indices in the order proposed. Seconds that the strategy took. */
static double run(struct big *b, const char *name, uint64_t seed, int trials, int64_t *indices)
{
    struct strategy *s;
    double own = 0;
    int n = 0;
    if (strategy_open(name, NULL, 0, &b->space, 1, seed, &s, &fixture_err))
        fail_msg("%s", fixture_err.text);
    while (n < trials) {
        const struct proposal *batch;
        int count;
        double start = cpu_seconds();
        if (strategy_ask(s, &batch, &count, &fixture_err))
            fail_msg("%s: %s", name, fixture_err.text);
        own += cpu_seconds() - start;
        assert_true(count > 0);
        for (int i = 0; i < count; i++) {
            struct answer a = answer_for(&b->problem->kernels[0], &batch[i]);
            strategy_tell(s, batch[i].number, &a);
            if (n < trials)
                indices[n++] = batch[i].index;
        }
    }
    strategy_close(s);
    return own;
}

static int compare_indices(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void test_large_space(void **state)
{
    struct big b;
    static int64_t once[TRIALS], again[TRIALS];
    bool timed = !getenv("LATHE_SANITIZE");
    big_open(&b);
    for (int i = 0; i < strategy_count(); i++) {
        const char *name = strategy_name_at(i);
        int trials = has_model(name) ? MODEL_TRIALS : TRIALS;
        double most = trials * (has_model(name) ? MODEL_SECONDS : OWN_SECONDS);
        double own = INFINITY;
        for (int attempt = 0; attempt < ATTEMPTS && own > most; attempt++) {
            double before = slowness(), taken = run(&b, name, 1, trials, once);
            own = fmin(own, taken / (0.5 * (before + slowness())));
        }
        if (timed && own > most)
            fail_msg("%s takes %.3f ms an evaluation", name, 1e3 * own / trials);
        run(&b, name, 1, trials, again);
        assert_memory_equal(once, again, (size_t)trials * sizeof *once);
        qsort(once, (size_t)trials, sizeof *once, compare_indices);
        for (int n = 0; n < trials; n++) {
            assert_true(once[n] >= 0);
            if (n > 0 && once[n] == once[n - 1])
                fail_msg("%s proposes %lld twice", name, (long long)once[n]);
        }
    }
    big_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
