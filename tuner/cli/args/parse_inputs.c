/* parse_inputs.c: see parse_inputs.h. */
#include "cli/args/parse_inputs.h"
#include "base/mem.h"
#include <string.h>

status parse_inputs(const char *name, enum inputs *out, struct err *e)
{
    int i = inputs_parse(name);
    if (i >= 0) {
        *out = (enum inputs)i;
        return LATHE_OK;
    }
    const char *names[INPUTS_COUNT];
    struct strbuf all = {0};
    for (int k = 0; k < INPUTS_COUNT; k++) {
        names[k] = inputs_name((enum inputs)k);
        sb_addf(&all, "%s%s", k ? ", " : "", names[k]);
    }
    const char *near = nearest_word(name, names, INPUTS_COUNT);
    err_set(e, LATHE_USAGE, "--inputs: there is no class '%.100s'\n%s%s%sthere are: %s", name,
            near ? "did you mean '" : "", near ? near : "", near ? "'? " : "", sb_str(&all));
    sb_free(&all);
    return LATHE_USAGE;
}

static bool listed(const enum inputs *list, int n, enum inputs i)
{
    for (int k = 0; k < n; k++)
        if (list[k] == i)
            return true;
    return false;
}

status parse_inputs_list(const struct text_list *texts, enum inputs out[INPUTS_COUNT], int *n, struct err *e)
{
    status s = LATHE_OK;
    *n = 0;
    for (int t = 0; t < texts->count && s == LATHE_OK; t++) {
        char *copy = mem_strdup(texts->items[t]), *rest = copy;
        for (char *name; s == LATHE_OK && (name = strsep(&rest, ","));) {
            enum inputs i = INPUTS_default;
            s = parse_inputs(name, &i, e);
            if (s == LATHE_OK && !listed(out, *n, i))
                out[(*n)++] = i;
        }
        mem_free(copy);
    }
    for (int i = 0; !texts->count && i < INPUTS_COUNT; i++)
        out[(*n)++] = (enum inputs)i;
    return s;
}

status inputs_of_problem(const struct problem *p, bool named, enum inputs *list, int *n, struct err *e)
{
    int kept = 0;
    if (problem_has_check(p))
        return LATHE_OK;
    for (int i = 0; i < *n; i++) {
        if (list[i] != INPUTS_check)
            list[kept++] = list[i];
        else if (named)
            return err_set(e, LATHE_USAGE, "--inputs check: no tensor of %s has `check = ...` in its specification",
                           p->name);
    }
    *n = kept;
    return LATHE_OK;
}

void inputs_help(struct help *h)
{
    help_heading(h, "classes of inputs (--inputs)");
    for (int i = 0; i < INPUTS_COUNT; i++)
        help_row(h, inputs_name((enum inputs)i), inputs_text((enum inputs)i));
}

status parse_objective(const char *text, enum objective *out, struct err *e)
{
    static const char *const names[] = {"time", "energy"};
    int o = objective_parse(text);
    const char *near = o < 0 ? nearest_word(text, names, 2) : NULL;
    *out = (enum objective)(o < 0 ? 0 : o);
    return o >= 0 ? LATHE_OK
                  : err_set(e, LATHE_USAGE, "--objective: '%.100s' is not an objective%s%s%s\nexpected time or energy",
                            text, near ? "\ndid you mean " : "", near ? near : "", near ? "?" : "");
}

status parse_delays(const char *text, enum delays *out, struct err *e)
{
    int d = delays_parse(text);
    *out = (enum delays)(d < 0 ? DELAYS_AUTO : d);
    return d >= 0 ? LATHE_OK : err_set(e, LATHE_USAGE, "--delays: expected auto, yes or no, not '%.100s'", text);
}
