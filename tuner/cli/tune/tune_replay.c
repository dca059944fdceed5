/* tune_replay.c: see tune_replay.h. */
#include "cli/tune/tune_replay.h"
#include "base/mem.h"
#include "console/output.h"
#include "cli/tune/tune_events.h"
#include "cli/output/report.h"
#include "replay/replay.h"
#include "search/spec/definition.h"
#include <string.h>

static const char REPLAY[] = "replay:";

const char *replay_place(const char *device)
{
    size_t n = sizeof REPLAY - 1;
    return device && !strncmp(device, REPLAY, n) ? device + n : NULL;
}

/* A JSON file that has constraints and no parameters. */
static bool is_constraints_alone(const char *path)
{
    const char *dot = strrchr(path, '.');
    char *text = NULL;
    size_t len = 0;
    bool is_json = dot && !strcmp(dot, ".json") && file_read(path, &text, &len, NULL) == LATHE_OK;
    size_t mark = is_json ? utf8_mark(text, len) : 0;
    json_t *j = is_json ? json_loadb(text + mark, len - mark, 0, NULL) : NULL;
    mem_free(text);
    bool alone = json_object_get(j, "constraints") && !json_object_get(j, "parameters");
    json_decref(j);
    return alone;
}

static status load_over(const char *path, const struct recording *r, struct problem **out, struct err *e)
{
    json_t *parameters = replay_parameters(r), *tree = NULL;
    status s = definition_read_over(path, parameters, &tree, e);
    if (s == LATHE_OK)
        s = problem_from_json(tree, path, NULL, out, e);
    json_decref(tree);
    json_decref(parameters);
    return s;
}

/* The sizes that were recorded; of other tuners' files nobody can tell what is a size. */
static status check_size(const struct replay_input *in, struct err *e)
{
    struct strbuf size = {0};
    problem_size_text(in->problem, &size);
    bool same = !in->recording->target.name[0] || in->problem->space_alone ||
                !strcmp(sb_str(&size), in->recording->size);
    status s = same ? LATHE_OK
                    : err_set(e, LATHE_USAGE, "%s was recorded at %s, and the specification is at %s: give --size",
                              in->recording->path, in->recording->size, sb_str(&size));
    sb_free(&size);
    return s;
}

status replay_load(const char *place, const char *kernel, const struct spec_args *spec, const char *self,
                   struct replay_input *out, struct err *e)
{
    *out = (struct replay_input){0};
    if (!*place)
        return err_set(e, LATHE_USAGE,
                       "--device replay: lacks its file\nexpected replay:FILE, or replay:FILE.db#CAMPAIGN");
    bool given = spec->sizes.count || spec->wheres.count || spec->settings.count;
    if (!spec->name && given)
        return err_set(e, LATHE_USAGE, "--size, --where and --set are of a specification: name one before the options");
    status s = recording_open(place, kernel, &out->recording, e);
    if (s != LATHE_OK)
        return s;
    if (!spec->name) {
        out->recorded_space = true;
        s = replay_problem(out->recording, &out->problem, e);
    } else if (is_constraints_alone(spec->name)) {
        s = given ? err_set(e, LATHE_USAGE, "--size, --where and --set: %.300s has constraints alone", spec->name)
                  : load_over(spec->name, out->recording, &out->problem, e);
    } else {
        s = spec_load(spec, self, &out->problem, e);
        if (s == LATHE_OK)
            s = check_size(out, e);
    }
    if (s != LATHE_OK)
        replay_input_free(out);
    return s;
}

void replay_input_free(struct replay_input *in)
{
    problem_free(in->problem);
    recording_free(in->recording);
    *in = (struct replay_input){0};
}

/* --- the report --- */

static status report_json(const struct replay_input *in, const struct campaign_progress *p, int64_t winner,
                          struct err *e)
{
    const struct recording *r = in->recording;
    json_t *outcomes = json_object(), *best = winner ? json_object() : json_null();
    for (int i = 0; i < OUTCOME_COUNT; i++)
        json_object_set_new(outcomes, outcome_name((enum outcome)i), json_integer(p->outcomes[i]));
    if (winner) {
        json_object_set_new(best, "number", json_integer(winner));
        json_object_set_new(best, "kernel", out_string(p->best_kernel));
        json_object_set_new(best, "text", out_string(p->best_config));
        json_object_set_new(best, "time_ms", out_number(p->best_ms));
    }
    json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "recording", r->path, "format",
                          r->format, "problem", in->problem->name, "device", r->device, "recorded",
                          (json_int_t)r->nconfigs, "space", (json_int_t)p->space_size, "trials", (json_int_t)p->trials,
                          "seconds", out_number(p->seconds), "outcomes", outcomes, "best", best);
    status s = j ? tune_events_result(j, e) : err_set(e, LATHE_IO, "%s: a name in it is no UTF-8 text", r->path);
    json_decref(j);
    return s;
}

static status report_csv_best(const struct campaign_progress *p, int64_t winner, struct err *e)
{
    json_t *rows = json_array();
    if (winner)
        json_array_append_new(rows, json_pack("{s:I, s:o, s:o, s:o}", "number", (json_int_t)winner, "kernel",
                                              out_string(p->best_kernel), "configuration",
                                              out_string(p->best_config), "time_ms", out_number(p->best_ms)));
    status s = report_csv_out(rows, e);
    json_decref(rows);
    return s;
}

status replay_report(const struct replay_input *in, const struct campaign_summary *summary, bool json, bool csv,
                     struct err *e)
{
    const struct recording *r = in->recording;
    const struct campaign_progress *p = &summary->progress;
    if (json)
        return report_json(in, p, summary->winner_trial, e);
    if (csv)
        return report_csv_best(p, summary->winner_trial, e);
    struct strbuf b = {0};
    sb_addf(&b, "replay of %s: %s on %s, %llu recorded configurations (%s)\n", r->path, in->problem->name,
            *r->device ? r->device : "an unknown device", (unsigned long long)r->nconfigs, r->format);
    sb_addf(&b, "%lld trials in %.6g s of recorded time:", (long long)p->trials, p->seconds);
    for (int i = 0, first = 1; i < OUTCOME_COUNT; i++)
        if (p->outcomes[i]) {
            sb_addf(&b, "%s %s %lld", first ? "" : ",", outcome_name((enum outcome)i), (long long)p->outcomes[i]);
            first = 0;
        }
    sb_add(&b, "\n");
    if (summary->winner_trial)
        sb_addf(&b, "best %.6g ms, trial %lld: %s\n", p->best_ms, (long long)summary->winner_trial, p->best_config);
    return out_report(&b, e);
}
