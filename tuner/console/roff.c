/* roff.c: see roff.h. */
#include "console/roff.h"

#include <ctype.h>
#include <string.h>

void roff_text(struct strbuf *b, const char *text, size_t len)
{
    if (len && (*text == '.' || *text == '\''))
        sb_add(b, "\\&");
    for (size_t i = 0; i < len; i++) {
        switch (text[i]) {
        case '\\': sb_add(b, "\\e"); break;
        case '-': sb_add(b, "\\-"); break;
        case '`': sb_add(b, "\\(ga"); break;
        case '\'': sb_add(b, "\\(aq"); break;
        case '"': sb_add(b, "\\(dq"); break;
        case '^': sb_add(b, "\\(ha"); break;
        case '~': sb_add(b, "\\(ti"); break;
        case '|': sb_add(b, "|\\:"); break; /* a list of choices may be broken there */
        default: sb_addn(b, &text[i], 1);
        }
    }
}

void roff_words(struct strbuf *b, const char *text)
{
    roff_text(b, text, strlen(text));
}

void roff_line(struct strbuf *b, const char *text, size_t len)
{
    size_t begin = 0;
    for (size_t i = 0; i + 2 < len; i++) {
        if (!strchr(".?!", text[i]) || text[i + 1] != ' ' || !isupper((unsigned char)text[i + 2]))
            continue;
        roff_text(b, text + begin, i + 1 - begin);
        sb_add(b, "\n");
        begin = i + 2;
    }
    roff_text(b, text + begin, len - begin);
    sb_add(b, "\n");
}

void roff_paragraph(struct strbuf *b, const char *text)
{
    for (bool first = true; *text; first = false) {
        size_t len = strcspn(text, "\n");
        if (len && !first)
            sb_add(b, ".PP\n");
        if (len)
            roff_line(b, text, len);
        text += len + (text[len] == '\n');
    }
}

void roff_heading(struct strbuf *b, const char *text)
{
    bool options = strstr(text, "--") != NULL; /* which have their own case */
    sb_add(b, ".SH \"");
    for (const char *s = text; *s; s++) {
        char letter = options && s != text ? *s : (char)toupper((unsigned char)*s);
        roff_text(b, &letter, 1);
    }
    sb_add(b, "\"\n");
}

void roff_row(struct strbuf *b, const char *left, const char *right)
{
    bool inner = *left == ' ';
    left += strspn(left, " ");
    sb_add(b, inner ? ".RS\n.TP\n.B \"" : ".TP\n.B \"");
    roff_words(b, left);
    sb_add(b, "\"\n");
    for (const char *s = right; *s;) {
        size_t len = strcspn(s, "\n");
        if (s != right)
            sb_add(b, ".br\n");
        roff_line(b, s, len);
        s += len + (s[len] == '\n');
    }
    if (inner)
        sb_add(b, ".RE\n");
}
