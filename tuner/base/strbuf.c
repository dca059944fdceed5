/* strbuf.c: a growable string, and the nearest word.
 *
 * Invariant: either s is NULL and len and cap are 0, or s[len] is NUL and len < cap. */
#include "base/strbuf.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Room for n more bytes and the NUL. */
static void sb_reserve(struct strbuf *b, size_t n)
{
    size_t need = n < SIZE_MAX / 2 ? b->len + n + 1 : SIZE_MAX;
    if (need <= b->cap)
        return;
    size_t cap = b->cap ? b->cap : 32;
    while (cap < need)
        cap = cap <= SIZE_MAX / 2 ? cap * 2 : SIZE_MAX;
    b->s = mem_resize(b->s, cap, 1);
    b->cap = cap;
}

void sb_addn(struct strbuf *b, const char *s, size_t n)
{
    sb_reserve(b, n);
    if (n)
        memcpy(b->s + b->len, s, n);
    b->len += n;
    b->s[b->len] = 0;
}

void sb_add(struct strbuf *b, const char *s)
{
    sb_addn(b, s, strlen(s));
}

void sb_addf(struct strbuf *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0)
        return;
    sb_reserve(b, (size_t)n);
    va_start(args, fmt);
    vsnprintf(b->s + b->len, (size_t)n + 1, fmt, args);
    va_end(args);
    b->len += (size_t)n;
}

const char *sb_str(const struct strbuf *b)
{
    return b->s ? b->s : "";
}

char *sb_take(struct strbuf *b)
{
    char *s = b->s ? b->s : mem_strdup("");
    *b = (struct strbuf){0};
    return s;
}

void sb_csv(struct strbuf *b, const char *field)
{
    size_t n = strlen(field);
    bool quote = field[strcspn(field, ",\"\r\n")] || (n && (strchr(" \t", field[0]) || strchr(" \t", field[n - 1])));
    sb_add(b, quote ? "\"" : "");
    for (const char *s = field; *s; s++)
        sb_addn(b, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
    if (quote)
        sb_add(b, "\"");
}

void sb_free(struct strbuf *b)
{
    mem_free(b->s);
    *b = (struct strbuf){0};
}

enum { WORD_MAX = 64 };                             /* longer words are compared by their beginnings */

static size_t word_len(const char *s)
{
    return strnlen(s, WORD_MAX);
}

/* Edits (insert, delete, replace, swap of neighbours) from a to b. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t na = word_len(a), nb = word_len(b);
    size_t rows[3][WORD_MAX + 1];                   /* rows i-2, i-1 and i of the usual table */
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= nb; j++)
        last[j] = j;
    for (size_t i = 1; i <= na; i++) {
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[nb];
}

const char *nearest_word(const char *word, const char *const *candidates, int n)
{
    const char *found = NULL;
    size_t length = word_len(word), best = length / 3 > 2 ? length / 3 : 2;
    best++;                                         /* the first distance that is too far */
    for (int i = 0; i < n; i++) {
        if (!candidates[i])
            continue;
        if (!strcasecmp(word, candidates[i]))
            return candidates[i];
        size_t distance = edit_distance(word, candidates[i]);
        size_t other = word_len(candidates[i]);
        if (distance >= (length > other ? length : other))
            continue;                               /* not a letter in common */
        bool begun = found && distance == best && !strncmp(candidates[i], word, length) && strncmp(found, word, length);
        if (distance < best || begun) { /* sm_9 is rather an sm_90 than an sm_89 */
            best = distance;
            found = candidates[i];
        }
    }
    return found;
}

/* Length of the valid UTF-8 sequence at s (n bytes are left), 0 if there is none. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
    size_t len = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : 0;
    if (s[0] >= 0xf0 && s[0] < 0xf5)
        len = 4;
    if (len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool outside = (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf4 && s[1] >= 0x90);
    return overlong || outside ? 0 : len;
}

void utf8_clean(struct strbuf *b, const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t done = 0, i = 0;
    while (i < n) {
        size_t len = utf8_length(s + i, n - i);
        if (len) {
            i += len;
            continue;
        }
        sb_addn(b, text + done, i - done);
        sb_add(b, "\xef\xbf\xbd");
        done = ++i;
    }
    sb_addn(b, text + done, n - done);
}

char *utf8_copy(const char *text)
{
    struct strbuf b = {0};
    utf8_clean(&b, text, strlen(text));
    return sb_take(&b);
}

size_t utf8_mark(const char *text, size_t n)
{
    static const char mark[] = "\xef\xbb\xbf";
    return n >= 3 && !memcmp(text, mark, 3) ? 3 : 0;
}
