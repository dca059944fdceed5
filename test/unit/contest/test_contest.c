/* test_contest.c: contests of strategies: how lists of them are read, what runs there are and how far they go. */
#include "base/mem.h"
#include "contest/contest.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char PNPOLY[] = "test/data/recorded/pnpoly-RTX_3090.json.gz";

static void check(status s, const struct err *e)
{
    if (s)
        fail_msg("%s", e->text);
}

struct list {
    struct contestant *all;
    int n, cap;
};

static void is_read(const char *text, int n, const char *const labels[], const int noptions[])
{
    struct list l = {0};
    struct err e = {0};
    check(contestants_read(text, &l.all, &l.n, &l.cap, &e), &e);
    assert_int_equal(l.n, n);
    for (int i = 0; i < n; i++) {
        assert_string_equal(l.all[i].label, labels[i]);
        assert_int_equal(l.all[i].noptions, noptions[i]);
        assert_int_equal(strlen(l.all[i].name), strcspn(labels[i], ":"));
        assert_memory_equal(l.all[i].name, labels[i], strlen(l.all[i].name));
    }
    contestants_free(l.all, l.n);
}

static void lists(void **state)
{
    is_read("a", 1, (const char *const[]){"a"}, (const int[]){0});
    is_read("a,b,c", 3, (const char *const[]){"a", "b", "c"}, (const int[]){0, 0, 0});
    is_read("gp:batch=4,kappa=1,random,x/y.lua:k=a:b,z=", 3,
            (const char *const[]){"gp:batch=4,kappa=1", "random", "x/y.lua:k=a:b,z="}, (const int[]){2, 0, 2});
    is_read("a:x=1,a:x=2,a", 3, (const char *const[]){"a:x=1", "a:x=2", "a"}, (const int[]){1, 1, 0});
    static const char *const wrong[] = {"", ",a", "a,", "a,,b", ":x=1", "a,a", "a:x=1,b,a:x=1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct list l = {0};
        struct err e = {0};
        assert_int_equal(contestants_read(wrong[i], &l.all, &l.n, &l.cap, &e), LATHE_USAGE);
        contestants_free(l.all, l.n);
    }
}

struct seen {
    int order[64], n, fail_at, judged[2], begun[2];
    int stop_after, asked;      /* judging is stopped when it was asked so often; 0: never */
};

static void on_judging(void *ctx, enum contest_judging what, int done, int n)
{
    struct seen *s = ctx;
    assert_int_equal(n, 3);
    if (done)
        assert_int_equal(done, s->judged[what] + 1);
    else
        assert_int_equal(++s->begun[what], 1);
    s->judged[what] = done;
}

static bool stop_judging(void *ctx)
{
    struct seen *s = ctx;
    return s->stop_after && ++s->asked > s->stop_after;
}

/* On one thread: intervals first, then tests, so many of both. */
static void judge_partly(struct contest *c, const struct contest_result *whole, int stop_after)
{
    struct seen seen = {.stop_after = stop_after};
    struct contest_result r;
    c->ctx = &seen;
    c->jobs = 1;
    contest_judge(c, &r);
    assert_int_equal(r.npairs, 3);
    assert_int_equal(r.tested, stop_after < 3 ? 0 : stop_after - 3);
    int best = 0, tested = 0;
    for (int i = 1; i < 3; i++)
        best = r.standings[i].summary.mean > r.standings[best].summary.mean ? i : best;
    for (int i = 0; i < 3; i++) {
        const struct score_summary *s = &r.standings[i].summary, *t = &whole->standings[i].summary;
        assert_true(s->mean == t->mean && s->deviation == t->deviation);
        assert_true(i < stop_after ? s->low == t->low && s->high == t->high : isnan(s->low) && isnan(s->high));
        const struct contest_pair *p = &r.pairs[i], *q = &whole->pairs[i];
        assert_true(p->a == q->a && p->b == q->b && p->difference == q->difference);
        if (isnan(p->p)) {
            assert_true(isnan(p->adjusted));
            continue;
        }
        tested++;
        assert_true(r.tested > 2 || p->a == best || p->b == best);
        assert_true(p->p == q->p && p->adjusted >= q->adjusted); /* never more significant than if all were tested */
        if (r.tested == 1)
            assert_true(p->adjusted == fmin(1, 3 * p->p));
    }
    assert_int_equal(tested, r.tested);
    contest_result_free(&r);
}

