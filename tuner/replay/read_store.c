/* read_store.c: a campaign of lathe's own database as a recording: the trials of one of its kernels, without baselines
 * and what never ran.
 *
 * Parameters and their values are the specification's, in its order; one that does not apply to a configuration has its
 * first value there, as in lathe's own spaces. run is the sum of the samples; what else the device did while it
 * measured, and loading, is framework. */
#include "replay/builder.h"

#include "base/mem.h"
#include "db/query.h"
#include "model/problem.h"
#include <string.h>

struct store_reader {
    struct query *q;
    const char *place;          /* for messages */
    long long campaign;
    int version;                /* of the schema: 3, or one before */
    bool imported;              /* the campaign is a recording that was imported */
    struct problem *problem;
    const struct kernel *kernel;
    struct builder *b;
    struct err *e;
};

/* The rows of a question about one campaign; %lld stands for its number. New reference. */
static status ask(struct store_reader *r, const char *sql, json_t **rows)
{
    char *text = mem_printf(sql, r->campaign);
    json_t *answer = NULL;
    status s = query_sql(r->q, text, &answer, r->e);
    mem_free(text);
    *rows = s ? NULL : json_incref(json_object_get(answer, "rows"));
    json_decref(answer);
    return s;
}

static const char *text_at(const json_t *row, size_t i)
{
    const char *s = json_string_value(json_array_get(row, i));
    return s ? s : "";
}

static status choose_campaign(struct store_reader *r)
{
    json_t *rows;
    status s = r->campaign
                   ? LATHE_OK
                   : ask(r,
                         "SELECT coalesce((SELECT max(c.id) FROM campaign c WHERE EXISTS "
                         "(SELECT 1 FROM trial t WHERE t.campaign_id = c.id)), max(id)) FROM campaign WHERE id > %lld",
                         &rows);
    if (s || r->campaign)
        return s;
    r->campaign = (long long)json_integer_value(json_array_get(json_array_get(rows, 0), 0));
    json_decref(rows);
    return r->campaign ? LATHE_OK : err_set(r->e, LATHE_NOTHING, "%s: the database has no campaign", r->place);
}

static status choose_kernel(struct store_reader *r, const char *wanted, const json_t *rows)
{
    struct strbuf names = {0};
    const char *found = NULL, *all[64];
    int n = 0;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        const char *name = text_at(row, 0);
        sb_addf(&names, "%s%s", i ? ", " : "", name);
        if (n < 64)
            all[n++] = name;
        if (wanted ? !strcmp(name, wanted) : json_array_size(rows) == 1)
            found = name;
    }
    const char *near = wanted ? nearest_word(wanted, all, n) : NULL;
    int k = found ? problem_find_kernel(r->problem, found) : -1;
    status s = LATHE_OK;
    if (!json_array_size(rows))
        s = err_set(r->e, LATHE_NOTHING, "%s: campaign %lld has no trials", r->place, r->campaign);
    else if (k < 0 && wanted)
        s = err_set(r->e, LATHE_USAGE, "%s: campaign %lld has no trials of a kernel '%.60s'%s%s%s; it has %s", r->place,
                    r->campaign, wanted, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "",
                    sb_str(&names));
    else if (k < 0)
        s = err_set(r->e, LATHE_USAGE,
                    "%s: campaign %lld is of the kernels %s, and a recording is of one: name it with "
                    "--kernel",
                    r->place, r->campaign, sb_str(&names));
    else
        r->kernel = &r->problem->kernels[k];
    sb_free(&names);
    return s;
}

/* What the file that was imported said of itself. */
static void read_imported(struct store_reader *r, const json_t *row)
{
    struct recording *out = builder_recording(r->b);
    json_t *request = json_loads(text_at(row, 5), 0, NULL);
    const json_t *imported = json_object_get(request, "imported");
    builder_set(&out->kernel, json_object_get(imported, "kernel"));
    builder_set(&out->device, json_object_get(imported, "device"));
    json_decref(request);
}

/* specification, size, device's name, target, kind, request, objective */
static status read_head(struct store_reader *r, const json_t *row)
{
    struct recording *out = builder_recording(r->b);
    json_t *spec = json_loads(text_at(row, 0), 0, NULL), *target = json_loads(text_at(row, 3), 0, NULL);
    status s = problem_from_json(spec, r->place, NULL, &r->problem, r->e);
    if (!s)
        s = target_from_json(target, &out->target, r->e);
    out->size = mem_strdup(text_at(row, 1));
    out->device = mem_strdup(text_at(row, 2));
    out->by_energy = !strcmp(text_at(row, 6), "energy");
    r->imported = !strcmp(text_at(row, 4), DEVICE_IMPORTED);
    if (r->imported) {
        out->target = (struct target){0};
        read_imported(r, row);
    }
    json_decref(spec);
    json_decref(target);
    return s;
}

