/* test_wgmma_protocol.c: no interleaving of the threads of kernels/linear/wgmma.cu deadlocks, overwrites what somebody
 * reads, or adds anything but each product once: by simulation (wgmma_model.h), since the kernel itself runs on Hopper
 * GPUs only. Small pipelines are walked through in every order; larger ones at random, in orders where some are fast
 * and some hardly ever run (after Burckhardt and others, A Randomized Scheduler with Probabilistic Guarantees, 2010).
 *
 * And the simulation finds mistakes: each of `enum fault` is found, among them one that was once made. What it is a
 * model of is still so: the source's calls on barriers are those that are listed here.
 *
 * LATHE_SAMPLE=N takes N thousand random walks instead of a few hundred. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <xxhash.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "model/source.h"
#include "wgmma_model.h"

/* ---- what may happen next: an actor's step, or the end of a copy */

enum { MAX_CHOICES = MAX_BLOCKS * (MAX_WARPS + 3) + MAX_BLOCKS * OPERANDS * MAX_STAGES * MAX_BLOCKS };

/* The copy that choice `i` beyond the actors is, or false if none is under way there. */
static bool flight_at(const struct sim *m, int i, int *rank, int *operand, int *stage, int *slice)
{
    *slice = i % m->blocks, i /= m->blocks;
    *stage = i % m->s.stages, i /= m->s.stages;
    *operand = i % OPERANDS;
    *rank = i / OPERANDS;
    return m->block[*rank].tile[*operand][*stage].flight[*slice] >= 0;
}

static int choices(const struct sim *m) { return m->nactors + m->blocks * OPERANDS * m->s.stages * m->blocks; }

/* Whether it did anything. */
static bool take_choice(struct sim *m, int choice)
{
    int rank, operand, stage, slice;
    if (choice < m->nactors) return !m->actor[choice].ended && sim_step(m, &m->actor[choice]) != BLOCKED;
    if (!flight_at(m, choice - m->nactors, &rank, &operand, &stage, &slice)) return false;
    land(m, rank, operand, stage, slice);
    return true;
}

static void no_more(struct sim *m)
{
    for (int i = 0; i < m->nactors; i++)
        if (!m->actor[i].ended)
            broken(m, "deadlock: actor %d (role %d) of block %d waits in unit %d, chunk %d", i, (int)m->actor[i].role,
                   m->actor[i].rank, m->actor[i].u, m->actor[i].chunk);
}

/* One walk. slow: by priorities that change now and then, so that some hardly ever run; else anything next. */
static void walk(struct sim *m, struct rng *r, bool slow)
{
    uint32_t priority[MAX_CHOICES];
    const int n = choices(m);
    for (int i = 0; i < n; i++) priority[i] = (uint32_t)rng_next(r);
    while (!m->failed) {
        int tried = 0, offset = (int)rng_below(r, (uint64_t)n);
        bool done[MAX_CHOICES] = {false};
        if (slow && rng_below(r, 40) == 0) priority[rng_below(r, (uint64_t)n)] = (uint32_t)rng_next(r);
        for (; tried < n; tried++) {
            int best = (offset + tried) % n;
            if (slow) {
                best = -1;
                for (int i = 0; i < n; i++)
                    if (!done[i] && (best < 0 || priority[i] > priority[best])) best = i;
            }
            done[best] = true;
            if (take_choice(m, best)) break;
        }
        if (tried == n) {
            no_more(m);
            return;
        }
    }
}

/* ---- every order */

struct seen {
    uint64_t *hash;
    size_t count, cap;      /* a power of two */
};

static bool is_new(struct seen *s, uint64_t h)
{
    if (2 * s->count >= s->cap) {
        struct seen old = *s;
        s->cap = old.cap ? 2 * old.cap : 1 << 16;
        s->count = 0;
        s->hash = mem_zalloc(s->cap, sizeof *s->hash);
        for (size_t i = 0; i < old.cap; i++)
            if (old.hash[i]) is_new(s, old.hash[i]);
        mem_free(old.hash);
    }
    h += h == 0;
    for (size_t i = h & (s->cap - 1);; i = (i + 1) & (s->cap - 1)) {
        if (s->hash[i] == h) return false;
        if (!s->hash[i]) {
            s->hash[i] = h;
            s->count++;
            return true;
        }
    }
}

/* All states that can be reached, depth first; the reason of the first that is broken is in *m. */
static size_t explore(struct sim *m)
{
    struct seen seen = {0};
    struct sim *stack = NULL;
    int count = 0, cap = 0;
    MEM_GROW(stack, count, cap);
    stack[count++] = *m;
    while (count && !m->failed) {
        struct sim at = stack[--count];
        bool any = false;
        for (int i = 0; i < choices(&at) && !m->failed; i++) {
            struct sim next = at;
            if (!take_choice(&next, i)) {
                if (next.failed) *m = next;
                continue;
            }
            any = true;
            if (next.failed)
                *m = next;
            else if (is_new(&seen, XXH3_64bits(&next, sizeof next))) {
                MEM_GROW(stack, count, cap);
                stack[count++] = next;
            }
        }
        if (!any && !m->failed) {
            no_more(&at);
            if (at.failed) *m = at;
        }
    }
    mem_free(stack);
    mem_free(seen.hash);
    return seen.count;
}

