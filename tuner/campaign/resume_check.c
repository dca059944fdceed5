/* resume_check.c: see resume_impl.h: whether the world is still what it was, taking a campaign over, whether what is
 * proposed is what was recorded. */
#include "base/mem.h"
#include "campaign/resume_impl.h"
#include "model/problem.h"
#include <stdio.h>
#include <string.h>

static void differ(struct strbuf *b, const char *what, const char *recorded, const char *now)
{
    if (!strcmp(recorded, now)) return;
    sb_addf(b, "%s%s is '%.100s', and was '%.100s'", b->len ? "; " : "", what, now, recorded);
}

static void compare_targets(const struct target *was, const struct target *now, struct strbuf *b)
{
    differ(b, "the device", was->name, now->name);
    differ(b, "its uuid", was->uuid, now->uuid);
    differ(b, "its architecture", was->arch, now->arch);
    differ(b, "its driver", was->driver, now->driver);
    differ(b, "what compiles", was->toolchain, now->toolchain);
    differ(b, "the machine", was->host, now->host);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (i == LIMIT_memory_bytes) continue;  /* a virtual machine's may change */
        char a[32], c[32];
        snprintf(a, sizeof a, "%lld", (long long)was->limit[i]);
        snprintf(c, sizeof c, "%lld", (long long)now->limit[i]);
        differ(b, limit_name((enum limit)i), a, c);
    }
}

bool resumption_differs(const struct resumption *r, const struct problem *now, struct strbuf *what)
{
    const struct problem *was = r->problem;
    if (json_equal(was->json, now->json)) return false;
    size_t before = what->len;
    for (int i = 0; i < was->nkernels; i++) {
        int k = problem_find_kernel(now, was->kernels[i].name);
        const char *a = was->kernels[i].source, *b = k < 0 ? NULL : now->kernels[k].source;
        if (k >= 0 && (a == b || (a && b && !strcmp(a, b)))) continue;
        sb_addf(what, "%s%s %s", what->len > before ? ", " : "", was->kernels[i].name,
                k < 0 ? "is no more" : "has another source");
    }
    if (what->len == before) sb_add(what, "it is not the same");
    return true;
}

void resumption_compare(const struct resumption *r, int position, const struct target *now, struct strbuf *differences)
{
    struct target was;
    struct err e;
    const json_t *j = json_array_get(json_object_get(r->facts, "targets"), (size_t)position);
    if (!j || target_from_json(j, &was, &e))
        sb_addf(differences, "%s%s was not one of its devices", differences->len ? "; " : "", now->device);
    else
        compare_targets(&was, now, differences);
}

status resumption_check(const struct resumption *r, const struct campaign_request *request, struct target *target,
                        struct strbuf *differences, struct err *e)
{
    compare_targets(&r->target, target, differences);
    differ(differences, "lathe", resumption_fact(r, "tool_version"), request->version);
    if (differences->len && !request->force)
        return err_set(
            e, LATHE_USAGE,
            "campaign %lld cannot simply go on: %.1200s\nwhat is measured now may not compare with what was\n"
            "--force goes on all the same, and says so in the campaign's note",
            (long long)r->id, sb_str(differences));
    memcpy(target->limit, r->target.limit, sizeof target->limit);
    return LATHE_OK;
}

status resumption_take_over(const struct resumption *r, const struct campaign_request *request, struct store *store,
                            const struct strbuf *differences, struct err *e)
{
    struct strbuf note = {0};
    if (differences->len)
        sb_addf(&note, "resumed after %lld trial%s though %s", (long long)resumption_trials(r),
                resumption_trials(r) == 1 ? "" : "s", sb_str(differences));
    char *text = request_text(request, request->device, r->earlier);
    struct campaign_resumption c = {.budget_trials = request->trials,
                                    .budget_seconds = request->seconds,
                                    .used = resumption_seconds(r),
                                    .request = text,
                                    .note = note.len ? sb_str(&note) : NULL,
                                    .force = request->force};
    status s = store_campaign_resume(store, r->id, &c, e);
    mem_free(text);
    sb_free(&note);
    return s;
}

status resumption_find(const struct resumption *r, struct store *store, int64_t number, const char *kernel,
                       const char *configuration, struct stored_trial *out, bool *found, struct err *e)
{
    *found = false;
    if (!r || number > resumption_trials(r)) return LATHE_OK;
    status s = store_trial_find(store, r->id, number, out, found, e);
    if (s || !*found || (!strcmp(out->kernel, kernel) && !strcmp(sb_str(&out->configuration), configuration)))
        return s;
    err_set(e, LATHE_STRATEGY,
            "campaign %lld cannot go on: its trial %lld was %.60s %.500s, and the strategy now proposes %.60s %.500s\n"
            "is it another lathe, or does the script not depend on its seed and results alone?",
            (long long)r->id, (long long)out->id, out->kernel, sb_str(&out->configuration), kernel, configuration);
    sb_free(&out->configuration);
    *found = false;
    return e->code;
}
