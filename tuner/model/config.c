/* config.c: configurations: copies, texts, reading them back, and the values that formulas see for them.
 *
 * Invariant: in what config_from_* make, a parameter known to be inactive has choice 0. */
#include "model/config.h"

#include "base/mem.h"
#include <string.h>

config_choice *config_copy(const struct kernel *k, const config_choice *c)
{
    config_choice *copy = mem_zalloc((size_t)k->nparams, sizeof *copy);
    if (k->nparams)
        memcpy(copy, c, (size_t)k->nparams * sizeof *copy);
    return copy;
}

bool config_equal(const struct kernel *k, const config_choice *a, const config_choice *b)
{
    return k->nparams == 0 || memcmp(a, b, (size_t)k->nparams * sizeof *a) == 0;
}

bool param_active(const struct kernel *k, int param, const struct value *slots)
{
    const struct expr *when = k->params[param].when;
    bool active = true;
    if (when && expr_eval_bool(when, slots, &active, NULL))
        return false;
    return active;
}

void config_normalise(const struct kernel *k, const struct value *slots, config_choice *c)
{
    for (int i = 0; i < k->nparams; i++)
        if (!param_active(k, i, slots))
            c[i] = 0;
}

void config_print(struct strbuf *b, const struct kernel *k, const struct value *slots, const config_choice *c)
{
    bool first = true;
    for (int i = 0; i < k->nparams; i++) {
        if (!param_active(k, i, slots))
            continue;
        sb_addf(b, "%s%s=", first ? "" : " ", k->params[i].name);
        value_print(b, k->params[i].values[c[i]]);
        first = false;
    }
}

json_t *value_to_json(struct value v)
{
    switch (v.type) {
    case VALUE_BOOL: return json_boolean(v.b);
    case VALUE_INT: return json_integer(v.i);
    case VALUE_FLOAT: return json_real(v.f);
    case VALUE_STRING: return json_string(v.s);
    case VALUE_NONE: break;
    }
    return json_null();
}

json_t *config_to_json(const struct kernel *k, const struct value *slots, const config_choice *c)
{
    json_t *j = json_object();
    for (int i = 0; i < k->nparams; i++)
        if (param_active(k, i, slots))
            json_object_set_new(j, k->params[i].name, value_to_json(k->params[i].values[c[i]]));
    return j;
}

/* Reading one: which parameters were given so far. */
struct config_reader {
    const struct kernel *k;
    config_choice *c;
    bool *given;
    struct err *e;
};

static void add_values(struct strbuf *b, const struct param *p)
{
    enum { SHOWN = 20 };
    for (int i = 0; i < p->nvalues && i < SHOWN; i++) {
        sb_add(b, i ? ", " : "");
        value_print(b, p->values[i]);
    }
    if (p->nvalues > SHOWN)
        sb_addf(b, ", ... (%d values)", p->nvalues);
}

