/* cmd_report.c: `lathe report`: campaigns as one HTML file. */
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/export/export_code.h"
#include "console/output.h"
#include "console/parse.h"
#include "cli/args/select.h"
#include "report/document.h"
#include "report/json_text.h"
#include "report/page.h"
#include <string.h>

struct report_args {
    struct text_list campaigns;
    const char *db, *output;
    bool json, has_output;
};

#define AT(member) .offset = offsetof(struct report_args, member)
static const struct option_row report_options[] = {
    {"CAMPAIGN", .kind = OPTION_REST, AT(campaigns),
     .help = "campaigns' numbers; without any, the newest: `lathe show` lists them"},
    {"output", .letter = 'o', .arg = "FILE", .kind = OPTION_TEXT, AT(output), .initial = "report.html",
     .help = "where to write the page; -: standard output", .given = offsetof(struct report_args, has_output)},
    OPTION_DB(struct report_args, db),
    {"json", .kind = OPTION_FLAG, AT(json), .help = "the page's data alone, to standard output"},
    {0},
};

/* The numbers given, each once; 0, the newest, if there are none. mem_free it. */
static status parse_campaigns(const struct text_list *given, int64_t **ids, int *n, struct err *e)
{
    *ids = mem_zalloc((size_t)given->count + 1, sizeof **ids);
    *n = 0;
    for (int i = 0; i < given->count; i++) {
        int64_t id;
        status s = parse_count("CAMPAIGN", given->items[i], 1, INT64_MAX, &id, e);
        if (s != LATHE_OK)
            return s;
        bool twice = false;
        for (int j = 0; j < *n; j++)
            twice |= (*ids)[j] == id;
        if (!twice)
            (*ids)[(*n)++] = id;
    }
    if (!given->count)
        *n = 1;
    return LATHE_OK;
}

static status write_page(const struct report_args *args, const json_t *document, struct err *e)
{
    struct strbuf page = {0};
    if (args->json) {
        json_text(&page, document);
        sb_add(&page, "\n");
        return out_buffer(&page, e);
    }
    page_make(document, NULL, &page);
    if (strcmp(args->output, "-") == 0)
        return out_buffer(&page, e);
    status s = file_write_atomic(args->output, sb_str(&page), page.len, e);
    if (s == LATHE_OK)
        note_line("wrote %s: %.1f MB; open it in a browser", args->output, (double)page.len / 1e6);
    sb_free(&page);
    return s;
}

static status report_run(const struct cli *cli, void *p, struct err *e)
{
    const struct report_args *args = p;
    struct document_request r = {.tool_version = cli->version, .source = export_code};
    json_t *document = NULL;
    struct query *q = NULL;
    int64_t *ids = NULL;
    if (args->json && args->has_output && strcmp(args->output, "-"))
        return err_set(e, LATHE_USAGE, "report: --json writes to standard output, and -o %.300s is for the page\n"
                       "leave one of them out", args->output);
    if (!args->json && !page_has_charts())
        return page_needs_charts(e);
    status s = parse_campaigns(&args->campaigns, &ids, &r.ncampaigns, e);
    r.campaigns = ids;
    if (s == LATHE_OK)
        s = query_open(args->db, &q, e);
    if (s == LATHE_OK)
        s = document_make(q, &r, &document, e);
    if (s == LATHE_OK)
        s = write_page(args, document, e);
    json_decref(document);
    query_close(q);
    mem_free(ids);
    return s;
}

const struct command command_report = {
    .name = "report",
    .summary = "writes campaigns as one HTML page: charts, trials, the winner's code",
    .details =
        "The page is one file that needs no network. docs/report.md describes what it shows, and how the importance "
        "of parameters is estimated.",
    .options = report_options,
    .args_size = sizeof(struct report_args),
    .run = report_run,
};
