/* space_explain.c: `lathe space --explain`: needs no space, only the kernel's rules and the target's limits. */
#include "base/mem.h"
#include "cli/output.h"
#include "cli/space_view.h"
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

/* The kernel that --explain is about: the one named, or the only one that has all the parameters. */
static status explained_kernel(const struct problem *p, const struct space_args *args, const struct kernel **out,
                               struct err *e)
{
    struct strbuf fitting = {0}, all = {0};
    const struct kernel *last = NULL;
    int fits = 0, n = 0;
    for (int i = 0; i < p->nkernels; i++) {
        const struct kernel *k = &p->kernels[i];
        if (!view_wants(k, args))
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
        s = err_set(e, LATHE_USAGE,
                    "--explain: no kernel has all the parameters of '%.300s'\ngive --kernel with one of: %.800s",
                    args->explain, sb_str(&all));
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
