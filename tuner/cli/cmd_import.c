/* cmd_import.c: `lathe import`: recordings of tuners as campaigns of the database. */
#include "campaign/replay/import_campaign.h"
#include "cli/cli.h"
#include "console/output.h"
#include "cli/output/recorded.h"
#include "cli/output/report.h"
#include "cli/args/select.h"
#include <math.h>
#include <string.h>

struct import_args {
    struct text_list files;
    const char *db;
    bool json, csv;
};

#define AT(member) .offset = offsetof(struct import_args, member)
static const struct option_row import_options[] = {
    {"FILE", .kind = OPTION_REST, AT(files),
     .help = "T4 results, a cache of Kernel Tuner, KTT's output or CSV, compressed or not"},
    OPTION_DB(struct import_args, db),
    {"json", .kind = OPTION_FLAG, AT(json), .help = "an array of objects, one a campaign"},
    {"csv", .kind = OPTION_FLAG, AT(csv), .help = "the same with a header line (RFC 4180)"},
    {0},
};

static json_t *outcomes_of(const struct recording *r)
{
    json_int_t counts[OUTCOME_COUNT] = {0};
    json_t *outcomes = json_object();
    for (uint64_t i = 0; i < r->nconfigs; i++)
        counts[r->configs[i].outcome]++;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (counts[i])
            json_object_set_new(outcomes, outcome_name((enum outcome)i), json_integer(counts[i]));
    return outcomes;
}

static json_t *describe(const struct recording *r, int64_t id)
{
    double best = NAN;
    for (uint64_t i = 0; i < r->nconfigs; i++)
        if (r->configs[i].outcome == OUTCOME_ok && !(best <= r->configs[i].value_ms))
            best = r->configs[i].value_ms;
    return json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:I, s:o, s:o}", "campaign", (json_int_t)id, "file", r->path,
                     "format", r->format, "kernel", r->kernel, "device", r->device, "size", r->size, "configurations",
                     (json_int_t)r->nconfigs, "outcomes", outcomes_of(r), "best_ms",
                     isnan(best) ? json_null() : json_real(best));
}

static status read_file(const char *file, struct recording **out, struct err *e)
{
    status s = recording_open(file, NULL, out, e);
    struct strbuf db = {0};
    query_db_option(&db, file);
    if (s == LATHE_OK && !strcmp((*out)->format, "lathe database"))
        s = err_set(e, LATHE_USAGE,
                    "%.300s is a database of lathe's, whose campaigns need no import: give it as --db FILE\n"
                    "`lathe export --campaign N --format t4%.600s` writes one as a file",
                    file, sb_str(&db));
    sb_free(&db);
    return s == LATHE_OK ? import_check(*out, e) : s;
}

/* What is refused is refused before the database is opened, or made. *only: the recording, where there is one file. */
static status check_all(const struct text_list *files, struct recording **only, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < files->count && s == LATHE_OK; i++) {
        struct recording *r = NULL;
        s = read_file(files->items[i], &r, e);
        if (s == LATHE_OK && files->count == 1)
            *only = r;
        else
            recording_free(r);
    }
    return s;
}

static status import_one(struct import *import, const struct recording *r, json_t *done, struct strbuf *notes,
                         struct err *e)
{
    int64_t id = 0;
    status s = import_add(import, r, &id, e);
    if (s == LATHE_OK)
        json_array_append_new(done, describe(r, id));
    recorded_add_notes(notes, r);   /* told when all is imported */
    return s;
}

/* All of them, or none. Of several files one at a time is in memory, since recordings may be large: they are read a
 * second time. */
static status import_all(const struct cli *cli, const struct import_args *args, const struct recording *only,
                         json_t *done, struct strbuf *notes, struct err *e)
{
    struct import *import = NULL;
    status s = import_begin(args->db, cli->version, cli->command_line, &import, e);
    for (int i = 0; i < args->files.count && s == LATHE_OK; i++) {
        struct recording *r = NULL;
        if (!only)
            s = read_file(args->files.items[i], &r, e);
        if (s == LATHE_OK)
            s = import_one(import, only ? only : r, done, notes, e);
        recording_free(r);
    }
    return import_end(import, s, e);
}

