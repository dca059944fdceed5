/* store_write.c: trials, measurements, verifications, the final.
 *
 * Invariants: (1) a trial is in flight, then ends once; (2) trial.score_ms is what `best` ranks by, NULL for what may
 * not win (not ok, a baseline, not eligible, refused by a final's verification: store_refusals.c). It is the trial's
 * time; for those of a final, the final's cold median; and no trial outside the final is placed before one of it: it
 * gets the next number above the last finalist's score where its time is below. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "db/store_private.h"

#include <math.h>
#include <string.h>

/* A source's name is its folder and file, "linear/simt.cu": the same on every machine. */
static const char *source_name(const char *path)
{
    int slashes = 0;
    const char *p = path + strlen(path);
    while (p > path && slashes < 2)
        slashes += *--p == '/';
    return slashes == 2 ? p + 1 : p;
}

static status intern_source(struct store *s, const struct kernel *k, struct sql_value *id, struct err *e)
{
    char hash[HASH_HEX];
    int64_t found = 0;
    *id = sql_null();
    if (!k->source)
        return LATHE_OK;
    if (s->sourced == k) {
        *id = sql_int(s->source);
        return LATHE_OK;
    }
    const char *name = k->source_path ? source_name(k->source_path) : k->name;
    struct hasher *h = hasher_new();
    hasher_add_str(h, name);
    hasher_add_str(h, k->source);
    hasher_end(h, hash);
    status st = store_intern(s, STATEMENT_source_find, STATEMENT_source_add, "recording a source",
                             SQL_VALUES(sql_text(hash), sql_text(name), sql_text(k->source)), 1 /* key */, &found, e);
    *id = sql_int(found);
    s->source = found;
    s->sourced = st ? NULL : k;
    return st;
}

static status add_parameter(struct store *s, int64_t trial, int position, const char *name, const json_t *v,
                            struct err *e)
{
    struct sql_value value = sql_null();
    const char *type = "string";
    if (json_is_boolean(v)) {
        type = "boolean";
        value = sql_int(json_is_true(v));
    } else if (json_is_integer(v)) {
        type = "integer";
        value = sql_int(json_integer_value(v));
    } else if (json_is_real(v)) {
        type = "float";
        value = sql_real(json_real_value(v));
    } else {
        value = sql_text(json_string_value(v));
    }
    return store_run(s, STATEMENT_parameter_add, "recording a trial's parameters",
                     SQL_VALUES(sql_int(trial), sql_int(position), sql_text(name), sql_text(type), value), e);
}

static status add_trial(struct store *s, const struct trial_record *t, int64_t *id, struct err *e)
{
    const struct kernel *k = t->kernel;
    struct sql_value source;
    struct strbuf text = {0};
    char now[32];
    clock_iso8601(now);
    status st = intern_source(s, k, &source, e);
    if (st)
        return st;
    config_print(&text, k, t->slots, t->choice);
    st =
        store_run(s, STATEMENT_trial_add, "recording a trial",
                  SQL_VALUES(sql_int(t->campaign), sql_int(t->number), sql_text(k->baseline ? "baseline" : "candidate"),
                             sql_int(k->eligible && !k->baseline), sql_int(k->checked), sql_text(k->name), source,
                             sql_text(sb_str(&text)), sql_text(t->image_key ? t->image_key : ""),
                             sql_text(t->started ? t->started : now)),
                  e);
    sb_free(&text);
    if (st)
        return st;
    *id = sqlite3_last_insert_rowid(s->sql.db);
    json_t *configuration = config_to_json(k, t->slots, t->choice), *value;
    const char *name;
    int position = 0;
    json_object_foreach(configuration, name, value) {
        st = add_parameter(s, *id, position++, name, value, e);
        if (st)
            break;
    }
    json_decref(configuration);
    return st;
}

status store_trial_begin(struct store *s, const struct trial_record *t, int64_t *id, struct err *e)
{
    static const char doing[] = "recording a trial";
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    int64_t added = 0;
    st = store_finish(s, add_trial(s, t, &added, e), doing, e);
    if (!st)
        *id = added;
    return st;
}

/* NULL where the device tells nothing. */
static struct sql_value reasons(const struct telemetry *t)
{
    return t->throttle_known ? sql_int((int64_t)t->throttle_reasons) : sql_null();
}

enum { OWN_DEVICE = -1 };               /* where the trial itself was */

