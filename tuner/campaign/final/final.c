/* final.c: the leaders against the baselines, once more, fairly.
 *
 * Fresh inputs; every leader verified on them (final_verify.c). Then rounds: in each, every entry in turn, so that
 * drift meets all alike; first cold bursts, then (on a GPU) the sustained regime. Where one is refused only then, and
 * another can take its place, the rounds begin again with all that stand: figures of one final are of the same rounds,
 * or they would not compare. Of several devices each measures
 * every entry, all the same one at a time, and a baseline's figures go to that device's own trial of it. The ranking
 * (final_sort.c) is by what the first device measured; the others' figures are kept beside, and none is ever compared
 * across devices. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "campaign/final/final_impl.h"
#include "model/source.h"
#include <math.h>
#include <string.h>

static int rounds(const struct campaign *c) { return campaign_on_gpu(c) ? 2 : 3; }

/* All entries are timed in one way, or their times could not be compared. */
static bool any_short(const struct campaign *c)
{
    for (int i = 0; i < c->nleaders; i++)
        if (c->leaders[i].time_ms < CAMPAIGN_BATCH_BELOW_MS) return true;
    for (int i = 0; i < c->nmeasured_baselines; i++)
        if (c->measured_baselines[i].time_ms < CAMPAIGN_BATCH_BELOW_MS) return true;
    return false;
}

static struct measure_options options_for(const struct campaign *c, enum regime regime)
{
    struct measure_options o = {.regime = regime, .incumbent_ms = NAN};
    if (regime == REGIME_SUSTAINED) {
        o.run_seconds = campaign_on_gpu(c) ? 2 : 0.5;
    } else {
        o.idle_seconds = campaign_on_gpu(c) ? 0.7 : 0;
        o.launches = campaign_on_gpu(c) ? 25 : 7;
        o.skip = campaign_on_gpu(c) ? 5 : 2;
        o.retakes = 1;
    }
    o.batches = campaign_on_gpu(c) && any_short(c);
    return o;
}

/* The baselines, each once, and the leaders, those in reserve too. *nbaselines: how many of the first. mem_free
 * them. */
static struct entry *entries_new(struct campaign *c, int *nbaselines, int *n)
{
    struct entry *list = mem_zalloc((size_t)(c->nmeasured_baselines + c->nleaders) + 1, sizeof *list);
    *n = 0;
    for (int i = 0; i < c->nmeasured_baselines; i++) {
        struct leader *l = &c->measured_baselines[i];
        int at = 0;
        while (at < *n && list[at].leader->kernel != l->kernel) at++;
        if (at == *n) list[(*n)++].on = mem_zalloc((size_t)c->ndevices, sizeof *list->on);
        struct entry *x = &list[at];
        x->on[l->position].leader = l;
        if (!x->leader || l->position < x->leader->position) x->leader = l;
    }
    *nbaselines = *n;
    for (int i = 0; i < c->nleaders; i++)
        list[(*n)++] =
            (struct entry){.leader = &c->leaders[i], .on = mem_zalloc((size_t)c->ndevices, sizeof *list->on)};
    return list;
}

static void pool(struct samples *to, const struct samples *from)
{
    samples_append(to, from);
    to->regime = from->regime;
    to->batch = from->batch;
    to->graph = from->graph;
    if (from->energy_launches > 0) {    /* of all rounds, each by its runs */
        double n = to->energy_launches, m = from->energy_launches;
        to->energy_mj = ((n > 0 ? n * to->energy_mj : 0) + m * from->energy_mj) / (n + m);
        to->energy_launches = (int)(n + m);
    }
}

/* A baseline timed in a round: how far the device drifted in the final. */
struct round_time {
    int64_t trial;
    int position;
    double at;                      /* clock_seconds */
    struct samples samples;         /* without the samples themselves */
    struct telemetry telemetry;
};

/* The entries: the baselines, then the leaders, best first, of which the first `tried` are in the final. */
struct line_up {
    struct entry *entries;
    int nbaselines, n, tried;
    struct round_time *times;       /* of the rounds that count, in their order */
    int ntimes;
};

