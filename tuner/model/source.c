/* source.c: a kernel's files to one text, and a configuration to macros.
 *
 * Assembly copies lines. It understands just enough of C++ to know a directive from a comment: block comments are
 * followed across lines. Invariants: (1) each file, told apart by its real path, is copied at most once, so cycles end;
 * (2) a #line stands wherever the next line is not the file's next one, so a compiler names the file and line that the
 * user has; it begins its line with "#line ", which source_print_plain relies on. */
#include "model/source.h"

#include "base/mem.h"
#include "model/problem/problem_internal.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_FILES = 1000 };
static const size_t max_text = (size_t)16 << 20;

struct assembly {
    const char *const *include_dirs;
    struct strbuf out;
    char **seen;                /* real paths */
    int nseen, seen_cap;
    int depth;
    struct err *e;
};

static char *real_path(const char *path)
{
    char *resolved = realpath(path, NULL);
    char *copy = mem_strdup(resolved ? resolved : path);
    free(resolved);
    return copy;
}

/* True the first time a file is met. */
static bool meet(struct assembly *a, const char *path)
{
    char *real = real_path(path);
    for (int i = 0; i < a->nseen; i++)
        if (strcmp(a->seen[i], real) == 0) {
            mem_free(real);
            return false;
        }
    MEM_GROW(a->seen, a->nseen, a->seen_cap);
    a->seen[a->nseen++] = real;
    return true;
}

static const char *skip_blanks(const char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    return s;
}

/* After `#word`, or NULL if the line is no such directive. */
static const char *directive(const char *line, const char *word)
{
    size_t n = strlen(word);
    line = skip_blanks(line);
    if (*line != '#')
        return NULL;
    line = skip_blanks(line + 1);
    if (strncmp(line, word, n) != 0 || isalnum((unsigned char)line[n]) || line[n] == '_')
        return NULL;
    return skip_blanks(line + n);
}

/* Whether a block comment is open at the end of a line, given whether one was at its start. */
static bool comment_after(const char *line, bool in_comment)
{
    char quote = 0;
    for (const char *c = line; *c; c++) {
        if (in_comment) {
            if (c[0] == '*' && c[1] == '/') {
                in_comment = false;
                c++;
            }
        } else if (quote) {
            if (*c == '\\' && c[1])
                c++;
            else if (*c == quote)
                quote = 0;
        } else if (c[0] == '/' && c[1] == '/') {
            return false;
        } else if (c[0] == '/' && c[1] == '*') {
            in_comment = true;
            c++;
        } else if (*c == '"' || (*c == '\'' && !(c > line && isalnum((unsigned char)c[-1])))) {
            quote = *c;                             /* 1'000 is a number, not a character */
        }
    }
    return in_comment;
}

static status assemble_file(struct assembly *a, const char *path, const char *shown);
static status assemble_text(struct assembly *a, const char *path, const char *shown, bool own, char *text);

/* What follows is `line` of a file. A name that says where the file lies loses its folders: the text is hashed. */
static void mark_line(struct assembly *a, int line, const char *shown)
{
    const char *slash = *shown == '/' ? strrchr(shown, '/') : NULL;
    sb_addf(&a->out, "#line %d \"", line);
    for (const char *c = slash ? slash + 1 : shown; *c; c++)
        sb_addn(&a->out, *c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? "_" : c, 1);
    sb_add(&a->out, "\"\n");
}

/* Looks beside the including file, then in include_dirs; NULL if absent, and then `looked` lists the places. What is in
 * none of them may still be a header of lathe's own (source_common): a program alone, without its folder, has those. */
static char *find_include(const struct assembly *a, const char *from, const char *name, struct strbuf *looked)
{
    char *dir = path_dirname(from), *path = path_join(dir, name);
    sb_add(looked, dir);
    mem_free(dir);
    for (int i = 0; !file_exists(path) && a->include_dirs && a->include_dirs[i]; i++) {
        mem_free(path);
        path = path_join(a->include_dirs[i], name);
        sb_addf(looked, ", %s", a->include_dirs[i]);
    }
    if (file_exists(path))
        return path;
    mem_free(path);
    return NULL;
}

/* rest: the text after `#include`, which begins with a quote. own: in one of lathe's own headers, which lie in no
 * folder and include one another alone. */
static status include(struct assembly *a, const char *from, bool own, int line, const char *rest)
{
    const char *end = strchr(rest + 1, '"');
    if (!end || end == rest + 1)
        return err_set(a->e, LATHE_SPEC, "%s:%d: expected #include \"file\"", from, line);
    char *name = mem_printf("%.*s", (int)(end - rest - 1), rest + 1);
    struct strbuf looked = {0};
    char *path = own ? NULL : find_include(a, from, name, &looked);
    const char *common = path ? NULL : source_common(name);
    status s = LATHE_OK;
    if (!path && !common)
        s = err_set(a->e, LATHE_SPEC, "%s:%d: cannot find \"%s\"; looked in %s", from, line, name, sb_str(&looked));
    else if (a->depth >= MAX_DEPTH || a->nseen >= MAX_FILES)
        s = err_set(a->e, LATHE_SPEC, "%s:%d: includes nest more than %d deep, or are more than %d files", from, line,
                    MAX_DEPTH, MAX_FILES);
    else if (common && meet(a, name)) {
        char *copy = mem_strdup(common);
        s = assemble_text(a, name, name, true, copy);
        mem_free(copy);
    } else if (path && meet(a, path))
        s = assemble_file(a, path, name);
    mem_free(path);
    mem_free(name);
    sb_free(&looked);
    return s;
}

