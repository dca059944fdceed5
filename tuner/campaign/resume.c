/* resume.c: see resume.h: what was recorded, read back. */
#include "base/mem.h"
#include "base/process.h"
#include "campaign/resume_impl.h"
#include "db/query.h"
#include "model/problem.h"
#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *j, const char *key)
{
    return json_string_value(json_object_get(j, key));
}

const char *resumption_fact(const struct resumption *r, const char *key)
{
    const char *s = text_of(r->facts, key);
    return s ? s : "";
}

/* An array of texts, of borrowed strings. */
static const char **list_of(const json_t *j, const char *key, int *n)
{
    const json_t *list = json_object_get(j, key);
    *n = (int)json_array_size(list);
    const char **out = mem_zalloc((size_t)*n + 1, sizeof *out);
    for (int i = 0; i < *n; i++) {
        const char *s = json_string_value(json_array_get(list, (size_t)i));
        out[i] = s ? s : "";
    }
    return out;
}

/* The same of words with blanks between, which are cut apart. */
static const char **words_of(char *text, int *n)
{
    *n = 0;
    const char **out = mem_zalloc(strlen(text) / 2 + 2, sizeof *out);
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) out[(*n)++] = word;
    return out;
}

static void read_request(struct resumption *r)
{
    struct campaign_request *q = &r->request;
    const json_t *j = json_object_get(r->facts, "request");
    if (json_is_object(j)) {
        r->kernels = list_of(j, "kernels", &q->nkernels);
        r->baselines = list_of(j, "baselines", &q->nbaselines);
        r->options = list_of(j, "options", &q->noptions);
        r->settings = list_of(j, "settings", &q->nsettings);
        q->device = text_of(j, "device");
        q->strategy = text_of(j, "strategy");
        const char *objective = text_of(j, "objective");    /* NULL: from before there was another than time */
        q->objective =
            objective && !strcmp(objective, objective_name(OBJECTIVE_ENERGY)) ? OBJECTIVE_ENERGY : OBJECTIVE_TIME;
        const char *delays = text_of(j, "delays");          /* NULL: from before it was asked */
        int when = delays ? delays_parse(delays) : -1;
        q->delays = when < 0 ? DELAYS_AUTO : (enum delays)when;
        q->told_compilers = (int)json_integer_value(json_object_get(j, "compilers"));
        q->top = (int)json_integer_value(json_object_get(j, "top"));
        q->time_limit = json_number_value(json_object_get(j, "time_limit"));
        q->give_up = (int)json_integer_value(json_object_get(j, "give_up"));
        q->compile_seconds = json_number_value(json_object_get(j, "compile_seconds"));
        q->compile_memory = json_integer_value(json_object_get(j, "compile_memory"));
        q->sanitize = json_is_true(json_object_get(j, "sanitize"));
        q->recorded_space = json_is_true(json_object_get(j, "recorded_space"));
        q->spec = text_of(j, "specification");
    } else {                    /* a campaign from before requests were kept */
        const char *options = resumption_fact(r, "options"), *kernels = resumption_fact(r, "kernels");
        size_t n = strlen(options) + 1;
        r->words = mem_printf("%s %s", options, kernels);
        r->words[n - 1] = 0;
        r->options = words_of(r->words, &q->noptions);
        r->kernels = words_of(r->words + n, &q->nkernels);
        q->device = r->target.device;
        q->top = 5;
    }
    if (q->told_compilers < 1) q->told_compilers = -1;      /* from before they were told */
    r->earlier = json_incref(json_object_get(j, "earlier"));
    if (!r->earlier) r->earlier = json_array();
    if (!q->strategy) q->strategy = resumption_fact(r, "strategy");
    q->kernels = r->kernels;
    q->baselines = r->baselines;
    q->options = (char *const *)r->options;
    q->settings = (char *const *)r->settings;
    q->trials = json_integer_value(json_object_get(r->facts, "budget_trials"));
    q->seconds = json_number_value(json_object_get(r->facts, "budget_seconds"));
    q->seed = strtoull(resumption_fact(r, "seed"), NULL, 10);
    q->db = r->db;
    q->resumed = r;
}

/* Sources are named by their folder too; in a stored specification they are relative to it. */
static void settle_paths(struct problem *p, const char *spec)
{
    if (!spec) return;
    char *dir = path_dirname(spec);
    for (int i = 0; i < p->nkernels; i++) {
        struct kernel *k = &p->kernels[i];
        if (!k->source_path) continue;
        char *path = path_join(dir, k->source_path);
        mem_free(k->source_path);
        k->source_path = path;
    }
    mem_free(dir);
}

