/* import_campaign.c: see import_campaign.h. */
#include "campaign/replay/import_campaign.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "db/store.h"
#include "replay/replay.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct import {
    struct store *store;
    const char *version, *command_line;
};

status import_begin(const char *db, const char *version, const char *command_line, struct import **out, struct err *e)
{
    struct import *i = mem_zalloc(1, sizeof *i);
    i->version = version;
    i->command_line = command_line;
    status s = store_open(db, 60, &i->store, e);
    if (!s)
        s = store_together_begin(i->store, e);
    if (s) {
        store_close(i->store);
        mem_free(i);
        return s;
    }
    *out = i;
    return LATHE_OK;
}

status import_end(struct import *i, status so_far, struct err *e)
{
    if (!i)
        return so_far;
    status s = store_together_end(i->store, so_far, e);
    store_close(i->store);
    mem_free(i);
    return s;
}

static void make_target(const struct recording *r, struct target *t)
{
    *t = (struct target){0};
    snprintf(t->device, sizeof t->device, DEVICE_IMPORTED);
    snprintf(t->name, sizeof t->name, "%.100s (imported)", *r->device ? r->device : "unknown device");
    snprintf(t->toolchain, sizeof t->toolchain, "%s", r->format);
}

/* Of the file as it is, so that it is known again; NULL in JSON: it can't be read twice. */
static json_t *hash_of(const char *path)
{
    struct stat st;
    struct err ignored = {0};
    char *data = NULL, hex[HASH_HEX];
    size_t len;
    if (stat(path, &st) || !S_ISREG(st.st_mode) || file_read(path, &data, &len, &ignored))
        return json_null();
    hash_hex(data, len, hex);
    mem_free(data);
    return json_string(hex);
}

static char *request_of(const struct recording *r)
{
    json_t *j = json_pack("{s:{s:s, s:o, s:s, s:s, s:s}}", "imported", "file", r->path, "hash", hash_of(r->path),
                          "format", r->format, "kernel", r->kernel, "device", r->device);
    char *dumped = j ? json_dumps(j, JSON_COMPACT) : NULL, *text = mem_strdup(dumped ? dumped : "{\"imported\":{}}");
    free(dumped);
    json_decref(j);
    return text;
}

/* "M=128 N=32", as lathe has it; or Kernel Tuner's 4096 and [4096,4096], which are x, y and z. NULL: it is no size. */
static json_t *dims_of(const char *size)
{
    static const char *const axes[] = {"x", "y", "z"};
    json_t *dims = json_object(), *j = json_loads(size, JSON_DECODE_ANY, NULL);
    size_t n = json_is_array(j) ? json_array_size(j) : 1;
    bool good = j && n <= 3;
    for (size_t i = 0; good && i < n; i++) {
        const json_t *v = json_is_array(j) ? json_array_get(j, i) : j;
        good = json_integer_value(v) >= 1;
        json_object_set_new(dims, axes[i], json_integer(json_integer_value(v)));
    }
    for (const char *at = size; !j && *(at += strspn(at, " ")); good = true) {
        char name[32];
        long long value;
        int read = 0;
        if (sscanf(at, "%31[A-Za-z0-9_]=%lld%n", name, &value, &read) != 2 || value < 1 ||
            (at[read] && at[read] != ' ')) {
            good = false;
            break;
        }
        json_object_set_new(dims, name, json_integer(value));
        at += read;
    }
    json_decref(j);
    if (good && json_object_size(dims))
        return dims;
    json_decref(dims);
    return NULL;
}

/* One line. */
static void make_note(const struct recording *r, struct strbuf *note)
{
    struct strbuf settled = {0};
    recording_notes(r, &settled);
    sb_addf(note, "imported from %s (%s): nothing was measured here", r->path, r->format);
    for (char *line = settled.s, *end; line && (end = strchr(line, '\n')); line = end + 1)
        sb_addf(note, "; %.*s", (int)(end - line), line);
    sb_free(&settled);
}

