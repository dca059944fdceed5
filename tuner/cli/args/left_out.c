/* left_out.c: see left_out.h. */
#include "cli/args/left_out.h"
#include "cli/output/report.h"
#include "console/output.h"
#include <math.h>
#include <string.h>

static bool alike(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"operator", "size", "device", "device_kind", "tolerance", "inputs"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
            return false;
    return true;
}

/* What it would have been ranked by, and what `first` was. */
static bool is_before(const json_t *refused, const json_t *first, bool energy)
{
    const char *key = energy ? "energy_mj" : "time_ms";
    double cold = tree_number(first, "cold_ms");
    return tree_number(refused, key) < (energy || isnan(cold) ? tree_number(first, key) : cold);
}

status left_out_tell(struct query *q, const struct query_filter *f, const json_t *first, struct err *e)
{
    struct query_filter all = *f;
    json_t *refused = NULL, *trial;
    size_t i;
    bool energy = f->objective == QUERY_ENERGY || (f->objective == QUERY_OWN && f->campaign && first &&
                                                   !strcmp(tree_text(first, "objective"), "energy"));
    all.top = 0;
    status s = query_refused(q, &all, &refused, e);
    json_array_foreach(refused, i, trial) {
        if (first && !(alike(trial, first) && is_before(trial, first, energy)))
            continue;
        note_line("trial %lld (%.4g ms) is left out: %.600s", (long long)tree_int(trial, "id"),
                  tree_number(trial, "time_ms"), tree_text(trial, "reason"));
        break;
    }
    json_decref(refused);
    return s;
}
