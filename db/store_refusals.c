/* store_refusals.c: what a final refused may win in no campaign.
 *
 * Table refusal has the candidates that a final refused. A trial is refused by one of them (trial.refused_by) if it ran
 * the same: the view trial_identity says what that is. It is then ok and has no score, as if the final of its own
 * campaign had refused it. Invariant: so it is for all trials that ended, whichever was first, and whoever wrote them.
 * A refusal for what the machine may have done at that moment (unstable, launch, resources) is of that campaign alone.
 * The newest final that one of them was in decides: where it let it stand, the earlier refusals are gone. */
#include "db/store_private.h"

static const char DOING[] = "ranking what a final refused";

status store_refusals_find(struct store *s, int64_t trial, int64_t *refusal, struct err *e)
{
    bool found = false;
    status st = store_lookup(s, STATEMENT_refusal_find, DOING, SQL_VALUES(sql_int(trial)), refusal, &found, e);
    if (!found)
        *refusal = 0;
    return st;
}

status store_refusals_apply(struct store *s, int64_t trial, int64_t refusal, struct err *e)
{
    return store_run(s, STATEMENT_refuse, DOING, SQL_VALUES(sql_int(trial), sql_int(refusal)), e);
}

/* The campaigns of the trials that this one refuses, by id: the next after *campaign. */
static status next_campaign(struct store *s, int64_t refusal, int64_t *campaign, bool *found, struct err *e)
{
    return store_lookup(s, STATEMENT_refused_campaign, DOING, SQL_VALUES(sql_int(refusal), sql_int(*campaign)),
                        campaign, found, e);
}

/* Scores came or went there. */
static status rank_again(struct store *s, int64_t campaign, struct err *e)
{
    status st = store_rescore(s, campaign, e);
    return st ? st : store_leaders_settle(s, campaign, e);
}

status store_refusals_add(struct store *s, int64_t trial, struct err *e)
{
    int64_t campaign = 0;
    bool found = true;
    status st = store_run(s, STATEMENT_refusal_add, DOING, SQL_VALUES(sql_int(trial)), e);
    if (!st)
        st = store_run(s, STATEMENT_refuse_others, DOING, SQL_VALUES(sql_int(trial)), e);
    while (!st && !(st = next_campaign(s, trial, &campaign, &found, e)) && found)
        st = rank_again(s, campaign, e);
    return st;
}

static status allow(struct store *s, int64_t refusal, struct err *e)
{
    int64_t campaign = 0;
    bool found = true;
    status st = LATHE_OK;
    while (!st && !(st = next_campaign(s, refusal, &campaign, &found, e)) && found) {
        st = store_run(s, STATEMENT_allow_others, DOING, SQL_VALUES(sql_int(refusal), sql_int(campaign)), e);
        if (!st)
            st = rank_again(s, campaign, e);
    }
    return st ? st : store_run(s, STATEMENT_refusal_drop, DOING, SQL_VALUES(sql_int(refusal)), e);
}

status store_refusals_lift(struct store *s, int64_t trial, struct err *e)
{
    int64_t refusal;
    status st = LATHE_OK;
    while (!st && !(st = store_refusals_find(s, trial, &refusal, e)) && refusal)
        st = allow(s, refusal, e);
    return st;
}
