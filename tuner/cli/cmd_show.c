/* cmd_show.c: `lathe show`: the campaigns, or one of them with its trials. */
#include "cli/cli.h"
#include "console/output.h"
#include "console/parse.h"
#include "cli/output/report.h"
#include "cli/args/select.h"
#include "console/spark.h"
#include <limits.h>

struct show_args {
    const char *campaign, *db;
    bool all, json, csv;
};

enum { TERMINAL_TRIALS = 30, OTHER_TRIALS = 10000, BEST = 5 };

#define AT(member) .offset = offsetof(struct show_args, member)
static const struct option_row show_options[] = {
    {"CAMPAIGN", .kind = OPTION_WANTED, AT(campaign),
     .help = "a campaign's number; without it, all campaigns are listed"},
    {"all", .kind = OPTION_FLAG, AT(all),
     .help = "every trial, where the last 30 are shown on a terminal, else the last 10000"},
    OPTION_DB(struct show_args, db),
    {"json", .kind = OPTION_FLAG, AT(json),
     .help = "an array of campaigns, or the campaign with all its trials in the order proposed"},
    {"csv", .kind = OPTION_FLAG, AT(csv),
     .help = "the campaigns, or the campaign's trials, with a header line (RFC 4180)"},
    {0},
};

static void print_campaign(struct strbuf *b, const json_t *c, const json_t *best)
{
    int columns = is_terminal(stdout) ? terminal_columns(stdout) : 0;
    report_campaign(b, c);
    report_history(b, c, columns, columns && spark_utf8());
    if (json_array_size(best) + json_array_size(json_object_get(c, "baselines")) > 0) {
        sb_add(b, "\n");
        report_best(b, best, json_object_get(c, "baselines"), NULL);
    }
    report_devices(b, c, best);
    struct strbuf pace = {0};
    report_drift(&pace, c);
    report_pace(&pace, c);
    if (pace.len)
        sb_addf(b, "\n%s", sb_str(&pace));
    sb_free(&pace);
    if (json_array_size(json_object_get(c, "reasons")) > 0) {
        sb_add(b, "\n");
        report_reasons(b, json_object_get(c, "reasons"), columns);
    }
    if (json_array_size(json_object_get(c, "last")) > 0) {
        sb_add(b, "\n");
        report_trials(b, json_object_get(c, "last"), tree_int(c, "trials"), columns);
    }
}

/* Of --csv, where a campaign has no trial: what rows of query_campaign have. */
static const char TRIAL_COLUMNS[] =
    "id,campaign,number,kernel,configuration,outcome,reason,role,eligible,time_ms,cold_ms,sustained_ms,"
    "rank,error,max_abs,mismatches,speedup,tflops,gbps,registers,local_bytes,shared_bytes,occupancy,"
    "seconds_compile,seconds_load,seconds_verify,seconds_measure,seconds_strategy,seconds_store,"
    "seconds_device,problem,operator,size,device,device_kind,tolerance,inputs,started,energy_mj,"
    "objective,ran_on";

static status show_one(struct query *q, int64_t id, const struct show_args *args, struct err *e)
{
    json_t *campaign = NULL, *best = NULL;
    int shown = args->all ? INT_MAX : is_terminal(stdout) ? TERMINAL_TRIALS : OTHER_TRIALS;
    bool whole = args->json || args->csv;
    status s = whole ? query_campaign(q, id, &campaign, e) : query_campaign_last(q, id, shown, &campaign, e);
    if (s == LATHE_NOTHING) {
        struct strbuf db = {0};
        query_db_option(&db, args->db);
        err_set(e, LATHE_NOTHING, "there is no campaign %lld in %.300s\n`lathe show%.300s` lists those that there are",
                (long long)id, args->db, sb_str(&db));
        sb_free(&db);
        return LATHE_NOTHING;
    }
    if (s != LATHE_OK)
        return s;
    if (args->json) {
        s = out_json(campaign, e);
    } else if (args->csv) {
        s = report_csv_rows_out(json_object_get(campaign, "trials"), TRIAL_COLUMNS, e);
    } else {
        struct query_filter f = {.campaign = id, .top = BEST};
        s = query_best(q, &f, &best, e);
        if (s == LATHE_OK || s == LATHE_NOTHING) {
            struct strbuf b = {0};
            print_campaign(&b, campaign, best);
            s = out_report(&b, e);
        }
    }
    json_decref(campaign);
    json_decref(best);
    return s;
}

static status show_all(struct query *q, const struct show_args *args, struct err *e)
{
    json_t *campaigns = NULL;
    status s = query_campaigns(q, &campaigns, e);
    struct strbuf db = {0};
    query_db_option(&db, args->db);
    if (s == LATHE_OK && json_array_size(campaigns) == 0)
        s = err_set(e, LATHE_NOTHING, "%.300s has no campaigns\nrun `lathe tune%.600s` first", args->db, sb_str(&db));
    sb_free(&db);
    if (s == LATHE_OK && args->json) {
        s = out_json(campaigns, e);
    } else if (s == LATHE_OK && args->csv) {
        s = report_csv_out(campaigns, e);
    } else if (s == LATHE_OK) {
        struct strbuf b = {0};
        report_campaigns(&b, campaigns);
        s = out_report(&b, e);
    }
    json_decref(campaigns);
    return s;
}

static status show_run(const struct cli *cli, void *p, struct err *e)
{
    const struct show_args *args = p;
    int64_t id = 0;
    status s = args->campaign ? parse_count("CAMPAIGN", args->campaign, 1, INT64_MAX, &id, e) : LATHE_OK;
    struct query *q;
    if (s == LATHE_OK)
        s = report_one_form("show", args->json, args->csv, e);
    if (s != LATHE_OK || (s = query_open(args->db, &q, e)) != LATHE_OK)
        return s;
    s = args->campaign ? show_one(q, id, args, e) : show_all(q, args, e);
    query_close(q);
    return s;
}

const struct command command_show = {
    .name = "show",
    .summary = "lists the campaigns, or shows one with its trials and why they failed",
    .options = show_options,
    .args_size = sizeof(struct show_args),
    .run = show_run,
};