static status add_measurement(struct store *s, int64_t trial, int position, const struct samples *m,
                              const struct telemetry *t, struct err *e)
{
    static const char doing[] = "recording a measurement";
    static const struct telemetry unknown = {.sm_mhz = NAN, .mem_mhz = NAN, .power_w = NAN, .temperature_c = NAN,
                                             .sm_mhz_low = NAN};
    char now[32];
    clock_iso8601(now);
    if (!t)
        t = &unknown;
    status st = store_run(s, STATEMENT_measurement_add, doing,
                          SQL_VALUES(sql_int(trial), sql_text(regime_name(m->regime)), sql_real(m->median),
                                     sql_real(m->low), sql_real(m->high), sql_int(m->count), sql_real(t->sm_mhz),
                                     sql_real(t->mem_mhz), sql_real(t->power_w), sql_real(t->temperature_c),
                                     reasons(t), sql_text(now), sql_int(m->batch > 1 ? m->batch : 1),
                                     sql_int(m->graph), sql_int(samples_throttled(m)), sql_real(t->sm_mhz_low),
                                     m->energy_launches > 0 ? sql_real(m->energy_mj) : sql_null(),
                                     m->energy_launches > 0 ? sql_int(m->energy_launches) : sql_null(),
                                     position >= 0 ? sql_int(position) : sql_null()),
                          e);
    int64_t id = sqlite3_last_insert_rowid(s->sql.db);
    for (int i = 0; !st && i < m->count; i++)
        st = store_run(s, STATEMENT_sample_add, doing,
                       SQL_VALUES(sql_int(id), sql_int(i + 1), sql_real(m->ms[i]),
                                  sql_int(m->throttled && m->throttled[i])),
                       e);
    return st;
}

/* detail is empty unless elements differ or memory was damaged. NOTE: written so that a NaN fails. */
static bool verification_passed(const struct verification *v)
{
    bool close = !(v->frobenius_limit > 0) || v->frobenius <= v->frobenius_limit;
    return v->done && v->mismatches == 0 && v->detail[0] == 0 && close;
}

static status add_verification(struct store *s, int64_t trial, const char *phase, const struct verification *v,
                               bool passed, struct err *e)
{
    char now[32];
    clock_iso8601(now);
    return store_run(s, STATEMENT_verification_add, "recording a verification",
                     SQL_VALUES(sql_int(trial), sql_text(phase), sql_text(v->reference), sql_unsigned(v->seed),
                                sql_real(v->max_abs), sql_real(v->max_rel), sql_real(v->frobenius),
                                v->frobenius_limit > 0 ? sql_real(v->frobenius_limit) : sql_null(),
                                v->scaled_limit > 0 ? sql_real(v->scaled) : sql_null(),
                                v->scaled_limit > 0 ? sql_real(v->scaled_limit) : sql_null(),
                                sql_int(v->elements), sql_int(v->mismatches), sql_int(v->deterministic),
                                sql_int(passed), sql_text(v->detail), sql_text(now)),
                     e);
}

static struct sql_value size_or_null(int bytes)
{
    return bytes >= 0 ? sql_int(bytes) : sql_null();
}

static status end_trial(struct store *s, int64_t id, const struct result *r, struct err *e)
{
    const struct resources *x = &r->resources;
    const struct stage_seconds *stage = &r->stage;
    char now[32];
    clock_iso8601(now);
    bool timed = r->outcome == OUTCOME_ok || r->outcome == OUTCOME_inaccurate;
    struct sql_value behind;
    int64_t refused;
    status st = store_leaders_place(s, id, r, &behind, &refused, e);
    if (st)
        return st;
    st = store_run(s, STATEMENT_trial_end, "recording a trial's result",
                          SQL_VALUES(sql_int(id), sql_text(outcome_name(r->outcome)), sql_text(r->reason),
                                     sql_real(timed ? r->time_ms : NAN), sql_real(r->samples.low),
                                     sql_real(r->samples.high), x->registers ? sql_int(x->registers) : sql_null(),
                                     size_or_null(x->local_bytes), size_or_null(x->shared_static),
                                     size_or_null(x->shared_dynamic),
                                     x->occupancy > 0 ? sql_real(x->occupancy) : sql_null(), sql_real(stage->compile),
                                     sql_real(stage->load), sql_real(stage->verify), sql_real(stage->measure),
                                     sql_int(stage->compile_cached), sql_text(now), sql_real(stage->total),
                                     sql_real(store_elapsed(s)), sql_real(stage->strategy), sql_real(stage->store),
                                     sql_real(stage->device),
                                     sql_real(timed && r->samples.energy_launches > 0 ? r->samples.energy_mj : NAN),
                                     behind),
                          e);
    if (!st && sqlite3_changes(s->sql.db) != 1)
        st = err_set(e, LATHE_INTERNAL, "%s: trial %lld is not in flight, so it cannot end; this is a bug in lathe",
                     s->sql.path, (long long)id);
    if (!st && refused)
        st = store_refusals_apply(s, id, refused, e);
    if (!st && r->verification.done)
        st = add_verification(s, id, "trial", &r->verification,
                              verification_passed(&r->verification) && r->outcome != OUTCOME_wrong &&
                                  r->outcome != OUTCOME_inaccurate, e);
    if (!st && r->samples.count > 0)
        st = add_measurement(s, id, OWN_DEVICE, &r->samples, &r->telemetry, e);
    return st;
}

