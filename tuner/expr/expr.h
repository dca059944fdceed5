/* expr.h: the one small language of every formula in a specification.
 *
 * Grammar (lowest precedence first): `or`; `and`; `not`; comparisons < <= > >= == != (chained ones are refused with a
 * hint); `+ -`; `* / // %`; unary minus; `^` is not there (pow); calls, indexing `T[i, j]`, names, literals, ( ).
 * Literals: integers (decimal, 0x1F), floats, true, false, 'strings' or "strings" (no escapes).
 *
 * Arithmetic is Lua 5.4's: integers are 64-bit and checked (overflow is an error), `/` always divides as floats, `//`
 * is floor division, `%` floor modulo; an integer that meets a float becomes one. Functions: min max (2 or more), abs,
 * ceil_div (integers, divisor above 0), floor, ceil, round (halves away from 0; all three give integers),
 * select(condition, a, b), clamp(x, lo, hi), pow, sqrt, rsqrt, exp, expm1, log, log1p, tanh, erf, sigmoid, gelu
 * (by erf), mish (x tanh(log(1 + exp(x)))), sin, cos, is_pow2, log2 (of a power of two only, an integer). min, max and
 * clamp of a NaN give a NaN.
 *
 * `and`, `or`, `not` and the condition of `select` take booleans only; strings can only be compared by == and !=.
 * `and`, `or`, `select` evaluate only what they need. There are no assignments and no loops: evaluation always ends.
 * A text has at most 64 KiB; parentheses nest at least 90 deep, at most 200.
 *
 * An expression is parsed (syntax), then bound to a scope (names become slots, types are checked), then evaluated any
 * number of times over an array of values, one a slot. Owned by whoever parsed it; free with expr_free. Immutable after
 * binding, so a bound expression may be shared.
 */
#ifndef LATHE_EXPR_H
#define LATHE_EXPR_H

#include "base/err.h"
#include "expr/value.h"

struct expr;

/* What names an expression may use. A tensor (rank > 0, at most 8) may only be indexed. */
struct scope_name {
    const char *name;           /* borrowed */
    enum value_type type;       /* VALUE_FLOAT for tensors' elements */
    int rank;                   /* 0 for a plain value, else how many indices */
};

struct scope {
    struct scope_name *names;
    int count, cap;
};

int scope_add(struct scope *s, const char *name, enum value_type type, int rank);   /* gives the slot */
int scope_find(const struct scope *s, const char *name);                            /* -1 if absent */
void scope_free(struct scope *s);

status expr_parse(const char *text, struct expr **out, struct err *e);  /* message shows the text and a caret column */
struct expr *expr_literal(struct value v);                              /* copies a string; bound already */
void expr_free(struct expr *x);
const char *expr_text(const struct expr *x);                            /* as written */

/* Resolves names and checks static types. Unknown name: LATHE_SPEC, with the nearest name. */
status expr_bind(struct expr *x, const struct scope *scope, struct err *e);
/* The first name in it that the scope does not have, mem_free it; NULL: it has all. *near: the scope's nearest,
 * borrowed, or NULL. */
char *expr_unknown(const struct expr *x, const struct scope *scope, const char **near);
bool expr_uses(const struct expr *x, int slot);
bool expr_indexes_by(const struct expr *x, int slot);                   /* an index of a tensor in it uses the slot */
enum value_type expr_type(const struct expr *x);                        /* static type after binding */

/* Evaluates over slots[] without allocating. Fails (LATHE_SPEC) on division by zero (of floats too), overflow, domain
 * errors of log2 and ceil_div, and a slot that does not hold its scope's type (an integer may stand in for a float);
 * the message shows the expression with its values. e may be NULL, which saves making the message. A string in *out is
 * borrowed from the slots or the expression. Tensor elements cannot be evaluated here: see expr_eval_with. */
status expr_eval(const struct expr *x, const struct value *slots, struct value *out, struct err *e);

/* The same, with element(ctx, slot, index[], rank) giving tensor elements. Where element is not NULL, floats divide as
 * IEEE 754 says, like the printed C: 1.0 / 0 is infinite and no failure. */
typedef double (*expr_element_fn)(void *ctx, int slot, const int64_t *index, int rank);
status expr_eval_with(const struct expr *x, const struct value *slots, expr_element_fn element, void *ctx,
                      struct value *out, struct err *e);

/* Convenience: evaluates and converts, failing with a message that says what was expected. expr_eval_int also takes a
 * float with an integral value; expr_eval_double wants a finite number. */
