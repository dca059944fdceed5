/* fuzz_recording.c: any text as a recording: refused with a message, or usable: configurations in order, each found
 * where it is, values and costs that are numbers, and a space of exactly these. Read byte by byte it is the same. A
 * libFuzzer target; seeds: test/data/recorded/small. test/unit/replay/test_recording_fuzz.c runs it over changed seeds.
 */
#include "base/mem.h"
#include "replay/builder.h"
#include "replay/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void use_entry(const struct recording *r, const struct recorded *c)
{
    require((c->outcome == OUTCOME_ok) == (c->value_ms > 0 && isfinite(c->value_ms)));
    require(c->outcome != OUTCOME_ok || !*c->reason);
    require(recorded_cost(c) >= 0 && isfinite(recorded_cost(c)));
    require(recorded_trial_seconds(c) <= recorded_cost(c));
    require(c->first_sample + c->nsamples <= r->nsamples);
    for (uint32_t i = 0; i < c->nsamples; i++)
        require(r->samples[c->first_sample + i] > 0);
}

/* Written in a form and read back it is the same, but for what the form does not hold. */
static void write_and_read(const struct recording *r, enum recording_form f)
{
    struct strbuf text = {0};
    struct recording *again;
    struct err e = {0};
    status s = recording_print(r, f, &text, &e);
    if (s) {
        require(s == LATHE_USAGE && f == RECORDING_CSV && e.text[0]);
        sb_free(&text);
        return;
    }
    require(recording_read_text(text.s, text.len, "again", &again, &e) == LATHE_OK);
    require(again->nconfigs == r->nconfigs && again->nparams == r->nparams && again->nsamples <= r->nsamples);
    uint64_t *a = recording_order(r), *b = recording_order(again);
    for (uint64_t i = 0; i < r->nconfigs; i++) {
        const struct recorded *x = &r->configs[a[i]], *y = &again->configs[b[i]];
        require(x->outcome == y->outcome && x->nsamples == y->nsamples);
        require(x->value_ms == y->value_ms || (isnan(x->value_ms) && isnan(y->value_ms)));
    }
    mem_free(a);
    mem_free(b);
    sb_free(&text);
    recording_free(again);
}

static void use_recording(const struct recording *r)
{
    for (int f = 0; f < RECORDING_FORMS; f++)
        write_and_read(r, (enum recording_form)f);
    struct recording_summary s;
    struct problem *p;
    struct replay *d;
    struct err e = {0};
    struct strbuf b = {0};
    uint64_t width = (uint64_t)r->nparams;
    for (uint64_t i = 0; i < r->nconfigs; i++) {
        for (uint64_t k = 0; k < width; k++)
            require(r->choices[i * width + k] < r->params[k].nvalues);
        require(recording_find(r, r->choices + i * width) == (int64_t)i);
        use_entry(r, &r->configs[i]);
    }
    recording_summarise(r, &s);
    require(s.valid <= s.configs && (!s.valid || s.best <= s.median));
    for (double cutoff = 0.1; cutoff < 1.05; cutoff += 0.1)
        require(recording_evaluations_to(&s, cutoff) <= s.configs);
    recording_summary_free(&s);
    recording_notes(r, &b);
    sb_free(&b);
    if (replay_problem(r, &p, &e)) {
        require(e.code == LATHE_SPEC && e.text[0]);
        return;
    }
    require(replay_open(r, &p->kernels[0], &d, &e) == LATHE_OK);
    for (uint64_t i = 0; i < r->nconfigs; i++)
        require(replay_find(d, r->choices + i * width) == (int64_t)i);
    replay_close(d);
    problem_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct recording *r = NULL, *again = NULL;
    struct err e = {0}, other = {0};
    status s = recording_read_text((const char *)data, size, "r", &r, &e);
    status t = read_text_by((const char *)data, size, 1 + size % 5, "r", &again, &other);
    require(s == t && (!s || !strcmp(e.text, other.text)));
    if (s) {
        require(!r && !again && e.code == s && e.text[0] && (s == LATHE_IO || s == LATHE_NOTHING));
        return 0;
    }
    require(r->nconfigs == again->nconfigs && r->nsamples == again->nsamples && r->nparams == again->nparams);
    use_recording(r);
    recording_free(r);
    recording_free(again);
    return 0;
}
