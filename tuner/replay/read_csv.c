/* read_csv.c: a table as a recording: a row a configuration, columns that csv.h does not name are parameters. */
#include "replay/read_csv.h"

#include "base/mem.h"
#include "replay/csv.h"
#include "replay/csv_rows.h"
#include "replay/failure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct csv {
    struct csv_rows rows;
    struct builder *b;
    int ncolumns;
    int params[CSV_FIELDS_MAX]; /* of a column; -1: a fact */
    int facts[CSV_FACTS];       /* the column of each fact; -1: none */
    enum value_type types[RECORDING_PARAMS_MAX];
    double unit;                /* of the time, seconds */
    struct err *e;
};

/* What may have been meant by a first line that says nothing of how a configuration did. */
static status no_outcome(struct csv *c)
{
    static const char *const names[] = {"time_ms", "outcome", "samples_ms", "time_s", "time_us", "time_ns", "time"};
    enum { NAMES = sizeof names / sizeof *names };
    struct strbuf near = {0};
    for (int i = 0; i < c->ncolumns && !near.len; i++) {
        const char *column = csv_field_at(&c->rows, i), *found = nearest_word(column, names, NAMES);
        for (int n = 0; n < NAMES; n++)
            found = strcasecmp(column, names[n]) ? found : names[n];
        if (found)
            sb_addf(&near, "; '%.60s': did you mean %s?", column, found);
    }
    const char *first = c->ncolumns == 1 ? csv_field_at(&c->rows, 0) : "", *other = strpbrk(first, ";\t|");
    if (other)
        near.len = 0;
    if (other)
        sb_addf(&near, *other == '\t' ? "; commas are to separate them, not tabs"
                                      : "; commas are to separate them, not '%c'", *other);
    status s = csv_rows_fail(&c->rows,
                             "no recording that is known: neither JSON (a Kernel Tuner cache, T4 results, "
                             "KTT's output), nor CSV: its first line would have a column for each parameter, and "
                             "time_ms, outcome or samples_ms%s",
                             sb_str(&near));
    sb_free(&near);
    return s;
}

static status read_header(struct csv *c)
{
    bool more;
    double unit;
    for (int f = 0; f < CSV_FACTS; f++)
        c->facts[f] = -1;
    if (csv_rows_next(&c->rows, &more))
        return c->e->code;
    c->ncolumns = more ? c->rows.nfields : 0;
    for (int i = 0; i < c->ncolumns; i++) {
        const char *name = csv_field_at(&c->rows, i);
        int fact = csv_fact_of(name, &unit);
        c->params[i] = -1;
        if (fact >= 0 && c->facts[fact] >= 0)
            return csv_rows_fail(&c->rows, "the columns %.60s and %.60s say the same: one of them",
                                 csv_field_at(&c->rows, c->facts[fact]), name);
        if (fact >= 0) {
            c->facts[fact] = i;
            c->unit = fact == CSV_time_ms ? unit : c->unit;
            continue;
        }
        if (builder_param(c->b, name, false, c->e))
            return csv_rows_fail(&c->rows, "column %d: %s", i + 1, c->e->text);
        c->params[i] = builder_nparams(c->b) - 1;
    }
    if (c->facts[CSV_time_ms] < 0 && c->facts[CSV_outcome] < 0 && c->facts[CSV_samples_ms] < 0)
        return no_outcome(c);
    if (!builder_nparams(c->b))
        return csv_rows_fail(&c->rows, "no column is a parameter: expected one for each, beside %.60s",
                             csv_field_at(&c->rows, 0));
    return LATHE_OK;
}

static status next_row(struct csv *c, bool *more)
{
    if (csv_rows_next(&c->rows, more) || !*more)
        return c->e->code;
    if (c->rows.nfields != c->ncolumns)
        return csv_rows_fail(&c->rows, "%d fields, where the first line has %d: cut off, or a comma that is not quoted",
                             c->rows.nfields, c->ncolumns);
    for (int i = 0; i < c->ncolumns; i++)
        if (c->params[i] >= 0 && !*csv_field_at(&c->rows, i) && !c->rows.quoted[i])
            return csv_rows_fail(&c->rows, "no value for the parameter %.100s", builder_param_name(c->b, c->params[i]));
    return LATHE_OK;
}

