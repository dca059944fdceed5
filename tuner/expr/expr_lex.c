/* expr_lex.c: the text of an expression as tokens, and the advice for spellings that come from other languages. */
#include "expr/expr_ast.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool starts_name(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool continues_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Longest spellings first. A form of FORM_COUNT is a refusal, and the text is what to write instead. */
static const struct {
    const char *spelling;
    enum expr_form form;
    const char *advice;
} operators[] = {
    {"===", FORM_COUNT, "write `==` for equality"},
    {"<=>", FORM_COUNT, "there is no three-way comparison"},
    {"<=", FORM_LE, NULL},
    {">=", FORM_GE, NULL},
    {"==", FORM_EQ, NULL},
    {"!=", FORM_NE, NULL},
    {"//", FORM_FLOOR_DIV, NULL},
    {"&&", FORM_COUNT, "write `and`"},
    {"||", FORM_COUNT, "write `or`"},
    {"**", FORM_COUNT, "write `pow(a, b)` for a power"},
    {"~=", FORM_COUNT, "write `!=` for inequality"},
    {"<>", FORM_COUNT, "write `!=` for inequality"},
    {"=<", FORM_COUNT, "write `<=`"},
    {"=>", FORM_COUNT, "write `>=`"},
    {"<<", FORM_COUNT, "there are no bit operations: multiply by the power of two"},
    {">>", FORM_COUNT, "there are no bit operations: use `//` by the power of two"},
    {"..", FORM_COUNT, "strings cannot be joined"},
    {"<", FORM_LT, NULL},
    {">", FORM_GT, NULL},
    {"+", FORM_ADD, NULL},
    {"-", FORM_SUB, NULL},
    {"*", FORM_MUL, NULL},
    {"/", FORM_DIV, NULL},
    {"%", FORM_MOD, NULL},
    {"=", FORM_COUNT, "write `==` for equality; there are no assignments"},
    {"!", FORM_COUNT, "write `not`"},
    {"^", FORM_COUNT, "write `pow(a, b)` for a power"},
    {"?", FORM_COUNT, "write `select(condition, a, b)` for `condition ? a : b`"},
    {":", FORM_COUNT, "write `select(condition, a, b)` for `condition ? a : b`"},
    {"&", FORM_COUNT, "there are no bit operations: write `and` between conditions"},
    {"|", FORM_COUNT, "there are no bit operations: write `or` between conditions"},
    {"~", FORM_COUNT, "there are no bit operations: write `not` before a condition"},
    {";", FORM_COUNT, "an expression is one formula, with nothing after it"},
    {".", FORM_COUNT, "names have no fields"},
    {"#", FORM_COUNT, "there is no length operator, and there are no comments"},
};

static status read_operator(const char *text, int at, struct expr_token *t, struct err *e)
{
    static const char punctuation[] = "()[],";
    static const enum expr_token_kind kinds[] = {TOKEN_OPEN, TOKEN_CLOSE, TOKEN_OPEN_INDEX, TOKEN_CLOSE_INDEX,
                                                 TOKEN_COMMA};
    const char *mark = strchr(punctuation, text[at]);
    if (mark) {
        t->kind = kinds[mark - punctuation];
        t->len = 1;
        return LATHE_OK;
    }
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        size_t len = strlen(operators[i].spelling);
        if (strncmp(text + at, operators[i].spelling, len))
            continue;
        if (operators[i].form == FORM_COUNT)
            return expr_error(e, text, at, "`%s` is not an operator here: %s", operators[i].spelling,
                              operators[i].advice);
        t->kind = TOKEN_OPERATOR;
        t->form = operators[i].form;
        t->len = (int)len;
        return LATHE_OK;
    }
    int len = 1;                                    /* all bytes of a character */
    while (((unsigned char)text[at + len] & 0xC0) == 0x80 && len < 4)
        len++;
    if ((unsigned char)text[at] < ' ' || text[at] == 127)
        return expr_error(e, text, at, "a control character (byte %d) has no meaning here", text[at]);
    return expr_error(e, text, at, "`%.*s` has no meaning here", len, text + at);
}

