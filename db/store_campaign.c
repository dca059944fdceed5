/* store_campaign.c: campaigns, and what they are of: problem, device, strategy, each a row that campaigns share. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/process.h"
#include "db/store_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static int append_json(const char *text, size_t n, void *buffer)
{
    sb_addn(buffer, text, n);
    return 0;
}

/* Appends j as compact text; LATHE_INTERNAL if it cannot be written as JSON. */
static status json_text(const json_t *j, size_t flags, const char *what, struct strbuf *b, struct err *e)
{
    if (json_dump_callback(j, append_json, b, JSON_COMPACT | flags))
        return err_set(e, LATHE_INTERNAL, "%s is not JSON that can be stored; this is a bug in lathe", what);
    return LATHE_OK;
}

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

static status intern_problem(struct store *s, const struct problem *p, const char *now, int64_t *id, struct err *e)
{
    struct strbuf sorted = {0}, text = {0};
    char hash[HASH_HEX];
    status st = json_text(p->json, JSON_SORT_KEYS, "the specification", &sorted, e);
    if (!st)
        st = json_text(p->json, 0, "the specification", &text, e);
    if (!st) {
        hash_hex(sorted.s, sorted.len, hash);
        st = store_intern(s, STATEMENT_problem_find, STATEMENT_problem_add, "recording the problem",
                          SQL_VALUES(sql_text(hash), sql_text(p->name), sql_text(or_empty(p->summary)),
                                     sql_text(sb_str(&text)), sql_text(now)),
                          1 /* key */, id, e);
    }
    sb_free(&sorted);
    sb_free(&text);
    return st;
}

static status intern_device(struct store *s, const struct target *t, int64_t *id, struct err *e)
{
    struct strbuf text = {0};
    char kind[sizeof t->device];
    json_t *j = target_to_json(t);
    status st = json_text(j, JSON_SORT_KEYS, "the device's description", &text, e);
    json_decref(j);
    memcpy(kind, t->device, sizeof kind);
    kind[strcspn(kind, ":")] = 0;
    if (!st)
        st = store_intern(s, STATEMENT_device_find, STATEMENT_device_add, "recording the device",
                          SQL_VALUES(sql_text(t->device), sql_text(t->name), sql_text(t->uuid), sql_text(t->arch),
                                     sql_text(t->driver), sql_text(t->toolchain), sql_text(t->host),
                                     sql_text(sb_str(&text)), sql_text(kind)),
                          8 /* key */, id, e);
    sb_free(&text);
    return st;
}

static status intern_strategy(struct store *s, const struct campaign_record *c, int64_t *id, struct err *e)
{
    char hash[HASH_HEX];
    struct hasher *h = hasher_new();
    hasher_add_str(h, or_empty(c->strategy));
    hasher_add_str(h, or_empty(c->strategy_text));
    hasher_end(h, hash);
    return store_intern(
        s, STATEMENT_strategy_find, STATEMENT_strategy_add, "recording the strategy",
        SQL_VALUES(sql_text(hash), sql_text(or_empty(c->strategy)), sql_text(or_empty(c->strategy_text))), 1 /* key */,
        id, e);
}

/* The machine and surroundings of this process, as JSON: what could explain a number and is in no other column. */
static void environment_text(struct strbuf *b)
{
    static const char *const variables[] = {"CUDA_VISIBLE_DEVICES", "CUDA_HOME", "CUDA_DEVICE_MAX_CONNECTIONS",
                                            "LD_LIBRARY_PATH"};
    struct utsname u = {0};
    uname(&u);
    json_t *j =
        json_pack("{s:s*, s:s*, s:s*, s:s*, s:I, s:I}", "system", u.sysname, "release", u.release, "machine", u.machine,
                  "host", u.nodename, "cpus", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "pid", (json_int_t)getpid());
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value)
            json_object_set_new(j, variables[i], json_string(value));
    }
    if (!j || json_dump_callback(j, append_json, b, JSON_COMPACT)) {
        sb_free(b);
        sb_add(b, "{}");
    }
    json_decref(j);
}

static status add_campaign(struct store *s, const struct campaign_record *c, const char *now, int64_t *id,
                           struct err *e)
{
    static const char doing[] = "recording the campaign";
    int64_t problem = 0, device = 0, strategy = 0;
    double flops = NAN, bytes = NAN;
    status st = intern_problem(s, c->problem, now, &problem, e);
    if (!st)
        st = intern_device(s, c->target, &device, e);
    if (!st)
        st = intern_strategy(s, c, &strategy, e);
    if (!st)
        st = problem_flops(c->problem, &flops, &bytes, e);
    struct strbuf size = {0}, environment = {0}, tolerance = {0}, restrictions = {0}, coordinator = {0};
    if (!st)
        st = json_text(c->problem->restrictions, 0, "the list of restrictions", &restrictions, e);
    if (st)
        return st;
    if (c->size)
        sb_add(&size, c->size);
    else
        problem_size_text(c->problem, &size);
    environment_text(&environment);
    process_identity(&coordinator);
    tolerance_json(&c->problem->tolerance, &tolerance);
    int64_t space = c->space_size > INT64_MAX ? INT64_MAX : (int64_t)c->space_size;
    st = store_run(
        s, STATEMENT_campaign_add, doing,
        SQL_VALUES(sql_int(problem), sql_int(device), sql_int(strategy), sql_text(sb_str(&size)), sql_real(flops),
                   sql_real(bytes), sql_text(or_empty(c->strategy_options)), sql_text(or_empty(c->kernels)),
                   sql_unsigned(c->seed), c->budget_trials > 0 ? sql_int(c->budget_trials) : sql_null(),
                   c->budget_seconds > 0 ? sql_real(c->budget_seconds) : sql_null(), sql_int(space),
                   sql_text(or_empty(c->tool_version)), sql_text(or_empty(c->command_line)),
                   sql_text(sb_str(&environment)), sql_text(sb_str(&tolerance)), sql_text(inputs_name(c->inputs)),
                   sql_text(sb_str(&restrictions)), sql_text(now), sql_text(c->request), sql_text(sb_str(&coordinator)),
                   sql_text(objective_name(c->objective))),
        e);
    if (!st)
        *id = sqlite3_last_insert_rowid(s->sql.db);
    sb_free(&size);
    sb_free(&environment);
    sb_free(&tolerance);
    sb_free(&restrictions);
    sb_free(&coordinator);
    const char *name;
    json_t *value;
    int position = 0;
    json_object_foreach((json_t *)c->dims, name, value)
        if (!st)
            st = store_run(s, STATEMENT_campaign_dim_add, doing,
                           SQL_VALUES(sql_int(*id), sql_text(name), sql_int(json_integer_value(value)),
                                      sql_int(position++)),
                           e);
    for (int i = 0; !st && i < c->problem->ndims; i++)
        st = store_run(s, STATEMENT_campaign_dim_add, doing,
                       SQL_VALUES(sql_int(*id), sql_text(c->problem->dims[i].name), sql_int(c->problem->dims[i].value),
                                  sql_int(i)),
                       e);
    return st;
}

