/* export_trials.c: which trial an export is of, and all that the exporter needs of it. */
#include "cli/export/export_trials.h"
#include "base/mem.h"
#include "cli/args/left_out.h"
#include "cli/args/newest.h"
#include "cli/output/report.h"
#include "console/output.h"
#include <stdio.h>
#include <string.h>

/* --- which --- */

/* "atol=0.0001 rtol=0.0001 on inputs wide" */
static void conditions_text(struct strbuf *b, const json_t *trial)
{
    report_tolerance(b, json_object_get(trial, "tolerance"));
    if (strcmp(tree_text(trial, "inputs"), "default") != 0)
        sb_addf(b, " on inputs %s", tree_text(trial, "inputs"));
}

/* A winner among trials that were verified to different tolerances, or on different inputs, is one that the user has
 * not chosen. `trial` is that winner; others of its problem, size and device are looked at. */
status export_check_conditions(struct query *q, const json_t *trial, const struct query_filter *chosen, struct err *e)
{
    struct query_filter f = *chosen;
    struct strbuf list = {0};
    const json_t *size = json_object_get(trial, "size");
    char **dims = newest_dims(size, &f.ndims);
    json_t *conditions = NULL;
    f.dims = (const char *const *)dims;
    f.problem = tree_text(trial, "problem");
    f.device = tree_text(trial, "device");
    status s = query_conditions(q, &f, &conditions, e);
    json_t *operators = json_object();
    struct strbuf db = {0};
    query_db_option(&db, query_path(q));
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        const json_t *c = json_array_get(conditions, i);
        char operator[24];
        snprintf(operator, sizeof operator, "%lld", (long long)tree_int(c, "operator"));
        json_object_set_new(operators, operator, json_null());
        sb_add(&list, i ? "; " : "");
        conditions_text(&list, c);
    }
    if (s == LATHE_OK && json_object_size(operators) > 1)
        s = err_set(e, LATHE_USAGE,
                    "there are results of %zu different problems called %s: their specifications differ in tensors, "
                    "scalars, reference or epilogue\nchoose with --campaign or --trial (`lathe best%.600s` tells them "
                    "apart)",
                    json_object_size(operators), f.problem, sb_str(&db));
    else if (s == LATHE_OK && json_array_size(conditions) > 1)
        s = err_set(
            e, LATHE_USAGE,
            "there are results to more than one tolerance, or on more than one kind of inputs: %.800s\nchoose with "
            "--tolerance, --inputs, --campaign or --trial",
            sb_str(&list));
    newest_dims_free(dims, f.ndims);
    json_decref(conditions);
    json_decref(operators);
    sb_free(&list);
    sb_free(&db);
    return s;
}

status export_query_best(struct query *q, struct query_filter *f, json_t **best, struct err *e)
{
    status s = query_best(q, f, best, e);
    if (s != LATHE_OK || !f->measured || json_array_size(*best))
        return s;
    json_decref(*best);
    *best = NULL;
    f->measured = false;
    return query_best(q, f, best, e);
}

/* What is not chosen, of problem, size and device, is the newest campaign's: times of others say nothing of these. */
static void place_note(const struct newest *n, const char *db, char **note)
{
    struct strbuf b = {0};
    if (!n->others && !n->passed_over)
        return;
    sb_add(&b, "of ");
    newest_text(n, &b);
    if (n->others) {
        const char *s = n->others == 1 ? "" : "s", *are = n->others == 1 ? "is" : "are";
        if (n->devices)
            sb_addf(&b, "; %d other problem%s, size%s or device%s %s there: choose with --problem, --size, --device or "
                    "--campaign (`lathe best", n->others, s, s, s, are);
        else
            sb_addf(&b, "; %d other problem%s or size%s %s there: choose with --problem, --size or --campaign (`lathe "
                    "best", n->others, s, s, are);
        query_db_option(&b, db);
        sb_add(&b, "` lists them)");
    }
    *note = sb_take(&b);
}

/* The best that passes the filter; *best may be empty. */
static status choose_best(struct query *q, const struct selection *sel, struct query_filter *f, json_t **best,
                          char **note, struct err *e)
{
    struct newest n = {0};
    status s = note && !sel->campaign ? newest_find(q, f, &n, e) : LATHE_OK;
    if (s == LATHE_OK) {
        newest_narrow(&n, f);
        s = export_query_best(q, f, best, e);
    }
    if (s == LATHE_OK && note)
        s = left_out_tell(q, f, json_array_get(*best, 0), e);
    if (s == LATHE_NOTHING || (s == LATHE_OK && json_array_size(*best) == 0))
        s = selection_nothing(sel, q, e);
    if (s == LATHE_OK && !sel->campaign)
        s = export_check_conditions(q, json_array_get(*best, 0), f, e);
    if (s == LATHE_OK && n.campaign)
        place_note(&n, sel->db, note);
    newest_free(&n);
    return s;
}

