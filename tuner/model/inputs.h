/* inputs.h: what the inputs of a verification are filled with: as the specification says, or values that a kernel which
 * is right on those may be wrong on (docs/method.md). */
#ifndef LATHE_MODEL_INPUTS_H
#define LATHE_MODEL_INPUTS_H

/* name, does it keep the specification's tolerance (else each element is compared relative to sum |x| |w|), what it
 * is */
#define INPUTS_TABLE(X)                                                                                                \
    X(default, 1, "the specification's fills")                                                                         \
    X(check, 1, "the specification's `check` values, and fills where there are none")                                  \
    X(normal, 1, "normal values, of the deviation that the specification's fills have")                                \
    X(zeros, 1, "zeros everywhere")                                                                                    \
    X(ones, 1, "ones everywhere")                                                                                      \
    X(integers, 1, "whole numbers from -8 to 8, whose sums are exact in float32")                                      \
    X(wide, 0, "magnitudes from 1e-6 to 1e6, of either sign")                                                          \
    X(large, 0, "magnitudes from 1e12 to 1e18, of either sign; the sums are finite")                                   \
    X(tiny, 0, "every other row from 1e-45 to 1e-38: denormal values")                                                 \
    X(outliers, 0, "normal values, and one in a thousand 100 000 times larger")                                        \
    X(rows, 0, "rows of magnitudes from 1e-12 to 1e12")                                                                \
    X(faint, 0, "normal values, and a row in 50 a billion times smaller")                                             \
    X(columns, 0, "columns of A from 1e-6 to 1e6, and those of B the other way round")                                 \
    X(special, 0, "NaN and infinities in some rows, and zeros that meet them")                                         \
    X(overflow, 0, "rows whose products overflow, and rows with the largest finite number")

enum inputs {
#define X(name, plain, text) INPUTS_##name,
    INPUTS_TABLE(X)
#undef X
        INPUTS_COUNT
};

const char *inputs_name(enum inputs i);
const char *inputs_text(enum inputs i);
int inputs_plain(enum inputs i);            /* the specification's tolerance holds as it is */
int inputs_specified(enum inputs i);        /* the specification says the values of every tensor */
int inputs_parse(const char *name);         /* -1 if unknown */

#endif