static status read_problem(struct resumption *r, struct err *e)
{
    struct problem *p = NULL;
    const char *name;
    json_t *value;
    size_t i;
    status s = problem_from_json(json_object_get(r->facts, "specification"), r->db, NULL, &p, e);
    r->problem = r->request.problem = p;
    if (s) return s;
    settle_paths(p, r->request.spec);
    json_object_foreach(json_object_get(r->facts, "size"), name, value)
        if (!s) s = problem_set_dim(p, name, json_integer_value(value), e);
    json_array_foreach(json_object_get(r->facts, "restrictions"), i, value)
        if (!s) s = problem_restrict(p, json_string_value(value), e);
    const json_t *tolerance = json_object_get(r->facts, "tolerance");
    if (!s && !p->space_alone) s = tolerance_from_json(tolerance, &p->tolerance, e);
    int inputs = inputs_parse(resumption_fact(r, "inputs"));
    if (!s && inputs < 0) s = err_set(e, LATHE_STORE, "unknown inputs '%s'", resumption_fact(r, "inputs"));
    r->request.inputs = (enum inputs)inputs;
    return s;
}

static status read_recording(struct resumption *r, struct err *e)
{
    const char *place = text_of(json_object_get(r->facts, "request"), "recording");
    if (!place && strcmp(r->target.device, "replay")) return LATHE_OK;
    if (!place)
        return err_set(e, LATHE_STORE, "it replayed a recording, and which one was not kept");
    status s = recording_open(place, r->request.nkernels ? r->request.kernels[0] : NULL, &r->recording, e);
    r->request.recording = r->recording;
    return s;
}

/* Looked at before a device is opened that another process measures on; taking it over looks again. */
static status check_running(const struct resumption *r, struct err *e)
{
    if (strcmp(resumption_fact(r, "state"), "running")) return LATHE_OK;
    if (process_state(resumption_fact(r, "coordinator")) != PROCESS_RUNS) return LATHE_OK;
    return err_set(e, LATHE_USAGE, "it is running, by another process: interrupt that first");
}

static status check_measured(const struct resumption *r, struct err *e)
{
    return strcmp(r->target.device, DEVICE_IMPORTED)
               ? LATHE_OK
               : err_set(e, LATHE_USAGE,
                         "it was imported: the tuner that it comes from would have to go on with it\n"
                         "`lathe tune --device 'replay:%.300s#%lld'` searches in what it recorded",
                         r->db, (long long)r->id);
}

/* The file has to be there before it is opened for writing, which brings an older one up to date. */
static status read_facts(struct resumption *r, struct err *e)
{
    struct query *q;
    struct store *store;
    status s = query_open(r->db, &q, e);
    if (s) return s;
    query_close(q);
    s = store_open(r->db, 60, &store, e);
    if (s) return s;
    store_close(store);
    s = query_open(r->db, &q, e);
    if (s) return s;
    s = query_resumption(q, r->id, &r->facts, e);
    query_close(q);
    return s;
}

status resumption_open(const char *db, int64_t id, struct resumption **out, struct err *e)
{
    struct resumption *r = mem_zalloc(1, sizeof *r);
    r->db = mem_strdup(db);
    r->id = id;
    status s = read_facts(r, e);
    if (!s) {
        s = check_running(r, e);
        if (!s) s = target_from_json(json_object_get(r->facts, "target"), &r->target, e);
        if (!s) s = check_measured(r, e);
        if (!s) read_request(r);
        if (!s) s = read_problem(r, e);
        if (!s) s = read_recording(r, e);
        if (s) err_prefix(e, "campaign %lld of %.300s", (long long)id, db);
    }
    if (s)
        resumption_close(r);
    else
        *out = r;
    return s;
}

void resumption_close(struct resumption *r)
{
    if (!r) return;
    problem_free(r->problem);
    recording_free(r->recording);
    json_decref(r->facts);
    json_decref(r->earlier);
    mem_free((void *)r->kernels);
    mem_free((void *)r->baselines);
    mem_free((void *)r->options);
    mem_free((void *)r->settings);
    mem_free(r->words);
    mem_free(r->db);
    mem_free(r);
}

struct campaign_request *resumption_request(struct resumption *r) { return &r->request; }
const char *resumption_state(const struct resumption *r) { return resumption_fact(r, "state"); }
const json_t *resumption_earlier(const struct resumption *r) { return r->earlier; }
int64_t resumption_id(const struct resumption *r) { return r->id; }

int64_t resumption_trials(const struct resumption *r)
{
    return json_integer_value(json_object_get(r->facts, "trials"));
}

double resumption_seconds(const struct resumption *r)
{
    return json_number_value(json_object_get(r->facts, "seconds"));
}

double resumption_counted(const struct resumption *r)
{
    const double replayed = json_number_value(json_object_get(r->facts, "replayed_seconds"));
    return replayed > 0 ? replayed : resumption_seconds(r);
}

const char *resumption_strategy(const struct resumption *r, const char **text)
{
    *text = resumption_fact(r, "strategy_text");
    return r->request.strategy;
}