/* ---- tests */

static char *print_shape(const struct shape *s)
{
    return mem_printf("stages %d, chunks %d, every %d, groups %d x %d warps, tiles %d, cluster %d (%s), split_k %d, "
                      "units %d, from block %d",
                      s->stages, s->chunks, s->every, s->groups, s->warps, s->tiles, s->cluster,
                      s->share_streamed ? "streamed" : "shared", s->split_k, s->units, s->first_block);
}

static void must_hold(const struct sim *m)
{
    if (m->failed) fail_msg("%s: %s", print_shape(&m->s), m->reason);
}

static void test_every_order(void **state)
{
    static const struct shape shapes[] = {
        {.stages = 2, .chunks = 3, .groups = 1, .tiles = 1, .cluster = 1, .split_k = 1, .units = 2},
        {.stages = 2, .chunks = 3, .groups = 1, .tiles = 2, .cluster = 1, .split_k = 1, .units = 2, .every = 2},
        {.stages = 2, .chunks = 4, .groups = 2, .tiles = 1, .cluster = 1, .split_k = 1, .units = 1, .every = 2},
        {.stages = 2, .chunks = 2, .groups = 1, .tiles = 1, .cluster = 2, .split_k = 1, .units = 1},
        {.stages = 2, .chunks = 4, .groups = 1, .tiles = 1, .cluster = 1, .split_k = 2, .units = 1, .every = 1},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct shape s = shapes[i];
        struct sim m;
        s.warps = 1;
        sim_init(&m, &s);
        size_t n = explore(&m);
        must_hold(&m);
        char *text = print_shape(&s);
        print_message("%zu states: %s\n", n, text);
        mem_free(text);
    }
}

/* A pipeline that the specification's constraints allow. */
static struct shape random_shape(struct rng *r)
{
    struct shape s = {.stages = 2 + (int)rng_below(r, 3), .groups = 1 + (int)rng_below(r, 3),
                      .tiles = 1 + (int)rng_below(r, 2), .cluster = 1, .split_k = 1, .units = 1 + (int)rng_below(r, 3),
                      .share_streamed = rng_below(r, 2), .warps = 1};
    if (rng_below(r, 2)) s.cluster = 1 << rng_below(r, 3);
    else s.split_k = 1 << rng_below(r, 3);
    if (s.groups < 3) s.warps = 1 + (int)rng_below(r, 2);
    if (rng_below(r, 4)) s.every = s.groups * s.tiles * (1 + (int)rng_below(r, 2));
    s.chunks = (s.every + 1) * s.split_k + (int)rng_below(r, 8);
    s.first_block = (int)rng_below(r, 12) * s.cluster * s.split_k;
    return s;
}

static void test_random_orders(void **state)
{
    const char *sample = getenv("LATHE_SAMPLE");
    struct rng r;
    rng_seed(&r, 1);
    for (int i = 0, n = sample ? 1000 * atoi(sample) : 300; i < n; i++) {
        struct shape s = random_shape(&r);
        struct sim m;
        sim_init(&m, &s);
        walk(&m, &r, i % 2);
        must_hold(&m);
    }
}

/* Some walk through the shape must fail, for the reason that is named. */
static void must_fail(struct shape s, const char *why)
{
    struct rng r;
    char last[sizeof ((struct sim *)0)->reason] = "";
    rng_seed(&r, 2);
    for (int i = 0; i < 2000; i++) {
        struct sim m;
        sim_init(&m, &s);
        walk(&m, &r, i % 2);
        if (m.failed && strstr(m.reason, why)) return;
        if (m.failed) memcpy(last, m.reason, sizeof last);
    }
    fail_msg("nothing of '%s' was found in: %s; but: %s", why, print_shape(&s), *last ? last : "nothing");
}

static const struct shape plain = {.stages = 3, .chunks = 14, .every = 4, .groups = 2, .tiles = 2, .cluster = 1,
                                   .split_k = 1, .units = 2, .warps = 1};

/* Parity tells a phase from the next, not from the one after: with a barrier for all streams a stream that is far ahead
 * goes on when another's turn begins. */
static void test_one_staging_barrier_is_found(void **state)
{
    struct shape s = plain;
    s.fault = ONE_STAGING_BARRIER;
    must_fail(s, "staging_free");
    s.effects_only = true;
    must_fail(s, "staged sums are overwritten by another stream");
}

