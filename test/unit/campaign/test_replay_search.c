/* test_replay_search.c: strategies over a recording: what an evaluation is, what it costs, and when a search ends. */
#include "base/mem.h"
#include "campaign/replay/replay_search.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* a = 1 .. 4 takes a seconds to compile; 3 fails; 4 is not recorded. */
static const char RECORDING[] =
    "{\"tune_params_keys\": [\"a\"], \"tune_params\": {\"a\": [1, 2, 3, 4]}, \"cache\": {"
    "\"1\": {\"a\": 1, \"time\": 30, \"times\": [], \"compile_time\": 1000, \"framework_time\": 500},"
    "\"2\": {\"a\": 2, \"time\": 20, \"times\": [], \"compile_time\": 2000},"
    "\"3\": {\"a\": 3, \"time\": \"InvalidConfig\", \"compile_time\": 3000}}}";

struct seen {
    int n;
    struct replay_evaluation all[64];
    int fail_at;
};

static status on_evaluation(void *ctx, const struct replay_evaluation *v, struct err *e)
{
    struct seen *s = ctx;
    if (s->n + 1 == s->fail_at)
        return err_set(e, LATHE_STORE, "full");
    if (s->n < 64)
        s->all[s->n] = *v;
    s->n++;
    return LATHE_OK;
}

struct bench {
    struct recording *r;
    struct problem *p;
    struct replay *d;
    struct space *s;
};

static void check(status s, const struct err *e)
{
    if (s)
        fail_msg("%s", e->text);
}

/* listed: the space is what was recorded; else all values */
static void bench_open(struct bench *b, struct recording *r, bool listed)
{
    struct err e = {0};
    struct target t = {0};
    b->r = r;
    check(replay_problem(r, &b->p, &e), &e);
    check(replay_open(r, &b->p->kernels[0], &b->d, &e), &e);
    check(listed ? space_of_list(b->p, &b->p->kernels[0], &t, r->choices, r->nconfigs, &b->s, &e)
                 : space_open(b->p, &b->p->kernels[0], &t, &b->s, &e),
          &e);
}

static void bench_close(struct bench *b)
{
    space_close(b->s);
    replay_close(b->d);
    problem_free(b->p);
    recording_free(b->r);
}

static struct recording *small(void)
{
    struct recording *r = NULL;
    struct err e = {0};
    check(recording_read_text(RECORDING, strlen(RECORDING), "r.json", &r, &e), &e);
    return r;
}

static struct strategy *script(const struct bench *b, const char *body, uint64_t seed)
{
    char path[] = "/tmp/lathe-strategy-XXXXXX.lua";
    struct strategy *s = NULL;
    struct err e = {0};
    int fd = mkstemps(path, 4);
    char *text = mem_printf(
        "return strategy { name = 't', summary = 't', options = {}, run = function(tune, space, opt) %s end }", body);
    assert_int_equal(write(fd, text, strlen(text)), (long)strlen(text));
    close(fd);
    status st = strategy_open(path, NULL, 0, (struct space *const *)&b->s, 1, seed, &s, &e);
    unlink(path);
    mem_free(text);
    check(st, &e);
    return s;
}

static void evaluations(void **state)
{
    struct bench b;
    struct seen seen = {0};
    struct replay_totals t;
    struct err e = {0};
    bench_open(&b, small(), false);
    struct strategy *s = script(&b,
                                "local all = {} for i = 1, space:size() do all[i] = space:at(i) end "
                                "local r = tune.evaluate_all(all) "
                                "assert(r[1].ok and r[1].value == 30 and r[1].seconds == 1) "
                                "assert(r[3].outcome == 'resources' and not r[3].ok and r[3].seconds == 3) "
                                "assert(r[4].outcome == 'missing' and not r[4].ok and r[4].value == nil) "
                                "local again = tune.evaluate(all[2]) "
                                "assert(again.value == 20)", 1);
    struct replay_search search = {.replay = b.d, .strategy = s, .on_evaluation = on_evaluation, .ctx = &seen};
    check(replay_search(&search, &t, &e), &e);
    assert_int_equal(t.end, REPLAY_STRATEGY_ENDED);
    assert_int_equal(t.evaluations, 4);             /* the repeat is none */
    assert_int_equal(seen.n, 4);
    assert_true(fabs(t.elapsed - (1 + 2 + 3 + 2)) < 1e-12);     /* missing: the median */
    assert_true(seen.all[1].value_ms == 20 && seen.all[1].number == 2 && fabs(seen.all[1].elapsed - 3) < 1e-12);
    assert_int_equal(seen.all[3].outcome, OUTCOME_missing);
    assert_null(seen.all[3].recorded);
    strategy_close(s);
    bench_close(&b);
}

