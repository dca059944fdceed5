/* export_set.c: the best of each size and device of one operator, compiled, and a kernel for every other size: what the
 * exports of several configurations are made of. */
#include "cli/export/export_set.h"
#include "base/mem.h"
#include "cli/args/left_out.h"
#include "cli/output/report.h"
#include "console/output.h"
#include <string.h>

enum { OLDEST = 80 };                   /* the fallback's PTX is for that capability, or for the oldest tuned on */

/* --- which --- */

static char *place(const json_t *trial)
{
    struct strbuf b = {0};
    report_size(&b, json_object_get(trial, "size"));
    sb_addf(&b, " on %s", tree_text(trial, "device"));
    return sb_take(&b);
}

static status add_trial(struct export_set *set, struct query *q, int64_t id, const char *db, const char *name,
                        struct err *e)
{
    struct export_trial *t = mem_zalloc(1, sizeof *t);
    status s = export_trial_open(q, id, db, name, t, e);
    if (s != LATHE_OK) {
        mem_free(t);
        return s;
    }
    s = export_check_name(&t->in, true, e);
    if (s != LATHE_OK) {
        export_trial_close(t);
        mem_free(t);
        return s;
    }
    if (!export_c_serves(t->in.kernel)) {
        const char *kernel = t->in.kernel->name;
        if (!json_object_get(set->left_out, kernel))
            note_line("left out: kernel %s calls cuBLAS, which a program for the driver alone does not have", kernel);
        json_object_set_new(set->left_out, kernel, json_true());
        export_trial_close(t);
        mem_free(t);
        return LATHE_OK;
    }
    MEM_GROW(set->trials, set->n, set->cap);
    set->trials[set->n++] = t;
    char *where = place(t->trial);
    json_object_set_new(set->seen, where, json_true());
    mem_free(where);
    return LATHE_OK;
}

/* `best`: the verified ones selected, the best first. The first of each size and device whose kernel can be in it. */
static status add_best(struct export_set *set, struct query *q, const json_t *best, const struct selection *sel,
                       const char *name, struct err *e)
{
    struct query_filter f;
    status s = selection_filter(sel, &f, e);
    for (size_t i = 0; i < json_array_size(best) && s == LATHE_OK; i++) {
        const json_t *trial = json_array_get(best, i);
        char *where = place(trial);
        bool wanted = !json_object_get(set->seen, where) && !json_object_get(set->left_out, tree_text(trial, "kernel"));
        mem_free(where);
        if (wanted && !sel->campaign)
            s = export_check_conditions(q, trial, &f, e);
        if (wanted && s == LATHE_OK)
            s = left_out_tell(q, &f, trial, e);
        if (wanted && s == LATHE_OK)
            s = add_trial(set, q, tree_int(trial, "id"), sel->db, name, e);
    }
    return s;
}

static status same_operator(const json_t *best, struct err *e)
{
    for (size_t i = 1; i < json_array_size(best); i++) {
        const json_t *a = json_array_get(best, 0), *b = json_array_get(best, i);
        if (tree_int(a, "operator") == tree_int(b, "operator"))
            continue;
        if (strcmp(tree_text(a, "problem"), tree_text(b, "problem")) == 0)
            return err_set(e, LATHE_USAGE,
                           "there are results of different problems called %s\nchoose with --campaign or --trial",
                           tree_text(a, "problem"));
        return err_set(e, LATHE_USAGE, "there are results of several problems: %s and %s\nchoose with --problem",
                       tree_text(a, "problem"), tree_text(b, "problem"));
    }
    return LATHE_OK;
}

static status find_trials(struct export_set *set, struct query *q, const struct selection *sel, int64_t trial,
                          const char *name, struct err *e)
{
    int64_t id;
    status s = export_choose(q, sel, trial, &id, NULL, e);  /* refuses options that do not go together; finds any */
    if (s != LATHE_OK)
        return s;
    if (trial) {
        s = add_trial(set, q, id, sel->db, name, e);
    } else {
        struct query_filter f;
        json_t *best = NULL;
        s = selection_filter(sel, &f, e);
        if (s == LATHE_OK)
            s = export_query_best(q, &f, &best, e);
        if (s == LATHE_OK)
            s = same_operator(best, e);
        if (s == LATHE_OK)
            s = add_best(set, q, best, sel, name, e);
        json_decref(best);
    }
    struct strbuf db = {0};
    query_db_option(&db, sel->db);
    if (s == LATHE_OK && set->n == 0)
        s = err_set(e, LATHE_NOTHING,
                    "every kernel selected calls cuBLAS, so none can be exported as C for the driver\n"
                    "`lathe export%.600s` without --format writes CUDA source", sb_str(&db));
    sb_free(&db);
    return s;
}

/* --- compiled --- */

/* An image; without one where the source does not compile for that GPU. */
static status compile(const struct export_input *in, const char *arch, struct export_image *out, struct err *e)
{
    char *data = NULL, *why = NULL;
    status s = export_image(in, arch, &data, &out->len, &why, e);
    out->data = data;
    if (why)
        note_line("no image of kernel %s for %s: %s", in->kernel->name, arch, why);
    mem_free(why);
    return s;
}