static status read_params(struct store_reader *r)
{
    const struct kernel *k = r->kernel;
    status s = LATHE_OK;
    for (int i = 0; i < k->nparams && !s; i++) {
        s = builder_param(r->b, k->params[i].name, true, r->e);
        for (int v = 0; v < k->params[i].nvalues && !s; v++) {
            json_t *value = value_to_json(k->params[i].values[v]);
            config_choice ignored;
            s = builder_value(r->b, i, value, &ignored, r->e);
            json_decref(value);
        }
    }
    return s;
}

/* A trial's parameter: trial, name, type, value; a boolean is 0 or 1. */
static status read_choice(struct store_reader *r, const json_t *row, config_choice *choice)
{
    int p = builder_find_param(r->b, text_at(row, 1));
    json_t *value = json_array_get(row, 3), *truth = NULL;
    if (p < 0)
        return err_set(r->e, LATHE_IO, "%s: a trial has the parameter %.60s, which its specification lacks", r->place,
                       text_at(row, 1));
    if (!strcmp(text_at(row, 2), "boolean"))
        value = truth = json_boolean(json_integer_value(value));
    status s = builder_value(r->b, p, value, &choice[p], r->e);
    json_decref(truth);
    return s;
}

/* The rows of a trial among those of a page of trials, which are in one order: from *at on. */
static const json_t *next_of(const json_t *rows, size_t *at, const json_t *trial)
{
    const json_t *row = json_array_get(rows, *at);
    if (!row || json_integer_value(json_array_get(row, 0)) != json_integer_value(trial))
        return NULL;
    ++*at;
    return row;
}

struct page {
    json_t *trials, *values, *samples;  /* in the order of the trials */
    size_t value, sample;               /* how far they are read */
};

/* number, id, outcome, reason, time_ms, compile, load, verify, measure, strategy (seconds), energy, started */
static status read_trial(struct store_reader *r, struct page *page, const json_t *row)
{
    struct recorded *x;
    config_choice *choice;
    const json_t *id = json_array_get(row, 1), *v;
    status s = builder_entry(r->b, &x, &choice, r->e);
    while (!s && (v = next_of(page->values, &page->value, id)) != NULL)
        s = read_choice(r, v, choice);
    if (s)
        return s;
    x->compile = builder_cost(r->b, json_array_get(row, 5), 1);
    x->framework = builder_cost(r->b, json_array_get(row, 6), 1);
    x->validation = builder_cost(r->b, json_array_get(row, 7), 1);
    x->search = builder_cost(r->b, json_array_get(row, 9), 1);
    double measured = builder_cost(r->b, json_array_get(row, 8), 1);
    while ((v = next_of(page->samples, &page->sample, id)) != NULL) {
        x->run += builder_cost(r->b, json_array_get(v, 1), 1e-3);
        builder_sample(r->b, x, json_double(json_array_get(v, 1)));
    }
    if (r->imported)
        x->run = measured;
    x->framework += measured > x->run ? measured - x->run : 0;
    builder_energy(x, json_double(json_array_get(row, 10)));
    builder_moment(x, json_array_get(row, 11));
    int outcome = outcome_parse(text_at(row, 2));
    if (outcome < 0)
        return err_set(r->e, LATHE_IO, "%s: a trial ended as '%.60s', which this lathe does not know", r->place,
                       text_at(row, 2));
    if (outcome == OUTCOME_ok)
        builder_success(r->b, x, json_double(json_array_get(row, 4)));
    else
        builder_failure(r->b, x, (enum outcome)outcome, text_at(row, 3));
    return LATHE_OK;
}

/* What a page is asked for stands between two numbers of trials. */
#define OF_TRIALS                                                                                                      \
    "t.campaign_id = %%lld AND t.role = 'candidate' AND t.kernel = '%s'" /* an identifier */                           \
    " AND t.outcome NOT IN ('in_flight', 'skipped') AND t.number > %lld"

static status ask_page(struct store_reader *r, const char *sql, long long after, long long last, json_t **rows)
{
    char *text = mem_printf(sql, r->kernel->name, after, last);
    status s = ask(r, text, rows);
    mem_free(text);
    return s;
}