/* The same file again makes a campaign again: the user may want it, or have forgotten the first. */
static void tell_again(const json_t *done, const char *db)
{
    struct query *q;
    struct err ignored = {0};
    struct strbuf sql = {0};
    json_t *answer = NULL, *row, *c;
    size_t i;
    sb_add(&sql, "SELECT a.id, min(b.id), a.request ->> '$.imported.file' FROM campaign AS a JOIN campaign AS b ON "
                 "b.id < a.id AND b.request ->> '$.imported.hash' = a.request ->> '$.imported.hash' WHERE a.id IN (");
    json_array_foreach((json_t *)done, i, c)
        sb_addf(&sql, "%s%lld", i ? ", " : "", (long long)tree_int(c, "campaign"));
    sb_add(&sql, ") GROUP BY a.id ORDER BY a.id");
    if (query_open(db, &q, &ignored) == LATHE_OK) {
        if (query_sql(q, sb_str(&sql), &answer, &ignored) == LATHE_OK)
            json_array_foreach(json_object_get(answer, "rows"), i, row)
                note_line("%s: campaign %lld is of the same file: campaign %lld is that again",
                          json_string_value(json_array_get(row, 2)),
                          (long long)json_integer_value(json_array_get(row, 1)),
                          (long long)json_integer_value(json_array_get(row, 0)));
        query_close(q);
    }
    json_decref(answer);
    sb_free(&sql);
}

static void print_one(struct strbuf *b, const json_t *c)
{
    const char *name, *comma = "", *device = tree_text(c, "device"), *kernel = tree_text(c, "kernel");
    json_t *count;
    sb_addf(b, "campaign %lld: %s on %s%s%s, %lld configurations:", (long long)tree_int(c, "campaign"),
            *kernel ? kernel : "a kernel", *device ? device : "an unknown device",
            *tree_text(c, "size") ? ", size " : "", tree_text(c, "size"), (long long)tree_int(c, "configurations"));
    json_object_foreach(json_object_get(c, "outcomes"), name, count) {
        sb_addf(b, "%s %s %lld", comma, name, (long long)json_integer_value(count));
        comma = ",";
    }
    if (!isnan(tree_number(c, "best_ms")))
        sb_addf(b, "; best %.6g ms", tree_number(c, "best_ms"));
    sb_addf(b, " (%s, %s)\n", tree_text(c, "format"), tree_text(c, "file"));
}

static status print_all(const json_t *done, const struct import_args *args, struct err *e)
{
    struct strbuf b = {0};
    size_t i;
    json_t *c = NULL;
    if (args->json)
        return out_json(done, e);
    if (args->csv)
        return report_csv_out(done, e);
    json_array_foreach(done, i, c) print_one(&b, c);
    sb_addf(&b, "next: lathe show %lld", (long long)tree_int(c, "campaign"));
    query_db_option(&b, args->db);
    sb_add(&b, "\n");
    return out_report(&b, e);
}

static status import_run(const struct cli *cli, void *p, struct err *e)
{
    const struct import_args *args = p;
    struct recording *only = NULL;
    struct strbuf notes = {0};
    json_t *done = json_array();
    status s = LATHE_OK;
    if (!args->files.count)
        s = err_set(e, LATHE_USAGE, "import: FILE is missing: what is to be imported\n"
                                    "`lathe help import` says what it may be");
    if (s == LATHE_OK)
        s = report_one_form("import", args->json, args->csv, e);
    if (s == LATHE_OK && !select_stores(args->db))
        s = err_set(e, LATHE_USAGE, "import: --db none: what is imported is stored\n"
                                    "give a database's file (./none: one of that name), or leave --db out");
    if (s == LATHE_OK)
        s = check_all(&args->files, &only, e);
    if (s == LATHE_OK)
        s = import_all(cli, args, only, done, &notes, e);
    if (s == LATHE_OK && notes.len)
        note_line("%s", sb_str(&notes));
    if (s == LATHE_OK)
        tell_again(done, args->db);
    if (s == LATHE_OK)
        s = print_all(done, args, e);
    recording_free(only);
    sb_free(&notes);
    json_decref(done);
    return s;
}

const struct command command_import = {
    .name = "import",
    .summary = "takes results of other tuners into the database, as campaigns",
    .details =
        "Each FILE becomes a campaign whose device has the recorded one's name with \"(imported)\", so that its "
        "figures never stand among measured ones: `best` leaves it out unless --campaign or --device names it, and "
        "strategies are not told of it. `show`, `report`, `query`, `compare` and replays take it like any other; it "
        "cannot be exported as code or resumed, since no kernel's source came with it. All files are imported, or "
        "none.\n\n"
        "A CSV has a line of names, then a line a configuration: a column a parameter, and time_ms (or time_s, "
        "time_us, time_ns), outcome, reason, samples_ms, compile_seconds and others as docs/export.md lists them. "
        "`lathe export --campaign N --format t4`, kernel-tuner or csv writes what can be imported again.",
    .options = import_options,
    .args_size = sizeof(struct import_args),
    .run = import_run,
};
