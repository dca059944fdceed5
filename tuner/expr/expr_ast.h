/* expr_ast.h: what the files of the expression language share; private to tuner/expr/expr*.c.
 *
 * expr_lex.c cuts the text into tokens, expr_parse.c builds the tree, expr_bind.c resolves names and types,
 * expr_compile.c turns the tree into code, expr_eval.c runs it, expr_split.c makes trees of parts of one;
 * expr_explain.c prints it for people, expr_print_c.c as
 * C, with what expr_fold.c finds out about constants and expr_range.c about bounds.
 *
 * Invariants of the tree:
 *  1. x->nodes is one array; a node stands after its arguments, the root is the last. So one loop visits arguments
 *     before their operator.
 *  2. The leaves stand in the order of the text.
 *  3. No node is higher than EXPR_MAX_HEIGHT, so recursion over the tree is bounded.
 */
#ifndef LATHE_EXPR_AST_H
#define LATHE_EXPR_AST_H

#include "expr/expr.h"

enum {
    EXPR_MAX_TEXT = 64 << 10,   /* bytes */
    EXPR_MAX_NESTING = 200,     /* of the parser's recursion: parentheses, calls, prefix operators */
    EXPR_MAX_HEIGHT = 1000,     /* of the tree: a + b + c + ... is as high as it is long */
    EXPR_MAX_TEMPS = 256,       /* values that evaluation holds at a time, on the stack */
    EXPR_MAX_RANK = 8,
};

/* What the machine executes: the operators after types are known. _I takes and gives integers, _F floats (an integer
 * argument is converted), the comparisons give booleans. */
enum expr_op {
    OP_NONE,
    OP_ADD_I, OP_SUB_I, OP_MUL_I, OP_FLOOR_DIV_I, OP_MOD_I, OP_NEG_I, OP_ABS_I, OP_MIN_I, OP_MAX_I,
    OP_CEIL_DIV, OP_LOG2, OP_IS_POW2,
    OP_LT_I, OP_LE_I, OP_GT_I, OP_GE_I, OP_EQ_I, OP_NE_I,
    OP_ADD_F, OP_SUB_F, OP_MUL_F, OP_DIV_F, OP_FLOOR_DIV_F, OP_MOD_F, OP_NEG_F, OP_ABS_F, OP_MIN_F, OP_MAX_F, OP_POW,
    OP_LT_F, OP_LE_F, OP_GT_F, OP_GE_F, OP_EQ_F, OP_NE_F,
    OP_SQRT, OP_RSQRT, OP_EXP, OP_EXPM1, OP_LOG, OP_LOG1P, OP_TANH, OP_ERF, OP_SIGMOID, OP_GELU, OP_MISH,
    OP_SIN, OP_COS,
    OP_FLOOR, OP_CEIL, OP_ROUND,
    OP_NOT, OP_EQ_B, OP_NE_B, OP_EQ_S, OP_NE_S,
    OP_MOVE, OP_JUMP, OP_JUMP_FALSE, OP_JUMP_TRUE, OP_ELEMENT, /* only in code, never in a node */
};

/* How an operator's argument types give its type and its op. */
enum expr_typing {
    TYPING_LEAF,                /* constants, names, elements: expr_bind.c knows each */
    TYPING_ARITH,               /* numbers; integer if all are, else float */
    TYPING_FLOAT,               /* numbers; always float */
    TYPING_INT,                 /* integers; integer */
    TYPING_INT_TEST,            /* integers; boolean */
    TYPING_TO_INT,              /* a number; integer */
    TYPING_ORDER,               /* numbers; boolean */
    TYPING_EQUAL,               /* two of a kind; boolean */
    TYPING_LOGIC,               /* booleans; boolean */
    TYPING_SELECT,              /* a boolean and two of a kind; that kind */
};

/* Every kind of node: how it is written, its least and most arguments (0: no limit), its typing, its op on integers
 * (or the only one) and its op on floats. Forms from MIN on are the functions. */