static void keep_time(struct line_up *f, int64_t trial, int position, const struct result *r)
{
    f->times = mem_resize(f->times, (size_t)f->ntimes + 1, sizeof *f->times);
    struct round_time *t = &f->times[f->ntimes++];
    *t = (struct round_time){.trial = trial, .position = position, .at = clock_seconds(), .samples = r->samples,
                             .telemetry = r->telemetry};
    t->samples.ms = NULL;
    t->samples.throttled = NULL;
}

static status measure_entry(struct campaign *c, struct line_up *f, struct entry *x, enum regime regime, struct err *e)
{
    struct answer_of *answers = mem_zalloc((size_t)c->ndevices, sizeof *answers);
    x->evaluation.options = options_for(c, regime);
    status s = final_evaluate(c, x, LAUNCHES_PER_LIMIT * c->time_limit, answers, e);
    for (int i = 0; i < c->ndevices && !s; i++) {
        struct result *r = &answers[i].r;
        if (!answers[i].there) continue;
        if (r->outcome == OUTCOME_ok) {
            pool(&x->on[i].pooled[regime], &r->samples);
            x->on[i].telemetry[regime] = r->telemetry;
            if (x->leader->baseline) keep_time(f, x->on[i].leader->id, i, r);
        } else if (!x->leader->refused) {
            s = final_refuse(c, x, r, e);
        }
    }
    final_answers_free(c, answers);
    return s;
}

/* A place of the final is free, and there is a leader that was not tried for it. */
static bool vacant(const struct campaign *c, const struct line_up *f)
{
    int standing = 0;
    for (int i = 0; i < f->tried; i++) standing += !f->entries[f->nbaselines + i].leader->refused;
    return standing < c->request->top && f->nbaselines + f->tried < f->n;
}

/* Rounds of one regime; the last one where a place became free in it. */
static status measure_rounds(struct campaign *c, struct line_up *f, enum regime regime, struct err *e)
{
    for (int round = 0; round < rounds(c) && !vacant(c, f); round++)
        for (int i = 0; i < f->nbaselines + f->tried; i++) {
            if (final_interrupted(c)) return LATHE_OK;
            if (f->entries[i].leader->refused) continue;
            status s = measure_entry(c, f, &f->entries[i], regime, e);
            if (s) return s;
            uv_run(&c->loop, UV_RUN_NOWAIT);
        }
    return LATHE_OK;
}

static void forget_figures(const struct campaign *c, struct line_up *f)
{
    f->ntimes = 0;
    for (int i = 0; i < f->nbaselines + f->tried; i++)
        for (int d = 0; d < c->ndevices; d++)
            for (int r = 0; r < REGIME_COUNT; r++) {
                samples_free(&f->entries[i].on[d].pooled[r]);
                f->entries[i].on[d].pooled[r] = (struct samples){0};
            }
}

static status measure_all(struct campaign *c, struct line_up *f, struct err *e)
{
    bool sustained = campaign_on_gpu(c) || c->request->objective == OBJECTIVE_ENERGY;
    for (;;) {
        status s = measure_rounds(c, f, REGIME_COLD, e);
        if (!s && sustained) s = measure_rounds(c, f, REGIME_SUSTAINED, e);
        if (s || final_interrupted(c) || !vacant(c, f)) return s;
        forget_figures(c, f);
        s = final_verify(c, f->entries + f->nbaselines, f->n - f->nbaselines, &f->tried, e);
        if (s) return s;
    }
}

static double take_median(struct samples *s)
{
    if (!s->count) return NAN;
    samples_summarise(s);
    return s->median;
}

/* The device that places follow from comes last: the latest measurement counts. A baseline that failed has nothing:
 * the rounds before are not those of the others. */