static status assemble_lines(struct assembly *a, const char *path, const char *shown, bool own, char *text)
{
    bool in_comment = false;
    int number = 0;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        else if (!*line)
            break;
        number++;
        const char *rest = in_comment ? NULL : directive(line, "include");
        const char *pragma = in_comment ? NULL : directive(line, "pragma");
        bool inlined = rest && *rest == '"';
        if (inlined)
            TRY(include(a, path, own, number, rest));
        if (inlined || (pragma && strncmp(pragma, "once", 4) == 0 && !pragma[4 + strspn(pragma + 4, " \t\r")]))
            mark_line(a, number + 1, shown);
        else
            sb_addf(&a->out, "%s\n", line);
        in_comment = comment_after(line, in_comment);
        if (a->out.len > max_text)
            return err_set(a->e, LATHE_SPEC, "%s: the source and what it includes are larger than %zu MiB", path,
                           max_text >> 20);
    }
    return LATHE_OK;
}

/* shown: the name in the comments, as the include wrote it. own: one of lathe's own headers. The text is cut into its
 * lines. */
static status assemble_text(struct assembly *a, const char *path, const char *shown, bool own, char *text)
{
    a->depth++;
    sb_addf(&a->out, "// --- %s\n", shown);
    mark_line(a, 1, shown);
    status s = assemble_lines(a, path, shown, own, text);
    sb_addf(&a->out, "// --- end of %s\n", shown);
    a->depth--;
    return s;
}

static status assemble_file(struct assembly *a, const char *path, const char *shown)
{
    char *text;
    size_t len;
    TRY(file_read(path, &text, &len, a->e));
    status s = LATHE_OK;
    if (strlen(text) != len)
        s = err_set(a->e, LATHE_SPEC, "%s: holds a NUL byte, expected CUDA source text", path);
    if (!s)
        s = assemble_text(a, path, shown, false, text + utf8_mark(text, len));
    mem_free(text);
    return s;
}

status source_assemble(const char *path, const char *const *include_dirs, char **text, struct err *e)
{
    struct assembly a = {.include_dirs = include_dirs, .e = e};
    const char *slash = strrchr(path, '/');
    meet(&a, path);
    status s = assemble_file(&a, path, slash ? slash + 1 : path);
    for (int i = 0; i < a.nseen; i++)
        mem_free(a.seen[i]);
    mem_free(a.seen);
    if (s)
        sb_free(&a.out);
    else
        *text = sb_take(&a.out);
    return s;
}

bool source_has_word(const char *source, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = source; at && (at = strstr(at, word)); at++) {
        bool before = at > source && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
        bool after = isalnum((unsigned char)at[n]) || at[n] == '_';
        if (!before && !after)
            return true;
    }
    return false;
}

void source_print_plain(struct strbuf *b, const char *source)
{
    for (const char *line = source; *line;) {
        size_t len = strcspn(line, "\n");
        len += line[len] == '\n';
        if (strncmp(line, "#line ", 6) != 0)
            sb_addn(b, line, len);
        line += len;
    }
}

void source_value_macro(struct strbuf *b, const struct param *p, int value)
{
    sb_addf(b, "%s_", p->name);
    for (const char *c = p->values[value].s; *c; c++)
        sb_addn(b, isalnum((unsigned char)*c) ? c : "_", 1);
}

/* A value as C++ writes it, in parentheses where a minus could meet its surroundings. */
static void add_literal(struct strbuf *b, struct value v)
{
    if (v.type == VALUE_BOOL)
        sb_add(b, v.b ? "1" : "0");
    else if (v.type == VALUE_INT && v.i == INT64_MIN)
        sb_add(b, "(-9223372036854775807-1)");
    else {
        bool negative = (v.type == VALUE_INT && v.i < 0) || (v.type == VALUE_FLOAT && v.f < 0);
        sb_add(b, negative ? "(" : "");
        value_print(b, v);
        sb_add(b, negative ? ")" : "");
    }
}

struct defines {
    char **list;
    int count, cap;
};

static void push_define(struct defines *d, struct strbuf *b)
{
    MEM_GROW(d->list, d->count, d->cap);
    d->list[d->count++] = sb_take(b);
}

static void define_param(struct defines *d, const struct param *p, struct value v)
{
    struct strbuf b = {0};
    sb_addf(&b, "LATHE_%s=", p->name);
    if (p->type != VALUE_STRING) {
        add_literal(&b, v);
        push_define(d, &b);
        return;
    }
    int index = 0;
    for (int i = 0; i < p->nvalues; i++)
        if (value_equal(p->values[i], v))
            index = i;
    sb_addf(&b, "%d", index);
    push_define(d, &b);
    for (int i = 0; i < p->nvalues; i++) {
        sb_add(&b, "LATHE_");
        source_value_macro(&b, p, i);
        sb_addf(&b, "=%d", i);
        push_define(d, &b);
    }
}

status source_defines(const struct kernel *k, const struct value *slots, char ***defines, int *count, struct err *e)
{
    struct defines d = {0};
    for (int i = 0; i < k->nparams; i++)
        define_param(&d, &k->params[i], slots[k->first_param + i]);
    for (int i = 0; i < k->nlets; i++) {
        struct value v = slots[k->first_let + i];
        if (v.type != VALUE_INT && v.type != VALUE_BOOL)
            continue;
        struct strbuf b = {0};
        sb_addf(&b, "LATHE_LET_%s=", k->lets[i].name);
        add_literal(&b, v);
        push_define(&d, &b);
    }
    *defines = d.list;
    *count = d.count;
    return LATHE_OK;
}

void source_defines_free(char **defines, int count)
{
    for (int i = 0; i < count; i++)
        mem_free(defines[i]);
    mem_free(defines);
}
