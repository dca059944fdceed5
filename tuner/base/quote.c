/* quote.c: see quote.h. */
#include "base/quote.h"
#include <string.h>

void quote_word(struct strbuf *b, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    if (*word && !word[strspn(word, plain)]) {
        sb_add(b, word);
        return;
    }
    sb_add(b, "'");
    for (; *word; word++)
        sb_addn(b, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    sb_add(b, "'");
}

char *quote_words(int argc, char *const *argv)
{
    struct strbuf b = {0};
    sb_add(&b, "");
    for (int i = 0; i < argc; i++) {
        if (i)
            sb_add(&b, " ");
        quote_word(&b, argv[i]);
    }
    return sb_take(&b);
}