/* Numbers come as rows, since SQLite's JSON has 15 digits of them. */
static status open_page(struct store_reader *r, long long after, long long *last, struct page *page)
{
    const char *trials = r->version < 3 ? "SELECT t.number, t.id, t.outcome, t.reason, t.time_ms, t.compile_seconds, "
                                          "t.load_seconds, t.verify_seconds, t.measure_seconds, NULL, NULL, t.started "
                                          "FROM trial t WHERE " OF_TRIALS " ORDER BY t.number LIMIT %lld"
                                        : "SELECT t.number, t.id, t.outcome, t.reason, t.time_ms, t.compile_seconds, "
                                          "t.load_seconds, t.verify_seconds, t.measure_seconds, t.strategy_seconds, "
                                          "t.energy_mj, t.started "
                                          "FROM trial t WHERE " OF_TRIALS " ORDER BY t.number LIMIT %lld";
    *page = (struct page){0};
    status s = ask_page(r, trials, after, 1000, &page->trials);
    size_t n = json_array_size(page->trials);
    if (s || !n)
        return s;
    *last = (long long)json_integer_value(json_array_get(json_array_get(page->trials, n - 1), 0));
    s = ask_page(r,
                 "SELECT v.trial_id, v.name, v.type, v.value FROM trial t JOIN parameter_value v ON v.trial_id = t.id "
                 "WHERE " OF_TRIALS " AND t.number <= %lld ORDER BY t.number, v.position",
                 after, *last, &page->values);
    if (!s)
        s = ask_page(
            r,
            "SELECT m.trial_id, s.ms FROM trial t JOIN measurement m ON m.trial_id = t.id AND m.regime = 'trial' "
            "JOIN sample s ON s.measurement_id = m.id "
            "WHERE " OF_TRIALS " AND t.number <= %lld ORDER BY t.number, m.id, s.number",
            after, *last, &page->samples);
    return s;
}

static void close_page(struct page *page)
{
    json_decref(page->trials);
    json_decref(page->values);
    json_decref(page->samples);
}

/* Page by page: a campaign may have millions of samples. */
static status read_trials(struct store_reader *r)
{
    long long last = 0;
    size_t n = 1;
    status s = LATHE_OK;
    while (!s && n) {
        struct page page;
        size_t i;
        json_t *row;
        s = open_page(r, last, &last, &page);
        n = json_array_size(page.trials);
        json_array_foreach(page.trials, i, row)
            if (!s)
                s = read_trial(r, &page, row);
        close_page(&page);
    }
    return s;
}

static status read_version(struct store_reader *r)
{
    json_t *rows = NULL;
    status s = ask(r, "SELECT count(*) FROM pragma_table_info('trial') WHERE name = 'energy_mj' AND %lld > 0", &rows);
    r->version = json_integer_value(json_array_get(json_array_get(rows, 0), 0)) ? 3 : 2;
    json_decref(rows);
    return s;
}

static void name_kernel(struct store_reader *r)
{
    struct recording *out = builder_recording(r->b);
    if (!out->kernel)
        out->kernel = mem_strdup(r->kernel->name);
}

static status read_campaign(struct store_reader *r, const char *kernel)
{
    json_t *rows = NULL;
    status s = choose_campaign(r);
    if (!s)
        s = read_version(r);
    if (!s)
        s = ask(
            r,
            r->version < 3
                ? "SELECT p.specification, c.size, d.name, d.target, d.kind, NULL, 'time' FROM campaign c "
                  "JOIN problem p ON p.id = c.problem_id JOIN device d ON d.id = c.device_id WHERE c.id = %lld"
                : "SELECT p.specification, c.size, d.name, d.target, d.kind, c.request, c.objective FROM campaign c "
                  "JOIN problem p ON p.id = c.problem_id JOIN device d ON d.id = c.device_id WHERE c.id = %lld",
            &rows);
    if (!s && !json_array_size(rows))
        s = err_set(r->e, LATHE_NOTHING, "%s: there is no campaign %lld; `lathe show` lists them", r->place,
                    r->campaign);
    if (!s)
        s = read_head(r, json_array_get(rows, 0));
    json_decref(rows);
    rows = NULL;
    if (!s)
        s = ask(r, "SELECT DISTINCT kernel FROM trial WHERE campaign_id = %lld AND role = 'candidate' ORDER BY kernel",
                &rows);
    if (!s)
        s = choose_kernel(r, kernel, rows);
    json_decref(rows);
    if (!s)
        s = read_params(r);
    if (!s)
        name_kernel(r);
    return s ? s : read_trials(r);
}

status read_store(const char *path, const char *place, long long campaign, const char *kernel, struct recording **out,
                  struct err *e)
{
    struct store_reader r = {.place = place, .campaign = campaign, .e = e};
    status s = query_open(path, &r.q, e);
    if (s)
        return s;
    r.b = builder_new("lathe database");
    builder_path(r.b, place);
    s = read_campaign(&r, kernel);
    query_close(r.q);
    if (!s) {
        s = builder_end(r.b, out, e);
        r.b = NULL;
        if (s)
            err_prefix(e, "%s: campaign %lld", place, r.campaign);
    }
    builder_free(r.b);
    problem_free(r.problem);
    return s;
}
