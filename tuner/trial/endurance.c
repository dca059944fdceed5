/* endurance.c: is a pipeline that was verified right after many runs more? A counter that is not reset, or wraps, tells
 * after as many as it has room for. Between two comparisons a fourth of the runs before goes by, so that their cost is
 * that of some 25 runs, and the last burst takes a fourth of the time at most. */
#include "base/clock.h"
#include "trial/evaluate.h"
#include <stdio.h>

static status run_burst(struct bench *b, struct pipeline *p, int runs, struct err *e)
{
    status s = LATHE_OK;
    for (int i = 0; i < runs && !s; i++) {
        s = bench_poison_outputs(b, GARBAGE_NAN, e);
        if (!s) s = pipeline_run(p, e);
    }
    return s ? s : b->ops->sync(b->dev, e);
}

status verify_endurance(struct bench *b, struct pipeline *p, double seconds, struct result *out, bool *damaged,
                        struct err *e)
{
    double end = clock_seconds() + seconds;
    for (int runs = 0; runs < ENDURE_RUNS && clock_seconds() < end && out->outcome == OUTCOME_ok;) {
        char when[40];
        int left = ENDURE_RUNS - runs, burst = runs / 4 + 1 < left ? runs / 4 + 1 : left;
        status s = run_burst(b, p, burst, e);
        if (s) return s;
        runs += burst;
        snprintf(when, sizeof when, "%d run%s later", runs, runs == 1 ? "" : "s");
        s = verify_later_run(b, p, when, out, e);
        if (s) return s;
    }
    if (out->outcome == OUTCOME_wrong) *out->verification.detail = 0;   /* the reason has it, and after how many runs */
    return verify_memory(b, p, out, damaged, e);
}
