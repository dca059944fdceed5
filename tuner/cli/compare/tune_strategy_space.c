/* tune_strategy_space.c: see tune_strategy.h: what a strategy declares, as a problem that is a space alone. */
#include "base/hash.h"
#include "base/mem.h"
#include "cli/compare/tune_strategy.h"
#include "console/output.h"
#include "search/strategy/strategy_grid.h"
#include <ctype.h>
#include <string.h>

static status read_script(struct options_space *s, struct space *any, struct err *e)
{
    struct strategy *strategy;
    char hash[HASH_HEX];
    status st = strategy_open(s->name, NULL, 0, &any, 1, 1, &strategy, e);
    if (st)
        return st;
    hash_hex(strategy_text(strategy), strlen(strategy_text(strategy)), hash);
    s->script = mem_printf("%s (script %.8s)", strategy_name(strategy), hash);
    strategy_close(strategy);
    return LATHE_OK;
}

static status unknown_option(const struct options_space *s, const char *given, struct err *e)
{
    struct strbuf names = {0};
    const char *words[STRATEGY_OPTIONS_MAX];
    char *name = mem_printf("%.*s", (int)strcspn(given, "="), given);
    for (int i = 0; i < s->ndeclared; i++) {
        words[i] = s->declared[i].name;
        sb_addf(&names, "%s%s", i ? ", " : "", words[i]);
    }
    const char *near = strchr(given, '=') ? nearest_word(name, words, s->ndeclared) : NULL;
    err_set(e, LATHE_USAGE, "--values %.200s: %s has the options %s%s%s%s\nexpected NAME=V,V,...", given, s->name,
            sb_str(&names), near ? "\ndid you mean " : "", near ? near : "", near ? "?" : "");
    mem_free(name);
    sb_free(&names);
    return LATHE_USAGE;
}

/* Whether "NAME=..." is of this option. */
static bool is_of(const char *given, const struct strategy_option *o)
{
    size_t n = strlen(o->name);
    return !strncmp(given, o->name, n) && given[n] == '=';
}

static status check_values(const struct options_space *s, struct err *e)
{
    for (int i = 0; i < s->values->count; i++) {
        bool known = false;
        for (int k = 0; k < s->ndeclared; k++)
            known = known || is_of(s->values->items[i], &s->declared[k]);
        if (!known)
            return unknown_option(s, s->values->items[i], e);
    }
    return LATHE_OK;
}

status options_space_open(struct options_space *s, const char *name, const struct text_list *values, struct space *any,
                          struct err *e)
{
    *s = (struct options_space){.name = name, .values = values};
    status st = read_script(s, any, e);
    if (st)
        return st;
    int n = strategy_declared_options(name, s->declared, STRATEGY_OPTIONS_MAX);
    if (n < 1)
        return err_set(e, LATHE_USAGE, "the strategy %s has no options: nothing can be tuned", name);
    if (n > STRATEGY_OPTIONS_MAX)
        return err_set(e, LATHE_USAGE, "the strategy %s has more than %d options", name, STRATEGY_OPTIONS_MAX);
    s->ndeclared = n;
    return check_values(s, e);
}

/* What --values says of an option, which it names once at most: the text after its "NAME=", or NULL. */
static const char *values_of(const struct options_space *s, const struct strategy_option *o)
{
    for (int i = 0; i < s->values->count; i++)
        if (is_of(s->values->items[i], o))
            return strchr(s->values->items[i], '=') + 1;
    return NULL;
}

static status make_params(const struct options_space *s, json_t *params, struct err *e)
{
    for (int i = 0; i < s->ndeclared; i++) {
        const struct strategy_option *o = &s->declared[i];
        const char *given = values_of(s, o);
        json_t *values = given ? NULL : strategy_grid(o);
        if (given && strategy_grid_given(o, given, &values, e))
            return err_prefix(e, "--values");
        json_array_append_new(params, json_pack("[s, o]", o->name, values));
    }
    return LATHE_OK;
}

/* "options_of_gp": a word that a problem may be called. */
static char *problem_name(const char *strategy)
{
    enum { NAME = 40 };
    struct strbuf b = {0};
    const char *slash = strrchr(strategy, '/');
    sb_add(&b, "options_of_");
    for (const char *c = slash ? slash + 1 : strategy; *c && *c != '.' && b.len < NAME; c++)
        sb_addf(&b, "%c", isalnum((unsigned char)*c) ? *c : '_');
    return sb_take(&b);
}

status options_space_problem(struct options_space *s, const char *objective, struct err *e)
{
    json_t *params = json_array();
    char *name = problem_name(s->name), *summary = mem_printf("options of the strategy %s by %s", s->script, objective);
    status st = make_params(s, params, e);
    if (!st) {
        json_t *tree =
            json_pack("{s:s, s:s, s:o, s:O}", "tag", "space", "name", name, "summary", out_string(summary), "params",
                      params);
        st = problem_from_json(tree, s->name, NULL, &s->problem, e);
        json_decref(tree);
    }
    json_decref(params);
    mem_free(name);
    mem_free(summary);
    return st;
}

void options_space_close(struct options_space *s)
{
    problem_free(s->problem);
    mem_free(s->script);
    *s = (struct options_space){0};
}

void options_space_text(const struct options_space *s, const struct kernel *k, const config_choice *choice,
                        struct strbuf *b)
{
    sb_add(b, s->name);
    for (int i = 0; i < s->ndeclared; i++) {
        sb_addf(b, "%s%s=", i ? "," : ":", s->declared[i].name);
        if (choice)
            value_print(b, k->params[i].values[choice[i]]);
        else
            sb_add(b, s->declared[i].text_default);
    }
}
