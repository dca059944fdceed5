/* stored.c: see stored.h. */
#include "cli/args/stored.h"
#include "base/mem.h"
#include "db/query.h"
#include "cli/output/report.h"
#include <string.h>

static status set_dims(struct problem *p, const json_t *size, struct err *e)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)size, name, value)
    {
        status s = problem_set_dim(p, name, json_integer_value(value), e);
        if (s != LATHE_OK)
            return s;
    }
    return LATHE_OK;
}

static status imported(const json_t *trial, const char *what, const char *db, struct err *e)
{
    struct strbuf option = {0};
    query_db_option(&option, db);
    err_set(e, LATHE_USAGE,
            "it was imported from another tuner, so its kernel's source is not known, and %s needs it\n"
            "`lathe export --campaign %lld --format t4%.600s`, kernel-tuner or csv writes its campaign",
            what, (long long)tree_int(trial, "campaign"), sb_str(&option));
    sb_free(&option);
    return LATHE_USAGE;
}

status stored_open(const json_t *provenance, const char *what, const char *db, struct stored *out, struct err *e)
{
    const json_t *trial = json_object_get(provenance, "trial");
    memset(out, 0, sizeof *out);
    if (what && !strcmp(tree_text(trial, "device_kind"), "imported"))
        return imported(trial, what, db, e);
    status s =
        problem_from_json(json_object_get(provenance, "spec"), tree_text(trial, "problem"), NULL, &out->problem, e);
    if (s == LATHE_OK && what)
        s = problem_needs_kernels(out->problem, what, e);
    bool space = s == LATHE_OK && out->problem->space_alone;
    if (s == LATHE_OK && !space)
        s = set_dims(out->problem, json_object_get(trial, "size"), e);
    if (s == LATHE_OK && !space)
        s = tolerance_from_json(json_object_get(trial, "tolerance"), &out->problem->tolerance, e);
    if (s == LATHE_OK)
        s = target_from_json(json_object_get(provenance, "target"), &out->target, e);
    int k = s == LATHE_OK ? problem_find_kernel(out->problem, tree_text(trial, "kernel")) : -1;
    if (s == LATHE_OK && k < 0)
        s = err_set(e, LATHE_STORE, "its specification has no kernel '%s'", tree_text(trial, "kernel"));
    if (s == LATHE_OK) {
        out->kernel = &out->problem->kernels[k];
        out->choice = mem_zalloc((size_t)out->kernel->nparams + 1, sizeof *out->choice);
        s = config_from_json(out->kernel, json_object_get(trial, "configuration"), out->choice, e);
    }
    if (s != LATHE_OK)
        stored_free(out);
    return s;
}

void stored_free(struct stored *s)
{
    mem_free(s->choice);
    if (s->problem)
        problem_free(s->problem);
    memset(s, 0, sizeof *s);
}