static status on_run(void *ctx, int run, const struct contest_run *r, struct err *e)
{
    struct seen *s = ctx;
    s->order[s->n++] = run;
    double best = INFINITY;
    assert_true(r->done && r->trace != NULL);
    for (int64_t i = 0, next = 0; i < r->evaluations; i++) {
        assert_true(r->trace[i].recorded >= 0);
        assert_true(!i || r->trace[i].elapsed > r->trace[i - 1].elapsed);
        if (next < r->nsteps && r->steps[next].evaluation == i + 1) {   /* a step is where the best falls */
            assert_true(r->steps[next].seconds == r->trace[i].elapsed && r->steps[next].rank < best);
            best = r->steps[next++].rank;
        }
    }
    return s->n == s->fail_at ? err_set(e, LATHE_IO, "full") : LATHE_OK;
}

static void runs(void **state)
{
    struct contest_space space;
    struct list l = {0};
    struct err e = {0};
    struct seen seen = {0};
    double scores[1];
    check(contest_space_open(&space, PNPOLY, NULL, 0.95, &e), &e);
    assert_string_equal(space.name, "pnpoly-RTX_3090");
    check(contestants_read("random,random:batch=1,local", &l.all, &l.n, &l.cap, &e), &e);
    struct contest c = {.spaces = &space, .nspaces = 1, .strategies = l.all, .nstrategies = l.n, .first_seed = 7,
                        .seeds = 4, .jobs = 3, .traces = true, .on_run = on_run, .ctx = &seen};
    check(contest_run(&c, &e), &e);
    assert_int_equal(seen.n, 12);
    for (int i = 0; i < 12; i++) {
        const struct contest_run *r = &c.runs[i];
        assert_int_equal(seen.order[i], i);             /* in their order, whatever ended first */
        assert_null(r->trace);
        assert_true(r->elapsed >= 1.1 * space.score.to && (double)r->evaluations >= 1.1 * (double)space.score.last);
        assert_int_equal(r->end, REPLAY_STOPPED);
    }
    /* The batch of random changes nothing of what it proposes. */
    for (int seed = 0; seed < 4; seed++) {
        const struct contest_run *a = &c.runs[contest_index(&c, seed, 0, 0)];
        const struct contest_run *b = &c.runs[contest_index(&c, seed, 0, 1)];
        assert_int_equal(a->nsteps, b->nsteps);
        for (int i = 0; i < a->nsteps; i++)
            assert_true(a->steps[i].evaluation == b->steps[i].evaluation && a->steps[i].rank == b->steps[i].rank);
    }
    assert_true(contest_scores(&c, 0, scores) == scores[0]);
    struct contest_result result;
    c.on_judging = on_judging;
    contest_judge(&c, &result);
    assert_int_equal(seen.judged[CONTEST_SCORING], 3); /* the last of each tells that all are done */
    assert_int_equal(seen.judged[CONTEST_TESTING], 3);
    assert_true(seen.begun[CONTEST_SCORING] == 1 && seen.begun[CONTEST_TESTING] == 1);
    assert_int_equal(result.npairs, 3);
    assert_int_equal(result.tested, 3);
    assert_true(fabs(result.standings[0].summary.mean - scores[0]) < 1e-12);
    assert_true(result.pairs[0].a == 0 && result.pairs[0].b == 1 && result.pairs[0].p == 1);
    c.stop_judging = stop_judging;
    for (int after = 1; after < 6; after++)
        judge_partly(&c, &result, after);
    c.ctx = &seen;
    c.jobs = 3;
    contest_result_free(&result);
    contest_free(&c);

    /* What a caller cannot take ends it, and nothing is given to it after that. */
    seen = (struct seen){.fail_at = 2};
    assert_int_equal(contest_run(&c, &e), LATHE_IO);
    assert_string_equal(e.text, "full");
    assert_int_equal(seen.n, 2);
    contest_free(&c);
    contestants_free(l.all, l.n);
    contest_space_close(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists), cmocka_unit_test(runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
