/* cmd_serve.c: `lathe serve`: reports of a database over HTTP, renewed while campaigns run. */
#include "base/hash.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/export/export_code.h"
#include "cli/output/report.h"
#include "cli/args/select.h"
#include "cli/progress/signals.h"
#include "console/output.h"
#include "report/document.h"
#include "report/json_text.h"
#include "report/pack.h"
#include "report/page.h"
#include "report/serve.h"
#include <stdlib.h>
#include <string.h>

struct serve_args {
    const char *db, *listen;
    int64_t port;
    bool others;
};

#define AT(member) .offset = offsetof(struct serve_args, member)
static const struct option_row serve_options[] = {
    OPTION_DB(struct serve_args, db),
    {"port", .arg = "N", .kind = OPTION_COUNT, AT(port), .initial = "8042", .max = 65535,
     .help = "0: any that is free"},
    {"listen", .arg = "ADDRESS", .kind = OPTION_TEXT, AT(listen), .initial = "127.0.0.1",
     .help = "an IPv4 address of this machine; others than 127.x.x.x need --allow-others"},
    {"allow-others", .kind = OPTION_FLAG, AT(others),
     .help = "who reaches the address may read the whole database: there is no password"},
    {0},
};

struct site {
    const struct cli *cli;
    const struct serve_args *args;
};

/* "/campaign/3" or "/campaign/3.json"; "/" is the newest campaign, 0. */
static bool parse_path(const char *path, int64_t *campaign, bool *data)
{
    static const char prefix[] = "/campaign/";
    char *end;
    *campaign = 0;
    *data = false;
    if (strcmp(path, "/") == 0)
        return true;
    if (strncmp(path, prefix, sizeof prefix - 1) != 0 || path[sizeof prefix - 1] < '1' ||
        path[sizeof prefix - 1] > '9' || strlen(path) > sizeof prefix + 20)
        return false;
    *campaign = strtoll(path + sizeof prefix - 1, &end, 10);
    *data = strcmp(end, ".json") == 0;
    return *data || !*end;
}

/* The campaign's entry in the list; id 0: the newest. NULL: there is none. */
static const json_t *entry_of(const json_t *list, int64_t id)
{
    for (size_t i = json_array_size(list); i-- > 0;)
        if (!id || tree_int(json_array_get(list, i), "id") == id)
            return json_array_get(list, i);
    return NULL;
}

/* What changes whenever a campaign's page would: its entry (its trials, its best, its state), which costs little to
 * ask. */
static void tag_of(const json_t *list, const json_t *entry, char *out)
{
    struct strbuf text = {0};
    char hash[HASH_HEX];
    json_text(&text, entry);
    sb_addf(&text, " of %zu", json_array_size(list));
    hash_hex(sb_str(&text), text.len, hash);
    strcpy(out, hash);
    sb_free(&text);
}

static status fill(struct site *site, struct query *q, const json_t *list, const json_t *entry, bool data,
                   struct serve_answer *out, struct err *e)
{
    int64_t id = tree_int(entry, "id");
    struct document_request r = {
        .campaigns = &id, .ncampaigns = 1, .tool_version = site->cli->version, .source = export_code};
    json_t *document = NULL;
    status s = document_make(q, &r, &document, e);
    if (s != LATHE_OK)
        return s;
    json_object_set(document, "list", (json_t *)list);
    json_object_set_new(document, "tag", json_string(out->tag));
    if (data) {
        json_t *packed = pack_columns(document);
        out->type = "application/json";
        json_text(&out->body, packed);
        json_decref(packed);
    } else {
        char *live = mem_printf("/campaign/%lld.json", (long long)id);
        out->type = "text/html; charset=utf-8";
        page_make(document, live, &out->body);
        mem_free(live);
    }
    json_decref(document);
    return LATHE_OK;
}

static void answer(void *ctx, const char *path, const char *known, struct serve_answer *out)
{
    struct site *site = ctx;
    struct err e = {0};
    struct query *q = NULL;
    json_t *list = NULL;
    int64_t id;
    bool data;
    status s = LATHE_OK;
    if (!parse_path(path, &id, &data)) {
        s = err_set(&e, LATHE_NOTHING,
                    "there is nothing at this address: / is the newest campaign, /campaign/N another");
    } else if ((s = query_open(site->args->db, &q, &e)) == LATHE_OK &&
               (s = query_campaigns(q, &list, &e)) == LATHE_OK) {
        const json_t *entry = entry_of(list, id);
        if (!entry) {
            s = err_set(&e, LATHE_NOTHING, "there is no such campaign in %.300s yet", site->args->db);
        } else {
            tag_of(list, entry, out->tag);
            if (data && strcmp(known, out->tag) == 0)
                out->code = 304;
            else
                s = fill(site, q, list, entry, data, out, &e);
        }
    }
    if (s != LATHE_OK) {
        out->code = s == LATHE_NOTHING ? 404 : 500;
        out->type = "text/plain; charset=utf-8";
        out->tag[0] = 0;
        sb_addf(&out->body, "%s\n", e.text);
    }
    json_decref(list);
    query_close(q);
}

static void started(void *ctx, int port)
{
    const struct site *site = ctx;
    note_line("serving %s at http://%s:%d/ ; Ctrl-C ends it", site->args->db, site->args->listen, port);
}

static bool stop(void) { return signals_count() > 0; }

static status serve_command(const struct cli *cli, void *p, struct err *e)
{
    const struct serve_args *args = p;
    struct site site = {cli, args};
    struct query *q = NULL;
    struct serve_request r = {.address = args->listen,
                              .port = (int)args->port,
                              .others = args->others,
                              .answer = answer,
                              .ctx = &site,
                              .started = started,
                              .stop = stop};
    if (!page_has_charts())
        return page_needs_charts(e);
    status s = query_open(args->db, &q, e);
    query_close(q);
    if (s != LATHE_OK)
        return s;
    struct signals_before before;
    signals_catch(&before);
    s = serve_run(&r, e);
    signals_restore(&before);
    return s;
}

const struct command command_serve = {
    .name = "serve",
    .summary = "shows reports in the browser, renewed while a campaign runs",
    .details = "The pages of `lathe report` from the database as it is now. It only reads, listens on this machine "
               "alone, and answers to "
               "no other name than localhost's.",
    .options = serve_options,
    .args_size = sizeof(struct serve_args),
    .run = serve_command,
};