static status unknown_param(const struct config_reader *r, const char *name)
{
    const struct kernel *k = r->k;
    const char **names = mem_zalloc((size_t)k->nparams, sizeof *names);
    struct strbuf list = {0};
    for (int i = 0; i < k->nparams; i++) {
        names[i] = k->params[i].name;
        sb_addf(&list, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = nearest_word(name, names, k->nparams);
    status s = err_set(r->e, LATHE_USAGE, "kernel %s has no parameter '%.60s'%s%s%s; it has %s", k->name, name,
                       near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "",
                       k->nparams ? sb_str(&list) : "none");
    mem_free(names);
    sb_free(&list);
    return s;
}

static int find_param(const struct kernel *k, const char *name)
{
    for (int i = 0; i < k->nparams; i++)
        if (strcmp(k->params[i].name, name) == 0)
            return i;
    return -1;
}

static status set_value(struct config_reader *r, const char *name, struct value v)
{
    const struct kernel *k = r->k;
    int param = find_param(k, name);
    if (param < 0)
        return unknown_param(r, name);
    if (r->given[param])
        return err_set(r->e, LATHE_USAGE, "parameter %s is given twice", name);
    const struct param *p = &k->params[param];
    for (int i = 0; i < p->nvalues; i++)
        if (value_equal(p->values[i], v)) {
            r->c[param] = (config_choice)i;
            r->given[param] = true;
            return LATHE_OK;
        }
    struct strbuf b = {0}, list = {0};
    value_print(&b, v);
    add_values(&list, p);
    status s = err_set(r->e, LATHE_USAGE, "%s=%.60s: not a value of %s; expected one of %s", name, sb_str(&b), name,
                       sb_str(&list));
    sb_free(&b);
    sb_free(&list);
    return s;
}

/* Whether a parameter is active as far as other parameters decide it: 1, 0, or -1 where sizes or limits do. */
static int active_by_params(const struct kernel *k, int param, const struct value *slots)
{
    const struct expr *when = k->params[param].when;
    for (int i = 0; when && i < k->first_param; i++)
        if (expr_uses(when, i))
            return -1;
    return param_active(k, param, slots);
}

/* Refuses missing parameters, and settles those that are inactive. */
static status finish(struct config_reader *r)
{
    const struct kernel *k = r->k;
    struct value *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *slots);
    status s = LATHE_OK;
    for (int i = 0; i < k->nparams && !s; i++) {
        const struct param *p = &k->params[i];
        int active = active_by_params(k, i, slots);
        if (active == 0)
            r->c[i] = 0;
        if (active == 1 && !r->given[i]) {
            struct strbuf list = {0};
            add_values(&list, p);
            s = err_set(r->e, LATHE_USAGE, "parameter %s of kernel %s is missing: give it one of %s", p->name, k->name,
                        sb_str(&list));
            sb_free(&list);
        }
        slots[k->first_param + i] = p->values[r->c[i]];
    }
    mem_free(slots);
    return s;
}

static struct config_reader start(const struct kernel *k, config_choice *c, struct err *e)
{
    for (int i = 0; i < k->nparams; i++)
        c[i] = 0;
    return (struct config_reader){.k = k, .c = c, .given = mem_zalloc((size_t)k->nparams, sizeof(bool)), .e = e};
}

bool value_from_json(const json_t *j, struct value *v)
{
    if (json_is_integer(j))
        *v = value_int(json_integer_value(j));
    else if (json_is_real(j))
        *v = value_float(json_real_value(j));
    else if (json_is_boolean(j))
        *v = value_bool(json_is_true(j));
    else if (json_is_string(j))
        *v = value_string(json_string_value(j));
    else
        return false;
    return true;
}

status config_from_json(const struct kernel *k, const json_t *j, config_choice *c, struct err *e)
{
    const char *name;
    json_t *item;
    struct value v;
    if (!json_is_object(j))
        return err_set(e, LATHE_USAGE, "a configuration of kernel %s: expected an object of parameters and values",
                       k->name);
    struct config_reader r = start(k, c, e);
    status s = LATHE_OK;
    json_object_foreach((json_t *)j, name, item) {
        if (value_from_json(item, &v))
            s = set_value(&r, name, v);
        else
            s = err_set(e, LATHE_USAGE, "%.60s: expected a number, a text, true or false", name);
        if (s)
            break;
    }
    if (!s)
        s = finish(&r);
    mem_free(r.given);
    return s;
}

status config_from_text(const struct kernel *k, const char *text, config_choice *c, struct err *e)
{
    static const char separators[] = " ,\t\n";
    struct config_reader r = start(k, c, e);
    char *copy = mem_strdup(text), *rest = copy;
    status s = LATHE_OK;
    for (char *pair; !s && (pair = strtok_r(rest, separators, &rest));) {
        char *equals = strchr(pair, '=');
        if (!equals || equals == pair) {
            s = err_set(e, LATHE_USAGE, "'%.60s': expected NAME=VALUE, as in BM=128,BN=64", pair);
            break;
        }
        *equals = 0;
        int param = find_param(k, pair);
        s = set_value(&r, pair, param < 0 ? value_read(equals + 1) : param_read_value(&k->params[param], equals + 1));
    }
    if (!s)
        s = finish(&r);
    mem_free(copy);
    mem_free(r.given);
    return s;
}

void kernel_slots_fixed(const struct problem *p, const struct kernel *k, const struct target *t, struct value *slots)
{
    problem_slots(p, slots);
    for (int i = 0; i < LIMIT_COUNT && !p->space_alone; i++)
        slots[k->first_limit + i] = value_int(t->limit[i]);
}

status kernel_slots_config(const struct kernel *k, const config_choice *c, struct value *slots, struct err *e)
{
    for (int i = 0; i < k->nparams; i++) {
        const struct param *p = &k->params[i];
        bool active = true;
        status s = p->when ? expr_eval_bool(p->when, slots, &active, e) : LATHE_OK;
        if (s) {
            err_prefix(e, "kernel %s: parameter %s: when", k->name, p->name);
            return s;
        }
        slots[k->first_param + i] = p->values[active ? c[i] : 0];
    }
    for (int i = 0; i < k->nlets; i++) {
        status s = expr_eval(k->lets[i].expr, slots, &slots[k->first_let + i], e);
        if (s) {
            err_prefix(e, "kernel %s: let %s", k->name, k->lets[i].name);
            return s;
        }
    }
    return LATHE_OK;
}

void constraint_reason(struct strbuf *b, const struct constraint *c)
{
    if (c->reason)
        sb_addf(b, " (%s%s)", c->search ? "right, but kept from the search: " : "", c->reason);
}

static bool holds(const struct constraint *c, const struct value *slots, const char *what, struct strbuf *why)
{
    struct err e;
    bool yes = false;
    if (expr_eval_bool(c->expr, slots, &yes, &e)) {
        sb_addf(why, "%s%s", what, e.text);
    } else if (!yes) {
        sb_add(why, what);
        expr_explain(why, c->expr, slots);
    } else {
        return true;
    }
    constraint_reason(why, c);
    return false;
}

bool kernel_allows(const struct kernel *k, const struct value *slots, struct strbuf *why)
{
    for (int i = 0; i < k->nrequires; i++)
        if (!holds(&k->requires[i], slots, "requires ", why))
            return false;
    for (int i = 0; i < k->nconstraints; i++)
        if (!holds(&k->constraints[i], slots, "", why))
            return false;
    return true;
}

bool kernel_runs_on(const struct problem *p, const struct kernel *k, const struct target *t, struct strbuf *why)
{
    struct value *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *slots);
    bool runs = true;
    kernel_slots_fixed(p, k, t, slots);
    for (int i = 0; i < k->nrequires && runs; i++)
        runs = holds(&k->requires[i], slots, "", why);
    mem_free(slots);
    return runs;
}
