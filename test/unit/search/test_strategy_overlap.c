/* Proposals while others are under way: a host that tells in any order, and asks as soon as it may. */
#include "strategy_fixture.h"

#include "base/rng.h"

/* What the host was given and has not told. */
struct open {
    int64_t number;
    struct answer answer;
};

struct host {
    struct world *w;
    struct strategy *s;
    struct trace *t;
    struct open open[4096];
    int n, most, asked_early;           /* most open at once; asks while something was */
};

static status give(struct host *h)
{
    const struct proposal *batch;
    int n;
    h->asked_early += h->n > 0;
    status st = strategy_ask(h->s, &batch, &n, &err);
    for (int i = 0; i < n; i++) {
        assert_true(h->n < 4096);
        h->open[h->n++] = (struct open){batch[i].number, judge(h->w, &batch[i])};
        MEM_GROW(h->t->places, h->t->n, h->t->cap);
        assert_int_equal(batch[i].number, h->t->n);
        h->t->places[h->t->n++] =
            batch[i].index < 0 ? -1 : batch[i].index + (batch[i].space ? (int64_t)space_size(h->w->spaces[0]) : 0);
    }
    h->most = h->n > h->most ? h->n : h->most;
    return st;
}

static void tell(struct host *h, int i)
{
    strategy_tell(h->s, h->open[i].number, &h->open[i].answer);
    h->open[i] = h->open[--h->n];
}

/* Tells at random until nothing is waited for, then asks; `early`: only what it must, else now and then more. */
static void drive_at_random(struct host *h, struct rng *r, int budget)
{
    while (!strategy_ended(h->s) && h->t->n < budget) {
        while (h->n && (strategy_waits(h->s) || rng_below(r, 4) == 0))
            tell(h, (int)rng_below(r, (uint64_t)h->n));
        if (strategy_waits(h->s))
            fail_msg("the script waits for what was told");
        if (give(h))
            fail_msg("%s", err.text);
    }
}

static void run_at_random(const char *name, int parallel, uint64_t order, int budget, struct trace *t,
                          struct host *out)
{
    struct world w = open_world(2);
    struct rng r;
    rng_seed(&r, order);
    *t = (struct trace){0};
    *out = (struct host){.w = &w, .t = t};
    assert_int_equal(strategy_open_text(name, NULL, NULL, 0, w.spaces, 2, 5, parallel - 1, &out->s, &err), LATHE_OK);
    strategy_set_parallel(out->s, parallel);
    drive_at_random(out, &r, budget);
    strategy_close(out->s);
    close_world(&w);
}

/* The same proposals, whenever and in whatever order results come: what resuming a campaign rests on. */
static void test_what_is_proposed_does_not_depend_on_the_order_of_results(void **state)
{
    enum { BUDGET = 150 };
    for (int i = 0; i < strategy_count(); i++) {
        static struct host h;
        struct trace first, other;
        run_at_random(strategy_name_at(i), 16, 1, BUDGET, &first, &h);
        assert_true(first.n >= 100);
        for (uint64_t order = 2; order < 5; order++) {
            run_at_random(strategy_name_at(i), 16, order, BUDGET, &other, &h);
            int n = first.n < other.n ? first.n : other.n;
            for (int k = 0; k < n; k++)
                if (first.places[k] != other.places[k])
                    fail_msg("%s: proposal %d depends on the order", strategy_name_at(i), k);
            mem_free(other.places);
        }
        mem_free(first.places);
    }
}

/* Strategies that ask for several at once keep a pipeline full; one trial at a time is how annealing works. */
static void test_strategies_keep_a_pipeline_full(void **state)
{
    static const char *const names[] = {"latin",  "local", "tabu",   "genetic",  "pso",      "firefly",
                                        "bandit", "gp",    "forest", "transfer", "portfolio"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        static struct host h;
        struct trace t;
        run_at_random(names[i], 16, 1, 80, &t, &h);
        if (h.most < 15 || !h.asked_early)
            fail_msg("%s: %d under way at most, asked early %d times", names[i], h.most, h.asked_early);
        mem_free(t.places);
    }
}