status expr_eval_int(const struct expr *x, const struct value *slots, int64_t *out, struct err *e);
status expr_eval_double(const struct expr *x, const struct value *slots, double *out, struct err *e);
status expr_eval_bool(const struct expr *x, const struct value *slots, bool *out, struct err *e);

/* Taking an expression apart, for whoever knows some slots earlier than others. level(): when a slot's value is known.
 * slot(): takes over a part whose value is known earlier than the whole's, and gives the slot where its value will be
 * (VALUE_NONE there if it cannot be evaluated: whatever then needs it fails, and the whole fails or not as before). */
struct expr_cut {
    int (*level)(void *ctx, int slot);
    int (*slot)(void *ctx, struct expr *part);
    void *ctx;
};
/* x with each largest operation in it whose slots are all of levels before `below` replaced by its slot. New, bound.
 * The root is no part, if x itself is of level `below`. */
struct expr *expr_cut(const struct expr *x, int below, const struct expr_cut *cut);
/* x is `a and b and ...`: its conditions, from the left, each new and bound, in a new array. Gives their number. */
int expr_conjuncts(const struct expr *x, struct expr ***out);
bool expr_same(const struct expr *a, const struct expr *b);             /* the same operations on the same slots */

/* Appends "smem <= max_shared: 262144 <= 232448" : the text and, if there are names, the text with their values. */
void expr_explain(struct strbuf *b, const struct expr *x, const struct value *slots);

/* Between which two integers, themselves included, a name or an expression certainly lies. */
struct expr_range {
    int64_t low, high;
};

/* How names appear in printed C. known[] may hold constants that are folded in (type VALUE_NONE: not known). */
enum expr_c_float { EXPR_C_FLOAT, EXPR_C_DOUBLE };  /* expf and 1.0f, or exp and 1.0 */
struct expr_c {
    enum expr_c_float precision;
    const struct value *known;                      /* one a slot, or NULL */
    /* Appends a name (index NULL), or the element of a tensor whose index texts are given, each safe to paste anywhere.
     * What it appends must bind as tightly as a name or a call does. Integers are cast to `long long` around it, and
     * floats to `double` in EXPR_C_DOUBLE; in EXPR_C_FLOAT it must itself have the type float. NULL: names print as
     * they are, and elements cannot be printed. */
    void (*name)(struct strbuf *b, int slot, char *const *index, int rank, void *ctx);
    void *ctx;
    /* An int variable that is set where expr_eval would fail by what is divided by, by what log2 is of, or by an
     * integer beyond 64 bits; the value is then any. Needs expr_c_guards(). NULL: C divides as it does, which for an
     * integer and 0 ends the program, and integers overflow. */
    const char *undefined;
    const struct expr_range *ranges;                /* one a slot, of those that are integers; NULL: they may be any */
};

/* Appends x as a C / CUDA C++ expression with the parentheses that it needs inside, none around it. Integer nodes print
 * as `long long` arithmetic with floor semantics (the helpers of expr_c_helpers(), or plain / and % where both operands
 * are certainly not negative); constant subtrees are folded. Fails (LATHE_SPEC) on a string that is not folded away, a
 * constant that no float holds, and a constant subtree that cannot be computed; then b is as before. */
status expr_print_c(struct strbuf *b, const struct expr *x, const struct expr_c *how, struct err *e);
/* Of an integer expression that is bound; the widest range of any other. known, ranges: as in struct expr_c. */
struct expr_range expr_range_of(const struct expr *x, const struct value *known, const struct expr_range *ranges);
const char *expr_c_helpers(void);                   /* source text: C11, C++, CUDA C++ host and device code; may be
                                                       included more than once */
const char *expr_c_guards(void);                    /* what is called where `undefined` is given, behind those */

/* How names appear in printed Python. */
struct expr_py {
    /* As struct expr_c's: a name, or the element of a tensor whose index texts are given (which are printed as if
     * inside parentheses). What it appends must bind as tightly as a name or a call does. */
    void (*name)(struct strbuf *b, int slot, char *const *index, int rank, void *ctx);
    bool (*tensor)(int slot, void *ctx);            /* whether a plain name is a torch tensor; NULL: none is */
    void *ctx;
};

/* Appends x as a Python expression over numbers and torch tensors (elements of tensors always are). Needs `math` and
 * `torch`, and of lathe's own lathe_ceil_div, lathe_is_pow2, lathe_log2 and lathe_round (export/torch/torch_runtime.py).
 * Fails (LATHE_SPEC) on a string; then b is as before. */
status expr_print_py(struct strbuf *b, const struct expr *x, const struct expr_py *how, struct err *e);

#endif
