/* problem_read_names.c: what may be a name in a specification. A name must be an identifier everywhere it ends up: in
 * formulas, in the generated C++, in the exported launcher and on the command line. */
#include "model/problem/problem_read.h"

#include "base/mem.h"
#include "model/c_names.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

status read_identifier(struct reader *r, const json_t *j, const char *what, int max, char **out)
{
    const char *s = node_text(j);
    char expected[120];
    snprintf(expected, sizeof expected, "%s's name (a letter, then letters, digits and _)", what);
    if (!s)
        return read_wrong(r, j, expected);
    bool good = isalpha((unsigned char)s[0]) || s[0] == '_';
    for (const char *c = s; *c && good; c++)
        good = isalnum((unsigned char)*c) || *c == '_';
    if (!good)
        return read_wrong(r, j, expected);
    if (strlen(s) > (size_t)max)
        return read_fail(r, "the name '%.20s...' has %zu characters, and at most %d are allowed", s, strlen(s),
                         max);
    *out = mem_strdup(s);
    return LATHE_OK;
}

static bool in_words(const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* "expf", as the formulas' functions are called in float. */
static bool in_float(const char *name, const char *const *functions)
{
    size_t n = strlen(name);
    for (int i = 0; functions[i]; i++)
        if (n == strlen(functions[i]) + 1 && name[n - 1] == 'f' && strncmp(name, functions[i], n - 1) == 0)
            return true;
    return false;
}

/* NOTE: `functions` are expr/expr.h's, and `called` what generated code (export/, source_epilogue.c, expr_print_*.c)
 * uses of C's library while a specification's names are in scope; of CUDA's, whatever begins as its names do. */
static const char *const functions[] = {
    "min", "max", "abs", "ceil_div", "floor", "ceil", "round", "select", "clamp", "pow", "sqrt", "rsqrt", "exp",
    "expm1", "log", "log1p", "tanh", "erf", "sigmoid", "gelu", "mish", "sin", "cos", "is_pow2", "log2",
    NULL};
static const char *const words[] = {"and", "or", "not", "true", "false", NULL};

/* What formulas alone use it for: all that matters where there is nothing to compile. */
static const char *used_by_formulas(const char *name)
{
    return in_words(name, functions) ? "a function of formulas" : in_words(name, words) ? "a word of formulas" : NULL;
}

/* Members of a configuration in strategies (docs/strategies.md), whose parameters are members too. */
static bool is_member(const char *name) { return !strcmp(name, "kernel") || !strcmp(name, "index"); }

const char *reserved_name(const char *name)
{
    static const char *const generated[] = {"z", "acc", "stream", "workspace", "workspace_bytes", NULL};
    static const char *const called[] = {"fabs",     "fabsf",    "fmod",        "fmodf",
                                         "int64_t",  "NULL",     "INT_MAX",     "INT64_MAX",
                                         "SIZE_MAX", "INFINITY", "NAN",         "errno",
                                         "printf",   "puts",     "CUdeviceptr", "CUlaunchAttribute",
                                         "CUresult", "CUstream", "CUtensorMap", "cuMemsetD8Async",
                                         "restrict", NULL};
    static const char *const c[] = {"typeof", "typeof_unqual", NULL};     /* of C23, and of GNU C and C++ before */
    static const char *const cuda[] = {"cuda", "cublas", "CU_", NULL};
    static const char *const cpp[] = {
        "alignas", "alignof", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
        "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
        "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do",
        "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "float", "for", "friend", "goto",
        "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not_eq", "nullptr", "operator",
        "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "return", "short",
        "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
        "thread_local", "throw", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual",
        "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "size_t", "blockIdx", "blockDim", "threadIdx",
        "gridDim", "warpSize", "main", NULL};
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (strcmp(name, limit_name((enum limit)i)) == 0)
            return "a limit of the device";
    if (used_by_formulas(name))
        return used_by_formulas(name);
    if (strcmp(name, "epilogue") == 0)
        return "a word of formulas";
    if (in_words(name, generated))
        return "used by the code that lathe generates";
    if (in_words(name, cpp))
        return "a word of C++";
    if (in_words(name, c))
        return "a word of C, which exports are written in too";
    if (in_words(name, called) || in_float(name, functions))
        return "a name of C's library that generated code uses";
    for (int i = 0; cuda[i]; i++)
        if (strncasecmp(name, cuda[i], strlen(cuda[i])) == 0)
            return "reserved (a name may not begin as CUDA's do: cuda, cublas or CU_)";
    if (strncasecmp(name, "lathe", 5) == 0 || strstr(name, "__"))
        return "reserved (a name may not begin with lathe or contain __)";
    if (name[0] == '_' && isupper((unsigned char)name[1]))
        return "reserved (a name may not begin with _ and a capital letter: _Complex)";
    return NULL;
}

status read_new_name(struct reader *r, const struct kernel *k, const json_t *j, const char *what, char **out)
{
    char *name = NULL;
    TRY(read_identifier(r, j, what, MAX_NAME, &name));
    const char *use = r->p->space_alone ? used_by_formulas(name) : reserved_name(name);
    /* parameters are macros LATHE_NAME in code, and folded into it */
    if (!use && !r->p->space_alone && strcmp(what, "a parameter") && c_name_is_macro(name))
        use = "a macro of C's library";
    if (!use && !strcmp(what, "a parameter") && is_member(name))
        use = "what strategies ask a configuration for, as in config.kernel and config.index";
    status s = LATHE_OK;
    if (use)
        s = read_fail(r, "'%s' cannot be %s's name: it is %s", name, what, use);
    else if ((use = problem_name_use(r->p, k, name)))
        s = read_fail(r, "'%s' cannot be %s's name: it is %s already", name, what, use);
    if (s)
        mem_free(name);
    else
        *out = name;
    return s;
}
