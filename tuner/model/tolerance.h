/* tolerance.h: how far from right is still right. A specification has one; `lathe tune --tolerance` may say another,
 * and a campaign keeps the one that it verified with. */
#ifndef LATHE_MODEL_TOLERANCE_H
#define LATHE_MODEL_TOLERANCE_H

#include "base/err.h"
#include "base/strbuf.h"
#include <jansson.h>

#define TOLERANCE_TABLE(X)                                                                                             \
    X(atol) /* each element: |got - ref| <= atol + rtol |ref| */                                                       \
    X(rtol)                                                                                                            \
    X(times_sgemm_error) /* limit on relative Frobenius error, as a multiple of the own error of a GEMM of the same    \
                            types that sums in float32; 0: no limit */                                                 \
    X(frobenius) /* absolute limit on it; 0: none */

struct tolerance {
#define X(name) double name;
    TOLERANCE_TABLE(X)
#undef X
};

enum tolerance_limit {
#define X(name) TOLERANCE_##name,
    TOLERANCE_TABLE(X)
#undef X
        TOLERANCE_COUNT
};
const char *tolerance_name(enum tolerance_limit l);
double tolerance_get(const struct tolerance *t, enum tolerance_limit l);

/* "rtol=1e-3,times_sgemm_error=0": replaces those that are named; bit l of *named (may be NULL) is set for each.
 * LATHE_USAGE: an unknown name (with the nearest), what is no number of 0 or more, a name given twice. */
status tolerance_parse(const char *text, struct tolerance *inout, unsigned *named, struct err *e);

/* {"atol": 0.0001, ...}, every limit, shortest numbers. */
void tolerance_json(const struct tolerance *t, struct strbuf *b);
/* Reads what tolerance_json wrote; LATHE_SPEC. */
status tolerance_from_json(const json_t *j, struct tolerance *out, struct err *e);

#endif