/* --- the first pass: what a column's values are --- */

static enum value_type joined(enum value_type a, enum value_type b)
{
    if (a == VALUE_NONE || a == b)
        return b;
    return are_numbers(a, b) ? VALUE_FLOAT : VALUE_STRING;
}

static status find_types(struct csv *c)
{
    bool more;
    status s;
    while (!(s = next_row(c, &more)) && more)
        for (int i = 0; i < c->ncolumns; i++)
            if (c->params[i] >= 0) {
                enum value_type *type = &c->types[c->params[i]];
                *type = joined(*type, value_read(csv_field_at(&c->rows, i)).type);
            }
    return s;
}

/* --- the second: what they say --- */

static const char *fact(const struct csv *c, enum csv_fact f)
{
    return c->facts[f] < 0 ? "" : csv_field_at(&c->rows, c->facts[f]);
}

/* NaN also for what other programs write for it; *number false: something else. */
static double read_number(const char *text, bool *number)
{
    static const char *const none[] = {"",     "nan",      "-nan",      "inf",  "-inf",
                                       "+inf", "infinity", "-infinity", "null", "none"};
    struct value v = value_read(text);
    double d = NAN;
    *number = value_as_double(v, &d);
    for (size_t i = 0; i < sizeof none / sizeof *none && !*number; i++)
        *number = strcasecmp(text, none[i]) == 0;
    return d;
}

static status read_cost(struct csv *c, enum csv_fact f, double *out)
{
    bool number;
    const char *text = fact(c, f);
    double seconds = read_number(text, &number);
    if (!number)
        return csv_rows_fail(&c->rows, "%s is '%.60s': expected seconds", csv_fact_name(f), text);
    json_t *j = !*text ? NULL : isnan(seconds) ? json_string("?") : json_real(seconds);
    *out = builder_cost(c->b, j, 1);
    json_decref(j);
    return LATHE_OK;
}

static status read_samples(struct csv *c, struct recorded *r)
{
    const char *at = fact(c, CSV_samples_ms);
    while (*(at += strspn(at, " ;"))) {
        size_t n = strcspn(at, " ;");
        char text[64];
        bool number = n < sizeof text;
        snprintf(text, sizeof text, "%.*s", (int)n, at);
        double ms = number ? read_number(text, &number) : NAN;
        if (!number)
            return csv_rows_fail(&c->rows, "samples_ms has '%.60s': expected milliseconds with blanks between", text);
        json_t *j = isnan(ms) ? json_string("?") : json_real(ms);
        r->run += builder_cost(c->b, j, 1e-3);
        json_decref(j);
        builder_sample(c->b, r, ms);
        at += n;
    }
    return LATHE_OK;
}

static bool is_error_name(const char *text)
{
    return strcmp(kernel_tuner_error(kernel_tuner_outcome(text)), text) == 0;
}

