/* export_space.c: what keeps two exports of one program apart. All that an exported file defines, but its launcher and
 * workspace query, is in a namespace of its own, NAME_code: the kernels, the structs that they take, the helpers. So
 * even where device code is linked (-rdc=true) nothing of one export is merged with what another calls the same.
 *
 * A kernel's text is changed in two ways for that, each a rule of C++: what it includes by <> is included outside the
 * namespace, which ends before and begins again after the line; and its extern "C" becomes extern "C++", since a
 * function of C's linkage is the same one in every namespace. */
#include "base/mem.h"
#include "export/internal.h"
#include "model/c_names.h"
#include "model/problem/problem_read.h"
#include "model/source.h"
#include <ctype.h>
#include <string.h>

void export_space_open(struct exporter *x)
{
    sb_addf(x->out, "namespace %s {\n", x->space);
}

void export_space_close(struct exporter *x)
{
    sb_addf(x->out, "} // namespace %s\n", x->space);
}

static const char *after_blanks(const char *c)
{
    return c + strspn(c, " \t");
}

/* "#include <", with what blanks may stand there */
static bool includes_outside(const char *line)
{
    const char *c = after_blanks(line);
    if (*c != '#')
        return false;
    c = after_blanks(c + 1);
    if (strncmp(c, "include", 7))
        return false;
    return *after_blanks(c + 7) == '<';
}

