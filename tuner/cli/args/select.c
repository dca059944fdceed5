/* select.c: the filter that the selection options describe, and what to say when nothing passes it. */
#include "cli/args/select.h"
#include "base/mem.h"
#include "cli/args/parse_inputs.h"
#include "cli/output/report.h"
#include "base/quote.h"
#include <string.h>
#include <strings.h>

status selection_filter(const struct selection *s, struct query_filter *out, struct err *e)
{
    enum inputs inputs;
    status known = s->inputs ? parse_inputs(s->inputs, &inputs, e) : LATHE_OK;
    if (known != LATHE_OK)
        return known;
    *out = (struct query_filter){
        .problem = s->problem,
        .device = s->device,
        .kernel = s->kernel,
        .dims = (const char *const *)s->sizes.items,
        .ndims = s->sizes.count,
        .tolerances = (const char *const *)s->tolerances.items,
        .ntolerances = s->tolerances.count,
        .inputs = s->inputs,
        .campaign = s->campaign,
        .measured = !s->campaign && !s->device,
    };
    return LATHE_OK;
}

static void add_option(struct strbuf *b, const char *name, const char *value)
{
    if (!value)
        return;
    sb_addf(b, " --%s ", name);
    quote_word(b, value);
}

/* Problem, size and device of every campaign, each combination once, newest first; numbered: each with its number. */
static void list_existing(struct strbuf *b, const json_t *campaigns, bool numbered, const char *db)
{
    enum { SHOWN = 6 };
    int shown = 0;
    for (size_t i = json_array_size(campaigns); i-- > 0;) {
        const json_t *c = json_array_get(campaigns, i);
        struct strbuf line = {0};
        if (numbered)
            sb_addf(&line, "%lld: ", (long long)tree_int(c, "id"));
        sb_addf(&line, "%s%s", tree_text(c, "problem"), json_object_size(json_object_get(c, "size")) ? " " : "");
        report_size(&line, json_object_get(c, "size"));
        sb_addf(&line, " on %s", tree_text(c, "device"));
        if (!b->s || !strstr(b->s, sb_str(&line))) {
            if (shown < SHOWN)
                sb_addf(b, "%s%s", shown ? "; " : "", sb_str(&line));
            else if (shown == SHOWN)
                sb_addf(b, "; and more (`lathe show%s` lists all)", db);
            shown++;
        }
        sb_free(&line);
    }
}

/* What may have been meant: the nearest of what the campaigns have. */
static void add_near(struct strbuf *b, const char *option, const char *word, const json_t *words)
{
    size_t n = json_array_size(words);
    const char **names = mem_zalloc(n + 1, sizeof *names);
    bool there = false;
    for (size_t i = 0; i < n; i++) {
        names[i] = json_string_value(json_array_get(words, i));
        there |= word && !strcasecmp(names[i], word);
    }
    const char *near = word && !there ? nearest_word(word, names, (int)n) : NULL;
    if (near)
        sb_addf(b, "\ndid you mean --%s ", option);
    if (near)
        quote_word(b, near);
    sb_add(b, near ? "?" : "");
    mem_free(names);
}

/* A key's text of each campaign; of `kernels` each word. */
static void suggest(struct strbuf *b, const struct selection *s, struct query *q, const json_t *campaigns)
{
    json_t *problems = json_array(), *devices = json_array(), *kernels = json_array(), *rows = NULL, *row;
    struct err ignored = {0};
    size_t i;
    json_array_foreach((json_t *)campaigns, i, row) {
        json_array_append(problems, json_object_get(row, "problem"));
        json_array_append(devices, json_object_get(row, "device"));
        json_array_append(devices, json_object_get(row, "device_kind"));
    }
    if (s->kernel && query_sql(q, "SELECT DISTINCT kernels FROM campaign", &rows, &ignored) == LATHE_OK)
        json_array_foreach(json_object_get(rows, "rows"), i, row) {
            const char *at = json_string_value(json_array_get(row, 0));
            for (size_t len; at && (len = strcspn(at, " ")) > 0; at += len + (at[len] == ' '))
                json_array_append_new(kernels, json_stringn(at, len));
        }
    add_near(b, "problem", s->problem, problems);
    add_near(b, "device", s->device, devices);
    add_near(b, "kernel", s->kernel, kernels);
    json_decref(problems);
    json_decref(devices);
    json_decref(kernels);
    json_decref(rows);
}

