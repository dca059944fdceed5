/* python_lex.c: tokens of Python, and what the files of python_impl.h share. */
#include "search/spec/python_impl.h"

#include "base/mem.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MADE_MAX = 4 << 20 };    /* bytes of all texts made: what is written twice can double at each level */

status python_fail(struct python_parser *p, int at, const char *fmt, ...)
{
    char what[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return err_set(p->e, LATHE_SPEC, "`%.300s%s`: column %d: %s", p->text, strlen(p->text) > 300 ? "..." : "", at + 1,
                   what);
}

const char *python_keep(struct python_parser *p, struct strbuf *b)
{
    p->made += b->len;
    if (p->made > MADE_MAX) {
        sb_free(b);
        python_fail(p, p->token.at, "too long: as a formula it has more than %d MiB", MADE_MAX >> 20);
        return NULL;
    }
    MEM_GROW(p->texts, p->ntexts, p->texts_cap);
    return p->texts[p->ntexts++] = b->s ? sb_take(b) : mem_strdup("");
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Digits of a base with single underscores between them; the end, or NULL. */
static const char *scan_digits(const char *s, int base, struct strbuf *out)
{
    const char *digits = base == 16  ? "0123456789abcdefABCDEF"
                         : base == 8 ? "01234567"
                         : base == 2 ? "01"
                                     : "0123456789";
    if (!*s || !strchr(digits, *s))
        return NULL;
    for (;; s++) {
        if (*s == '_' && s[1] && strchr(digits, s[1]))
            continue;
        if (!*s || !strchr(digits, *s))
            return s;
        sb_addn(out, s, 1);
    }
}

static status lex_integer(struct python_parser *p, const char *digits, int base, struct python_token *t)
{
    errno = 0;
    unsigned long long n = strtoull(digits, NULL, base);
    if (errno || n > INT64_MAX)
        return python_fail(p, t->at, "this integer does not fit in 64 bits");
    t->value = value_int((int64_t)n);
    return LATHE_OK;
}

/* A fraction and an exponent after the digits in b; moves *s. */
static bool lex_fraction(const char **s, struct strbuf *b)
{
    bool is_float = **s == '.';
    if (is_float) {
        const char *end = (sb_add(b, "."), scan_digits(*s + 1, 10, b));
        *s = end ? end : *s + 1;
    }
    if (**s != 'e' && **s != 'E')
        return is_float;
    struct strbuf exponent = {0};
    bool sign = (*s)[1] == '-' || (*s)[1] == '+';
    const char *end = scan_digits(*s + 1 + sign, 10, &exponent);
    if (end) {
        sb_addf(b, "e%.*s%s", sign, *s + 1, sb_str(&exponent));
        *s = end;
    }
    sb_free(&exponent);
    return is_float || end;
}

static status lex_number(struct python_parser *p, struct python_token *t)
{
    const char *s = p->text + t->at, *end;
    struct strbuf b = {0};
    char prefix = s[0] == '0' ? (char)tolower((unsigned char)s[1]) : 0;
    int base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
    status st = LATHE_OK;
    t->kind = PYTHON_VALUE;
    if (base != 10) {
        end = scan_digits(s + 2 + (s[2] == '_'), base, &b);
        if (end)
            st = lex_integer(p, sb_str(&b), base, t);
    } else {
        end = *s == '.' ? s : scan_digits(s, 10, &b);
        bool zeros = strspn(sb_str(&b), "0") == b.len;
        if (end && lex_fraction(&end, &b)) {
            t->value = value_float(strtod(sb_str(&b), NULL));
            if (!isfinite(t->value.f))
                st = python_fail(p, t->at, "this number is too large for a float");
        } else if (end && *s == '0' && !zeros) {
            end = NULL;                             /* 012 is no number of Python 3 */
        } else if (end) {
            st = lex_integer(p, sb_str(&b), 10, t);
        }
    }
    sb_free(&b);
    if (st)
        return st;
    if (!end || in_name(*end))
        return python_fail(p, t->at, "malformed number");
    t->len = (int)(end - s);
    return LATHE_OK;
}

/* A text between quotes, with the escapes of one character. */
static status lex_string(struct python_parser *p, struct python_token *t)
{
    static const char escapes[] = "\\'\"ntr", meanings[] = "\\'\"\n\t\r";
    const char *s = p->text + t->at, *c = s + 1;
    struct strbuf b = {0};
    if (!strncmp(s, "'''", 3) || !strncmp(s, "\"\"\"", 3))
        return python_fail(p, t->at, "a text in triple quotes is not read");
    for (; *c && *c != *s && *c != '\n'; c++) {
        const char *escape = *c == '\\' && c[1] ? strchr(escapes, c[1]) : NULL;
        if (*c == '\\' && !escape) {
            sb_free(&b);
            return python_fail(p, (int)(c - p->text), "this escape is not read");
        }
        if (escape)
            c++;
        sb_addn(&b, escape ? &meanings[escape - escapes] : c, 1);
    }
    if (*c != *s) {
        sb_free(&b);
        return python_fail(p, t->at, "this text has no end");
    }
    t->kind = PYTHON_VALUE;
    t->len = (int)(c + 1 - s);
    t->value = value_string(python_keep(p, &b));
    return t->value.s ? LATHE_OK : LATHE_SPEC;
}

static status lex_operator(struct python_parser *p, struct python_token *t)
{
    static const char *const operators[] = {"**=", "//=", ">>=", "<<=", "...", "**", "//", "<<", ">>", "<=", ">=", "==",
                                            "!=", "->", ":=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=",
                                            NULL};
    const char *s = p->text + t->at;
    t->kind = PYTHON_OPERATOR;
    t->len = 1;
    for (int i = 0; operators[i] && t->len == 1; i++)
        if (!strncmp(s, operators[i], strlen(operators[i])))
            t->len = (int)strlen(operators[i]);
    if (t->len > 1 || strchr("+-*/%()[]{}<>=,:.&|^~@;", *s))
        return LATHE_OK;
    return (unsigned char)*s < ' ' ? python_fail(p, t->at, "a control character has no meaning here")
                                   : python_fail(p, t->at, "`%c` has no meaning here", *s);
}

status python_advance(struct python_parser *p)
{
    struct python_token *t = &p->token;
    int at = t->at + t->len;
    while (p->text[at] == ' ' || p->text[at] == '\t' || p->text[at] == '\n' || p->text[at] == '\r')
        at++;
    *t = (struct python_token){.at = at};
    const char *s = p->text + at;
    if (!*s)
        return LATHE_OK;
    if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1])))
        return lex_number(p, t);
    if (*s == '\'' || *s == '"')
        return lex_string(p, t);
    if (!in_name(*s))
        return lex_operator(p, t);
    while (in_name(s[t->len]))
        t->len++;
    t->kind = PYTHON_NAME;
    return s[t->len] == '\'' || s[t->len] == '"'
               ? python_fail(p, at, "a text with a prefix (`%.*s`) is not read", t->len, s) : LATHE_OK;
}

void python_open(struct python_parser *p, const char *text, const struct python_names *names, struct err *e)
{
    *p = (struct python_parser){.text = text, .names = names, .e = e};
}

void python_close(struct python_parser *p)
{
    for (int i = 0; i < p->ntexts; i++)
        mem_free(p->texts[i]);
    mem_free(p->texts);
}

bool python_is(const struct python_parser *p, const char *word)
{
    const struct python_token *t = &p->token;
    return (t->kind == PYTHON_NAME || t->kind == PYTHON_OPERATOR) && strlen(word) == (size_t)t->len &&
           !strncmp(p->text + t->at, word, (size_t)t->len);
}

status python_take(struct python_parser *p, const char *word, bool *taken)
{
    *taken = python_is(p, word);
    return *taken ? python_advance(p) : LATHE_OK;
}

status python_expect(struct python_parser *p, const char *word)
{
    const struct python_token *t = &p->token;
    if (python_is(p, word))
        return python_advance(p);
    return t->kind == PYTHON_END ? python_fail(p, t->at, "expected `%s`, got the end", word)
                                 : python_fail(p, t->at, "expected `%s`, got `%.*s`", word, t->len < 40 ? t->len : 40,
                                               p->text + t->at);
}
