/* write_csv.c: a recording as CSV (RFC 4180, lines end in LF), a row a configuration: its parameters, then the facts of
 * csv.h. */
#include "replay/write_impl.h"

#include "base/clock.h"
#include "replay/csv.h"
#include <math.h>
#include <string.h>

const char *csv_fact_name(enum csv_fact f)
{
    static const char *const names[] = {
#define X(name) #name,
        CSV_TABLE(X)
#undef X
    };
    return names[f];
}

int csv_fact_of(const char *name, double *unit)
{
    static const struct {
        const char *name;
        double unit;
    } times[] = {{"time", 1e-3}, {"time_s", 1}, {"time_us", 1e-6}, {"time_ns", 1e-9}};
    *unit = 1e-3;
    for (int i = 0; i < CSV_FACTS; i++)
        if (strcmp(name, csv_fact_name((enum csv_fact)i)) == 0)
            return i;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (strcmp(name, times[i].name) == 0) {
            *unit = times[i].unit;
            return CSV_time_ms;
        }
    return -1;
}

static void add_field(struct strbuf *b, const char *text)
{
    sb_csv(b, text);
    sb_add(b, ",");
}

/* A value that is an empty text is quoted, so that it is not one that lacks. */
static void add_value(struct strbuf *b, struct value v)
{
    struct strbuf text = {0};
    value_print(&text, v);
    if (text.len)
        add_field(b, text.s);
    else
        sb_add(b, "\"\",");
    sb_free(&text);
}

static void add_time(struct strbuf *b, double v)
{
    if (!isnan(v))
        print_number(b, v);
    sb_add(b, ",");
}

static void add_row(struct strbuf *b, const struct recording *r, uint64_t i)
{
    const struct recorded *c = &r->configs[i];
    const double seconds[] = {c->compile, c->validation, c->framework, c->search};
    char moment[32] = "";
    for (int p = 0; p < r->nparams; p++)
        add_value(b, value_at(r, i, p));
    add_field(b, outcome_name(c->outcome));
    add_field(b, c->reason);
    add_time(b, c->value_ms);
    print_samples(b, r, c, " ");
    sb_add(b, ",");
    for (int s = 0; s < 4; s++)
        add_time(b, seconds[s]);
    add_time(b, c->energy_mj);
    if (c->moment)
        clock_print_moment(c->moment, moment);
    add_field(b, moment);
    add_field(b, r->kernel);
    add_field(b, r->device);
    sb_csv(b, r->size);
    sb_add(b, "\n");
}

/* What would be read back as something else. */
static status check_param(const struct recording *r, const struct recorded_param *p, struct err *e)
{
    double unit;
    bool text = p->type != VALUE_STRING;
    if (csv_fact_of(p->name, &unit) >= 0)
        return err_set(
            e, LATHE_USAGE,
            "%s: the parameter %s has the name of a column that CSV has besides: write it as t4",
            r->path, p->name);
    for (int v = 0; v < p->nvalues && !text; v++)
        text = value_read(p->values[v].s).type == VALUE_STRING;
    return text
               ? LATHE_OK
               : err_set(
                     e, LATHE_USAGE,
                     "%s: the values of %s are texts that CSV cannot tell from numbers: write it as t4 or kernel-tuner",
                     r->path, p->name);
}

status print_csv(const struct recording *r, const uint64_t *order, struct strbuf *b, struct err *e)
{
    for (int p = 0; p < r->nparams; p++) {
        status s = check_param(r, &r->params[p], e);
        if (s)
            return s;
    }
    for (int p = 0; p < r->nparams; p++)
        add_field(b, r->params[p].name);
    for (int i = 0; i < CSV_FACTS; i++)
        sb_addf(b, "%s%s", i ? "," : "", csv_fact_name((enum csv_fact)i));
    sb_add(b, "\n");
    for (uint64_t i = 0; i < r->nconfigs; i++)
        add_row(b, r, order[i]);
    return LATHE_OK;
}
