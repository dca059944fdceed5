/* tune_kinds.c: see tune_kinds.h. Each campaign has a process of its own (kind_process.h); this one shows what they
 * say, hands an interruption on, and reports.
 *
 * A campaign here is what it is by itself: what the strategies are told of earlier campaigns is what there was before
 * the first of these began, since which of them is ahead is chance. They share the machine: the number of compilers is
 * one campaign's, by the number of devices of each, their memory likewise, and all keep off the cores that any
 * device's worker is left (docs/method.md). */
#include "cli/tune/tune_kinds.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/progress/progress_several.h"
#include "cli/progress/signals.h"
#include "cli/tune/kind_process.h"
#include "cli/tune/tune_report.h"
#include "console/output.h"
#include "db/query.h"
#include <poll.h>
#include <stdio.h>

enum { TURN_MS = 200 };
#define ASK_SECONDS 0.5

struct all;
struct kind {
    struct all *all;
    int at;
    struct kind_process process;
    status code;                /* of its part of the command, once it was concluded; and why */
    struct err err;
};

struct all {
    const struct tune_args *args;
    const struct device_kinds *kinds;
    struct progress_several shown;
    struct kind *list;
    struct err unwritten;       /* writing an event failed: no more are written */
};

/* --- what they say --- */

static void on_event(void *ctx, const char *line, size_t len)
{
    struct all *a = ((struct kind *)ctx)->all;
    if (!a->unwritten.code)
        (void)out_text(line, len, &a->unwritten);
}

static void on_line(void *ctx, enum progress_shade shade, const char *text)
{
    struct kind *k = ctx;
    several_line(&k->all->shown, k->at, shade, text);
}

static void on_counts(void *ctx, const char *text)
{
    struct kind *k = ctx;
    several_counts(&k->all->shown, k->at, text);
}

/* --- starting --- */

/* Campaigns from this id on are not told of. What cannot be read each campaign finds out for itself. */
static int64_t first_of_these(const char *db)
{
    struct query *q;
    struct err ignored = {0};
    int64_t newest = 0;
    if (query_open(db, &q, &ignored) != LATHE_OK)
        return 1;
    if (query_newest(q, &newest, &ignored) != LATHE_OK)
        newest = 0;
    query_close(q);
    return newest + 1;
}

static int sum(const int *counts, int n)
{
    int total = 0;
    for (int i = 0; i < n; i++) total += counts[i];
    return total;
}

/* Of `all`, by the number of devices; at least one. */
static int share(const struct device_kinds *k, int i, int all)
{
    int devices = sum(k->devices, k->count), before = sum(k->devices, i);
    int n = all * (before + k->devices[i]) / devices - all * before / devices;
    return n > 0 ? n : 1;
}

static void start(struct all *a, const struct campaign_request *request)
{
    const struct device_kinds *k = a->kinds;
    int64_t before = first_of_these(a->args->db);
    int wanted = request->compile_workers > 0 ? request->compile_workers : campaign_compilers(), compilers = 0;
    for (int i = 0; i < k->count; i++) compilers += share(k, i, wanted);
    for (int i = 0; i < k->count; i++) {
        struct kind *kind = &a->list[i];
        struct campaign_request r = *request;
        r.device = k->lists[i];
        r.kinds = NULL;
        r.told_before = before;
        r.compile_workers = share(k, i, wanted);
        r.compilers_beside = compilers - r.compile_workers;
        r.devices_beside = sum(k->here, k->count) - k->here[i];
        *kind = (struct kind){.all = a, .at = i};
        if (!a->args->quiet && !a->args->json)
            note_line("kind %d of %d: --device %s", i + 1, k->count, k->lists[i]);
        (void)kind_process_start(&kind->process, a->args, &r, &kind->process.err);
    }
}

/* --- ending --- */

static void conclude(struct kind *k)
{
    k->err = k->process.err;
    k->code = tune_conclude(k->all->args, true, k->process.code, &k->process.summary, &k->err);
}