static status add_campaign(struct import *i, const struct recording *r, const struct problem *p, int64_t *id,
                           struct err *e)
{
    struct target target;
    char *request = request_of(r);
    json_t *dims = dims_of(r->size);
    struct strbuf note = {0};
    make_target(r, &target);
    struct campaign_record record = {.problem = p,
                                     .target = &target,
                                     .strategy = "import",
                                     .kernels = p->kernels[0].name,
                                     .tool_version = i->version,
                                     .command_line = i->command_line,
                                     .request = request,
                                     .space_size = r->nconfigs,
                                     .objective = r->by_energy ? OBJECTIVE_ENERGY : OBJECTIVE_TIME,
                                     .size = r->size,
                                     .dims = dims};
    status s = store_campaign_begin(i->store, &record, id, e);
    make_note(r, &note);
    if (!s)
        s = store_campaign_note(i->store, *id, sb_str(&note), e);
    sb_free(&note);
    json_decref(dims);
    mem_free(request);
    return s;
}

static void make_result(const struct recording *r, const struct recorded *c, struct result *out)
{
    result_init(out);
    out->outcome = c->outcome;
    snprintf(out->reason, sizeof out->reason, "%s", c->reason);
    out->time_ms = c->value_ms;
    out->stage = (struct stage_seconds){.compile = c->compile,
                                        .load = c->framework,
                                        .verify = c->validation,
                                        .measure = c->run,
                                        .total = recorded_trial_seconds(c),
                                        .strategy = c->search,
                                        .store = NAN,
                                        .device = NAN};
    out->resources = (struct resources){.local_bytes = -1, .shared_static = -1, .shared_dynamic = -1};
    out->samples = (struct samples){.regime = REGIME_TRIAL,
                                    .ms = r->samples + c->first_sample,
                                    .count = (int)c->nsamples,
                                    .energy_mj = c->energy_mj,
                                    .energy_launches = !isnan(c->energy_mj)}; /* borrowed */
    samples_summarise(&out->samples);
}

static status add_trial(struct import *i, const struct recording *r, const struct problem *p, uint64_t config,
                        int64_t number, struct value *slots, int64_t campaign, struct err *e)
{
    const struct kernel *k = &p->kernels[0];
    const struct recorded *c = &r->configs[config];
    const config_choice *choice = r->choices + config * (uint64_t)r->nparams;
    char started[32] = "";
    struct result result;
    int64_t id;
    if (c->moment)
        clock_print_moment(c->moment, started);
    struct trial_record record = {.campaign = campaign, .number = number, .kernel = k, .slots = slots, .choice = choice,
                                  .image_key = "", .started = started};
    make_result(r, c, &result);
    status s = kernel_slots_config(k, choice, slots, e);
    if (!s)
        s = store_trial_begin(i->store, &record, &id, e);
    return s ? s : store_trial_end(i->store, id, &result, e);
}

static status add_trials(struct import *i, const struct recording *r, const struct problem *p, int64_t campaign,
                         struct err *e)
{
    const struct kernel *k = &p->kernels[0];
    const struct target none = {0};
    struct value *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *slots);
    uint64_t *order = recording_order(r);
    double elapsed = 0;
    status s = LATHE_OK;
    kernel_slots_fixed(p, k, &none, slots);
    for (uint64_t t = 0; t < r->nconfigs && !s; t++) {
        elapsed += recorded_cost(&r->configs[order[t]]);
        store_campaign_elapsed(i->store, elapsed);
        s = add_trial(i, r, p, order[t], (int64_t)t + 1, slots, campaign, e);
    }
    mem_free(order);
    mem_free(slots);
    return s;
}

status import_check(const struct recording *r, struct err *e)
{
    struct problem *p = NULL;
    status s = replay_problem(r, &p, e);
    problem_free(p);
    return s;
}

status import_add(struct import *i, const struct recording *r, int64_t *id, struct err *e)
{
    struct problem *p = NULL;
    status s = replay_problem(r, &p, e);
    if (!s)
        s = add_campaign(i, r, p, id, e);
    if (!s)
        s = add_trials(i, r, p, *id, e);
    if (!s)
        s = store_campaign_end(i->store, *id, "finished", NULL, e);
    problem_free(p);
    return s;
}
