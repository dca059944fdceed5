/* devices.c: the campaign's pool of devices: one device worker each, all of one kind.
 *
 * "cuda:0,cuda:1" or "cuda:all" are several GPUs; "host,host" is two workers on this machine's processor; "mpi:1" is
 * the device of another process of an MPI job, whose worker is spoken to through a relay. All prepare the problem at
 * the same time. One that is taken out takes no part any more; the campaign ends with the last.
 * Invariant: `gone` changes between two turns of the loop only (device_take_out); what a callback learns is in
 * `lost`. */
#include "base/clock.h"
#include "base/mem.h"
#include "campaign/internal.h"
#include "campaign/ranks.h"
#include "device/dev.h"
#include <string.h>

/* --- the list --- */

static status add_name(struct campaign *c, const char *name, struct err *e)
{
    const struct dev_ops *ops;
    int number, same = 0;
    bool remote = ranks_names(name);
    char rank_name[sizeof c->devices->name];
    status s = remote ? ranks_find(name, &number, rank_name, sizeof rank_name, e) : dev_find(name, &ops, &number, e);
    if (s) return s;
    for (int i = 0; i < c->ndevices; i++) same += !strcmp(c->devices[i].handle, name);
    if (same && strcmp(name, "host"))
        return err_set(e, LATHE_USAGE,
                       "--device: %s is given twice; two workers on one device would disturb each other's times", name);
    if (c->ndevices == CAMPAIGN_MOST_DEVICES)
        return err_set(e, LATHE_USAGE, "--device: more than %d devices", CAMPAIGN_MOST_DEVICES);
    struct pool_device *d = &c->devices[c->ndevices];
    *d = (struct pool_device){.campaign = c, .position = c->ndevices, .remote = remote};
    c->ndevices++;
    snprintf(d->handle, sizeof d->handle, "%s", name);
    if (same)
        snprintf(d->name, sizeof d->name, "%s (%d)", name, same + 1);
    else
        snprintf(d->name, sizeof d->name, "%s", remote ? rank_name : name);
    return LATHE_OK;
}

static status add_all_gpus(struct campaign *c, struct err *e)
{
    int n = dev_gpus();
    status s =
        n ? LATHE_OK : err_set(e, LATHE_DEVICE, "cuda:all: there is no GPU here; `lathe doctor` says what is missing");
    for (int i = 0; i < n && !s; i++) {
        char name[24];
        snprintf(name, sizeof name, "cuda:%d", i);
        s = add_name(c, name, e);
    }
    return s;
}

/* What no device's name is, told before anything is looked for. */
static status check_word(const char *word, const char *list, struct err *e)
{
    static const char expected[] = "expected cuda:N, cuda:all, host or mpi:N, or several of them with a comma between "
                                   "(host,host: two workers), mpi:all, or replay:FILE, a recording; `lathe doctor` "
                                   "lists what is here";
    static const char *const words[] = {"host", "cuda:0", "cuda:1", "cuda:all", "mpi:1", "mpi:all", "replay:"};
    if (!*word)
        return err_set(e, LATHE_USAGE, "--device: '%.200s' lacks a name before or after a comma\n%s", list, expected);
    if (!strncmp(word, "host:", 5))
        return err_set(e, LATHE_USAGE,
                       "--device: no device '%.100s': this machine's processor is host, without a number\n%s", word,
                       expected);
    if (strcmp(word, "host") && strncmp(word, "cuda:", 5) && strncmp(word, "mpi:", 4)) {
        const char *near = nearest_word(word, words, sizeof words / sizeof *words);
        return err_set(e, LATHE_USAGE, "--device: no device '%.100s'%s%s%s\n%s", word, near ? " (did you mean '" : "",
                       near ? near : "", near ? "'?)" : "", expected);
    }
    return LATHE_OK;
}

static status add_all_ranks(struct campaign *c, struct err *e)
{
    int n = ranks_count();
    status s = LATHE_OK;
    for (int i = 1; i <= (n ? n : 1) && !s; i++) {      /* where there is none, it says what to do */
        char name[24];
        snprintf(name, sizeof name, "mpi:%d", i);
        s = add_name(c, name, e);
    }
    return s;
}

static status add_word(struct campaign *c, const char *word, struct err *e)
{
    return !strcmp(word, "cuda:all")  ? add_all_gpus(c, e)
           : !strcmp(word, "mpi:all") ? add_all_ranks(c, e)
                                      : add_name(c, word, e);
}

