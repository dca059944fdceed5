/* python_impl.h: what the files that read Python share: python_lex.c cuts the text into tokens, python.c parses it and
 * writes formulas (python_term.c has the pieces that those are made of), python_values.c makes lists of values.
 *
 * Invariants: p->token is the next token, not yet used. All texts made on the way belong to p->texts, so that a failure
 * frees nothing itself. After a failure nobody reads on. */
#ifndef LATHE_SEARCH_PYTHON_IMPL_H
#define LATHE_SEARCH_PYTHON_IMPL_H

#include "base/strbuf.h"
#include "search/spec/python.h"

enum python_token_kind {
    PYTHON_END,
    PYTHON_NAME,                /* also the keywords that have no other kind here */
    PYTHON_VALUE,
    PYTHON_OPERATOR,            /* what is no name, number or text: p->text[at .. at + len) */
};
struct python_token {
    enum python_token_kind kind;
    struct value value;         /* PYTHON_VALUE; a text belongs to p->texts */
    int at, len;
};

struct python_parser {
    const char *text;
    struct python_token token;
    const struct python_names *names;
    bool powers;                /* `**` is read */
    int nesting;
    char **texts;
    int ntexts, texts_cap;
    size_t made;                /* bytes of all texts */
    struct err *e;
};

/* A piece of a formula. Precedences are those of expr/expr.h; a higher one binds tighter. */
enum python_level { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_UNARY, LEVEL_ATOM };
struct python_term {
    const char *text;           /* its value */
    enum value_type type;       /* VALUE_NONE: `and` or `or` of a text and a number, good as a condition only */
    enum python_level level;
    const char *truth;          /* NULL, or whether it is true, where that is shorter than comparing the value */
    enum python_level truth_level;
    double low, high;           /* of numbers */
};

void python_open(struct python_parser *p, const char *text, const struct python_names *names, struct err *e);
void python_close(struct python_parser *p);
status python_advance(struct python_parser *p);
bool python_is(const struct python_parser *p, const char *word);    /* the next token is this operator or word */
/* Uses the token if it is the word. */
status python_take(struct python_parser *p, const char *word, bool *taken);
status python_expect(struct python_parser *p, const char *word);
/* LATHE_SPEC with the text and the column of byte `at`. */
status python_fail(struct python_parser *p, int at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A text that lives as long as the parser; NULL with the message set: all texts together are too long. */
const char *python_keep(struct python_parser *p, struct strbuf *b);

/* One expression, up to a token that does not continue it. */
status python_expression(struct python_parser *p, struct python_term *out);
/* Texts of a term where its value or its truth is wanted. NULL with the message set. at: what to point at. */
const char *python_truth(struct python_parser *p, const struct python_term *t, enum python_level least);
/* op: + - * / // % **, of two terms; `at`: the operator */
status python_arithmetic(struct python_parser *p, const char *op, const struct python_term *a,
                         const struct python_term *b, int at, struct python_term *out);
status python_negate(struct python_parser *p, const struct python_term *a, int at, struct python_term *out);
/* op: < <= > >= == != ; appends the formula to b with nothing around it. */
status python_compare(struct python_parser *p, const char *op, const struct python_term *a, const struct python_term *b,
                      int at, struct strbuf *out);
/* `and` (or `or`) of two. */
status python_logic(struct python_parser *p, bool is_and, const struct python_term *a, const struct python_term *b,
                    struct python_term *out);
struct python_term python_literal(struct python_parser *p, struct value v);

#endif