/* Whether extern "C" begins here; *quoted: where its "C" does. */
static bool is_extern_c(const char *begin, const char *at, const char **quoted)
{
    if (strncmp(at, "extern", 6) || (at > begin && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
        return false;
    const char *c = at + 6;
    while (isspace((unsigned char)*c)) c++;
    *quoted = c;
    return !strncmp(c, "\"C\"", 3);
}

void export_kernel_text(struct exporter *x, const char *source)
{
    struct strbuf plain = {0};
    source_print_plain(&plain, source);
    const char *text = sb_str(&plain);
    struct export_macros *macros = export_macros_push(x, text);
    for (const char *c = text; *c;) {
        const char *quoted;
        bool line_begins = c == text || c[-1] == '\n';
        size_t n = 1;
        if (line_begins && includes_outside(c)) {
            n = strcspn(c, "\n");
            export_space_close(x);
            sb_addn(x->out, c, n);
            sb_add(x->out, "\n");
            export_space_open(x);
            n += c[n] == '\n';
        } else if (is_extern_c(text, c, &quoted)) {
            n = (size_t)(quoted - c) + 3;
            sb_add(x->out, "extern \"C++\"");
        } else {
            sb_addn(x->out, c, 1);
        }
        c += n;
    }
    sb_add(x->out, "\n");     /* its last line may end in a backslash */
    export_macros_pop(x, macros);
    sb_free(&plain);
}

/* --- the launcher's name --- */

static bool is_identifier(const char *name)
{
    bool good = isalpha((unsigned char)*name) || *name == '_';
    for (const char *c = name; *c && good; c++) good = isalnum((unsigned char)*c) || *c == '_';
    return good;
}

/* Whether a word stands in the code itself, outside of comments and literals (file names of #line among them). */
static bool code_has_word(const char *text, const char *word)
{
    struct strbuf code = {0};
    for (const char *c = text; *c;) {
        size_t n = 1;
        if (!strncmp(c, "//", 2)) {
            n = strcspn(c, "\n");
        } else if (!strncmp(c, "/*", 2)) {
            const char *end = strstr(c + 2, "*/");
            n = end ? (size_t)(end - c) + 2 : strlen(c);
        } else if (*c == '"' || (*c == '\'' && !(c > text && isxdigit((unsigned char)c[-1])))) { /* not 1'000 */
            while (c[n] && c[n] != *c && c[n] != '\n') n += c[n] == '\\' && c[n + 1] ? 2 : 1;
            n += c[n] == *c;
        } else {
            sb_addn(&code, c, 1);
            c++;
            continue;
        }
        sb_add(&code, " ");
        c += n;
    }
    bool found = source_has_word(sb_str(&code), word);
    sb_free(&code);
    return found;
}

/* What has the name already: a word of C++, one of the problem's names, or one of the code that the file will have. */
static const char *used_as(const struct exporter *x, const char *name)
{
    static const char *const derived[] = {"iconv", "mq", "sem", "shm"};
    const char *use = strncmp(name, "lathe", 5) ? reserved_name(name) : NULL;
    bool as_cuda = (!strncmp(name, "cu", 2) || !strncmp(name, "CU", 2)) && isupper((unsigned char)name[2]);
    if (!use && (c_name_is_macro(name) || c_name_is_declared(name)))
        use = "a name that the headers of C's library or of CUDA have already";
    if (!use && as_cuda) use = "reserved (a name may not begin as CUDA's do)";
    for (size_t i = 0; i < sizeof derived / sizeof *derived && !use && x->say->driver; i++)
        if (!strcmp(name, derived[i])) use = "what functions of C's library begin with (NAME_open)";
    if (!strcmp(name, "lathe") && x->say->driver) use = "what the exported code's own names begin with (lathe_open)";
    struct strbuf code = {0};
    struct err ignored;
    for (int i = 0; i < x->k->scope.count && !use; i++)
        if (!strcmp(x->k->scope.names[i].name, name)) use = "a name of the problem";
    for (int i = 0; i < x->p->ntensors + x->k->nworkspace && !use; i++)
        if (!strcmp(export_buffer_tensor(x, i)->name, name)) use = "a name of the problem";
    source_epilogue(x->p, &code, &ignored);
    sb_add(&code, expr_c_helpers());
    export_all_helpers(&code);
    if (!use && (code_has_word(sb_str(&code), name) || code_has_word(x->k->source, name) ||
                 (x->p->reference.kernel && code_has_word(x->p->reference.kernel->source, name))))
        use = "a name of the exported code";
    sb_free(&code);
    return use;
}

/* Whether the problem's name makes that of a type (types.cuh): lathe_f16. */
static bool is_type(const struct exporter *x, const char *name)
{
    struct strbuf code = {0};
    struct err ignored;
    char *type = mem_printf("struct %s {", name);
    source_epilogue(x->p, &code, &ignored);
    bool found = !x->say->driver && strstr(sb_str(&code), type);
    mem_free(type);
    sb_free(&code);
    return found;
}

status export_check_name(const struct export_input *in, bool driver, struct err *e)
{
    struct exporter x = {.say = driver ? &export_driver : &export_runtime, .in = in, .p = in->problem, .k = in->kernel};
    status s = export_name(&x, e);
    mem_free((char *)x.function);
    mem_free((char *)x.space);
    return s;
}

status export_name(struct exporter *x, struct err *e)
{
    enum { LONGEST = 100 };
    const char *name = x->in->name;
    char *plain = mem_printf("lathe_%s", x->p->name);
    status s = LATHE_OK;
    if (name && (!is_identifier(name) || strlen(name) > LONGEST || *name == '_' || strstr(name, "__")))
        s = err_set(
            e, LATHE_USAGE,
            "--name: '%.110s' cannot be a function's name\na letter, then letters, digits and single _, at most %d "
            "characters",
            name, LONGEST);
    const char *use = s || !name ? NULL : used_as(x, name);
    if (use) s = err_set(e, LATHE_USAGE, "--name: '%s' is %s\ngive the launcher another name", name, use);
    if (!name && is_type(x, plain))
        s = err_set(e, LATHE_USAGE,
                    "the launcher would be called %s, as a type of the exported code is\ngive it a name with --name",
                    plain);
    x->function = name ? mem_strdup(name) : plain;
    x->space = mem_printf("%s_code", x->function);
    if (name) mem_free(plain);
    return s;
}
