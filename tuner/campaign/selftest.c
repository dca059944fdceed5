/* selftest.c: see selftest.h. The specification and its source are embedded; the campaign's database is in a folder
 * that is removed. */
#include "campaign/selftest.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/temporary.h"
#include "campaign/campaign.h"
#include "search/spec/spec.h"
#include <string.h>

static const char SPECIFICATION[] = {
#include "tuner/campaign/selftest.lua.inc"
    , 0};
static const char SOURCE[] = {
#include "tuner/campaign/selftest.cu.inc"
    , 0};
#define READ_SECONDS 10.0

static status read_problem(struct problem **out, struct err *e)
{
    json_t *j;
    status s = spec_read_text(SPECIFICATION, strlen(SPECIFICATION), "selftest.lua", READ_SECONDS, &j, e);
    if (s) return s;
    json_object_set_new(json_object_get(j, "reference"), "source_text", json_string(SOURCE));
    json_object_set_new(json_array_get(json_object_get(j, "kernels"), 0), "source_text", json_string(SOURCE));
    s = problem_from_json(j, "selftest.lua", NULL, out, e);
    json_decref(j);
    return s;
}

static void on_event(void *ctx, const struct campaign_event *ev)
{
    struct selftest *t = ctx;
    static const char prefix[] = "OUTCOME=";
    if (ev->kind == CAMPAIGN_STARTED) t->meant = (int)ev->progress->space_size;
    if (ev->kind != CAMPAIGN_TRIAL || strncmp(ev->config, prefix, sizeof prefix - 1)) return;
    int meant = outcome_parse(ev->config + sizeof prefix - 1);
    if (meant >= 0) t->on_trial(t->ctx, (enum outcome)meant, ev->result);
}

status selftest_run(struct selftest *t, struct err *e)
{
    struct temporary folder;
    struct problem *problem = NULL;
    struct campaign_summary summary;
    status s = temporary_make(NULL, "selftest", &folder, e);
    if (s) return s;
    char *db = path_join(folder.path, "selftest.db");
    s = read_problem(&problem, e);
    struct campaign_request r = {.problem = problem,
                                 .device = t->device,
                                 .strategy = "exhaustive",
                                 .trials = 1000,
                                 .seed = 1,
                                 .db = db,
                                 .time_limit = t->time_limit,
                                 .drift_seconds = INT32_MAX,
                                 .self = t->self,
                                 .version = t->version,
                                 .command_line = "",
                                 .on_event = on_event,
                                 .ctx = t};
    if (!s) s = campaign_run(&r, &summary, e);
    if (s == LATHE_NOTHING) s = LATHE_OK;       /* not one was right: on_trial was told */
    problem_free(problem);
    temporary_remove(&folder);
    mem_free(db);
    return s;
}
