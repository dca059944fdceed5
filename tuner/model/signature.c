/* signature.c: see signature.h. Steps and arguments are numbered from 1 in the text, as positions in messages are. */
#include "model/signature.h"

#include "base/mem.h"
#include "model/problem/problem_internal.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char LAUNCHES[] = {
#include "kernels/common/launches.cuh.inc"
    , 0};

/* --- asking --- */

static void ask_argument(const struct problem *p, const struct kernel *k, const struct arg *a, struct strbuf *b)
{
    static const char *const numbers[] = {[ARG_I32] = "lathe_integer<4>", [ARG_I64] = "lathe_integer<8>",
                                          [ARG_F32] = "float", [ARG_F64] = "double"};
    enum dtype t = a->kind == ARG_TENSOR ? problem_buffer(p, k, a->tensor)->dtype : DTYPE_f32;
    switch (a->kind) {
    case ARG_TENSOR:
        if (t == DTYPE_u8)
            sb_add(b, ", lathe_memory");
        else
            sb_addf(b, ", lathe_tensor<%s>", dtype_ctype(t));
        break;
    case ARG_EXPR: sb_addf(b, ", %s", numbers[a->type]); break;
    case ARG_EPILOGUE: sb_add(b, ", LatheEpilogue"); break;
    case ARG_TENSOR_MAP: sb_add(b, ", lathe_map"); break;
    }
}

static bool runs(const struct step *step, const struct value *slots)
{
    struct err ignored = {0};
    bool holds = true;
    if (step->kind != STEP_LAUNCH)
        return false;
    return !step->when || (!expr_eval_bool(step->when, slots, &holds, &ignored) && holds);
}

void signature_ask(const struct problem *p, const struct kernel *k, const struct value *slots, struct strbuf *b)
{
    struct strbuf names = {0}, launches = {0};
    for (int i = 0; i < k->nsteps; i++) {
        const struct launch *l = &k->steps[i].launch;
        if (!runs(&k->steps[i], slots))
            continue;
        sb_addf(&names, "__device__ lathe_nothing %s();\n", l->function);
        sb_addf(&launches,
                "template <class lathe_t>\n"
                "__device__ auto lathe_kernel_%d(int) -> decltype(lathe_pick<lathe_t>(&::%s));\n"
                "template <class lathe_t> __device__ lathe_memory lathe_kernel_%d(...);\n"
                "static_assert(lathe_launch<%d, decltype(lathe_kernel_%d<void>(0))",
                i + 1, l->function, i + 1, i + 1, i + 1);
        for (int j = 0; j < l->nargs; j++)
            ask_argument(p, k, &l->args[j], &launches);
        sb_add(&launches, ">::lathe_fits, \"\");\n");
    }
    if (launches.len) {
        sb_addf(b, "\n#line 1 \"launches.cuh\"\n%s", LAUNCHES);
        /* What :: does not find itself, it finds in the namespaces that are used there: a function, but no kernel. */
        sb_addf(b, "namespace lathe_absent {\nstruct lathe_nothing;\n%s}\nusing namespace lathe_absent;\n",
                sb_str(&names));
        sb_addf(b, "namespace lathe_launches {\n%s}\n", sb_str(&launches));
    }
    sb_free(&names);
    sb_free(&launches);
}

/* --- the answer --- */

struct answer {
    bool counts;                /* a miscount, and `at` is how many parameters the kernel has */
    int step, at;
    char type[400];             /* of the parameter, or of a pointer to the kernel */
};

/* After the number and the comma behind it, which some compilers print as (int)1; NULL: something else is there. */
static const char *read_number(const char *s, int *out)
{
    char *end;
    if (strncmp(s, "(int)", 5) == 0)
        s += 5;
    long n = isdigit((unsigned char)*s) ? strtol(s, &end, 10) : -1;
    if (n < 0 || n > 100000 || *end != ',')
        return NULL;
    *out = (int)n;
    return end + 1 + strspn(end + 1, " ");
}

/* A type, up to the template's closing bracket. */
static bool read_type(const char *s, char *out, size_t size)
{
    size_t n = 0;
    for (int open = 0; s[n] && (s[n] != '>' || open); n++)
        open += (s[n] == '<') - (s[n] == '>');
    if (s[n] != '>' || n == 0)
        return false;
    while (n > 1 && s[n - 1] == ' ')
        n--;
    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), s);
    return true;
}

