/* space_explain.c: `lathe space --explain`. A whole configuration needs no space, only the kernel's rules and the
 * target's limits. Of a part of one, the space in which the given parameters have their one value says what is
 * valid. */
#include "base/mem.h"
#include "console/output.h"
#include "cli/space/space_view.h"
#include <string.h>

/* Does the kernel have every parameter that "A=1,B=2" names? */
static bool has_names(const struct kernel *k, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "=, "), whole = strcspn(text, ", ");
        bool has = len == 0;
        for (int i = 0; i < k->nparams && !has; i++)
            has = strlen(k->params[i].name) == len && !memcmp(k->params[i].name, text, len);
        if (!has)
            return false;
        text += whole;
        text += strspn(text, ", ");
    }
    return true;
}

/* The first name that no kernel has, and what it is nearest to of all that they have. */
static const char *near_unknown(const struct problem *p, const struct space_args *args, char **unknown)
{
    struct text_list names = {0};
    for (int i = 0; i < p->nkernels; i++)
        for (int k = 0; view_wants(&p->kernels[i], args) && k < p->kernels[i].nparams; k++) {
            MEM_GROW(names.items, names.count, names.cap);
            names.items[names.count++] = p->kernels[i].params[k].name; /* borrowed */
        }
    const char *near = NULL;
    for (const char *at = args->explain; *at && !*unknown; at += strspn(at, ", ")) {
        char *name = mem_printf("%.*s", (int)strcspn(at, "=, "), at);
        bool known = !*name;
        for (int i = 0; i < names.count; i++)
            known = known || !strcmp(names.items[i], name);
        at += strcspn(at, ", ");
        if (known) {
            mem_free(name);
            continue;
        }
        near = nearest_word(name, (const char *const *)names.items, names.count);
        *unknown = name;
    }
    mem_free(names.items);
    return near;
}