static void ended(struct kind *k)
{
    several_counts(&k->all->shown, k->at, k->process.code > LATHE_NOTHING ? "failed" : "ended");
    if (k->all->args->json)     /* when it happens; reports for people wait until none is torn apart */
        conclude(k);
}

/* Until all have ended. */
static void attend(struct all *a)
{
    static const struct kind_shown shown = {on_event, on_line, on_counts, NULL};
    int n = a->kinds->count, left = 0;
    double asked = -ASK_SECONDS;
    for (int i = 0; i < n; i++) left += a->list[i].process.pid > 0;
    while (left) {
        struct pollfd wait[CAMPAIGN_MOST_DEVICES];
        for (int i = 0; i < n; i++)
            wait[i] = (struct pollfd){.fd = a->list[i].process.pid ? a->list[i].process.from : -1, .events = POLLIN};
        int ready = poll(wait, (nfds_t)n, TURN_MS);
        if (campaign_interrupted() && clock_seconds() - asked >= ASK_SECONDS) {
            asked = clock_seconds();
            for (int i = 0; i < n; i++) kind_process_ask(&a->list[i].process);
        }
        for (int i = 0; i < n && ready > 0; i++) {
            struct kind_shown own = shown;
            own.ctx = &a->list[i];
            if (!wait[i].revents || kind_process_read(&a->list[i].process, &own))
                continue;
            ended(&a->list[i]);
            left--;
        }
    }
}

/* How bad: what failed, what was interrupted, what found nothing. */
static int rank(status s)
{
    return s == LATHE_OK ? 0 : s == LATHE_NOTHING ? 1 : s == LATHE_INTERRUPTED ? 2 : 3;
}

/* The worst code, and every kind's own words. */
static status worst(const struct all *a, struct err *e)
{
    struct strbuf words = {0};
    int n = a->kinds->count, bad = 0;
    status s = LATHE_OK;
    for (int i = 0; i < n; i++) bad += a->list[i].code != LATHE_OK;
    for (int i = 0; i < n; i++) {
        const struct kind *k = &a->list[i];
        if (rank(k->code) > rank(s))
            s = k->code;
        if (k->code != LATHE_OK)
            sb_addf(&words, "%s--device %.100s: %.*s", words.len ? "\n" : "", a->kinds->lists[i],
                    (int)(sizeof e->text - 200) / bad, k->err.text);
    }
    if (s != LATHE_OK)
        err_set(e, s, "%s", sb_str(&words));
    sb_free(&words);
    return s;
}

status tune_kinds(const struct tune_args *args, const struct campaign_request *request,
                  const struct device_kinds *kinds, struct err *e)
{
    struct all a = {.args = args, .kinds = kinds};
    struct signals_before before;
    int64_t ids[CAMPAIGN_MOST_DEVICES] = {0};
    struct err own = {0};
    a.list = mem_zalloc((size_t)kinds->count, sizeof *a.list);
    several_init(&a.shown, stderr, args->quiet, (const char *const *)kinds->lists, kinds->count);
    if (args->json)
        out_give_up(campaign_interrupted);
    signals_catch(&before);
    start(&a, request);
    attend(&a);
    signals_restore(&before);
    several_end(&a.shown);
    for (int i = 0; i < kinds->count; i++) {
        ids[i] = a.list[i].process.summary.elsewhere ? 0 : a.list[i].process.summary.id;
        if (i && !args->json && !args->csv)
            (void)out_text("\n", 1, &own);
        if (!args->json || !ids[i])     /* of those the report waited; and of one without a number there is none */
            conclude(&a.list[i]);
    }
    struct tune_reported r = {args->db, args->top, args->json, args->csv, false, true};
    status told = tune_report_kinds(&r, kinds, ids, &own);
    status s = worst(&a, e);
    mem_free(a.list);
    if (s == LATHE_OK && a.unwritten.code)
        return *e = a.unwritten, e->code;
    return s ? s : told ? (*e = own, told) : LATHE_OK;
}
