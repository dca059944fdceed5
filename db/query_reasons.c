/* query_reasons.c: why a campaign's trials are not ok. Texts that differ in numbers alone (which element was wrong,
 * what was got in its place) are one reason; tuner/report/web/data.js groups the same way. */
#include "base/mem.h"
#include "db/query_private.h"

#include <stdlib.h>

/* What the final refused is ok, has no score, and says why in its verification, as in the view trial_report. %s: of
 * what another campaign's final refused. */
static const char SELECT_REASONS[] =
    "SELECT outcome, reason, count(*) FROM (SELECT outcome, reason, number FROM trial "
    "WHERE campaign_id = ?1 AND role = 'candidate' AND outcome NOT IN ('ok', 'in_flight') UNION ALL "
    "SELECT t.outcome, 'refused by the final: ' || v.detail, t.number FROM trial t JOIN verification v "
    "ON v.id = (SELECT w.id FROM verification w WHERE w.trial_id = t.id "
    "ORDER BY w.phase = 'final' DESC, w.id DESC LIMIT 1) WHERE t.campaign_id = ?1 "
    "AND t.role = 'candidate' AND t.outcome = 'ok' AND t.score_ms IS NULL AND v.passed = 0%s) "
    "GROUP BY outcome, reason ORDER BY min(number)";
static const char REFUSED_ELSEWHERE[] =
    " UNION ALL SELECT t.outcome, " QUERY_REASON ", t.number FROM trial t LEFT JOIN verification v "
    "ON v.id = (SELECT w.id FROM verification w WHERE w.trial_id = t.id "
    "ORDER BY w.phase = 'final' DESC, w.id DESC LIMIT 1) "
    "WHERE t.campaign_id = ?1 AND t.refused_by IS NOT NULL AND v.passed IS NOT 0";

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_word(char c)
{
    return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The end of the number that begins at `at`, signed, with fraction and exponent; NULL: none does. What follows a letter
 * is part of a name (sm_90). */
static const char *number_end(const char *text, const char *at)
{
    const char *digits = at + (*at == '-' || *at == '+');
    if (!is_digit(*digits) || (digits > text && is_word(digits[-1])))
        return NULL;
    while (is_digit(*digits) || *digits == '.')
        digits++;
    const char *exponent = digits + (*digits == 'e' || *digits == 'E');
    exponent += exponent > digits && (*exponent == '-' || *exponent == '+');
    if (exponent == digits || !is_digit(*exponent))
        return digits;
    while (is_digit(*exponent))
        exponent++;
    return exponent;
}

/* Appends the text with # for each number. */
static void add_shape(struct strbuf *b, const char *text)
{
    for (const char *at = text; *at;) {
        const char *end = number_end(text, at);
        sb_addn(b, end ? "#" : at, 1);
        at = end ? end : at + 1;
    }
}

/* To the reason of this shape, or as one of its own behind the others. known: shape -> reason. */
static void add_one(json_t *reasons, json_t *known, json_t *outcome, json_t *reason, json_int_t count)
{
    struct strbuf shape = {0};
    sb_addf(&shape, "%s ", json_string_value(outcome));
    add_shape(&shape, json_string_value(reason) ? json_string_value(reason) : "");
    json_t *met = json_object_get(known, sb_str(&shape));
    if (met) {
        json_t *sum = json_object_get(met, "count");
        json_integer_set(sum, json_integer_value(sum) + count);
    } else {
        met = json_pack("{s:O, s:O, s:I}", "outcome", outcome, "reason", reason, "count", count);
        json_object_set(known, sb_str(&shape), met);
        json_array_append_new(reasons, met);
    }
    sb_free(&shape);
}

struct placed {
    json_t *reason;
    size_t at;
};

static int most_first(const void *pa, const void *pb)
{
    const struct placed *a = pa, *b = pb;
    json_int_t x = json_integer_value(json_object_get(a->reason, "count"));
    json_int_t y = json_integer_value(json_object_get(b->reason, "count"));
    return x != y ? (x < y ? 1 : -1) : (a->at > b->at) - (a->at < b->at);
}

/* The most frequent first; of as many, that of the first trial. */
static json_t *sorted(const json_t *reasons)
{
    size_t n = json_array_size(reasons);
    struct placed *all = mem_alloc((n + 1) * sizeof *all);
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++)
        all[i] = (struct placed){json_array_get(reasons, i), i};
    qsort(all, n, sizeof *all, most_first);
    for (size_t i = 0; i < n; i++)
        json_array_append(out, all[i].reason);
    mem_free(all);
    return out;
}

status query_reasons(struct query *q, int64_t campaign, json_t *object, struct err *e)
{
    sqlite3_stmt *st;
    bool row;
    json_t *reasons = json_array(), *known = json_object();
    char *text = mem_printf(SELECT_REASONS, q->version >= SINCE_REFUSED ? REFUSED_ELSEWHERE : "");
    status s = query_ask(q, QUESTION_reasons, text, campaign, &st, e);
    mem_free(text);
    while (!s && !(s = query_step(q, st, &row, e)) && row) {
        json_t *outcome = query_column(st, 0), *reason = query_column(st, 1);
        add_one(reasons, known, outcome, reason, sqlite3_column_int64(st, 2));
        json_decref(outcome);
        json_decref(reason);
    }
    sqlite3_reset(st);
    json_object_set_new(object, "reasons", sorted(reasons));
    json_decref(known);
    json_decref(reasons);
    return s;
}