static void budgets(void **state)
{
    static const char all[] = "for i = 1, space:size() do tune.evaluate(space:at(i)) end";
    static const struct {
        int64_t evaluations;
        double seconds;
        int64_t done;
        double elapsed;
        enum replay_end end;
    } cases[] = {
        {2, 0, 2, 3, REPLAY_BUDGET},          {0, 1, 1, 1, REPLAY_BUDGET}, {0, 1.5, 2, 3, REPLAY_BUDGET},
        {3, 2.9, 2, 3, REPLAY_BUDGET},        {0, 0, 3, 6, REPLAY_STRATEGY_ENDED},
        {1000, 1000, 3, 6, REPLAY_STRATEGY_ENDED},
    };
    struct bench b;
    struct replay_totals t;
    struct err e = {0};
    bench_open(&b, small(), true);
    assert_int_equal(space_size(b.s), 3);           /* exactly what was recorded */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strategy *s = script(&b, all, 1);
        struct replay_search search = {.replay = b.d, .strategy = s, .evaluations = cases[i].evaluations,
                                       .seconds = cases[i].seconds};
        check(replay_search(&search, &t, &e), &e);
        assert_int_equal(t.evaluations, cases[i].done);
        assert_true(fabs(t.elapsed - cases[i].elapsed) < 1e-12);
        assert_int_equal(t.end, cases[i].end);
        strategy_close(s);
    }
    struct strategy *s = script(&b, all, 1);
    struct replay_search search = {.replay = b.d, .strategy = s, .cost = recorded_cost};
    check(replay_search(&search, &t, &e), &e);
    assert_true(fabs(t.elapsed - 6.5) < 1e-12);
    strategy_close(s);
    bench_close(&b);
}

static bool third_time(void *ctx)
{
    static int times;
    return ++times >= 3;
}

/* Ends by itself: the same thing for ever, what is no member for ever; and where others end it. */
static void endings(void **state)
{
    struct bench b;
    struct replay_totals t;
    struct err e = {0};
    bench_open(&b, small(), true);
    struct strategy *s = script(&b, "while true do tune.evaluate(space:at(1)) end", 1);
    struct replay_search search = {.replay = b.d, .strategy = s, .seconds = 1e6};
    check(replay_search(&search, &t, &e), &e);
    assert_int_equal(t.end, REPLAY_STALE);
    assert_int_equal(t.evaluations, 1);
    strategy_close(s);

    search.strategy = s = script(&b, "while true do tune.evaluate { a = 4 } end", 1);
    struct seen seen = {0};
    search.on_evaluation = on_evaluation;
    search.ctx = &seen;
    check(replay_search(&search, &t, &e), &e);
    assert_int_equal(t.end, REPLAY_STALE);
    assert_true(t.elapsed == 0);
    assert_int_equal(seen.all[0].outcome, OUTCOME_constraint);
    assert_int_equal(seen.all[0].index, -1);
    strategy_close(s);

    search.strategy = s = script(&b, "for i = 1, 3 do tune.evaluate(space:at(i)) end", 1);
    search.stop = third_time;
    check(replay_search(&search, &t, &e), &e);
    assert_int_equal(t.end, REPLAY_STOPPED);
    strategy_close(s);

    search.stop = NULL;
    search.strategy = s = script(&b, "for i = 1, 3 do tune.evaluate(space:at(i)) end", 1);
    seen = (struct seen){.fail_at = 2};
    assert_int_equal(replay_search(&search, &t, &e), LATHE_STORE);
    strategy_close(s);

    search.on_evaluation = NULL;
    search.strategy = s = script(&b, "tune.evaluate(space:at(1)) error('no')", 1);
    assert_int_equal(replay_search(&search, &t, &e), LATHE_STRATEGY);
    assert_int_equal(t.evaluations, 1);
    strategy_close(s);
    bench_close(&b);
}

struct order {
    uint64_t hash;
    int64_t n;
};

static status fold(void *ctx, const struct replay_evaluation *v, struct err *e)
{
    struct order *o = ctx;
    o->hash = splitmix64(o->hash ^ (uint64_t)v->index);
    o->n++;
    return LATHE_OK;
}

/* Every strategy proposes the same for the same seed, and each of a whole recording once. */
static void the_same_sequence(void **state)
{
    struct bench b;
    struct recording *r = NULL;
    struct err e = {0};
    check(recording_open("test/data/recorded/pnpoly-RTX_3090.json.gz", NULL, &r, &e), &e);
    bench_open(&b, r, true);
    static const char *const names[] = {"random", "local", "exhaustive"};
    for (int i = 0; i < 3; i++) {
        uint64_t hashes[3];
        for (int k = 0; k < 3; k++) {
            struct order o = {0};
            struct strategy *s = NULL;
            struct replay_totals t;
            check(strategy_open(names[i], NULL, 0, (struct space *const *)&b.s, 1, k < 2 ? 7 : 8, &s, &e), &e);
            struct replay_search search = {.replay = b.d, .strategy = s, .on_evaluation = fold, .ctx = &o};
            check(replay_search(&search, &t, &e), &e);
            assert_int_equal(o.n, 4092);
            assert_int_equal(t.end, REPLAY_STRATEGY_ENDED);
            hashes[k] = o.hash;
            strategy_close(s);
        }
        assert_true(hashes[0] == hashes[1]);
        assert_true((hashes[0] == hashes[2]) == (i == 2));
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluations),
        cmocka_unit_test(budgets),
        cmocka_unit_test(endings),
        cmocka_unit_test(the_same_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
