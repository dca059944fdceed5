/* export_macros.c: keeps a kernel's macros to its own text. A launcher's names are the specification's and the helpers'
 * own, so a kernel that says `#define M 16` would change those behind it. Before the text each macro that it defines or
 * undefines is pushed, after it popped, which leaves what was there before.
 *
 * Macros that begin with LATHE_ are let through: generated code uses none of theirs, and lathe's headers have many. A
 * name found in a comment is pushed for nothing, and harms nothing. */
#include "base/mem.h"
#include "export/internal.h"
#include <ctype.h>
#include <string.h>

struct export_macros {
    char **name;
    int n, cap;
};

/* After what separates words of a directive: blanks, comments, lines that continue. */
static const char *after_space(const char *c)
{
    for (;;) {
        const char *end = strncmp(c, "/*", 2) ? NULL : strstr(c + 2, "*/");
        if (*c == ' ' || *c == '\t') c++;
        else if (!strncmp(c, "\\\n", 2)) c += 2;
        else if (!strncmp(c, "\\\r\n", 3)) c += 3;
        else if (end) c = end + 2;
        else return c;
    }
}

/* The macro that a directive here defines or undefines, of *len characters; NULL: there is none. */
static const char *defined_here(const char *c, size_t *len)
{
    c = after_space(c);
    if (*c != '#' && strncmp(c, "%:", 2)) return NULL;
    c = after_space(c + (*c == '#' ? 1 : 2));
    size_t word = strncmp(c, "define", 6) ? strncmp(c, "undef", 5) ? 0 : 5 : 6;
    const char *name = after_space(c + word);
    *len = 0;
    while (isalnum((unsigned char)name[*len]) || name[*len] == '_') ++*len;
    return word && name > c + word && *len ? name : NULL;
}

static void add(struct export_macros *m, const char *name, size_t len)
{
    if (!strncmp(name, "LATHE_", 6)) return;
    for (int i = 0; i < m->n; i++)
        if (strlen(m->name[i]) == len && !strncmp(m->name[i], name, len)) return;
    MEM_GROW(m->name, m->n, m->cap);
    m->name[m->n++] = mem_printf("%.*s", (int)len, name);
}

struct export_macros *export_macros_push(struct exporter *x, const char *text)
{
    struct export_macros *m = mem_zalloc(1, sizeof *m);
    for (const char *c = text; c && *c;) {
        size_t len;
        const char *name = defined_here(c, &len);
        if (name) add(m, name, len);
        const char *comment = strstr(c, "*/");      /* behind one that began on another line */
        c = strchr(c, '\n');
        c = comment && c && comment < c ? comment + 2 : c ? c + 1 : NULL;
    }
    for (int i = 0; i < m->n; i++) sb_addf(x->out, "#pragma push_macro(\"%s\")\n", m->name[i]);
    return m;
}

void export_macros_pop(struct exporter *x, struct export_macros *m)
{
    for (int i = 0; i < m->n; i++) {
        sb_addf(x->out, "#pragma pop_macro(\"%s\")\n", m->name[i]);
        mem_free(m->name[i]);
    }
    mem_free(m->name);
    mem_free(m);
}
