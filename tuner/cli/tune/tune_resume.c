/* tune_resume.c: see tune_resume.h. */
#include "cli/tune/tune_resume.h"
#include "base/mem.h"
#include "cli/args/find_spec.h"
#include <string.h>
#include <unistd.h>

/* A user who edited a kernel and resumes may believe that the edited one is tuned. What cannot be read any more is no
 * reason not to go on: the campaign has all of it. */
static status check_specification(struct resumption *r, const char *self, struct err *e)
{
    const struct campaign_request *q = resumption_request(r);
    struct problem *now = NULL;
    struct err ignored = {0};
    struct spec_args args = {.name = q->spec};
    if (!q->spec || access(q->spec, R_OK))
        return LATHE_OK;
    args.settings = (struct text_list){(char **)q->settings, q->nsettings, q->nsettings};
    if (spec_load(&args, self, &now, &ignored))
        return err_set(e, LATHE_USAGE,
                       "%.300s cannot be read any more: %.1000s\n--force goes on with the specification as it was "
                       "recorded",
                       q->spec, ignored.text);
    struct strbuf what = {0};
    status s = LATHE_OK;
    if (resumption_differs(r, now, &what))
        s = err_set(e, LATHE_USAGE,
                    "%.300s has changed since: %.500s\na campaign is of one specification: --force goes on with it as "
                    "it was recorded, and `lathe tune` begins another with what it is now",
                    q->spec, sb_str(&what));
    sb_free(&what);
    problem_free(now);
    return s;
}

static status check_budget(struct resumption *r, int64_t id, const struct resume_changes *c, struct err *e)
{
    long long has = (long long)resumption_trials(r);
    if (c->trials && c->trials < has)
        return err_set(e, LATHE_USAGE, "--trials %lld: campaign %lld has %lld already", (long long)c->trials,
                       (long long)id, has);
    if (c->seconds > 0 && c->seconds < resumption_counted(r))
        return err_set(e, LATHE_USAGE, "--seconds %g: campaign %lld took %.1f s already", c->seconds, (long long)id,
                       resumption_counted(r));
    const double budget = resumption_request(r)->seconds;
    if (c->trials > has && !(c->seconds > 0) && budget > 0 && resumption_counted(r) >= budget)
        return err_set(e, LATHE_USAGE,
                       "--trials %lld: the %g s of campaign %lld are over\n--seconds S, of all together, gives it more",
                       (long long)c->trials, budget, (long long)id);
    bool ended = !strcmp(resumption_state(r), "finished");
    if (ended && !c->trials && !(c->seconds > 0) && c->top < 0)
        return err_set(e, LATHE_USAGE,
                       "campaign %lld is finished, with %lld trials\n--trials N or --seconds S, of all together, gives "
                       "it more, and --top N another final",
                       (long long)id, has);
    return LATHE_OK;
}

static void change(struct campaign_request *q, const struct resume_changes *c)
{
    if (c->trials)
        q->trials = c->trials;
    if (c->seconds > 0)
        q->seconds = c->seconds;
    if (c->top >= 0)
        q->top = (int)c->top;
    if (c->time_limit > 0)
        q->time_limit = c->time_limit;
    if (c->give_up >= 0)
        q->give_up = (int)c->give_up;
    if (c->compile_seconds > 0)
        q->compile_seconds = c->compile_seconds;
    if (c->compile_memory > 0)
        q->compile_memory = c->compile_memory;
    q->drift_seconds = c->drift_seconds;
    if (c->has_delays)
        q->delays = c->delays;
    q->compile_workers = (int)c->workers;
    q->force = c->force;
}

status resume_load(const char *db, int64_t id, const struct resume_changes *changes, const char *self,
                   struct resumption **out, struct err *e)
{
    struct resumption *r;
    status s = resumption_open(db, id, &r, e);
    if (s != LATHE_OK)
        return s;
    s = check_budget(r, id, changes, e);
    if (s == LATHE_OK && !changes->force)
        s = check_specification(r, self, e);
    if (s != LATHE_OK) {
        resumption_close(r);
        return s;
    }
    change(resumption_request(r), changes);
    *out = r;
    return LATHE_OK;
}
