/* complete_values.c: the values that an option or an argument may have, as far as they are known or quickly asked for.
 * What fails here offers nothing: nobody wants an error at the tab key. */
#include "cli/complete.h"
#include "base/mem.h"
#include "cli/args/find_spec.h"
#include "cli/args/select.h"
#include "db/query.h"
#include "model/inputs.h"
#include "model/target.h"
#include "search/strategy/strategy.h"
#include <dirent.h>
#include <string.h>

enum { MAX_OPTIONS = 32 };

static void campaigns(struct completion *c);

static void files(struct completion *c)
{
    sb_add(&c->out, ":file\n");
}

static void folders(struct completion *c)
{
    sb_add(&c->out, ":folder\n");
}

void complete_behind(struct completion *c, char stop)
{
    const char *last = strrchr(c->word, stop);
    if (!last)
        return;
    size_t len = (size_t)(last + 1 - c->word);
    c->before = c->before_len ? c->before : c->word;
    c->before_len += len;
    c->word += len;
}

void complete_words(struct completion *c, const char *list)
{
    for (const char *s = list; *s;) {
        size_t len = strcspn(s, "|");
        char *word = mem_printf("%.*s", (int)len, s);
        complete_offer(c, word, NULL);
        mem_free(word);
        s += len + (s[len] == '|');
    }
}

static void commands(struct completion *c)
{
    for (const struct command *const *all = cli_commands(); *all; all++)
        complete_offer(c, (*all)->name, (*all)->summary);
}

static void specifications(struct completion *c)
{
    struct text_list dirs = {0}, names = {0};
    spec_directories(c->cli->self, &dirs);
    for (int i = 0; i < dirs.count; i++)
        spec_names(dirs.items[i], &names);
    for (int i = 0; i < names.count; i++)
        complete_offer(c, names.items[i], "a specification");
    text_list_free(&names);
    text_list_free(&dirs);
    files(c);
}

/* The driver lists its GPUs there; asking the driver itself would take a second. */
static void gpus(struct completion *c)
{
    DIR *d = opendir("/proc/driver/nvidia/gpus");
    int n = 0;
    for (struct dirent *x; d && (x = readdir(d));)
        n += *x->d_name != '.';
    if (d)
        closedir(d);
    for (int i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "cuda:%d", i);
        complete_offer(c, name, "a GPU");
    }
}

static void devices(struct completion *c)
{
    complete_behind(c, ',');
    complete_offer(c, "host", "this machine's processor");
    gpus(c);
    if (!strcmp(c->command->name, "tune")) {
        complete_offer(c, "cuda:all", "every GPU");
        complete_offer(c, "replay:", "a recording");
        complete_offer(c, "mpi:all", "every rank of an MPI job");
        complete_offer(c, "mpi:", "a rank of an MPI job, by its number");
    }
}

static void targets(struct completion *c)
{
    for (int i = 0; target_known(i); i++)
        complete_offer(c, target_known(i), NULL);
    if (!strcmp(c->command->name, "space"))
        gpus(c);
}

static void inputs(struct completion *c)
{
    complete_behind(c, ',');
    for (int i = 0; i < INPUTS_COUNT; i++)
        complete_offer(c, inputs_name((enum inputs)i), inputs_text((enum inputs)i));
}

static void strategies(struct completion *c)
{
    for (int i = 0; i < strategy_count(); i++)
        complete_offer(c, strategy_name_at(i), strategy_summary_at(i));
    files(c);
}

/* What `lathe compare` and `lathe tune-strategy` have as arguments. */
static void names(struct completion *c)
{
    if (!strcmp(c->command->name, "compare"))
        campaigns(c);
    strategies(c);
}

static void strategy_list(struct completion *c)
{
    complete_behind(c, ',');
    strategies(c);
}

/* The one that the words before name, or the command's default. */
static const char *strategy_named(const struct completion *c)
{
    for (const struct option_row *r = c->command->options; r->name && !c->strategy; r++)
        if (!strcmp(r->name, "strategy") && r->initial)
            return r->initial;
    return c->strategy ? c->strategy : STRATEGY_DEFAULT;
}

