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
    status s = r->campaign ? LATHE_OK : ask(r, "SELECT max(id) FROM campaign WHERE id > %lld", &rows);
    if (s || r->campaign)
        return s;
    r->campaign = (long long)json_integer_value(json_array_get(json_array_get(rows, 0), 0));
    json_decref(rows);
    return r->campaign ? LATHE_OK : err_set(r->e, LATHE_NOTHING, "%s: the database has no campaign", r->place);
}

static status choose_kernel(struct store_reader *r, const char *wanted, const json_t *rows)
{
    struct strbuf names = {0};
    const char *found = NULL;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        const char *name = text_at(row, 0);
        sb_addf(&names, "%s%s", i ? ", " : "", name);
        if (wanted ? !strcmp(name, wanted) : json_array_size(rows) == 1)
            found = name;
    }
    int k = found ? problem_find_kernel(r->problem, found) : -1;
    status s = LATHE_OK;
    if (!json_array_size(rows))
        s = err_set(r->e, LATHE_NOTHING, "%s: campaign %lld has no trials", r->place, r->campaign);
    else if (k < 0 && wanted)
        s = err_set(r->e, LATHE_USAGE, "%s: campaign %lld has no trials of a kernel '%.60s'; it has %s", r->place,
                    r->campaign, wanted, sb_str(&names));
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

/* specification, size, device's name, target */
static status read_head(struct store_reader *r, const json_t *row)
{
    struct recording *out = builder_recording(r->b);
    json_t *spec = json_loads(text_at(row, 0), 0, NULL), *target = json_loads(text_at(row, 3), 0, NULL);
    status s = problem_from_json(spec, r->place, NULL, &r->problem, r->e);
    if (!s)
        s = target_from_json(target, &out->target, r->e);
    out->size = mem_strdup(text_at(row, 1));
    out->device = mem_strdup(text_at(row, 2));
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

/* values: [[name, type, value], ...]; a boolean is 0 or 1. */
static status read_choices(struct store_reader *r, const json_t *values, config_choice *choice)
{
    size_t i;
    json_t *v;
    json_array_foreach(values, i, v) {
        int p = builder_find_param(r->b, text_at(v, 0));
        json_t *value = json_array_get(v, 2), *truth = NULL;
        if (p < 0)
            return err_set(r->e, LATHE_IO, "%s: a trial has the parameter %.60s, which its specification lacks",
                           r->place, text_at(v, 0));
        if (!strcmp(text_at(v, 1), "boolean"))
            value = truth = json_boolean(json_integer_value(value));
        status s = builder_value(r->b, p, value, &choice[p], r->e);
        json_decref(truth);
        if (s)
            return s;
    }
    return LATHE_OK;
}

/* outcome, reason, time_ms, compile, load, verify, measure (seconds), values, samples, number */
static status read_trial(struct store_reader *r, const json_t *row)
{
    struct recorded *x;
    config_choice *choice;
    status s = builder_entry(r->b, &x, &choice, r->e);
    if (s)
        return s;
    json_t *values = json_loads(text_at(row, 7), 0, NULL), *samples = json_loads(text_at(row, 8), 0, NULL), *ms;
    size_t i;
    s = read_choices(r, values, choice);
    x->compile = builder_cost(r->b, json_array_get(row, 3), 1);
    x->framework = builder_cost(r->b, json_array_get(row, 4), 1);
    x->validation = builder_cost(r->b, json_array_get(row, 5), 1);
    double measured = builder_cost(r->b, json_array_get(row, 6), 1);
    json_array_foreach(samples, i, ms) {
        x->run += builder_cost(r->b, ms, 1e-3);
        builder_sample(r->b, x, json_double(ms));
    }
    x->framework += measured > x->run ? measured - x->run : 0;
    int outcome = outcome_parse(text_at(row, 0));
    if (outcome == OUTCOME_ok)
        builder_success(r->b, x, json_double(json_array_get(row, 2)));
    else if (outcome >= 0)
        builder_failure(r->b, x, (enum outcome)outcome, text_at(row, 1));
    else if (!s)
        s = err_set(r->e, LATHE_IO, "%s: a trial ended as '%.60s', which this lathe does not know", r->place,
                    text_at(row, 0));
    json_decref(values);
    json_decref(samples);
    return s;
}

/* Page by page: a campaign may have millions of samples. */
static status read_trials(struct store_reader *r)
{
    static const char sql[] =
        "SELECT t.outcome, t.reason, t.time_ms, t.compile_seconds, t.load_seconds, t.verify_seconds, t.measure_seconds,"
        " (SELECT json_group_array(json_array(v.name, v.type, v.value)) FROM parameter_value v WHERE v.trial_id = "
        "t.id),"
        " (SELECT json_group_array(s.ms) FROM measurement m JOIN sample s ON s.measurement_id = m.id"
        " WHERE m.trial_id = t.id AND m.regime = 'trial'), t.number"
        " FROM trial t WHERE t.campaign_id = %%lld AND t.role = 'candidate' AND t.kernel = '%s'" /* an identifier */
        " AND t.outcome NOT IN ('in_flight', 'skipped') AND t.number > %lld ORDER BY t.number LIMIT 1000";
    long long last = 0;
    size_t n = 1;
    status s = LATHE_OK;
    while (!s && n) {
        json_t *rows = NULL, *row;
        size_t i;
        char *text = mem_printf(sql, r->kernel->name, last);
        s = ask(r, text, &rows);
        mem_free(text);
        n = json_array_size(rows);
        json_array_foreach(rows, i, row) {
            if (!s)
                s = read_trial(r, row);
            last = (long long)json_integer_value(json_array_get(row, 9));
        }
        json_decref(rows);
    }
    return s;
}

static status read_campaign(struct store_reader *r, const char *kernel)
{
    json_t *rows = NULL;
    status s = choose_campaign(r);
    if (!s)
        s = ask(
            r,
            "SELECT p.specification, c.size, d.name, d.target FROM campaign c JOIN problem p ON p.id = c.problem_id "
            "JOIN device d ON d.id = c.device_id WHERE c.id = %lld",
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
        builder_recording(r->b)->kernel = mem_strdup(r->kernel->name);
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
    builder_recording(r.b)->path = mem_strdup(place);
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
