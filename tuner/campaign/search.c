/* search.c: the strategy's proposals as trials.
 *
 * The strategy is asked when all that it proposed is begun and it does not wait for an answer, so that it goes on while
 * trials are under way. It is told in any order; what it proposes next follows from its own order alone
 * (search/strategy/strategy_ask.c), so that a resumed campaign proposes the same. */
#include "base/clock.h"
#include "base/mem.h"
#include "campaign/internal.h"
#include <math.h>

/* A proposal that is not told yet. */
struct untold {
    int64_t number, slot;
};

struct search {
    struct campaign *c;
    const struct proposal *batch;   /* borrowed; those before `next` are begun, or known */
    int count, next;
    struct untold *untold;
    int nuntold, cap_untold;
    int64_t begun, stale;           /* stale: proposals in a row that were nothing new */
    bool over;                      /* nothing more is to be begun */
    status failed;                  /* of the script, said when what it asked for has ended */
    struct err why;
};

static void tell_what_ended(struct search *s)
{
    int left = 0;
    for (int i = 0; i < s->nuntold; i++) {
        const struct known *k = &s->c->known[s->untold[i].slot];
        if (k->ended)
            strategy_tell(s->c->strategy, s->untold[i].number, &k->answer);
        else
            s->untold[left++] = s->untold[i];
    }
    s->nuntold = left;
}

/* A slot for a configuration: the old one if it was proposed before (*fresh false). */
static int64_t slot_for(struct campaign *c, const struct proposal *p, bool *fresh)
{
    int64_t slot = p->index >= 0 ? memo_find(&c->memo, p->space, (uint64_t)p->index) : -1;
    *fresh = slot < 0;
    if (slot >= 0) return slot;
    MEM_GROW(c->known, c->nknown, c->cap_known);
    slot = c->nknown++;
    c->known[slot] = (struct known){.answer = {.outcome = OUTCOME_skipped, .value = NAN}};
    if (p->index >= 0) memo_put(&c->memo, p->space, (uint64_t)p->index, slot);
    return slot;
}

/* The next of the batch that was not proposed before. *any false: there is none, or the budget is gone. */
static void next_of_batch(struct search *s, struct trial_item *item, bool *any)
{
    struct campaign *c = s->c;
    const int64_t budget = c->progress.budget_trials;
    for (*any = false; !*any && !s->over && s->next < s->count;) {
        s->over = budget && s->begun >= budget;
        if (s->over) return;
        const struct proposal *p = &s->batch[s->next++];
        int64_t slot = slot_for(c, p, any);
        MEM_GROW(s->untold, s->nuntold, s->cap_untold);
        s->untold[s->nuntold++] = (struct untold){p->number, slot};
        s->stale = *any ? 0 : s->stale + 1;
        s->begun += *any;
        *item = (struct trial_item){.entrant = &c->entrants[p->space], .choice = p->choice, .why = p->why,
                                    .slot = slot};
    }
}

static void ask(struct search *s)
{
    struct campaign *c = s->c;
    double start = clock_seconds();
    s->next = 0;
    s->failed = strategy_ask(c->strategy, &s->batch, &s->count, &s->why);
    c->strategy_seconds += clock_seconds() - start;
    s->over = s->failed || (!s->count && strategy_ended(c->strategy));
    if (!s->failed || !campaign_interrupted()) return;
    c->interrupted = true;      /* the script itself was interrupted */
    s->failed = LATHE_OK;
}

static status next(void *ctx, struct trial_item *item, bool *any, struct err *e)
{
    struct search *s = ctx;
    struct campaign *c = s->c;
    (void)e;
    const int64_t budget = c->progress.budget_trials;
    for (;;) {
        next_of_batch(s, item, any);
        if (*any || s->over || campaign_must_stop(c)) return LATHE_OK;
        tell_what_ended(s);
        if (strategy_waits(c->strategy)) return LATHE_OK;
        s->over = s->stale >= STRATEGY_NOTHING_NEW || (budget && s->begun >= budget);
        if (s->stale >= STRATEGY_NOTHING_NEW)
            campaign_note(c, "the strategy proposed nothing new %lld times in a row: ended", (long long)s->stale);
        if (!s->over) ask(s);
    }
}

status search_run(struct campaign *c, struct err *e)
{
    struct search search = {.c = c};
    status s = trials_run(c, &(struct trial_feed){.ctx = &search, .next = next, .search = true}, e);
    mem_free(search.untold);
    if (s || !search.failed) return s;
    *e = search.why;
    return search.failed;
}