status store_trial_end(struct store *s, int64_t id, const struct result *r, struct err *e)
{
    static const char doing[] = "recording a trial's result";
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    return store_finish(s, end_trial(s, id, r, e), doing, e);
}

status store_rescore(struct store *s, int64_t campaign, struct err *e)
{
    static const char doing[] = "ranking the final";
    store_leaders_forget(s);
    status st = store_run(s, STATEMENT_rescore_finalists, doing, SQL_VALUES(sql_int(campaign)), e);
    if (!st)
        st = store_run(s, STATEMENT_rescore_others, doing, SQL_VALUES(sql_int(campaign)), e);
    return st;
}

/* The score of a trial changed after its campaign's final had given it a place. */
static status rescore_if_ranked(struct store *s, int64_t trial, struct err *e)
{
    int64_t campaign;
    bool ranked;
    status st = store_lookup(s, STATEMENT_ranked_campaign, "ranking the final", SQL_VALUES(sql_int(trial)), &campaign,
                             &ranked, e);
    return st || !ranked ? st : store_rescore(s, campaign, e);
}

status store_measurement(struct store *s, int64_t trial, int position, const struct samples *m,
                         const struct telemetry *t, struct err *e)
{
    static const char doing[] = "recording a measurement";
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    st = add_measurement(s, trial, position, m, t, e);
    if (!st && m->regime == REGIME_COLD)
        st = rescore_if_ranked(s, trial, e);
    if (!st && m->energy_launches > 0)
        st = store_run(s, STATEMENT_energy_set, doing, SQL_VALUES(sql_int(trial), sql_real(m->energy_mj)), e);
    return store_finish(s, st, doing, e);
}

status store_drift(struct store *s, int64_t campaign, int64_t trial, int position, const struct samples *m,
                   const struct telemetry *t, double ago, struct err *e)
{
    static const char doing[] = "recording a baseline that was timed again";
    char taken[32];
    int64_t us;
    clock_iso8601(taken);
    if (ago > 0 && clock_read_moment(taken, &us))
        clock_print_moment(us - (int64_t)(ago * 1e6), taken);
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    st = store_run(s, STATEMENT_drift_add, doing,
                   SQL_VALUES(sql_int(campaign), sql_int(trial),
                              sql_text(m->regime == REGIME_TRIAL ? "search" : regime_name(m->regime)),
                              sql_real(store_elapsed(s) - ago), sql_real(m->median), sql_real(m->low),
                              sql_real(m->high), sql_int(m->count), sql_real(t->sm_mhz), sql_real(t->power_w),
                              sql_real(t->temperature_c), reasons(t), sql_text(taken), sql_int(position)),
                   e);
    return store_finish(s, st, doing, e);
}

status store_verification(struct store *s, int64_t trial, const struct verification *v, struct err *e)
{
    static const char doing[] = "recording a verification";
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    bool passed = verification_passed(v);
    st = add_verification(s, trial, "final", v, passed, e);
    if (!st && !passed)
        st = store_run(s, STATEMENT_disqualify, doing, SQL_VALUES(sql_int(trial)), e);
    if (!st && !passed)
        st = rescore_if_ranked(s, trial, e);
    if (!st && !passed)
        st = store_leaders_settle_with(s, trial, e);
    if (!st && !passed)
        st = store_refusals_add(s, trial, e);
    return store_finish(s, st, doing, e);
}

status store_final_rank(struct store *s, int64_t campaign, int64_t trial, int rank, struct err *e)
{
    static const char doing[] = "ranking the final";
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    st = store_run(s, STATEMENT_rank_set, doing,
                   SQL_VALUES(sql_int(trial), sql_int(campaign), rank > 0 ? sql_int(rank) : sql_null()), e);
    if (!st && sqlite3_changes(s->sql.db) != 1)
        st = err_set(e, LATHE_INTERNAL, "%s: trial %lld is not one of campaign %lld; this is a bug in lathe",
                     s->sql.path, (long long)trial, (long long)campaign);
    if (!st && rank > 0)
        st = store_refusals_lift(s, trial, e);
    if (!st)
        st = store_rescore(s, campaign, e);
    if (!st && rank <= 0)
        st = store_leaders_settle(s, campaign, e);
    return store_finish(s, st, doing, e);
}

status store_final_forget(struct store *s, int64_t campaign, struct err *e)
{
    static const char doing[] = "taking the place of an earlier final";
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    st = store_run(s, STATEMENT_final_clear, doing, SQL_VALUES(sql_int(campaign)), e);
    if (!st)
        st = store_run(s, STATEMENT_final_drift_clear, doing, SQL_VALUES(sql_int(campaign)), e);
    return store_finish(s, st, doing, e);
}
