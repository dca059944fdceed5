/* recording.c: see recording.h: a recording that is there, and what is computed of it. */
#include "replay/recording.h"

#include "base/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void recording_free(struct recording *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->nparams; i++) {
        for (int v = 0; v < r->params[i].nvalues; v++)
            if (r->params[i].values[v].type == VALUE_STRING)
                mem_free((char *)r->params[i].values[v].s);
        mem_free(r->params[i].values);
        mem_free(r->params[i].name);
    }
    for (int i = 0; i < r->ntexts; i++)
        mem_free(r->texts[i]);
    mem_free(r->texts);
    mem_free(r->params);
    mem_free(r->path);
    mem_free(r->format);
    mem_free(r->kernel);
    mem_free(r->device);
    mem_free(r->size);
    mem_free(r->choices);
    mem_free(r->configs);
    mem_free(r->samples);
    mem_free(r);
}

int64_t recording_find(const struct recording *r, const config_choice *choice)
{
    uint64_t low = 0, high = r->nconfigs, n = (uint64_t)r->nparams;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const config_choice *c = r->choices + middle * n;
        uint64_t i = 0;
        while (i < n && c[i] == choice[i])
            i++;
        if (i == n)
            return (int64_t)middle;
        if (c[i] < choice[i])
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static int by_position(const void *pa, const void *pb, void *ctx)
{
    const struct recorded *configs = ctx, *a = &configs[*(const uint64_t *)pa], *b = &configs[*(const uint64_t *)pb];
    return (a->position > b->position) - (a->position < b->position);
}

uint64_t *recording_order(const struct recording *r)
{
    uint64_t *order = mem_alloc((r->nconfigs + 1) * sizeof *order);
    for (uint64_t i = 0; i < r->nconfigs; i++)
        order[i] = i;
    qsort_r(order, r->nconfigs, sizeof *order, by_position, r->configs);
    return order;
}

double recorded_cost(const struct recorded *c)
{
    return c->compile + c->validation + c->framework + c->search + c->run;
}

double recorded_trial_seconds(const struct recorded *c)
{
    return c->compile + c->validation + c->run;
}

void recording_notes(const struct recording *r, struct strbuf *b)
{
    if (r->cut)
        sb_add(b, "the cache ends without its closing braces: the entries before that are read\n");
    if (r->rest)
        sb_add(b, "something that is not compressed stands behind the compressed data: it is not read\n");
    if (r->duplicates)
        sb_addf(b, "%llu configurations are there more than once: the last entry counts\n",
                (unsigned long long)r->duplicates);
    if (r->not_times)
        sb_addf(b, "%llu configurations are said to be right, and their time is no positive number: unstable\n",
                (unsigned long long)r->not_times);
    if (r->not_costs)
        sb_addf(b, "%llu costs are negative or no number: counted as 0\n", (unsigned long long)r->not_costs);
}

/* Facts ----------------------------------------------------------------------------------------------------------*/

static int by_size(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

static double median_of(double *values, uint64_t n)
{
    if (!n)
        return NAN;
    qsort(values, n, sizeof *values, by_size);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void recording_summarise(const struct recording *r, struct recording_summary *out)
{
    double *costs = mem_alloc(r->nconfigs * sizeof *costs), sum[2] = {0, 0};
    *out = (struct recording_summary){.configs = r->nconfigs, .sorted = mem_alloc(r->nconfigs * sizeof(double))};
    for (uint64_t i = 0; i < r->nconfigs; i++) {
        const struct recorded *c = &r->configs[i];
        bool ok = c->outcome == OUTCOME_ok;
        costs[i] = recorded_cost(c);
        sum[ok] += costs[i];
        if (ok)
            out->sorted[out->valid++] = c->value_ms;
    }
    double failed = (double)(r->nconfigs - out->valid), valid = (double)out->valid;
    out->median = median_of(out->sorted, out->valid);
    out->best = out->valid ? out->sorted[0] : NAN;
    out->mean_cost = (valid > 0 ? sum[1] / valid : 0) +
                     (failed > 0 ? failed / (double)r->nconfigs * (sum[0] / failed) : 0);
    out->median_cost = median_of(costs, r->nconfigs);
    mem_free(costs);
}

void recording_summary_free(struct recording_summary *s)
{
    mem_free(s->sorted);
    s->sorted = NULL;
}

uint64_t recording_evaluations_to(const struct recording_summary *s, double cutoff)
{
    uint64_t n = s->valid, i = 0;
    if (!n)
        return 0;
    double target = s->best + (s->median - s->best) * (1 - cutoff);
    while (i + 1 < n && s->sorted[n - 1 - i] > target)
        i++;
    if (cutoff < 1 && i && s->sorted[n - 1 - i] == s->best)
        i--;
    return (i + (n - i)) / (n + 1 - i);     /* ceil(i / (n + 1 - i)) */
}
