/* value.h: a value of a parameter, a dimension, a scalar or an expression. Strings are borrowed from the specification
 * that the value came from. */
#ifndef LATHE_EXPR_VALUE_H
#define LATHE_EXPR_VALUE_H

#include "base/strbuf.h"
#include <stdbool.h>
#include <stdint.h>

enum value_type { VALUE_NONE, VALUE_BOOL, VALUE_INT, VALUE_FLOAT, VALUE_STRING };

struct value {
    enum value_type type;
    union {
        bool b;
        int64_t i;
        double f;
        const char *s;
    };
};

static inline struct value value_int(int64_t i) { return (struct value){.type = VALUE_INT, .i = i}; }
static inline struct value value_float(double f) { return (struct value){.type = VALUE_FLOAT, .f = f}; }
static inline struct value value_bool(bool b) { return (struct value){.type = VALUE_BOOL, .b = b}; }
static inline struct value value_string(const char *s) { return (struct value){.type = VALUE_STRING, .s = s}; }

bool value_equal(struct value a, struct value b);   /* 1 and 1.0 are equal; 1 and true are not */
bool value_as_double(struct value v, double *out);  /* int and float only */
bool value_as_int(struct value v, int64_t *out);    /* int, or a float with an integral value */
void value_print(struct strbuf *b, struct value v); /* 32, 0.5 (shortest text that reads back the same), true, word */
const char *value_type_name(enum value_type t);     /* "integer", ... */

/* Reads a value as a user types it on a command line ("32", "0.5", "true", anything else is a string). The string case
 * borrows `text`. */
struct value value_read(const char *text);

#endif
