/* replay.c: see replay.h. */
#include "replay/replay.h"

#include "base/mem.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct replay {
    const struct recording *recording;
    int nparams;                /* the kernel's */
    bool same;                  /* the kernel's choices are the recording's */
    int *to;                    /* the recorded parameter of each of the kernel's; -1: not recorded, one value */
    int **values;               /* of each of the kernel's: recorded choice of each value; -1: none */
    double missing_seconds;
};

json_t *replay_parameters(const struct recording *r)
{
    json_t *params = json_array();
    for (int i = 0; i < r->nparams; i++) {
        json_t *values = json_array();
        for (int v = 0; v < r->params[i].nvalues; v++)
            json_array_append_new(values, value_to_json(r->params[i].values[v]));
        json_array_append_new(params, json_pack("[s, o]", r->params[i].name, values));
    }
    return params;
}

/* A word that a problem may be called: the kernel's name, else the file's up to its first dot. */
static char *problem_name(const struct recording *r)
{
    enum { NAME = 47 };
    const char *slash = r->path ? strrchr(r->path, '/') : NULL;
    const char *from = *r->kernel ? r->kernel : slash ? slash + 1 : r->path ? r->path : "recording";
    struct strbuf b = {0};
    for (const char *c = from; *c && b.len < NAME && (*r->kernel || *c != '.'); c++) {
        bool good = isalnum((unsigned char)*c) || *c == '_';
        if (!b.len && isdigit((unsigned char)*c))
            sb_add(&b, "_");
        sb_addf(&b, "%c", good ? *c : '_');
    }
    if (!b.len)
        sb_add(&b, "recording");
    return sb_take(&b);
}

status replay_problem(const struct recording *r, struct problem **out, struct err *e)
{
    char *name = problem_name(r);
    json_t *tree = json_pack("{s:s, s:s, s:o}", "tag", "space", "name", name, "params", replay_parameters(r));
    status s = tree ? problem_from_json(tree, r->path, NULL, out, e)
                    : err_set(e, LATHE_INTERNAL, "%s: its parameters are no tree; this is a bug in lathe", r->path);
    json_decref(tree);
    mem_free(name);
    return s;
}

static int find_recorded(const struct recording *r, const char *name)
{
    for (int i = 0; i < r->nparams; i++)
        if (strcmp(r->params[i].name, name) == 0)
            return i;
    return -1;
}

static bool in_kernel(const struct kernel *k, const char *name)
{
    for (int i = 0; i < k->nparams; i++)
        if (strcmp(k->params[i].name, name) == 0)
            return true;
    return false;
}

static status check_names(const struct replay *d, const struct kernel *k, struct err *e)
{
    const struct recording *r = d->recording;
    for (int i = 0; i < r->nparams; i++)
        if (r->params[i].nvalues > 1 && !in_kernel(k, r->params[i].name))
            return err_set(e, LATHE_SPEC, "%s has a parameter %s with %d values, which %s lacks", r->path,
                           r->params[i].name, r->params[i].nvalues, k->name);
    for (int i = 0; i < k->nparams; i++)
        if (k->params[i].nvalues > 1 && d->to[i] < 0)
            return err_set(e, LATHE_SPEC, "%s has a parameter %s with %d values, which is not recorded in %s", k->name,
                           k->params[i].name, k->params[i].nvalues, r->path);
    return LATHE_OK;
}

static void match_values(struct replay *d, const struct kernel *k, int i)
{
    const struct param *p = &k->params[i];
    const struct recorded_param *q = d->to[i] >= 0 ? &d->recording->params[d->to[i]] : NULL;
    d->values[i] = mem_alloc(((size_t)p->nvalues + 1) * sizeof **d->values);
    d->same = d->same && q && d->to[i] == i;
    for (int v = 0; v < p->nvalues; v++) {
        d->values[i][v] = -1;
        for (int w = 0; q && w < q->nvalues && d->values[i][v] < 0; w++)
            if (value_equal(p->values[v], q->values[w]))
                d->values[i][v] = w;
        d->same = d->same && d->values[i][v] == v;
    }
}

static int by_size(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

static double median_seconds(const struct recording *r)
{
    double *seconds = mem_alloc(r->nconfigs * sizeof *seconds);
    for (uint64_t i = 0; i < r->nconfigs; i++)
        seconds[i] = recorded_trial_seconds(&r->configs[i]);
    qsort(seconds, r->nconfigs, sizeof *seconds, by_size);
    double median = (seconds[(r->nconfigs - 1) / 2] + seconds[r->nconfigs / 2]) / 2;
    mem_free(seconds);
    return median;
}

status replay_open(const struct recording *r, const struct kernel *k, struct replay **out, struct err *e)
{
    struct replay *d = mem_zalloc(1, sizeof *d);
    d->recording = r;
    d->nparams = k->nparams;
    d->same = k->nparams == r->nparams;
    d->to = mem_zalloc((size_t)k->nparams + 1, sizeof *d->to);
    d->values = mem_zalloc((size_t)k->nparams + 1, sizeof *d->values);
    for (int i = 0; i < k->nparams; i++)
        d->to[i] = find_recorded(r, k->params[i].name);
    status s = check_names(d, k, e);
    if (s) {
        replay_close(d);
        return s;
    }
    for (int i = 0; i < k->nparams; i++)
        match_values(d, k, i);
    d->missing_seconds = median_seconds(r);
    *out = d;
    return LATHE_OK;
}

void replay_close(struct replay *d)
{
    if (!d)
        return;
    for (int i = 0; i < d->nparams; i++)
        mem_free(d->values[i]);
    mem_free(d->values);
    mem_free(d->to);
    mem_free(d);
}

int64_t replay_find(const struct replay *d, const config_choice *choice)
{
    const struct recording *r = d->recording;
    config_choice own[RECORDING_PARAMS_MAX] = {0};  /* a parameter that the kernel lacks has one value */
    if (d->same)
        return recording_find(r, choice);
    for (int i = 0; i < d->nparams; i++) {
        int value = d->values[i][choice[i]];
        if (d->to[i] < 0)
            continue;
        if (value < 0)
            return -1;
        own[d->to[i]] = (config_choice)value;
    }
    return recording_find(r, own);
}

double replay_missing_seconds(const struct replay *d)
{
    return d->missing_seconds;
}

const struct recording *replay_recording(const struct replay *d)
{
    return d->recording;
}