/* Only the first error counts: a source that is wrong itself is told as that. Where the compiler's language has another
 * word for it, the first answer is taken. */
static bool read_answer(const char *log, struct answer *out)
{
    static const char misfit[] = "lathe_misfit<", miscount[] = "lathe_miscount<";
    const char *error = strstr(log, ": error"), *fit = strstr(error ? error : log, misfit);
    const char *count = strstr(error ? error : log, miscount);
    out->counts = !fit || (count && count < fit);
    const char *s = out->counts ? count : fit;
    if (!s || (error && s > error + strcspn(error, "\n")))
        return false;
    s = read_number(s + (out->counts ? sizeof miscount : sizeof misfit) - 1, &out->step);
    s = s ? read_number(s, &out->at) : NULL;
    return s && read_type(s, out->type, sizeof out->type);
}

/* What a kernel of problem p is called in its specification: "kernels.tiled". */
static char *kernel_where(const struct problem *p, const struct kernel *k)
{
    if (p->reference.kernel == k)
        return mem_strdup("reference");
    return mem_printf("%s.%s", k->baseline ? "baselines" : "kernels", k->name);
}

/* "X, a tensor of f32, which fits a pointer to float" */
static void say_argument(const struct problem *p, const struct kernel *k, const struct arg *a, struct strbuf *b)
{
    static const char *const numbers[] = {[ARG_I32] = "an i32, which fits int and unsigned",
                                          [ARG_I64] = "an i64, which fits long long and unsigned long long",
                                          [ARG_F32] = "an f32, which fits float",
                                          [ARG_F64] = "an f64, which fits double"};
    bool buffer = a->kind == ARG_TENSOR || a->kind == ARG_TENSOR_MAP;
    const struct tensor *t = buffer ? problem_buffer(p, k, a->tensor) : NULL;
    switch (a->kind) {
    case ARG_TENSOR:
        sb_addf(b, "%s, a tensor of %s, which fits %s *", t->name, dtype_name(t->dtype), dtype_ctype(t->dtype));
        break;
    case ARG_EXPR: sb_addf(b, "`%.200s`, %s", expr_text(a->expr), numbers[a->type]); break;
    case ARG_EPILOGUE: sb_add(b, "the epilogue, which fits LatheEpilogue"); break;
    case ARG_TENSOR_MAP: sb_addf(b, "a tensor_map of %s, which fits LatheTensorMap", t->name); break;
    }
}

/* "(const float *, int)" of "void (*)(const float *, int)" */
static const char *parameters(const char *type)
{
    const char *list = strstr(type, "(*)");
    return list ? list + 3 : type;
}

status signature_answer(const struct problem *p, const struct kernel *k, const char *log, struct err *e)
{
    struct answer a;
    if (!log || !read_answer(log, &a) || a.step < 1 || a.step > k->nsteps)
        return LATHE_OK;
    const struct step *step = &k->steps[a.step - 1];
    const struct launch *l = &step->launch;
    if (step->kind != STEP_LAUNCH || (!a.counts && (a.at < 1 || a.at > l->nargs)))
        return LATHE_OK;
    if (strcmp(a.type, "__nv_bool") == 0)           /* NVRTC's word for it */
        strcpy(a.type, "bool");
    char *where = kernel_where(p, k);
    if (a.counts) {
        err_set(e, LATHE_SPEC,
                "%s: %s.steps[%d].args: the launch of %s passes %d argument%s, and the kernel takes %d: %s", p->path,
                where, a.step, l->function, l->nargs, l->nargs == 1 ? "" : "s", a.at, parameters(a.type));
    } else {
        struct strbuf passed = {0};
        say_argument(p, k, &l->args[a.at - 1], &passed);
        err_set(e, LATHE_SPEC, "%s: %s.steps[%d].args[%d]: the launch of %s passes %s; the kernel's parameter %d is %s",
                p->path, where, a.step, a.at, l->function, sb_str(&passed), a.at, a.type);
        sb_free(&passed);
    }
    mem_free(where);
    return e ? e->code : LATHE_SPEC;
}