static status no_kernel(const struct problem *p, const struct space_args *args, const char *all, struct err *e)
{
    char *unknown = NULL;
    const char *near = near_unknown(p, args, &unknown);
    status s = err_set(e, LATHE_USAGE, "--explain: no kernel has %s '%.300s'%s%s%s\ngive --kernel with one of: %.800s",
                       unknown ? "a parameter" : "all the parameters of", unknown ? unknown : args->explain,
                       near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", all);
    mem_free(unknown);
    return s;
}

/* The kernel that --explain is about: the one named, or the only one that has all the parameters. */
static status explained_kernel(const struct problem *p, const struct space_args *args, const struct kernel **out,
                               struct err *e)
{
    struct strbuf fitting = {0}, all = {0};
    const struct kernel *last = NULL;
    int fits = 0, n = 0;
    for (int i = 0; i < p->nkernels; i++) {
        const struct kernel *k = &p->kernels[i];
        if (!view_wants(k, args) || k->left_out)
            continue;
        last = k;
        sb_addf(&all, "%s%s", n++ ? ", " : "", k->name);
        if (!has_names(k, args->explain))
            continue;
        *out = k;
        sb_addf(&fitting, "%s%s", fits++ ? ", " : "", k->name);
    }
    status s = LATHE_OK;
    if (n == 1) /* no choice: config_from_text says what is wrong with a name */
        *out = last;
    else if (fits == 0)
        s = no_kernel(p, args, sb_str(&all), e);
    else if (fits > 1)
        s = err_set(e, LATHE_USAGE,
                    "--explain: several kernels have the parameters of '%.300s'\ngive --kernel with one of: %.800s",
                    args->explain, sb_str(&fitting));
    sb_free(&fitting);
    sb_free(&all);
    return s;
}

static void explain_text(const struct kernel *k, const struct value *slots, const config_choice *choice, bool valid,
                         const char *why, const char *target, struct strbuf *b)
{
    sb_addf(b, "%s ", k->name);
    config_print(b, k, slots, choice);
    sb_addf(b, "\n%s on %s\n", valid ? "valid" : "refused", target);
    if (!valid)
        sb_addf(b, "%s\n", why);
    for (int i = 0; i < k->nlets; i++) {
        sb_addf(b, "  %s = %s = ", k->lets[i].name, expr_text(k->lets[i].expr));
        value_print(b, slots[k->first_let + i]);
        sb_add(b, "\n");
    }
}

/* slots are complete; prints the verdict. */
static status print_verdict(const struct view *v, const struct kernel *k, const struct value *slots,
                            const config_choice *choice, bool json, struct err *e)
{
    struct strbuf why = {0}, b = {0};
    bool valid = kernel_allows(k, slots, &why);
    status s;
    if (json) {
        json_t *j =
            json_pack("{s:s, s:o, s:b, s:s, s:s}", "kernel", k->name, "configuration", config_to_json(k, slots, choice),
                      "valid", (int)valid, "reason", sb_str(&why), "target", v->target.name);
        s = out_json(j, e);
        json_decref(j);
    } else {
        explain_text(k, slots, choice, valid, sb_str(&why), v->target_text, &b);
        s = out_report(&b, e);
    }
    sb_free(&why);
    return s == LATHE_OK && !valid ? err_set(e, LATHE_NOTHING, "%s", "") : s;
}

/* The choices that the text gives, -1 for the others; false where a pair is none of the kernel's, or is given twice. */
static bool read_part(const struct kernel *k, const char *text, int *choice, int *given)
{
    char *copy = mem_strdup(text), *rest = copy;
    bool right = true;
    *given = 0;
    for (int i = 0; i < k->nparams; i++)
        choice[i] = -1;
    for (char *pair; right && (pair = strtok_r(rest, " ,\t\n", &rest)); ++*given) {
        char *equals = strchr(pair, '=');
        right = false;
        for (int i = 0; equals && i < k->nparams; i++) {
            const struct param *p = &k->params[i];
            if (strlen(p->name) != (size_t)(equals - pair) || memcmp(p->name, pair, strlen(p->name)) || choice[i] >= 0)
                continue;
            for (int v = 0; v < p->nvalues; v++)
                if (value_equal(p->values[v], param_read_value(p, equals + 1)))
                    choice[i] = v;
            right = choice[i] >= 0;
        }
    }
    mem_free(copy);
    return right;
}

/* The kernel with the given parameters active and at their one value. Shallow: free params and constraints only. */
static struct kernel restricted(const struct kernel *k, const int *choice)
{
    struct kernel r = *k;
    r.params = mem_alloc((size_t)(k->nparams + 1) * sizeof *r.params);
    r.constraints = mem_alloc((size_t)(k->nparams + k->nconstraints + 1) * sizeof *r.constraints);
    r.nconstraints = 0;
    for (int i = 0; i < k->nparams; i++) {
        r.params[i] = k->params[i];
        if (choice[i] < 0)
            continue;
        r.params[i].values += choice[i];
        r.params[i].nvalues = 1;
        if (k->params[i].when)
            r.constraints[r.nconstraints++] =
                (struct constraint){.expr = k->params[i].when, .reason = "else a parameter given is not used"};
    }
    for (int i = 0; i < k->nconstraints; i++)
        r.constraints[r.nconstraints++] = k->constraints[i];
    return r;
}

static status print_part(const struct view *v, const struct kernel *k, const int *choice, const struct space *space,
                         const char *why, bool json, struct err *e)
{
    struct strbuf b = {0}, open = {0};
    json_t *given = json_object();
    for (int i = 0; i < k->nparams; i++)
        if (choice[i] < 0)
            sb_addf(&open, "%s%s", open.len ? ", " : "", k->params[i].name);
        else
            json_object_set_new(given, k->params[i].name, value_to_json(k->params[i].values[choice[i]]));
    long long members = space ? (long long)space_size(space) : 0;
    status s;
    if (json) {
        json_t *j = json_pack("{s:s, s:O, s:b, s:I, s:s, s:s}", "kernel", k->name, "configuration", given, "valid",
                              (int)(members > 0), "members", (json_int_t)members, "reason", members ? "" : why,
                              "target", v->target.name);
        s = out_json(j, e);
        json_decref(j);
    } else {
        sb_addf(&b, "%s", k->name);
        for (int i = 0; i < k->nparams; i++)
            if (choice[i] >= 0) {
                sb_addf(&b, " %s=", k->params[i].name);
                value_print(&b, k->params[i].values[choice[i]]);
            }
        sb_addf(&b, "; open: %s\n", sb_str(&open));
        if (members)
            sb_addf(&b, "%lld of %.0f combinations valid on %s\n", members, space_cartesian(space), v->target_text);
        else
            sb_addf(&b, "refused on %s\n", v->target_text);
        sb_addf(&b, "%s%s", why, !*why || why[strlen(why) - 1] == '\n' ? "" : "\n");
        s = out_report(&b, e);
    }
    json_decref(given);
    sb_free(&open);
    return s;
}

static status explain_part(const struct view *v, const struct kernel *k, const int *choice, bool json, struct err *e)
{
    struct kernel r = restricted(k, choice);
    struct space *space = NULL;
    struct strbuf why = {0};
    struct err empty = {0};
    status s = space_open(v->problem, &r, &v->target, &space, &empty);
    if (s == LATHE_OK)
        space_refusals(space, &why);
    else if (s == LATHE_NOTHING)
        sb_add(&why, empty.text);
    else
        *e = empty;
    if (s == LATHE_OK || s == LATHE_NOTHING) {
        status printed = print_part(v, k, choice, s == LATHE_OK ? space : NULL, sb_str(&why), json, e);
        s = printed != LATHE_OK ? printed : s == LATHE_NOTHING ? err_set(e, LATHE_NOTHING, "%s", "") : LATHE_OK;
    }
    if (space)
        space_close(space);
    sb_free(&why);
    mem_free(r.params);
    mem_free(r.constraints);
    return s;
}

status space_explain_run(const struct view *v, const struct space_args *args, struct err *e)
{
    const struct kernel *k = NULL;
    status s = explained_kernel(v->problem, args, &k, e);
    if (s != LATHE_OK)
        return s;
    config_choice *choice = mem_zalloc((size_t)k->nparams + 1, sizeof *choice);
    struct value *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *slots);
    kernel_slots_fixed(v->problem, k, &v->target, slots);
    s = config_from_text(k, args->explain, choice, e);
    int *part = mem_alloc((size_t)(k->nparams + 1) * sizeof *part), given;
    if (s == LATHE_USAGE && read_part(k, args->explain, part, &given) && given > 0) {
        s = explain_part(v, k, part, args->json, e); /* nothing is wrong with what there is: some is missing */
        mem_free(part);
        mem_free(slots);
        mem_free(choice);
        return s;
    }
    mem_free(part);
    if (s != LATHE_OK)
        err_prefix(e, "--explain: kernel %s", k->name);
    if (s == LATHE_OK)
        s = kernel_slots_config(k, choice, slots, e);
    if (s == LATHE_OK)
        s = print_verdict(v, k, slots, choice, args->json, e);
    mem_free(slots);
    mem_free(choice);
    return s;
}