static status read_list(struct campaign *c, const char *text, struct err *e)
{
    char *list = mem_strdup(text), *rest = list, *word;
    status s = LATHE_OK;
    c->devices = mem_zalloc(CAMPAIGN_MOST_DEVICES, sizeof *c->devices);
    while (!s && (word = strsep(&rest, ","))) {
        s = check_word(word, text, e);
        if (!s) s = add_word(c, word, e);
    }
    mem_free(list);
    return s;
}

/* --- alike --- */

/* In what b is another kind of device than a; NULL: in nothing that makes a time. */
static const char *unlike(const struct target *a, const struct target *b)
{
    if (strcmp(a->name, b->name)) return "name";
    if (strcmp(a->arch, b->arch)) return "architecture";
    if (strcmp(a->driver, b->driver)) return "driver";
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (i != LIMIT_memory_bytes && a->limit[i] != b->limit[i]) return limit_name((enum limit)i);
    return NULL;
}

void device_kinds_free(struct device_kinds *k)
{
    for (int i = 0; i < k->count; i++) mem_free(k->lists[i]);
    *k = (struct device_kinds){0};
}

/* Kinds in the order of their first devices; devices of a kind in the order given. */
static void sort_by_kind(const struct campaign *c, struct device_kinds *k)
{
    const struct target *first[CAMPAIGN_MOST_DEVICES];
    struct strbuf lists[CAMPAIGN_MOST_DEVICES] = {0};
    for (int i = 0; i < c->ndevices; i++) {
        const struct pool_device *d = &c->devices[i];
        int kind = 0;
        while (kind < k->count && unlike(first[kind], &d->target)) kind++;
        if (kind == k->count) first[k->count++] = &d->target;
        sb_addf(&lists[kind], "%s%s", lists[kind].len ? "," : "", d->handle);
        k->devices[kind]++;
        k->here[kind] += !d->remote;
    }
    for (int i = 0; i < k->count; i++) k->lists[i] = sb_take(&lists[i]);
}

static status check_alike(const struct campaign *c, struct err *e)
{
    const struct pool_device *first = &c->devices[0];
    for (int i = 1; i < c->ndevices; i++) {
        const struct pool_device *d = &c->devices[i];
        const char *what = unlike(&first->target, &d->target);
        if (!what) continue;
        if (c->request->kinds) sort_by_kind(c, c->request->kinds);
        return err_set(e, LATHE_USAGE,
                       "%s (%s) and %s (%s) are of unlike kinds (%s), and their times would not compare\n"
                       "give each kind a campaign of its own: lathe tune ... --device %s; lathe tune ... --device %s",
                       first->name, first->target.name, d->name, d->target.name, what, first->handle, d->handle);
    }
    return LATHE_OK;
}

/* --- waiting --- */

struct wait {
    struct campaign *c;
    const struct executor *executor;
    double since;
    bool said;
};

/* Between two turns of the loop: what takes long is said once, and an interrupt ends it. */
static bool on_turn(void *ctx)
{
    enum { SAY_AFTER = 5 };
    struct wait *w = ctx;
    double most;
    const char *doing = executor_doing(w->executor, &most);
    if (!w->said && clock_seconds() - w->since > SAY_AFTER) {
        campaign_note(w->c, "%s takes longer than %d s (up to %.4g s are waited; Ctrl-C ends it)", doing, SAY_AFTER,
                      most);
        w->said = true;
    }
    return campaign_interrupted();
}

static status device_wait(struct pool_device *d, struct err *e)
{
    struct wait w = {.c = d->campaign, .executor = d->executor, .since = clock_seconds()};
    status s = executor_wait(d->executor, on_turn, &w, e);
    if (s != LATHE_INTERRUPTED) return s;
    d->campaign->interrupted = true;
    devices_cancel(d->campaign);
    return s;
}

/* --- life --- */

int devices_here(const struct campaign *c)
{
    int n = 0;
    for (int i = 0; i < c->ndevices; i++) n += !c->devices[i].remote;
    return n;
}