static void tell_number(struct host *h, int64_t number)
{
    for (int i = 0; i < h->n; i++)
        if (h->open[i].number == number) {
            tell(h, i);
            return;
        }
    fail_msg("%lld was not given", (long long)number);
}

static void test_submitting_and_collecting(void **state)
{
    static const char text[] = WRAP(
        "local list = {} for i = 1, 5 do list[i] = space:at(i) end\n"
        "tune.submit(list) assert(tune.outstanding == 5)\n"
        "local r = tune.collect(2)\n"
        "assert(#r == 2 and r[1].config == list[1] and r[2].config == list[2] and tune.outstanding == 3)\n"
        "tune.submit { space:at(6) }\n"
        "assert(tune.evaluate(space:at(7)).config == space:at(7) and tune.outstanding == 4)\n"
        "local two = tune.evaluate_all { space:at(8), space:at(8) }\n"
        "assert(two[1].config == space:at(8) and two[2].config == two[1].config)\n"
        "r = tune.collect(100)\n"
        "assert(#r == 4 and r[1].config == list[3] and r[4].config == space:at(6) and tune.outstanding == 0)\n"
        "tune.submit { space:at(9) }");
    struct world w = open_world(2);
    struct trace t = {0};
    static struct host h;
    h = (struct host){.w = &w, .t = &t};
    assert_int_equal(file_write_atomic(path, text, strlen(text), &err), LATHE_OK);
    assert_int_equal(strategy_open(path, NULL, 0, w.spaces, 2, 1, &h.s, &err), LATHE_OK);
    assert_int_equal(give(&h), LATHE_OK);
    assert_int_equal(h.n, 5);
    tell_number(&h, 1);
    assert_true(strategy_waits(h.s));
    tell_number(&h, 0);
    assert_false(strategy_waits(h.s));
    assert_int_equal(give(&h), LATHE_OK);       /* 6 submitted, 7 evaluated */
    assert_int_equal(t.n, 7);
    tell_number(&h, 4);
    assert_true(strategy_waits(h.s));
    tell_number(&h, 6);                         /* the older ones are not waited for */
    assert_int_equal(give(&h), LATHE_OK);
    assert_int_equal(t.n, 9);
    tell_number(&h, 8);
    tell_number(&h, 7);
    assert_int_equal(give(&h), LATHE_OK);       /* nothing new: it collects */
    assert_int_equal(t.n, 9);
    assert_true(strategy_waits(h.s) && !strategy_ended(h.s));
    tell_number(&h, 5);
    tell_number(&h, 3);
    tell_number(&h, 2);
    assert_int_equal(give(&h), LATHE_OK);       /* the last one, of a script that ended */
    assert_int_equal(t.n, 10);
    assert_true(strategy_ended(h.s));
    assert_int_equal(give(&h), LATHE_OK);
    assert_int_equal(t.n, 10);
    strategy_close(h.s);
    close_world(&w);
    mem_free(t.places);
}

static void test_what_cannot_be_submitted_or_collected(void **state)
{
    fails_with(WRAP("tune.collect()"), "tune.collect: nothing is outstanding");
    fails_with(WRAP("tune.submit { space:at(1) } tune.collect(0)"), "bad argument #1 to 'collect' (at least 1)");
    fails_with(WRAP("tune.submit { space:at(1), 7 }"),
               "tune.submit: item 2: a configuration was expected, but was given the number 7");
    fails_with(WRAP("tune.submit {}"), "tune.submit: the list is empty");
    fails_with(WRAP("tune.submit { space:at(1) } coroutine.wrap(function() tune.collect() end)()"),
               "tune.collect can only be called from the strategy's run function itself");
    fails_with(WRAP("tune.submit { space:at(1) } tune.collect() tune.collect()"), "nothing is outstanding");
    fails_with(WRAP("local x = tune.outstandin"), "tune has no field 'outstandin'; did you mean 'outstanding'?");
}