/* NAME=V of the strategy */
static void strategy_options(struct completion *c)
{
    struct strategy_option options[MAX_OPTIONS];
    int n = strategy_declared_options(strategy_named(c), options, MAX_OPTIONS);
    const char *equals = strchr(c->word, '=');
    for (int i = 0; i < n && i < MAX_OPTIONS; i++) {
        const struct strategy_option *o = &options[i];
        if (equals && strlen(o->name) == (size_t)(equals - c->word) && !strncmp(o->name, c->word, strlen(o->name))) {
            complete_behind(c, '=');
            if (strchr(o->range, '|'))
                complete_words(c, o->range);
            else
                complete_offer(c, o->text_default, "its default");
            return;
        }
        if (equals)
            continue;
        char *name = mem_printf("%s=", o->name);
        complete_offer(c, name, o->help);
        mem_free(name);
    }
}

static void tolerances(struct completion *c)
{
    for (int i = 0; i < TOLERANCE_COUNT; i++) {
        char *name = mem_printf("%s=", tolerance_name((enum tolerance_limit)i));
        complete_offer(c, name, "a limit of errors");
        mem_free(name);
    }
}

/* Offers the first column of the answer, and the second as what it means. */
static void ask(struct completion *c, const char *sql)
{
    struct query *q = NULL;
    struct err none = {0};
    json_t *answer = NULL, *row;
    size_t i;
    if (query_open(c->db ? c->db : DEFAULT_DB, &q, &none) == LATHE_OK && query_sql(q, sql, &answer, &none) == LATHE_OK)
        json_array_foreach(json_object_get(answer, "rows"), i, row) {
            const char *value = json_string_value(json_array_get(row, 0));
            const char *text = json_string_value(json_array_get(row, 1));
            if (value)
                complete_offer(c, value, text);
        }
    json_decref(answer);
    query_close(q);
}

static void campaigns(struct completion *c)
{
    ask(c, "SELECT CAST(campaign.id AS TEXT), "
           "problem.name || ' ' || campaign.size || ' on ' || device.name || ', ' || state FROM campaign "
           "JOIN problem ON problem.id = problem_id JOIN device ON device.id = device_id "
           "ORDER BY campaign.id DESC LIMIT 50");
}

static void problems(struct completion *c)
{
    ask(c, "SELECT DISTINCT name, summary FROM problem ORDER BY name LIMIT 100");
}

/* By the kind of value, and where that is "NAME" or the like by the option too. */
static const struct {
    const char *arg, *option;
    void (*offer)(struct completion *c);
} values[] = {
    {"SPEC", NULL, specifications},
    {"COMMAND", NULL, commands},
    {"DEVICE", NULL, devices},
    {"TARGET", NULL, targets},
    {"ARCH", NULL, targets},
    {"CLASS", NULL, inputs},
    {"CLASS,...", NULL, inputs},
    {"FILE", NULL, files},
    {"FILE...", NULL, files},
    {"DIR", NULL, folders},
    {"CAMPAIGN", NULL, campaigns},
    {"N", "campaign", campaigns},
    {"NAME", "problem", problems},
    {"NAME", "strategy", strategies},
    {"NAME", "NAME", names},
    {"NAME[:K=V,...],...", NULL, strategy_list},
    {"K=V", NULL, strategy_options},
    {"NAME", "kernel", complete_kernels},
    {"NAME", "baseline", complete_baselines},
    {"DIM=N", NULL, complete_sizes},
    {"NAME=V", "tolerance", tolerances},
    {"NAME=VALUE", "set", complete_settings},
    {"NAME=V,...", "explain", complete_parameters},
    {"NAME=V,...", "config", complete_parameters},
};

void complete_option_value(struct completion *c, const struct option_row *r)
{
    const char *arg = r->arg ? r->arg : r->name;
    if (r->choices) {
        complete_words(c, r->choices);
        return;
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (!strcmp(values[i].arg, arg) && (!values[i].option || !strcmp(values[i].option, r->name))) {
            values[i].offer(c);
            return;
        }
}
