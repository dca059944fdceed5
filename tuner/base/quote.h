/* quote.h: words as a shell would read them back: for a command that is suggested, or kept with what it made. */
#ifndef LATHE_BASE_QUOTE_H
#define LATHE_BASE_QUOTE_H

#include "base/strbuf.h"

/* Appends the word, in quotes where it needs them. */
void quote_word(struct strbuf *b, const char *word);
/* argv as one line; mem_free it. */
char *quote_words(int argc, char *const *argv);

#endif