static status store_entry(struct campaign *c, struct entry *x, struct err *e)
{
    if (x->leader->baseline && x->leader->refused) return LATHE_OK;
    for (int i = c->ndevices - 1; i >= 0; i--) {
        struct figures *f = &x->on[i];
        if (!f->leader || c->devices[i].gone) continue;
        const struct samples *sustained = &f->pooled[REGIME_SUSTAINED];
        x->leader->cold_ms = take_median(&f->pooled[REGIME_COLD]);
        x->leader->sustained_ms = take_median(&f->pooled[REGIME_SUSTAINED]);
        x->leader->energy_mj = sustained->energy_launches > 0 ? sustained->energy_mj : NAN;
        for (int r = REGIME_COLD; r <= REGIME_SUSTAINED; r++) {
            if (!f->pooled[r].count) continue;
            status s = store_measurement(c->store, f->leader->id, i, &f->pooled[r], &f->telemetry[r], e);
            if (s) return s;
        }
    }
    return LATHE_OK;
}

static void tell(struct campaign *c, struct entry *x, int rank)
{
    struct strbuf text = {0};
    struct value *slots;
    struct err e;
    if (!campaign_slots(c, x->leader->kernel, x->leader->choice, &slots, &e)) {
        config_print(&text, x->leader->kernel, slots, x->leader->choice);
        mem_free(slots);
    }
    struct campaign_event ev = {.kind = CAMPAIGN_FINAL, .trial = x->leader->id, .kernel = x->leader->kernel,
                                .config = sb_str(&text), .cold_ms = x->leader->cold_ms,
                                .sustained_ms = x->leader->sustained_ms, .rank = rank};
    campaign_emit(c, &ev);
    sb_free(&text);
}

static status rank_all(struct campaign *c, struct entry *entries, int n, int first_leader, int64_t *winner,
                       struct err *e)
{
    bool energy = c->request->objective == OBJECTIVE_ENERGY;
    for (int i = 0; i < n; i++) {
        status s = store_entry(c, &entries[i], e);
        if (s) return s;
        if (i < first_leader && !entries[i].leader->refused) tell(c, &entries[i], 0);
    }
    final_sort(entries + first_leader, n - first_leader, c->request->objective);
    for (int i = first_leader, rank = 1; i < n; i++) {
        struct leader *l = entries[i].leader;
        if (l->refused || !isfinite(energy ? l->energy_mj : l->cold_ms)) continue;
        status s = store_final_rank(c->store, c->id, l->id, rank, e);
        if (s) return s;
        if (rank == 1) *winner = l->id;
        tell(c, &entries[i], rank++);
    }
    return LATHE_OK;
}

/* All at once: until then the database has the figures and samples of an earlier final, if there was one. */
static status record_all(struct campaign *c, struct line_up *f, int64_t *winner, struct err *e)
{
    status s = store_together_begin(c->store, e);
    if (s) return s;
    s = store_final_forget(c->store, c->id, e);
    for (int i = 0; i < f->ntimes && !s; i++) {
        const struct round_time *t = &f->times[i];
        s = store_drift(c->store, c->id, t->trial, t->position, &t->samples, &t->telemetry, clock_seconds() - t->at, e);
    }
    if (!s) s = rank_all(c, f->entries, f->nbaselines + f->tried, f->nbaselines, winner, e);
    return store_together_end(c->store, s, e);
}

status final_run(struct campaign *c, int64_t *winner, struct err *e)
{
    struct line_up f = {0};
    f.entries = entries_new(c, &f.nbaselines, &f.n);
    struct setup_answer answer;
    status s = bench_images(c, e);
    if (!s) s = devices_prepare(c, NULL, splitmix64(c->request->seed ^ 0xf17a1), &answer, e);
    if (!s && *answer.unvaried) campaign_note(c, "final: nothing is verified with other scalars: %s", answer.unvaried);
    for (int i = 0; i < f.nbaselines && !s; i++) s = final_entry_open(c, &f.entries[i], e);
    if (!s) s = final_verify(c, f.entries + f.nbaselines, f.n - f.nbaselines, &f.tried, e);
    if (!s) s = measure_all(c, &f, e);
    if (!s && !c->interrupted) s = record_all(c, &f, winner, e);
    for (int i = 0; i < f.n; i++) final_entry_close(c, &f.entries[i]);
    mem_free(f.entries);
    mem_free(f.times);
    return s == LATHE_INTERRUPTED ? LATHE_OK : s;
}
