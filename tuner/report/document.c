/* document.c: see document.h. */
#include "report/document.h"

#include "base/clock.h"

enum { REPORT_SAMPLES = 200000 };       /* raw samples of a campaign that a report holds */

static int64_t winner_of(const json_t *best)
{
    return json_integer_value(json_object_get(json_array_get(best, 0), "id"));
}

/* {trial, kernel, text or null, why_not}: the code of the campaign's best trial; null if nothing is best. */
static status add_winner(struct query *q, const struct document_request *r, json_t *campaign, struct err *e)
{
    struct query_filter f = {.campaign = json_integer_value(json_object_get(campaign, "id")), .top = 1};
    struct strbuf text = {0};
    struct err why = {0};
    json_t *best = NULL, *provenance = NULL;
    status s = query_best(q, &f, &best, e);
    if (s == LATHE_NOTHING || (!s && json_array_size(best) == 0)) {
        json_object_set_new(campaign, "winner", json_null());
        json_decref(best);
        return LATHE_OK;
    }
    if (!s)
        s = query_provenance(q, winner_of(best), &provenance, e);
    if (!s) {
        bool made = r->source && r->source(provenance, query_path(q), &text, &why) == LATHE_OK;
        json_object_set_new(campaign, "winner",
                            json_pack("{s:I, s:O, s:s?, s:s}", "trial", (json_int_t)winner_of(best), "kernel",
                                      json_object_get(json_array_get(best, 0), "kernel"), "text",
                                      made ? sb_str(&text) : NULL, "why_not", why.text));
    }
    sb_free(&text);
    json_decref(best);
    json_decref(provenance);
    return s;
}

static status add_ceilings(struct query *q, json_t *campaign, struct err *e)
{
    const json_t *ids = json_object_get(json_object_get(campaign, "columns"), "id");
    json_t *provenance = NULL;
    status s = json_array_size(ids) ? query_provenance(q, json_integer_value(json_array_get(ids, 0)), &provenance, e)
                                    : LATHE_OK;
    if (!s)
        document_ceilings(campaign, provenance);
    json_decref(provenance);
    return s;
}

static status add_campaign(struct query *q, const struct document_request *r, int64_t id, json_t *list, struct err *e)
{
    struct query_report wanted = {.campaign = id, .samples = REPORT_SAMPLES};
    json_t *campaign = NULL;
    status s = query_report(q, &wanted, &campaign, e);
    if (s)
        return s;
    json_object_set_new(campaign, "importance", document_importance(campaign));
    s = add_ceilings(q, campaign, e);
    if (!s)
        s = add_winner(q, r, campaign, e);
    json_array_append_new(list, campaign);
    return s;
}

status document_make(struct query *q, const struct document_request *r, json_t **out, struct err *e)
{
    char now[32];
    json_t *list = json_array();
    status s = LATHE_OK;
    *out = NULL;
    for (int i = 0; i < r->ncampaigns && !s; i++)
        s = add_campaign(q, r, r->campaigns[i], list, e);
    clock_iso8601(now);
    if (!s)
        *out = json_pack("{s:i, s:s, s:s, s:O}", "version", 1, "made", now, "tool_version", r->tool_version,
                         "campaigns", list);
    json_decref(list);
    return s;
}
