/* select.c: the filter that the selection options describe, and what to say when nothing passes it. */
#include "cli/select.h"
#include "cli/cli.h"
#include "cli/parse_inputs.h"
#include "cli/report.h"
#include <string.h>

status selection_filter(const struct selection *s, struct query_filter *out, struct err *e)
{
    enum inputs inputs;
    status known = s->inputs ? parse_inputs(s->inputs, &inputs, e) : LATHE_OK;
    if (known != LATHE_OK)
        return known;
    *out = (struct query_filter){
        .problem = s->problem,
        .device = s->device,
        .kernel = s->kernel,
        .dims = (const char *const *)s->sizes.items,
        .ndims = s->sizes.count,
        .tolerances = (const char *const *)s->tolerances.items,
        .ntolerances = s->tolerances.count,
        .inputs = s->inputs,
        .campaign = s->campaign,
    };
    return LATHE_OK;
}

static void add_option(struct strbuf *b, const char *name, const char *value)
{
    if (!value)
        return;
    sb_addf(b, " --%s ", name);
    cli_quote(b, value);
}

/* Problem, size and device of every campaign, each combination once, newest first. */
static void list_existing(struct strbuf *b, const json_t *campaigns)
{
    enum { SHOWN = 6 };
    int shown = 0;
    for (size_t i = json_array_size(campaigns); i-- > 0;) {
        const json_t *c = json_array_get(campaigns, i);
        struct strbuf line = {0};
        sb_addf(&line, "%s ", tree_text(c, "problem"));
        report_size(&line, json_object_get(c, "size"));
        sb_addf(&line, " on %s", tree_text(c, "device"));
        if (!b->s || !strstr(b->s, sb_str(&line))) {
            if (shown < SHOWN)
                sb_addf(b, "%s%s", shown ? "; " : "", sb_str(&line));
            else if (shown == SHOWN)
                sb_add(b, "; and more (`lathe show` lists all)");
            shown++;
        }
        sb_free(&line);
    }
}

status selection_nothing(const struct selection *s, struct query *q, struct err *e)
{
    struct strbuf wanted = {0}, existing = {0};
    add_option(&wanted, "problem", s->problem);
    for (int i = 0; i < s->sizes.count; i++)
        add_option(&wanted, "size", s->sizes.items[i]);
    for (int i = 0; i < s->tolerances.count; i++)
        add_option(&wanted, "tolerance", s->tolerances.items[i]);
    add_option(&wanted, "inputs", s->inputs);
    add_option(&wanted, "device", s->device);
    add_option(&wanted, "kernel", s->kernel);
    if (s->campaign)
        sb_addf(&wanted, " --campaign %lld", (long long)s->campaign);
    json_t *campaigns = NULL;
    status st = query_campaigns(q, &campaigns, e);
    if (st == LATHE_OK) {
        list_existing(&existing, campaigns);
        st = err_set(e, LATHE_NOTHING, "no verified configuration%s%.500s in %.300s\n%s%.1000s",
                     wanted.len ? " for" : "", sb_str(&wanted), s->db,
                     existing.len ? "campaigns there: " : "it has no campaigns: run `lathe tune` first",
                     sb_str(&existing));
    }
    json_decref(campaigns);
    sb_free(&wanted);
    sb_free(&existing);
    return st;
}