/* What waits inside a function that C calls is refused before it has asked for anything, also where that is caught. */
static void test_what_cannot_wait_changes_nothing(void **state)
{
    static const char *const calls[] = {"tune.collect()", "tune.evaluate(space:at(3))",
                                        "tune.evaluate_all { space:at(3) }"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        struct world w = open_world(2);
        struct trace t = {0};
        struct rng r;
        static struct host h;
        h = (struct host){.w = &w, .t = &t};
        char *text = mem_printf(WRAP(
            "tune.submit { space:at(1), space:at(2) }\n"
            "local ok, why = pcall(table.sort, { 1, 2, 3 }, function() %s end)\n"
            "assert(not ok and why:find('called by table.sort', 1, true), why)\n"
            "assert(#tune.collect() == 2)"), calls[i]);
        assert_int_equal(file_write_atomic(path, text, strlen(text), &err), LATHE_OK);
        assert_int_equal(strategy_open(path, NULL, 0, w.spaces, 2, 1, &h.s, &err), LATHE_OK);
        rng_seed(&r, 1);
        drive_at_random(&h, &r, 100);
        assert_int_equal(t.n, 2);
        strategy_close(h.s);
        mem_free(text);
        mem_free(t.places);
        close_world(&w);
    }
}

/* A tune that remembers refuses what the other one refuses, and what it could not know again. */
static void test_a_remembering_tune_refuses_the_same(void **state)
{
#define REMEMBERING "tune = remembering(tune, space) tune.submit { space:at(1) } "
    fails_with(WRAP(REMEMBERING "tune.collect(0)"), "tune.collect: a whole number of at least 1 was expected");
    fails_with(WRAP(REMEMBERING "tune.collect(-1)"), "tune.collect: a whole number of at least 1 was expected");
    fails_with(WRAP(REMEMBERING "tune.collect(1.5)"), "tune.collect: a whole number of at least 1 was expected");
    fails_with(WRAP(REMEMBERING "tune.collect('x')"), "tune.collect: a whole number of at least 1 was expected");
    fails_with(WRAP(REMEMBERING "tune.submit {}"), "tune.submit: the list is empty");
    fails_with(WRAP(REMEMBERING "tune.evaluate_all {}"), "tune.evaluate_all: the list is empty");
    fails_with(WRAP(REMEMBERING "tune.submit(7)"), "tune.submit: a list of configurations was expected");
    fails_with(WRAP(REMEMBERING "tune.submit { space:at(2), { kernel = 'k2', V = 7, W = 2 } }"),
               "tune.submit: item 2 is no configuration of the space: ");
#undef REMEMBERING
}

static void test_a_remembering_tune_takes_tables(void **state)
{
    struct trace t;
    assert_int_equal(run_script(WRAP("tune = remembering(tune, space)\n"
                                     "local c = space:at(1)\n"
                                     "local plain = { kernel = c.kernel }\n"
                                     "for name, value in pairs(c) do plain[name] = value end\n"
                                     "assert(tune.evaluate(plain).config == c and tune.known[c])\n"
                                     "tune.submit { plain, plain }\n"
                                     "local r = tune.collect()\n"
                                     "assert(#r == 2 and r[2].config == c and #tune.history == 1)"),
                                &t),
                     LATHE_OK);
    assert_int_equal(t.n, 1);
    mem_free(t.places);
}

/* One after another, for ever: neither memory nor the time of each grows. */
static void test_a_long_stream(void **state)
{
    struct trace t;
    assert_int_equal(run_script(WRAP("tune.submit { space:at(1), space:at(2), space:at(3) }\n"
                                     "for i = 1, 200000 do tune.submit { space:at(1 + i % 7) }\n"
                                     "assert(tune.collect(1)[1]) end"),
                                &t),
                     LATHE_OK);
    assert_in_range(t.n, 100000, 100010);       /* the driver's budget */
    mem_free(t.places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_proposed_does_not_depend_on_the_order_of_results),
        cmocka_unit_test(test_strategies_keep_a_pipeline_full),
        cmocka_unit_test(test_submitting_and_collecting),
        cmocka_unit_test(test_what_cannot_be_submitted_or_collected),
        cmocka_unit_test(test_what_cannot_wait_changes_nothing),
        cmocka_unit_test(test_a_remembering_tune_refuses_the_same),
        cmocka_unit_test(test_a_remembering_tune_takes_tables),
        cmocka_unit_test(test_a_long_stream),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