static void test_other_mistakes_are_found(void **state)
{
    struct shape s = plain;
    s.stages = 1;
    must_fail(s, "deadlock");
    s = plain, s.fault = RELEASED_EARLY;
    must_fail(s, "where chunk");
    s = plain, s.fault = NOT_PROMOTED;
    must_fail(s, "not all are there");
    s = plain, s.fault = ADDED_TOO_LATE;
    must_fail(s, "sums of other products are added");
    s = plain, s.every = 3;                     /* not a multiple of the streams: two promote at the same time */
    must_fail(s, "");
    s = plain, s.chunks = 4;                    /* some stream would not promote */
    must_fail(s, "");
    s = plain, s.split_k = 2, s.every = 0, s.fault = NO_EXCHANGE_FREE;
    must_fail(s, "another");
    s = plain, s.cluster = 2, s.fault = FREED_BY_OWN_BLOCK, s.effects_only = true;
    must_fail(s, "a stage is overwritten");
    s.share_streamed = true;
    must_fail(s, "a stage is overwritten");
}

/* ---- the model and the source */

/* The calls of wgmma.cu on its barriers, as wgmma_actors.h has them, sorted. Whoever changes one changes both. */
static const char *const barrier_calls[] = {
    "arrive(memory.promoted())",
    "arrive(memory.shared_free(stage))",
    "arrive(memory.staging_free(next))",
    "arrive(memory.streamed_free(stage))",
    "arrive(x.memory.staged())",
    "arrive_remote<false>(memory.shared_free(stage), lane)",
    "arrive_remote<false>(memory.streamed_free(stage), lane)",
    "arrive_remote<false>(x.memory.exchange_free(), x.lane)",
    "arrive_remote<true>(x.memory.exchanged(), x.lane)",
    "expect(memory.full(at.stage), SHARED_BYTES)",
    "expect(memory.full(at.stage), STREAMED_BYTES)",
    "init(memory.exchange_free(), (SPLIT_K - 1) * 4 * GROUPS)",
    "init(memory.exchanged(), (SPLIT_K - 1) * 4 * GROUPS)",
    "init(memory.full(s), 2)",
    "init(memory.promoted(), 1)",
    "init(memory.shared_free(s), 4 * GROUPS * (SHARE_COLUMNS ? CLUSTER : 1))",
    "init(memory.staged(), 128)",
    "init(memory.staging_free(stream), 1)",
    "init(memory.streamed_free(s), 4 * GROUPS * (SHARE_ROWS ? CLUSTER : 1))",
    "wait(memory.full(at.stage), at.parity)",
    "wait(memory.promoted(), (units - 1) & 1)",
    "wait(memory.shared_free(at.stage), at.parity ^ 1)",
    "wait(memory.staged(), parity)",
    "wait(memory.streamed_free(at.stage), at.parity ^ 1)",
    "wait(x.memory.staging_free(i * GROUPS + x.group), stagings[i] & 1)",
    "wait_cluster(x.memory.exchange_free(), exchange)",
    "wait_cluster(x.memory.exchanged(), exchange)",
};
enum { CALLS = sizeof barrier_calls / sizeof *barrier_calls };

/* The call that begins at `at`, with single blanks, or NULL: a declaration, or a call on no barrier. */
static char *call_at(const char *at)
{
    struct strbuf b = {0};
    for (int depth = 0, opened = 0; *at && (!opened || depth > 0); at++) {
        depth += (*at == '(') - (*at == ')');
        opened |= depth > 0;
        if (*at != '\n' && *at != ' ') sb_addn(&b, at, 1);
        else if (b.len && sb_str(&b)[b.len - 1] != ' ') sb_add(&b, " ");
    }
    if (strstr(sb_str(&b), "memory.")) return sb_take(&b);
    sb_free(&b);
    return NULL;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void test_source_is_what_is_simulated(void **state)
{
    static const char *const include_dirs[] = {"kernels/common", NULL};
    static const char prefix[] = "lathe_barrier_";
    struct err e = {0};
    char *text, **calls = NULL;
    int n = 0, cap = 0;
    if (source_assemble("kernels/linear/wgmma.cu", include_dirs, &text, &e)) fail_msg("%s", e.text);
    for (const char *at = text; (at = strstr(at, prefix)); ) {
        at += sizeof prefix - 1;
        char *call = call_at(at);
        if (!call) continue;
        MEM_GROW(calls, n, cap);
        calls[n++] = call;
    }
    qsort(calls, (size_t)n, sizeof *calls, by_text);
    for (int i = 0; i < n || i < CALLS; i++)
        if (i >= n || i >= CALLS || strcmp(calls[i], barrier_calls[i]) != 0)
            fail_msg("wgmma.cu calls '%s' where the simulation has '%s': change wgmma_actors.h and this list with it",
                     i < n ? calls[i] : "nothing", i < CALLS ? barrier_calls[i] : "nothing");
    for (int i = 0; i < n; i++) mem_free(calls[i]);
    mem_free(calls);
    mem_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_order), cmocka_unit_test(test_random_orders),
        cmocka_unit_test(test_one_staging_barrier_is_found), cmocka_unit_test(test_other_mistakes_are_found),
        cmocka_unit_test(test_source_is_what_is_simulated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