static status read_outcome(struct csv *c, struct recorded *r)
{
    const char *said = fact(c, CSV_outcome), *time = fact(c, CSV_time_ms);
    bool number;
    int outcome = *said ? outcome_parse(said) : OUTCOME_ok;
    double value = to_ms(read_number(time, &number), c->unit);
    if (outcome < 0) {
        const char *names[OUTCOME_COUNT];
        for (int i = 0; i < OUTCOME_COUNT; i++)
            names[i] = outcome_name((enum outcome)i);
        const char *near = nearest_word(said, names, OUTCOME_COUNT);
        return csv_rows_fail(&c->rows, "the outcome '%.60s'%s%s%s is none: expected ok, compile, launch, wrong, ...",
                             said, near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    }
    if (!number && !is_error_name(time))
        return csv_rows_fail(&c->rows, "%s is '%.60s', which is no number", csv_fact_name(CSV_time_ms), time);
    if (outcome != OUTCOME_ok)
        builder_failure(c->b, r, (enum outcome)outcome, fact(c, CSV_reason));
    else if (!number)
        builder_failure(c->b, r, kernel_tuner_outcome(time), time);
    else
        builder_success(c->b, r, !*time && r->nsamples ? r->run * 1e3 / r->nsamples : value);
    if (!r->nsamples && r->outcome == OUTCOME_ok) {
        builder_sample(c->b, r, r->value_ms);
        r->run = r->value_ms * 1e-3;
    }
    return LATHE_OK;
}

static status read_values(struct csv *c, config_choice *choice)
{
    for (int i = 0; i < c->ncolumns; i++) {
        int p = c->params[i];
        const char *text = csv_field_at(&c->rows, i);
        if (p < 0)
            continue;
        json_t *value = value_to_json(c->types[p] == VALUE_STRING ? value_string(text) : value_read(text));
        status s = builder_value(c->b, p, value, &choice[p], c->e);
        json_decref(value);
        if (s)
            return csv_rows_fail(&c->rows, "%s", c->e->text);
    }
    return LATHE_OK;
}

/* What is said of the whole recording must be the same in each row. */
static status read_whole(struct csv *c)
{
    struct recording *r = builder_recording(c->b);
    static const enum csv_fact facts[] = {CSV_kernel, CSV_device, CSV_size};
    char **words[] = {&r->kernel, &r->device, &r->size};
    for (int i = 0; i < 3; i++) {
        const char *text = fact(c, facts[i]);
        if (!*words[i])
            *words[i] = mem_strdup(text);
        else if (strcmp(*words[i], text) != 0)
            return csv_rows_fail(&c->rows, "the %s '%.60s', where rows before have '%.60s': a recording is of one",
                                 csv_fact_name(facts[i]), text, *words[i]);
    }
    return LATHE_OK;
}

static status read_row(struct csv *c)
{
    struct recorded *r;
    config_choice *choice;
    bool number;
    if (builder_entry(c->b, &r, &choice, c->e))
        return csv_rows_fail(&c->rows, "%s", c->e->text);
    status s = read_values(c, choice);
    if (!s)
        s = read_whole(c);
    if (!s)
        s = read_cost(c, CSV_compile_seconds, &r->compile);
    if (!s)
        s = read_cost(c, CSV_validation_seconds, &r->validation);
    if (!s)
        s = read_cost(c, CSV_framework_seconds, &r->framework);
    if (!s)
        s = read_cost(c, CSV_search_seconds, &r->search);
    if (!s)
        s = read_samples(c, r);
    if (!s)
        s = read_outcome(c, r);
    double energy = read_number(fact(c, CSV_energy_mj), &number);
    if (!s && !number)
        s = csv_rows_fail(&c->rows, "energy_mj is '%.60s', which is no number", fact(c, CSV_energy_mj));
    json_t *moment = json_string(fact(c, CSV_timestamp));
    builder_energy(r, energy);
    builder_moment(r, moment);
    json_decref(moment);
    return s;
}

static status read_rows(struct csv *c)
{
    bool more;
    status s;
    while (!(s = next_row(c, &more)) && more && !(s = read_row(c)))
        ;
    return s;
}

status read_csv(const struct csv_source *source, struct builder **out, struct err *e)
{
    struct csv *c = mem_zalloc(1, sizeof *c);
    status s = LATHE_OK;
    c->e = e;
    for (int pass = 0; pass < 2 && !s; pass++) {
        builder_free(c->b);
        c->b = builder_new("CSV");
        if (pass)
            s = source->rewind(source->ctx, e);
        csv_rows_open(&c->rows, source->read, source->ctx, source->name, e);
        if (!s)
            s = read_header(c);
        if (!s)
            s = pass ? read_rows(c) : find_types(c);
        csv_rows_close(&c->rows);
    }
    *out = c->b;
    mem_free(c);
    return s;
}

/* NOTE: nothing, and what is no text, is JSON's too: its reader says so. */
bool looks_like_csv(const struct csv_source *source)
{
    static const char passed[] = "\xef\xbb\xbf \t\r\n";
    struct err ignored = {0};
    char buf[512];
    for (long n; (n = source->read(source->ctx, buf, sizeof buf, &ignored)) > 0;)
        for (long i = 0; i < n; i++)
            if (!buf[i] || !strchr(passed, buf[i]))
                return (unsigned char)buf[i] > ' ' && buf[i] != '{' && buf[i] != '[';
    return false;
}
