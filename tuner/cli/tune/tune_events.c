/* tune_events.c: see tune_events.h. A line is written whole, and when it happens: who reads them is up to date. */
#include "cli/tune/tune_events.h"
#include "console/output.h"

static status write_line(const json_t *j, struct err *e)
{
    struct strbuf b = {0};
    json_line(&b, j);
    sb_add(&b, "\n");
    return out_buffer(&b, e);
}

static void set(json_t *j, const char *key, json_t *value)
{
    json_object_set_new(j, key, value);
}

static json_t *id_or_null(int64_t id)
{
    return id ? json_integer(id) : json_null();
}

static json_t *line(const char *event, const struct campaign_event *ev)
{
    json_t *j = json_object();
    set(j, "event", json_string(event));
    set(j, "campaign", id_or_null(ev->campaign));
    set(j, "seconds", out_number(ev->progress->seconds));
    return j;
}

static void set_started(json_t *j, const struct tune_events *t, const struct campaign_event *ev)
{
    const struct campaign_request *r = t->request;
    const struct campaign_progress *p = ev->progress;
    json_t *size = json_object();
    for (int i = 0; i < r->problem->ndims; i++)
        set(size, r->problem->dims[i].name, json_integer(r->problem->dims[i].value));
    set(j, "problem", out_string(r->problem->name));
    set(j, "size", size);
    set(j, "device", out_string(p->device ? p->device : ""));
    set(j, "workers", json_integer(p->devices));
    set(j, "strategy", out_string(r->strategy ? r->strategy : STRATEGY_DEFAULT));
    set(j, "seed", r->seed <= INT64_MAX ? json_integer((json_int_t)r->seed) : json_null());
    set(j, "configurations", json_integer(p->space_size > INT64_MAX ? INT64_MAX : (json_int_t)p->space_size));
    set(j, "budget_trials", p->budget_trials ? json_integer(p->budget_trials) : json_null());
    set(j, "budget_seconds", p->budget_seconds > 0 ? json_real(p->budget_seconds) : json_null());
}

static void set_trial(json_t *j, const struct campaign_event *ev)
{
    set(j, "number", json_integer(ev->number));
    set(j, "trial", id_or_null(ev->trial));
    set(j, "kernel", out_string(ev->kernel ? ev->kernel->name : ""));
    set(j, "text", out_string(ev->config ? ev->config : ""));
}

static void set_result(json_t *j, const struct campaign_event *ev)
{
    const struct result *r = ev->result;
    bool timed = r->outcome == OUTCOME_ok || r->outcome == OUTCOME_inaccurate;
    set(j, "role", json_string(ev->kind == CAMPAIGN_BASELINE ? "baseline" : "candidate"));
    set(j, "outcome", json_string(outcome_name(r->outcome)));
    set(j, "reason", out_string(r->reason));
    set(j, "time_ms", timed ? out_number(r->time_ms) : json_null());
    set(j, "error", r->verification.done ? out_number(r->verification.frobenius) : json_null());
    set(j, "ran_on", ev->text ? out_string(ev->text) : json_null());
    set(j, "recorded", json_boolean(ev->recorded));
}

static json_t *make(const struct tune_events *t, const struct campaign_event *ev)
{
    json_t *j;
    switch (ev->kind) {
    case CAMPAIGN_NOTE:
        j = line("note", ev);
        set(j, "text", out_string(ev->text));
        return j;
    case CAMPAIGN_STARTED:
        j = line("campaign_started", ev);
        set_started(j, t, ev);
        return j;
    case CAMPAIGN_PROPOSED:
        j = line("trial_proposed", ev);
        set_trial(j, ev);
        return j;
    case CAMPAIGN_COMPILED:
        j = line("trial_compiled", ev);
        set_trial(j, ev);
        set(j, "compile_seconds", out_number(ev->result->stage.compile));
        set(j, "cached", json_boolean(ev->result->stage.compile_cached));
        return j;
    case CAMPAIGN_BASELINE:
    case CAMPAIGN_TRIAL:
        j = line("trial_ended", ev);
        set_trial(j, ev);
        set_result(j, ev);
        return j;
    case CAMPAIGN_INCUMBENT:
        j = line("incumbent", ev);
        set_trial(j, ev);
        set(j, "time_ms", out_number(ev->progress->best_ms));
        set(j, "baseline_ms", out_number(ev->progress->baseline_ms));
        return j;
    case CAMPAIGN_FINAL:
        j = line("final", ev);
        set(j, "trial", json_integer(ev->trial));
        set(j, "kernel", out_string(ev->kernel->name));
        set(j, "text", out_string(ev->config));
        set(j, "rank", ev->rank > 0 ? json_integer(ev->rank) : json_null());
        set(j, "cold_ms", out_number(ev->cold_ms));
        set(j, "sustained_ms", out_number(ev->sustained_ms));
        return j;
    case CAMPAIGN_TICK:
        break;
    }
    return NULL;
}

void tune_events_init(struct tune_events *t, const struct campaign_request *r, bool quiet, bool json,
                      const struct tune_sink *sink)
{
    *t = (struct tune_events){.request = r, .json = json, .sink = sink};
    progress_init(&t->progress, stderr, quiet);
    t->progress.sink = sink ? &sink->progress : NULL;
}

void tune_event(void *ctx, const struct campaign_event *ev)
{
    struct tune_events *t = ctx;
    if (t->sink && ev->campaign && !t->begun) {
        t->begun = true;
        t->sink->begun(t->sink->progress.ctx, ev->campaign);
    }
    progress_event(&t->progress, ev);
    json_t *j = t->json && !t->failed.code ? make(t, ev) : NULL;
    if (j)
        write_line(j, &t->failed);
    json_decref(j);
}

status tune_events_end(struct tune_events *t, struct err *e)
{
    progress_end(&t->progress);
    if (t->failed.code)
        *e = t->failed;
    return t->failed.code;
}

status tune_events_result(const json_t *result, struct err *e)
{
    json_t *j = json_pack("{s:s}", "event", "campaign_ended");
    json_object_update(j, (json_t *)result);
    status s = write_line(j, e);
    json_decref(j);
    return s;
}

status tune_events_kinds(const struct device_kinds *kinds, const int64_t *ids, struct err *e)
{
    json_t *list = json_array();
    for (int i = 0; i < kinds->count; i++)
        json_array_append_new(list, json_pack("{s:o, s:o}", "device", out_string(kinds->lists[i]), "campaign",
                                              id_or_null(ids[i])));
    json_t *j = json_pack("{s:s, s:o}", "event", "kinds", "kinds", list);
    status s = write_line(j, e);
    json_decref(j);
    return s;
}

status tune_events_failure(int64_t campaign, const struct err *why, struct err *e)
{
    json_t *j = json_object();
    set(j, "event", json_string("campaign_failed"));
    set(j, "campaign", id_or_null(campaign));
    set(j, "status", json_string(status_name(why->code)));
    set(j, "error", out_string(why->text));
    status s = write_line(j, e);
    json_decref(j);
    return s;
}
