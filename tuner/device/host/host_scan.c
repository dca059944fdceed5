/* host_scan.c: see host_scan.h. Works on tokens of the preprocessed text, where comments and macros are gone and `#`
 * begins a line marker or a pragma. Only identifiers, strings and single punctuation characters matter.
 *
 * A kernel's name is the last identifier before its parameter list. It counts if it is `extern "C"` itself or directly
 * inside an extern "C" block, is at file scope, and has a body: others could not be found by name on a GPU either. */
#include "device/host/host_scan.h"
#include "device/host/host_shim.h"
#include <ctype.h>
#include <string.h>

#define MARK "lathe_host_global__" /* what the shim defines __global__ as */

enum kind { END, WORD, STRING, OTHER };
struct token {
    enum kind kind;
    char *at;
    size_t len;
};

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool token_is(struct token t, const char *text) { return strlen(text) == t.len && !memcmp(t.at, text, t.len); }

/* p is at the opening quote; gives what follows the closing one. */
static char *skip_quoted(char *p)
{
    char quote = *p++;
    while (*p && *p != quote && *p != '\n') p += *p == '\\' && p[1] ? 2 : 1;
    return *p == quote ? p + 1 : p;
}

/* R"delimiter( ... )delimiter": p is at the quote. */
static char *skip_raw(char *p)
{
    char end[20] = ")";
    size_t n = strcspn(p + 1, "(");
    if (n > 16) return skip_quoted(p);
    memcpy(end + 1, p + 1, n);
    end[n + 1] = '"';
    char *close = strstr(p, end);
    return close ? close + n + 2 : p + strlen(p);
}

static char *skip_space(char *p, bool *line_start)
{
    for (;; p++) {
        if (*p == '\n') *line_start = true;
        else if (*line_start && *p == '#') {
            p += strcspn(p, "\n");
            if (!*p) return p;
        } else if (!isspace((unsigned char)*p)) return p;
    }
}

struct scanner {
    char *p;
    bool line_start;
};

static struct token next(struct scanner *s)
{
    char *at = skip_space(s->p, &s->line_start);
    s->line_start = false;
    struct token t = {OTHER, at, 1};
    if (!*at) {
        t = (struct token){END, at, 0};
    } else if (isdigit((unsigned char)*at)) {
        while (is_word(at[t.len]) || at[t.len] == '.' || (at[t.len] == '\'' && is_word(at[t.len + 1]))) t.len++;
    } else if (is_word(*at)) {
        t.kind = WORD;
        while (is_word(at[t.len])) t.len++;
        if (at[t.len] == '"' && at[t.len - 1] == 'R') {
            t.kind = STRING;
            t.len = (size_t)(skip_raw(at + t.len) - at);
        }
    } else if (*at == '"' || *at == '\'') {
        t.kind = *at == '"' ? STRING : OTHER;
        t.len = (size_t)(skip_quoted(at) - at);
    }
    s->p = at + t.len;
    return t;
}

/* s is behind an opening parenthesis. */
static void skip_parentheses(struct scanner *s)
{
    for (int open = 1; open > 0;) {
        struct token t = next(s);
        if (t.kind == END) return;
        if (token_is(t, "(")) open++;
        if (token_is(t, ")")) open--;
    }
}

static void blank(struct token t) { memset(t.at, ' ', t.len); }

/* From behind a mark to the body's brace or the end of the declaration. Gives the name and the list of parameters with
 * its parentheses if there is a body. */
static bool read_kernel(struct scanner *s, struct token *name, struct token *list, struct token *last)
{
    bool listed = false;
    memset(name, 0, sizeof *name);
    memset(list, 0, sizeof *list);
    for (;;) {
        struct token t = *last = next(s);
        if (t.kind == END || token_is(t, ";") || token_is(t, "}")) return false;
        if (token_is(t, "{")) return listed && name->len;
        if (token_is(t, MARK)) {
            blank(t);
        } else if (token_is(t, "__attribute__") || token_is(t, "__declspec")) {
            if (token_is(next(s), "(")) skip_parentheses(s);
        } else if (token_is(t, "(")) {
            skip_parentheses(s);
            if (!listed) *list = (struct token){OTHER, t.at, (size_t)(s->p - t.at)};
            listed = true;
        } else if (t.kind == WORD && !listed) {
            *name = t;
        }
    }
}

/* NOTE: the kernel is declared once more in a namespace of its own, since functions of the same name may stand beside
 * it at file scope, and :: would mean any of them. With C linkage it is the same function in every namespace. */
static void add_call(struct token name, struct token list, struct strbuf *calls)
{
    const int n = (int)name.len;
    sb_addf(calls, "namespace lathe_kernel_%.*s { extern \"C\" void %.*s", n, name.at, n, name.at);
    sb_addn(calls, list.at, list.len);
    sb_addf(calls,
            "; }\nextern \"C\" __attribute__((visibility(\"default\"))) void " LATHE_HOST_CALL
            "%.*s(void **args) { lathe_host_call(lathe_kernel_%.*s::%.*s, args); }\n",
            n, name.at, n, name.at, n, name.at);
}

int host_scan(char *text, struct strbuf *calls)
{
    struct scanner s = {text, true};
    int kernels = 0, depth = 0;
    int c_depth = 0;            /* depth inside an extern "C" block at file scope, 0: in none */
    bool external = false, c_linkage = false;   /* of the declaration being read */
    for (struct token t = next(&s); t.kind != END; t = next(&s)) {
        if (token_is(t, MARK)) {
            struct token name, list;
            blank(t);
            bool here = depth == 0 ? c_linkage : depth == 1 && c_depth == 1;
            if (read_kernel(&s, &name, &list, &t) && here) {
                add_call(name, list, calls);
                kernels++;
            }
        }
        if (token_is(t, "{")) {
            depth++;
            if (c_linkage && depth == 1) c_depth = 1;
        } else if (token_is(t, "}")) {
            if (--depth == 0) c_depth = 0;
        }
        if (t.kind == STRING) {
            c_linkage = external && token_is(t, "\"C\"");
        } else if (token_is(t, "extern")) {
            external = true;
            continue;
        } else if (token_is(t, "{") || token_is(t, "}") || token_is(t, ";")) {
            c_linkage = false;
        }
        external = false;
    }
    return kernels;
}
