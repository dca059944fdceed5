/* resume_impl.h: resuming, as the files of this room share it: request.c writes what it needs, resume.c reads it back,
 * resume_check.c compares it with what is now, trial_end.c and replay_campaign.c feed recorded trials back. */
#ifndef LATHE_CAMPAIGN_RESUME_IMPL_H
#define LATHE_CAMPAIGN_RESUME_IMPL_H

#include "campaign/resume.h"
#include "db/store.h"

struct resumption {
    struct campaign_request request;
    json_t *facts;              /* query_resumption's; texts of the request are borrowed from it */
    struct problem *problem;
    struct recording *recording;
    struct target target;       /* as recorded */
    json_t *earlier;            /* what the strategy was told of earlier campaigns */
    char *db;
    int64_t id;
    const char **kernels, **baselines, **options, **settings;
    char *words;                /* of a database without requests: the options and kernels, cut at blanks */
};

/* The request as JSON, for the store: what no other column has, and a resumption needs; and what the strategy was told
 * of earlier campaigns, since the database has more of them later. devices: the list, "cuda:all" resolved; NULL: the
 * default. mem_free it. */
char *request_text(const struct campaign_request *r, const char *devices, const json_t *earlier);

/* A text that was recorded; "": there is none. */
const char *resumption_fact(const struct resumption *r, const char *key);
const char *resumption_strategy(const struct resumption *r, const char **text);
const json_t *resumption_earlier(const struct resumption *r);    /* never NULL */
int64_t resumption_id(const struct resumption *r);

/* LATHE_USAGE: the device, what compiles for it, or lathe itself are others than were recorded, and the request does
 * not force it; else in what they differ goes to *differences. The target's limits become the recorded ones, so that
 * the spaces are the same. */
status resumption_check(const struct resumption *r, const struct campaign_request *request, struct target *target,
                        struct strbuf *differences, struct err *e);
/* What differs at the device of this position, after the first, is added to *differences; before resumption_check. */
void resumption_compare(const struct resumption *r, int position, const struct target *now, struct strbuf *differences);
/* Takes the recorded campaign over for this process; the differences are noted with it. LATHE_USAGE: another has it. */
status resumption_take_over(const struct resumption *r, const struct campaign_request *request, struct store *store,
                            const struct strbuf *differences, struct err *e);

/* Trial `number` as recorded, if it was; then it has to be this configuration of this kernel: LATHE_STRATEGY. */
status resumption_find(const struct resumption *r, struct store *store, int64_t number, const char *kernel,
                       const char *configuration, struct stored_trial *out, bool *found, struct err *e);

#endif