#define EXPR_FORM_TABLE(X)                                                                                             \
    X(CONST, "", 0, 0, LEAF, NONE, NONE)                                                                               \
    X(NAME, "", 0, 0, LEAF, NONE, NONE)                                                                                \
    X(ELEMENT, "", 0, 0, LEAF, NONE, NONE)                                                                             \
    X(OR, "or", 2, 2, LOGIC, NONE, NONE)                                                                               \
    X(AND, "and", 2, 2, LOGIC, NONE, NONE)                                                                             \
    X(NOT, "not", 1, 1, LOGIC, NOT, NOT)                                                                               \
    X(LT, "<", 2, 2, ORDER, LT_I, LT_F)                                                                                \
    X(LE, "<=", 2, 2, ORDER, LE_I, LE_F)                                                                               \
    X(GT, ">", 2, 2, ORDER, GT_I, GT_F)                                                                                \
    X(GE, ">=", 2, 2, ORDER, GE_I, GE_F)                                                                               \
    X(EQ, "==", 2, 2, EQUAL, EQ_I, EQ_F)                                                                               \
    X(NE, "!=", 2, 2, EQUAL, NE_I, NE_F)                                                                               \
    X(ADD, "+", 2, 2, ARITH, ADD_I, ADD_F)                                                                             \
    X(SUB, "-", 2, 2, ARITH, SUB_I, SUB_F)                                                                             \
    X(MUL, "*", 2, 2, ARITH, MUL_I, MUL_F)                                                                             \
    X(DIV, "/", 2, 2, FLOAT, NONE, DIV_F)                                                                              \
    X(FLOOR_DIV, "//", 2, 2, ARITH, FLOOR_DIV_I, FLOOR_DIV_F)                                                          \
    X(MOD, "%", 2, 2, ARITH, MOD_I, MOD_F)                                                                             \
    X(NEG, "-", 1, 1, ARITH, NEG_I, NEG_F)                                                                             \
    X(MIN, "min", 2, 0, ARITH, MIN_I, MIN_F)                                                                           \
    X(MAX, "max", 2, 0, ARITH, MAX_I, MAX_F)                                                                           \
    X(ABS, "abs", 1, 1, ARITH, ABS_I, ABS_F)                                                                           \
    X(CEIL_DIV, "ceil_div", 2, 2, INT, CEIL_DIV, NONE)                                                                 \
    X(FLOOR, "floor", 1, 1, TO_INT, NONE, FLOOR)                                                                       \
    X(CEIL, "ceil", 1, 1, TO_INT, NONE, CEIL)                                                                          \
    X(ROUND, "round", 1, 1, TO_INT, NONE, ROUND)                                                                       \
    X(SELECT, "select", 3, 3, SELECT, NONE, NONE)                                                                      \
    X(CLAMP, "clamp", 3, 3, ARITH, NONE, NONE)                                                                         \
    X(POW, "pow", 2, 2, FLOAT, NONE, POW)                                                                              \
    X(SQRT, "sqrt", 1, 1, FLOAT, NONE, SQRT)                                                                           \
    X(RSQRT, "rsqrt", 1, 1, FLOAT, NONE, RSQRT)                                                                        \
    X(EXP, "exp", 1, 1, FLOAT, NONE, EXP)                                                                              \
    X(EXPM1, "expm1", 1, 1, FLOAT, NONE, EXPM1)                                                                        \
    X(LOG, "log", 1, 1, FLOAT, NONE, LOG)                                                                              \
    X(LOG1P, "log1p", 1, 1, FLOAT, NONE, LOG1P)                                                                        \
    X(TANH, "tanh", 1, 1, FLOAT, NONE, TANH)                                                                           \
    X(ERF, "erf", 1, 1, FLOAT, NONE, ERF)                                                                              \
    X(SIGMOID, "sigmoid", 1, 1, FLOAT, NONE, SIGMOID)                                                                  \
    X(GELU, "gelu", 1, 1, FLOAT, NONE, GELU)                                                                           \
    X(MISH, "mish", 1, 1, FLOAT, NONE, MISH)                                                                           \
    X(SIN, "sin", 1, 1, FLOAT, NONE, SIN)                                                                              \
    X(COS, "cos", 1, 1, FLOAT, NONE, COS)                                                                              \
    X(IS_POW2, "is_pow2", 1, 1, INT_TEST, IS_POW2, NONE)                                                               \
    X(LOG2, "log2", 1, 1, INT, LOG2, NONE)

enum expr_form {
#define X(name, text, min, max, typing, as_int, as_float) FORM_##name,
    EXPR_FORM_TABLE(X)
#undef X
        FORM_COUNT
};

