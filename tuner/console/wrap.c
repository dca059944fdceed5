/* wrap.c: see wrap.h. */
#include "console/wrap.h"
#include "base/mem.h"
#include "console/table.h"
#include <string.h>

static int width_of(const char *text, size_t len)
{
    char *copy = mem_printf("%.*s", (int)len, text);
    int width = text_width(copy);
    mem_free(copy);
    return width;
}

/* Bytes up to the blank that ends the first word; blanks before it are its own, and so is a " %" behind it. */
static size_t word_bytes(const char *text)
{
    size_t len = strspn(text, " ");
    while (text[len] && (text[len] != ' ' || text[len + 1] == '%')) {
        const char *end = text[len] == '`' ? strchr(text + len + 1, '`') : NULL;
        len = end ? (size_t)(end - text) + 1 : len + 1;
    }
    return len;
}

size_t wrap_bytes(const char *text, int room)
{
    size_t len = 0;
    int used = 0;
    while (text[len]) {
        size_t word = word_bytes(text + len);
        used += width_of(text + len, word);
        if (len && used > room)
            break;
        len += word;
    }
    return len;
}

int wrap_lines(const char *text, int room, int *widest)
{
    int lines = 0;
    do {
        size_t len = wrap_bytes(text, room);
        int width = width_of(text, len);
        if (widest && width > *widest)
            *widest = width;
        lines++;
        text += len;
        text += strspn(text, " ");
    } while (*text);
    return lines;
}

void wrap_text(struct strbuf *b, const char *text, int room, int indent)
{
    for (;;) {
        size_t len = wrap_bytes(text, room);
        sb_addn(b, text, len);
        text += len;
        text += strspn(text, " ");
        if (!*text)
            return;
        sb_addf(b, "\n%*s", indent, "");
    }
}

void wrap_all(struct strbuf *b, const char *text, int width)
{
    enum { FURTHER = 2 };
    while (*text) {
        size_t len = strcspn(text, "\n");
        char *line = mem_printf("%.*s", (int)len, text);
        int indent = (int)strspn(line, " ");
        if (!width || text_width(line) <= width || !strncmp(line, "next: ", 6)) {
            sb_add(b, line);
        } else {
            size_t first = wrap_bytes(line, width);
            const char *rest = line + first + strspn(line + first, " ");
            sb_addn(b, line, first);
            if (*rest) {
                sb_addf(b, "\n%*s", indent + FURTHER, "");
                wrap_text(b, rest, width - indent - FURTHER, indent + FURTHER);
            }
        }
        mem_free(line);
        sb_add(b, text[len] ? "\n" : "");
        text += len + (text[len] == '\n');
    }
}