status store_campaign_begin(struct store *s, const struct campaign_record *c, int64_t *id, struct err *e)
{
    static const char doing[] = "recording the campaign";
    char now[32];
    clock_iso8601(now);
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    int64_t added = 0;
    st = add_campaign(s, c, now, &added, e);
    if (!st)
        st = store_run(s, STATEMENT_meta_set, doing,
                       SQL_VALUES(sql_text("written_by"), sql_text(or_empty(c->tool_version))), e);
    st = store_finish(s, st, doing, e);
    if (!st) {
        *id = added;
        s->sourced = NULL;              /* of another problem */
        s->campaign = added;
        s->campaign_began = clock_seconds();
        s->told_elapsed = false;
    }
    return st;
}

void store_campaign_elapsed(struct store *s, double seconds)
{
    s->told_elapsed = true;
    s->elapsed = seconds;
}

status store_campaign_device(struct store *s, int64_t campaign, int position, const char *name, const struct target *t,
                             struct err *e)
{
    static const char doing[] = "recording the campaign's devices";
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    int64_t device = 0;
    st = intern_device(s, t, &device, e);
    if (!st)
        st = store_run(s, STATEMENT_campaign_device, doing,
                       SQL_VALUES(sql_int(campaign), sql_int(position), sql_int(device), sql_text(name)), e);
    return store_finish(s, st, doing, e);
}

status store_device_gone(struct store *s, int64_t campaign, int position, const char *why, struct err *e)
{
    static const char doing[] = "recording that a device is taken out";
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    st = store_run(s, STATEMENT_device_gone, doing, SQL_VALUES(sql_int(campaign), sql_int(position), sql_text(why)), e);
    return store_finish(s, st, doing, e);
}

status store_campaign_note(struct store *s, int64_t id, const char *note, struct err *e)
{
    static const char doing[] = "recording a campaign's note";
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    st = store_run(s, STATEMENT_campaign_note, doing, SQL_VALUES(sql_int(id), sql_text(note)), e);
    return store_finish(s, st, doing, e);
}

status store_campaign_phase(struct store *s, int64_t id, enum campaign_phase phase, double seconds, struct err *e)
{
    static const char doing[] = "recording how long a campaign's phase took";
    static const enum statement of[PHASE_COUNT] = {
        [PHASE_SETUP] = STATEMENT_phase_setup,
        [PHASE_BASELINES] = STATEMENT_phase_baselines,
        [PHASE_SEARCH] = STATEMENT_phase_search,
        [PHASE_FINAL] = STATEMENT_phase_final,
    };
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    return store_finish(s, store_run(s, of[phase], doing, SQL_VALUES(sql_int(id), sql_real(seconds)), e), doing, e);
}

status store_campaign_end(struct store *s, int64_t id, const char *state, const char *note, struct err *e)
{
    static const char doing[] = "recording the campaign's end";
    char now[32];
    clock_iso8601(now);
    double seconds = s->campaign == id ? store_elapsed(s) : NAN;
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    st = store_run(s, STATEMENT_campaign_end, doing,
                   SQL_VALUES(sql_int(id), sql_text(state), sql_text(note), sql_text(now), sql_real(seconds)), e);
    if (!st && sqlite3_changes(s->sql.db) != 1)
        st = err_set(e, LATHE_INTERNAL, "%s: campaign %lld is not running, so it cannot end; this is a bug in lathe",
                     s->sql.path, (long long)id);
    if (!st)
        st = store_run(s, STATEMENT_campaign_skip, doing,
                       SQL_VALUES(sql_int(id), sql_text("the campaign ended first"), sql_text(now)), e);
    return store_finish(s, st, doing, e);
}

status store_campaign_drop(struct store *s, int64_t id, bool *gone, struct err *e)
{
    static const char doing[] = "taking a campaign without a trial back";
    *gone = false;
    status st = store_begin(s, doing, e);
    if (st)
        return st;
    st = store_run(s, STATEMENT_campaign_drop, doing, SQL_VALUES(sql_int(id)), e);
    bool dropped = !st && sqlite3_changes(s->sql.db) == 1;
    st = store_finish(s, st, doing, e);
    *gone = !st && dropped;
    return st;
}