struct expr_form_info {
    const char *text;
    int min_args, max_args;
    enum expr_typing typing;
    enum expr_op as_int, as_float;
};
extern const struct expr_form_info expr_forms[FORM_COUNT];

struct expr_node {
    enum expr_form form;
    enum expr_op op;            /* after binding; OP_NONE where the form is no single operation */
    enum value_type type;       /* after binding */
    int at, at_len;             /* the operator or the name in the text, where errors point */
    int start, end;             /* all of it in the text, with its parentheses */
    int first, next;            /* the first argument, the next one of the same operator; -1: none */
    int nargs, height;
    int slot;                   /* FORM_NAME, FORM_ELEMENT; after binding */
    struct value literal;       /* FORM_CONST; a string belongs to the node */
};

/* Code: op takes operands a and b and writes the temporary dst. Jumps go to dst (JUMP_FALSE and _TRUE test a). ELEMENT
 * reads slot a with its indices in temporaries dst ... dst + b - 1. */
enum expr_operand_kind { OPERAND_SLOT, OPERAND_CONST, OPERAND_TEMP };
struct expr_operand {
    enum expr_operand_kind kind;
    int32_t index;
};
struct expr_instruction {
    uint8_t op, a_kind, b_kind;
    int32_t dst, a, b;
};
struct expr_program {
    struct expr_instruction *code;
    struct value *consts;       /* strings are the nodes' */
    int ncode, code_cap, nconsts, consts_cap;
    struct expr_operand result;
};

struct expr {
    char *text;
    struct expr_node *nodes;
    int count, cap;
    bool bound;
    struct expr_program program;
};

/* Why an evaluation stopped. */
enum expr_fault {
    FAULT_NONE,
    FAULT_ZERO,                 /* division by zero */
    FAULT_OVERFLOW,             /* an integer beyond 64 bits */
    FAULT_LOG2,                 /* not a power of two */
    FAULT_DIVISOR,              /* ceil_div by a number below 1 */
    FAULT_TYPE,                 /* a slot does not hold what its scope promised */
    FAULT_ELEMENT,              /* a tensor's element where none are known */
};
const char *expr_fault_text(enum expr_fault f);

/* Applies one op to values. ieee: float division by zero gives an infinity or a NaN instead of FAULT_ZERO. b is not
 * read by ops of one argument. */
enum expr_fault expr_apply(enum expr_op op, const struct value *a, const struct value *b, bool ieee, struct value *out);

/* What is known of a node before evaluation, from the constants in known[] (one value a slot, or NULL). */
struct expr_fact {
    struct value value;         /* VALUE_NONE: not a constant. Of the node's type */
    enum expr_fault fault;      /* its arguments are constants and applying it fails */
    bool natural;               /* an integer that is certainly 0 or more */
    struct expr_range range;    /* of an integer */
    bool overflows;             /* its operation may leave 64 bits, or is one that C cannot do of some value in range */
};
/* One fact a node; mem_free it. The tree is bound. ranges: one a slot, or NULL. */
struct expr_fact *expr_facts(const struct expr *x, const struct value *known, const struct expr_range *ranges);
/* expr_range.c: sets range and overflows of a node whose arguments have theirs. */
void expr_find_range(const struct expr *x, int node, const struct expr_range *ranges, struct expr_fact *facts);

/* Fails if more than EXPR_MAX_TEMPS temporaries are needed. The tree is bound. */
status expr_compile(struct expr *x, struct err *e);
void expr_program_free(struct expr_program *p);

/* Sets *e to the message and the text with a caret under byte `at`; returns LATHE_SPEC. */
status expr_error(struct err *e, const char *text, int at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Tokens. A name, a number or a string has its place in the text; an operator has its form (subtraction for both
 * kinds of minus). */
enum expr_token_kind {
    TOKEN_END, TOKEN_NAME, TOKEN_VALUE, TOKEN_OPERATOR, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_OPEN_INDEX, TOKEN_CLOSE_INDEX,
    TOKEN_COMMA,
};
struct expr_token {
    enum expr_token_kind kind;
    enum expr_form form;        /* TOKEN_OPERATOR */
    struct value value;         /* TOKEN_VALUE; a string is not set here: it is text[at + 1 ... at + len - 2] */
    bool minimum;               /* the literal 9223372036854775808, which only a minus before it makes an integer */
    int at, len;
};
status expr_next_token(const char *text, int at, struct expr_token *t, struct err *e);

#endif
