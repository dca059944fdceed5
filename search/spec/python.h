/* python.h: the part of Python's syntax that the community's definitions of search spaces are written in, to formulas
 * of expr/expr.h that have the same values.
 *
 * Constraints: `or`, `and`, `not` (which take and give any value, as in Python), chained comparisons, `in` and `not
 * in` a list, tuple or set written out, `+ - * / // %`, parentheses, names, True, False, integers, floats and texts.
 * `/` is true division, `//` and `%` floor; booleans count as 0 and 1. All else (powers, bits, calls, attributes,
 * subscripts, lambda, comparisons of texts by order, ...) is refused by name. Two limits: an integer that may leave 64
 * bits, by the least and greatest values of its names, is computed as a float; and what raises an exception in Python
 * (a division by zero) cannot be evaluated here either, except that elements of a list after the one that is equal are
 * not looked at. Source: The Python Language Reference, 6 (Expressions).
 *
 * Lists of values: lists, tuples, range, list(...), comprehensions of one `for` with `if`s, `+` between lists; in the
 * elements the above, and `**`. */
#ifndef LATHE_SEARCH_PYTHON_H
#define LATHE_SEARCH_PYTHON_H

#include "base/err.h"
#include "expr/value.h"
#include <jansson.h>

struct python_name {
    const char *name;
    enum value_type type;
    double low, high;           /* of numbers: its least and greatest value */
};
struct python_names {
    const struct python_name *items;
    int count;
};

/* *out: the formula, true where the constraint's value is true for Python; mem_free it. LATHE_SPEC: message with the
 * column, from 1. */
status python_constraint(const char *text, const struct python_names *names, char **out, struct err *e);

/* *out: an array of numbers, texts and booleans; new reference. At most `most` of them. */
status python_values(const char *text, int most, json_t **out, struct err *e);

#endif