static status read_hexadecimal(const char *text, int at, struct expr_token *t, struct err *e)
{
    char *end;
    errno = 0;
    unsigned long long n = isxdigit((unsigned char)text[at + 2]) ? strtoull(text + at, &end, 16) : 0;
    if (!isxdigit((unsigned char)text[at + 2]) || continues_name(*end) || *end == '.')
        return expr_error(e, text, at, "malformed number: hexadecimal integers look like 0x1F");
    if (errno || n > INT64_MAX)
        return expr_error(e, text, at, "this integer does not fit in 64 bits: the largest is 0x7FFFFFFFFFFFFFFF");
    t->value = value_int((int64_t)n);
    t->len = (int)(end - (text + at));
    return LATHE_OK;
}

static status read_number(const char *text, int at, struct expr_token *t, struct err *e)
{
    t->kind = TOKEN_VALUE;
    if (text[at] == '0' && (text[at + 1] == 'x' || text[at + 1] == 'X'))
        return read_hexadecimal(text, at, t, e);
    const char *p = text + at;
    bool is_float = false;
    for (; isdigit((unsigned char)*p); p++)
        ;
    if (*p == '.') {
        is_float = true;
        for (p++; isdigit((unsigned char)*p); p++)
            ;
    }
    if (*p == 'e' || *p == 'E') {
        is_float = true;
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        if (!isdigit((unsigned char)*p))
            return expr_error(e, text, at, "malformed number: an exponent looks like 1e-4");
        for (; isdigit((unsigned char)*p); p++)
            ;
    }
    if (continues_name(*p) || *p == '.')
        return expr_error(e, text, at, "malformed number `%.*s`: write * to multiply, and no suffix",
                          (int)(p - (text + at)) + 1, text + at);
    t->len = (int)(p - (text + at));
    if (is_float) {
        t->value = value_float(strtod(text + at, NULL));
        if (!isfinite(t->value.f))
            return expr_error(e, text, at, "this number is too large for a float: the largest is about 1.8e308");
        return LATHE_OK;
    }
    errno = 0;
    unsigned long long n = strtoull(text + at, NULL, 10);
    t->minimum = errno == 0 && n == (unsigned long long)INT64_MAX + 1;
    if (errno || (n > INT64_MAX && !t->minimum))
        return expr_error(e, text, at, "this integer does not fit in 64 bits: write it as a float, as in 1e20");
    t->value = value_int(t->minimum ? 0 : (int64_t)n);
    return LATHE_OK;
}

static status read_string(const char *text, int at, struct expr_token *t, struct err *e)
{
    char quote = text[at];
    int end = at + 1;
    while (text[end] && text[end] != quote && text[end] != '\n')
        end++;
    if (text[end] != quote)
        return expr_error(e, text, at, "this string has no end: expected a second %c on the same line", quote);
    t->kind = TOKEN_VALUE;
    t->value = value_string("");
    t->len = end + 1 - at;
    return LATHE_OK;
}

static void read_word(const char *text, int at, struct expr_token *t)
{
    int len = 1;
    while (continues_name(text[at + len]))
        len++;
    t->len = len;
    t->kind = TOKEN_NAME;
    static const struct {
        const char *word;
        enum expr_form form;
    } words[] = {{"and", FORM_AND}, {"or", FORM_OR}, {"not", FORM_NOT}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == (size_t)len && !strncmp(words[i].word, text + at, (size_t)len)) {
            t->kind = TOKEN_OPERATOR;
            t->form = words[i].form;
        }
    bool is_true = len == 4 && !strncmp(text + at, "true", 4), is_false = len == 5 && !strncmp(text + at, "false", 5);
    if (is_true || is_false) {
        t->kind = TOKEN_VALUE;
        t->value = value_bool(is_true);
    }
}

status expr_next_token(const char *text, int at, struct expr_token *t, struct err *e)
{
    while (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')
        at++;
    *t = (struct expr_token){.at = at, .kind = TOKEN_END};
    char c = text[at];
    if (!c)
        return LATHE_OK;
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)text[at + 1])))
        return read_number(text, at, t, e);
    if (c == '\'' || c == '"')
        return read_string(text, at, t, e);
    if (starts_name(c)) {
        read_word(text, at, t);
        return LATHE_OK;
    }
    return read_operator(text, at, t, e);
}