status export_choose(struct query *q, const struct selection *sel, int64_t trial, int64_t *id, char **note,
                     struct err *e)
{
    if (note)
        *note = NULL;
    if (trial) {
        if (sel->problem || sel->device || sel->kernel || sel->campaign || sel->sizes.count || sel->tolerances.count ||
            sel->inputs)
            return err_set(e, LATHE_USAGE,
                           "export: --trial already says which one\nleave out --problem, --size, --device, "
                           "--kernel, --tolerance, --inputs and --campaign, or leave out --trial");
        *id = trial;
        return LATHE_OK;
    }
    struct query_filter f;
    status s = selection_filter(sel, &f, e);
    if (s != LATHE_OK)
        return s;
    f.top = 1;
    json_t *best = NULL;
    s = choose_best(q, sel, &f, &best, note, e);
    *id = tree_int(json_array_get(best, 0), "id");
    json_decref(best);
    return s;
}

/* --- one --- */

void export_warn_no_final(const json_t *trial)
{
    const char *why = export_no_final(trial);
    if (why)
        note_line("warning: trial %lld %s", (long long)tree_int(trial, "id"), why);
}

/* Only what was verified, and may win, is handed out. db: the option that a command needs. */
static status check_exportable(const json_t *trial, const char *db, struct err *e)
{
    long long id = (long long)tree_int(trial, "id");
    const char *outcome = tree_text(trial, "outcome"), *reason = tree_text(trial, "reason");
    if (!strcmp(tree_text(trial, "role"), "baseline"))
        return err_set(e, LATHE_NOTHING,
                       "trial %lld is a baseline (%s): there is nothing of it to export\n"
                       "`lathe best%.600s` lists what there is",
                       id, tree_text(trial, "kernel"), db);
    if (!strcmp(outcome, "inaccurate"))
        return err_set(e, LATHE_NOTHING,
                       "trial %lld is not exported: its outcome is inaccurate: %.600s\n"
                       "`lathe tune --tolerance%.600s` allows more",
                       id, reason, db);
    if (strcmp(outcome, "ok") != 0)
        return err_set(e, LATHE_NOTHING,
                       "trial %lld is not verified, so it is not exported: its outcome is %s%s%.600s\n"
                       "`lathe best%.600s` lists what there is",
                       id, *outcome ? outcome : "not known yet", *reason ? ": " : "", reason, db);
    if (!tree_true(trial, "eligible") && *reason)
        return err_set(e, LATHE_NOTHING,
                       "trial %lld may not win, so it is not exported: %.600s\n`lathe best%.600s` lists what there is",
                       id, reason, db);
    if (!tree_true(trial, "eligible"))
        return err_set(e, LATHE_NOTHING,
                       "trial %lld is of kernel %s, which its specification shows but does not let win\n"
                       "`lathe best%.600s` lists what there is",
                       id, tree_text(trial, "kernel"), db);
    return LATHE_OK;
}

status export_trial_read(json_t *provenance, const char *db, const char *name, struct export_trial *t, struct err *e)
{
    *t = (struct export_trial){.provenance = json_incref(provenance), .trial = json_object_get(provenance, "trial")};
    status s = stored_open(provenance, "an export", db, &t->stored, e);
    if (s == LATHE_OK) {
        const struct stored *from = &t->stored;
        t->in = (struct export_input){from->problem, from->kernel, from->choice, &from->target, provenance, name};
        return LATHE_OK;
    }
    err_prefix(e, "%.200s, trial %lld", db, (long long)tree_int(t->trial, "id"));
    json_decref(t->provenance);
    return s;
}

status export_trial_open(struct query *q, int64_t id, const char *db, const char *name, struct export_trial *t,
                         struct err *e)
{
    json_t *provenance = NULL;
    status s = query_provenance(q, id, &provenance, e);
    struct strbuf option = {0};
    query_db_option(&option, db);
    if (s == LATHE_NOTHING)
        err_set(e, LATHE_NOTHING, "there is no trial %lld in %.300s\n`lathe best%.300s` lists trials", (long long)id,
                db, sb_str(&option));
    if (s == LATHE_OK)
        s = check_exportable(json_object_get(provenance, "trial"), sb_str(&option), e);
    sb_free(&option);
    if (s == LATHE_OK)
        s = export_trial_read(provenance, db, name, t, e);
    json_decref(provenance);
    return s;
}

void export_trial_close(struct export_trial *t)
{
    stored_free(&t->stored);
    json_decref(t->provenance);
    *t = (struct export_trial){0};
}