/* LATHE_OK: what there is was not all recorded elsewhere. */
static status only_recorded(const struct selection *s, struct query *q, const char *wanted, struct err *e)
{
    struct query_filter f;
    json_t *best = NULL;
    status st = selection_filter(s, &f, e);
    bool asked = f.measured;
    f.measured = false;
    f.top = 1;
    if (st == LATHE_OK && asked)
        st = query_best(q, &f, &best, e);
    struct strbuf db = {0};
    query_db_option(&db, s->db);
    if (st == LATHE_OK && json_array_size(best))
        st = err_set(e, LATHE_NOTHING,
                     "nothing%s%.500s in %.300s was measured here: what there is was imported or "
                     "replayed, not verified\n`lathe best --campaign %lld%.300s` lists it",
                     *wanted ? " for" : "", wanted, s->db, (long long)tree_int(json_array_get(best, 0), "campaign"),
                     sb_str(&db));
    sb_free(&db);
    json_decref(best);
    return st;
}

static bool has_campaign(const json_t *campaigns, int64_t id)
{
    size_t i;
    json_t *c;
    json_array_foreach((json_t *)campaigns, i, c)
        if (tree_int(c, "id") == id)
            return true;
    return false;
}

/* wanted: the options, existing: the campaigns, db: the option that a command needs. */
static status nothing(const struct selection *s, const json_t *campaigns, const char *wanted, const char *near,
                      const char *existing, const char *db, struct err *e)
{
    struct strbuf there = {0};
    if (*existing)
        sb_addf(&there, "campaigns there: %.1000s", existing);
    else
        sb_addf(&there, "it has no campaigns: run `lathe tune%.600s` first", db);
    status st = s->campaign && !has_campaign(campaigns, s->campaign)
                    ? err_set(e, LATHE_NOTHING, "there is no campaign %lld in %.300s\n%s", (long long)s->campaign,
                              s->db, sb_str(&there))
                    : err_set(e, LATHE_NOTHING, "no verified configuration%s%.500s in %.300s%.200s\n%s",
                              *wanted ? " for" : "", wanted, s->db, near, sb_str(&there));
    sb_free(&there);
    return st;
}

status selection_nothing(const struct selection *s, struct query *q, struct err *e)
{
    struct strbuf wanted = {0}, existing = {0}, near = {0}, db = {0};
    query_db_option(&db, s->db);
    add_option(&wanted, "problem", s->problem);
    for (int i = 0; i < s->sizes.count; i++)
        add_option(&wanted, "size", s->sizes.items[i]);
    for (int i = 0; i < s->tolerances.count; i++)
        add_option(&wanted, "tolerance", s->tolerances.items[i]);
    add_option(&wanted, "inputs", s->inputs);
    add_option(&wanted, "device", s->device);
    add_option(&wanted, "kernel", s->kernel);
    if (s->campaign)
        sb_addf(&wanted, " --campaign %lld", (long long)s->campaign);
    json_t *campaigns = NULL;
    status st = only_recorded(s, q, sb_str(&wanted), e);
    if (st == LATHE_OK)
        st = query_campaigns(q, &campaigns, e);
    if (st == LATHE_OK) {
        list_existing(&existing, campaigns, s->campaign != 0, sb_str(&db));
        suggest(&near, s, q, campaigns);
        st = nothing(s, campaigns, sb_str(&wanted), sb_str(&near), sb_str(&existing), sb_str(&db), e);
    }
    json_decref(campaigns);
    sb_free(&wanted);
    sb_free(&existing);
    sb_free(&near);
    sb_free(&db);
    return st;
}

bool select_stores(const char *db) { return strcmp(db, "none") != 0; }