status devices_open(struct campaign *c, struct err *e)
{
    char usual[24];
    const char *list = c->request->device;
    if (!list && ranks_count())
        snprintf(usual, sizeof usual, "mpi:all");
    else if (!list)
        dev_default(usual);
    status s = read_list(c, list ? list : usual, e);
    if (s) return s;
    if (ranks_count() && devices_here(c) == c->ndevices)
        campaign_note(c, "the devices of MPI ranks take no part: --device mpi:all is all of them");
    for (int i = 0; i < c->ndevices; i++)
        c->devices[i].executor = executor_open(&c->loop, c->request->self, c->devices[i].handle, c->devices[i].name);
    for (int i = 0; i < c->ndevices && !s; i++) {
        struct pool_device *d = &c->devices[i];
        s = device_wait(d, e);
        if (s && c->ndevices > 1) err_prefix(e, "%s", d->name);
        d->target = *executor_target(d->executor);
    }
    if (!s) s = check_alike(c, e);
    c->target = c->devices[0].target;
    for (int i = 1; i < c->ndevices; i++) {     /* what all of them can hold */
        int64_t bytes = c->devices[i].target.limit[LIMIT_memory_bytes];
        if (bytes < c->target.limit[LIMIT_memory_bytes]) c->target.limit[LIMIT_memory_bytes] = bytes;
    }
    return s;
}

void devices_close(struct campaign *c)
{
    for (int i = 0; i < c->ndevices; i++) {
        struct pool_device *d = &c->devices[i];
        executor_close(d->executor);
        evaluation_free(&d->check);
        result_free(&d->again);
        sb_free(&d->check_why);
        mem_free(d->lost);
    }
    mem_free(c->devices);
}

struct pool_device *devices_first(const struct campaign *c)
{
    for (int i = 0; i < c->ndevices; i++)
        if (!c->devices[i].gone) return &c->devices[i];
    return NULL;
}

char *devices_list(const struct campaign *c)
{
    struct strbuf b = {0};
    for (int i = 0; i < c->ndevices; i++) sb_addf(&b, "%s%s", i ? "," : "", c->devices[i].handle);
    return sb_take(&b);
}

status devices_record(struct campaign *c, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < c->ndevices && !s; i++) {
        struct pool_device *d = &c->devices[i];
        s = store_campaign_device(c->store, c->id, i, d->name, &d->target, e);
    }
    return s;
}

/* --- all of them --- */

status devices_prepare(struct campaign *c, const struct bench_setup *setup, uint64_t seed, struct setup_answer *answer,
                       struct err *e)
{
    struct pool_device *first = NULL;
    for (int i = 0; i < c->ndevices; i++)
        if (!c->devices[i].gone) executor_prepare(c->devices[i].executor, setup, c->request->inputs, seed);
    for (int i = 0; i < c->ndevices; i++) {
        struct pool_device *d = &c->devices[i];
        if (d->gone) continue;
        status s = device_wait(d, e);
        if (s == LATHE_INTERRUPTED) return s;
        if (s && (setup || c->ndevices == 1)) {         /* a campaign that begins with fewer is not what was asked
                                                           for */
            if (c->ndevices > 1) err_prefix(e, "%s", d->name);
            return s;
        }
        const struct setup_answer *a = executor_answer(d->executor);
        if (s) {
            s = device_take_out(c, d, e->text, e);
            if (s) return s;
        } else if (!first) {
            first = d;
            *answer = *a;
        } else if (strcmp(a->reference, answer->reference)) {
            char why[300];
            snprintf(why, sizeof why, "it verifies against the reference %s, and %s against %s", a->reference,
                     first->name, answer->reference);
            s = device_take_out(c, d, why, e);
            if (s) return s;
        }
    }
    return c->device_gone ? (*e = c->err, e->code) : LATHE_OK;
}

bool devices_busy(const struct campaign *c)
{
    for (int i = 0; i < c->ndevices; i++)
        if (executor_busy(c->devices[i].executor)) return true;
    return false;
}

void devices_cancel(struct campaign *c)
{
    for (int i = 0; i < c->ndevices; i++) executor_cancel(c->devices[i].executor);
}

status device_take_out(struct campaign *c, struct pool_device *d, const char *why, struct err *e)
{
    d->gone = true;
    executor_cancel(d->executor);
    status s = c->id ? store_device_gone(c->store, c->id, d->position, why, e) : LATHE_OK;
    if (s) return s;
    if (!devices_first(c)) {
        c->device_gone = true;
        err_set(&c->err, LATHE_DEVICE, "%s is taken out: %s", d->name, why);
        return LATHE_OK;
    }
    char *note = mem_printf("%s is taken out: %s", d->name, why);
    campaign_note(c, "%s; the campaign goes on without it", note);
    s = c->id ? store_campaign_note(c->store, c->id, note, e) : LATHE_OK;
    mem_free(note);
    return s;
}

status devices_settle(struct campaign *c, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < c->ndevices && !s; i++) {
        struct pool_device *d = &c->devices[i];
        if (d->lost && !d->gone) s = device_take_out(c, d, d->lost, e);
    }
    return s;
}
