/* strategy_fixture.h: strategies against a small space of two kernels, for the tests of scripts and strategies. */
#ifndef LATHE_TEST_SEARCH_STRATEGY_FIXTURE_H
#define LATHE_TEST_SEARCH_STRATEGY_FIXTURE_H

#include "fixture.h"

#include "search/strategy/strategy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const kernels[] = {
    "params = { { 'A', { 1, 2, 4, 8 } }, { 'B', { 1, 2, 4, 8 } }, { 'S', { 1, 2 }, help = 'parts' }, "
    "{ 'R', { 'two', 'last' }, when = 'S > 1' }, { 'F', { 0.5, 1.0 } }, { 'T', { false, true } } }, "
    "constraints = { 'A * B <= 16' }",
    "params = { { 'V', { 1, 2, 4 } }, { 'W', { 1, 2, 3 } } }, constraints = { 'V != W' }",
};

struct world {
    struct problem *p;
    struct space *spaces[2];
    int n;
};

static struct err err;
static double seconds = 60;             /* for a step of a script */
static enum answer_order { LAST_FIRST, FIRST_FIRST, MIXED } answer_order; /* of a batch: as compilers and devices end */
static char dir[] = "/tmp/lathe-test-strategy-XXXXXX", path[100];

static inline struct world open_world(int n)
{
    struct world w = {.p = fixture_problem(kernels, 2), .n = n};
    for (int i = 0; i < n; i++)
        w.spaces[i] = fixture_space(w.p, i);
    return w;
}

static inline void close_world(struct world *w)
{
    for (int i = 0; i < w->n; i++)
        space_close(w->spaces[i]);
    problem_free(w->p);
}

/* A bowl with its bottom inside, a failure here and there; the same for the same configuration. */
static inline struct answer judge(const struct world *w, const struct proposal *p)
{
    const struct kernel *k = space_kernel(w->spaces[p->space]);
    double value = 1 + p->space;
    unsigned sum = 0;
    for (int i = 0; i < k->nparams; i++) {
        value += (p->choice[i] - 1.3 - 0.2 * i) * (p->choice[i] - 1.3 - 0.2 * i);
        sum = sum * 7 + p->choice[i];
    }
    if (p->index < 0)
        return (struct answer){.outcome = OUTCOME_constraint, .value = NAN};
    if (sum % 11 == 3)
        return (struct answer){.outcome = OUTCOME_wrong, .value = NAN, .seconds = 0.1};
    if (sum % 11 == 4)
        return (struct answer){.outcome = OUTCOME_inaccurate, .value = NAN, .seconds = 0.2, .measured = value};
    return (struct answer){.outcome = OUTCOME_ok, .value = value, .seconds = 0.2};
}

/* What a run asked for: the place in the union of each proposal, -1 for what is no member. */
struct trace {
    int64_t *places;
    int n, cap, batches, largest;
    char options_text[200];
};

static inline status drive(const struct world *w, struct strategy *s, int budget, struct trace *t)
{
    const struct proposal *batch;
    int n;
    status st;
    while (!(st = strategy_ask(s, &batch, &n, &err)) && n > 0) {
        t->batches++;
        t->largest = n > t->largest ? n : t->largest;
        for (int i = 0; i < n; i++) {
            int at = answer_order == FIRST_FIRST ? i : answer_order == LAST_FIRST || n % 7 == 0 ? n - 1 - i : i * 7 % n;
            struct answer a = judge(w, &batch[at]);
            strategy_tell(s, batch[at].number, &a);
        }
        for (int i = 0; i < n; i++) {
            MEM_GROW(t->places, t->n, t->cap);
            t->places[t->n++] =
                batch[i].index < 0 ? -1 : batch[i].index + (batch[i].space ? (int64_t)space_size(w->spaces[0]) : 0);
        }
        if (budget && t->n >= budget)
            break;
    }
    return st;
}

static inline status run_named(int nspaces, const char *name, const char *options, uint64_t seed, int budget,
                               struct trace *t)
{
    struct world w = open_world(nspaces);
    struct strategy *s = NULL;
    char *copy = mem_strdup(options ? options : ""), *list[8], *rest = copy;
    int n = 0;
    *t = (struct trace){0};
    memset(&err, 0, sizeof err);
    while ((list[n] = strtok_r(rest, " ", &rest)))
        n++;
    status st = strategy_open_limited(name, list, n, w.spaces, nspaces, seed, (size_t)32 << 20, seconds, &s, &err);
    if (!st) {
        struct strbuf b = {0};
        strategy_options_text(s, &b);
        snprintf(t->options_text, sizeof t->options_text, "%s", sb_str(&b));
        sb_free(&b);
        st = drive(&w, s, budget, t);
    }
    strategy_close(s);
    close_world(&w);
    mem_free(copy);
    return st;
}

static inline status run_script(const char *text, struct trace *t)
{
    assert_int_equal(file_write_atomic(path, text, strlen(text), &err), LATHE_OK);
    return run_named(2, path, NULL, 1, 100000, t);
}

#define WRAP(body)                                                                                                     \
    "return strategy { name = 'own', options = { n = integer { 3, min = 1 } }, run = function(tune, space, "           \
    "opt)\n" body "\nend }"

/* Runs the body of a run function; its asserts speak. */
static inline void check_body(const char *text)
{
    struct trace t;
    if (run_script(text, &t) != LATHE_OK)
        fail_msg("%s", err.text);
    mem_free(t.places);
}

static inline void fails_with(const char *text, const char *message)
{
    struct trace t;
    status st = run_script(text, &t);
    if (st != LATHE_STRATEGY)
        fail_msg("'%s' gave %s: %s", text, status_name(st), err.text);
    assert_contains(err.text, message);
    assert_contains(err.text, path);
    mem_free(t.places);
}

static inline int make_dir(void **state)
{
    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/own.lua", dir);
    return 0;
}

static inline int remove_dir(void **state)
{
    unlink(path);
    return rmdir(dir);
}

#endif