/* The PTX of what was tuned for its GPU alone (sm_90a); without it where it needs what that GPU alone has. */
static status compile_later(struct export_variant *v, struct err *e)
{
    char *data = NULL, *why = NULL;
    status s = export_image_later(v->in, v->ptx_sm, &data, &v->ptx.len, &why, e);
    v->ptx.data = data;
    if (why)
        note_line("no PTX of kernel %s for GPUs newer than %s: %s", v->in->kernel->name, v->in->target->name, why);
    mem_free(why);
    return s;
}

/* Tuned on a GPU: a cubin, and PTX for newer ones. Tuned elsewhere: PTX. */
static status compile_variant(struct export_variant *v, int ptx_sm, struct err *e)
{
    const struct target *t = v->in->target;
    char arch[24];
    status s = LATHE_OK;
    bool gpu = strcmp(t->arch, "host") != 0 && !v->fallback;
    v->ptx_sm = gpu ? (int)t->limit[LIMIT_sm] : ptx_sm;
    if (gpu)
        s = compile(v->in, t->arch, &v->cubin, e);
    if (s != LATHE_OK)
        return s;
    if (gpu && export_for_that_gpu_alone(t))
        return v->cubin.data ? compile_later(v, e) : LATHE_OK;
    snprintf(arch, sizeof arch, "compute_%d", v->ptx_sm);
    return compile(v->in, arch, &v->ptx, e);
}

static int oldest(const struct export_set *set)
{
    int sm = OLDEST;
    for (int i = 0; i < set->n; i++) {
        int of = (int)set->trials[i]->stored.target.limit[LIMIT_sm];
        sm = of > 0 && of < sm ? of : sm;
    }
    return sm;
}

/* Fills set->variants with those that have an image, the fallback last. */
static status compile_all(struct export_set *set, const struct export_input *fallback, struct err *e)
{
    int sm = oldest(set);
    status s = LATHE_OK;
    set->variants = mem_zalloc((size_t)set->n + 2, sizeof *set->variants);
    for (int i = 0; i <= set->n && s == LATHE_OK; i++) {
        struct export_variant *v = &set->variants[set->nvariants];
        if (i == set->n && !fallback)
            break;
        *v = (struct export_variant){.in = i < set->n ? &set->trials[i]->in : fallback, .fallback = i == set->n};
        s = compile_variant(v, sm, e);
        set->nvariants += v->cubin.data || v->ptx.data;
    }
    if (s == LATHE_OK && (set->nvariants == 0 || set->variants[0].fallback))
        s = err_set(e, LATHE_COMPILER, "none of the %d configurations compiles: what is said above says why", set->n);
    return s;
}

/* --- all of it --- */

/* NOTE: a failure to make the fallback is no failure of the export: sizes are refused then. */
status export_set_open(struct query *q, const struct selection *sel, int64_t trial, const char *name,
                       struct export_set *set, struct err *e)
{
    struct err why = {0};
    *set = (struct export_set){.seen = json_object(), .left_out = json_object()};
    status s = find_trials(set, q, sel, trial, name, e);
    if (s == LATHE_OK) {
        const struct export_input *first = &set->trials[0]->in;
        bool have = export_fallback_open(first, &set->fallback, &why) == LATHE_OK &&
                    export_c_serves(set->fallback.in.kernel);
        if (!have)
            note_line("no plain kernel for other sizes: %s", why.text[0] ? why.text : "the reference calls cuBLAS");
        s = compile_all(set, have ? &set->fallback.in : NULL, e);
    }
    if (s != LATHE_OK)
        export_set_close(set);
    return s;
}

void export_set_tell(const struct export_set *set, const char *files)
{
    bool fallback = set->variants[set->nvariants - 1].fallback;
    int n = set->nvariants - fallback;
    note_line("wrote %s: %d configuration%s%s", files, n, n == 1 ? "" : "s",
              fallback ? ", and a plain kernel for every other size" : "; sizes that these do not serve are refused");
    for (int i = 0; i < set->n; i++) {
        char *where = place(set->trials[i]->trial);
        note_line("  trial %lld: kernel %s, %s", (long long)tree_int(set->trials[i]->trial, "id"),
                  set->trials[i]->in.kernel->name, where);
        mem_free(where);
    }
}

void export_set_warn(const struct export_set *set)
{
    for (int i = 0; i < set->n; i++)
        export_warn_no_final(set->trials[i]->trial);
}

void export_set_close(struct export_set *set)
{
    for (int i = 0; i < set->n + 1 && set->variants; i++) {
        mem_free((char *)set->variants[i].cubin.data);
        mem_free((char *)set->variants[i].ptx.data);
    }
    for (int i = 0; i < set->n; i++) {
        export_trial_close(set->trials[i]);
        mem_free(set->trials[i]);
    }
    export_fallback_close(&set->fallback);
    mem_free(set->trials);
    mem_free(set->variants);
    json_decref(set->seen);
    json_decref(set->left_out);
    *set = (struct export_set){0};
}
