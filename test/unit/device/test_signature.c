/* test_signature.c: arguments against signatures (model/signature.h), with the compilers that decide: the host's, and
 * NVRTC where there is one. What must fit is one launch; what must not is a launch each. */
#include "base/mem.h"
#include "device/jit.h"
#include "device/cuda/nvrtc.h"
#include "model/signature.h"
#include "model/source.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char image[64];
static bool have_nvrtc;

static int setup(void **state)
{
    snprintf(image, sizeof image, "/tmp/lathe-signature-%d.image", (int)getpid());
    have_nvrtc = nvrtc_version() != 0;
    return 0;
}

static int teardown(void **state)
{
    unlink(image);
    return 0;
}

/* --- a problem whose kernel f takes `parameters` behind float *y, and is passed `args`, JSON, behind y --- */

static const char spec[] =
    "{'tag': 'problem', 'name': 'twice', 'dims': [['n', 64]], 'scalars': [['s', 2.0]],"
    " 'tensors': [['x', 'f32', ['n']], ['h', 'f16', ['n']], ['g', 'bf16', ['n']],"
    "             {'#': ['y', 'f32', ['n']], 'output': true}],"
    " 'reference': {'tag': 'kernel', 'source': 'r.cu', 'source_text': 'void r();',"
    "               'steps': [{'tag': 'launch', '#': ['r'], 'grid': 1, 'block': 1, 'args': ['y']}]},"
    " 'tolerance': {'atol': 0, 'rtol': 1e-6},"
    " 'kernels': [{'#': ['k'], 'source': 'k.cu', 'source_text': 'void f(); LatheTensorMap',"
    "              'params': [['LAST', [0, 1]]],"
    "              'workspace': [['words', 'u32', ['n']], ['bytes', 'u8', ['n']], ['wide', 'f64', ['n']]],"
    "              'steps': [{'tag': 'launch', '#': ['f'], 'grid': 1, 'block': 32, 'args': ['y']},"
    "                        {'tag': 'launch', '#': ['f'], 'grid': 1, 'block': 32, 'args': ['y'],"
    "                         'when': 'LAST == 1'}]}]}";

/* Apostrophes for quotes, so that JSON reads well in C. */
static json_t *json_of(const char *text)
{
    char *copy = mem_strdup(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'') *c = '"';
    json_error_t why;
    json_t *j = json_loads(copy, 0, &why);
    if (!j) fail_msg("%s: %s", why.text, text);
    mem_free(copy);
    return j;
}

static struct problem *make_problem(const char *source, const char *args)
{
    json_t *tree = json_of(spec), *list = json_of(args);
    json_t *kernel = json_array_get(json_object_get(tree, "kernels"), 0);
    json_t *step = json_array_get(json_object_get(kernel, "steps"), 0);
    json_object_set_new(kernel, "source_text", json_string(source));
    json_array_extend(json_object_get(step, "args"), list);
    json_decref(list);
    struct problem *p;
    struct err e = {0};
    if (problem_from_json(tree, "twice.lua", NULL, &p, &e)) fail_msg("%s", e.text);
    json_decref(tree);
    return p;
}

static struct value *make_slots(const struct problem *p, const struct kernel *k, int last)
{
    struct value *slots = mem_zalloc((size_t)k->scope.count + 1, sizeof *slots);
    config_choice choice[1] = {(config_choice)last};
    struct target t;
    struct err e = {0};
    assert_int_equal(target_named("sm_80", &t, &e), LATHE_OK);
    kernel_slots_fixed(p, k, &t, slots);
    assert_int_equal(kernel_slots_config(k, choice, slots, &e), LATHE_OK);
    return slots;
}

static const char kernel_text[] =
    "struct LatheTensorMap { char bytes[128]; };\n"
    "struct Pair { float first, second; };\n"
    "struct Hidden;\n"
    "enum Way { FORWARD, BACKWARD };\n"
    "#define T int\n#define N 4\n#define P 5\n#define step 6\n#define list 7\n#define fits 8\n"
    "%s extern \"C\" __global__ void f(float *y%s%s) { y[threadIdx.x] = 1; } %s\n";

/* What the compiler for `arch` says, as a sentence; "" if it fits. before, after: what stands around the kernel.
 * mem_free it. */
static char *ask_beside(const char *arch, const char *before, const char *parameters, const char *args,
                        const char *after)
{
    char *source = mem_printf(kernel_text, before, *parameters ? ", " : "", parameters, after);
    struct problem *p = make_problem(source, args);
    const struct kernel *k = &p->kernels[0];
    struct value *slots = make_slots(p, k, 0);
    struct strbuf text = {0};
    struct err e = {0};
    assert_int_equal(source_epilogue(p, &text, &e), LATHE_OK);
    sb_add(&text, k->source);
    signature_ask(p, k, slots, &text);
    struct jit_request r = {.source = sb_str(&text), .name = "twice/k.cu", .arch = arch, .image_path = image};
    struct jit_outcome out = {0};
    if (jit_compile(&r, &out, &e)) fail_msg("%s", e.text);
    status s = out.ok ? LATHE_OK : signature_answer(p, k, out.log, &e);
    if (!out.ok && !s) fail_msg("%s, %s, %s: refused, and not for what is passed: %s", arch, parameters, args, out.log);
    char *said = mem_strdup(s ? e.text : "");
    mem_free(out.log);
    mem_free(slots);
    mem_free(source);
    sb_free(&text);
    problem_free(p);
    return said;
}

static char *ask(const char *arch, const char *parameters, const char *args)
{
    return ask_beside(arch, "", parameters, args, "");
}

/* Without what compilers write differently: "const float*", "long". mem_free it. */
static char *plain(const char *said)
{
    struct strbuf b = {0};
    for (const char *c = said; *c; c++) {
        sb_addn(&b, c, *c != ' ' || c[1] != '*');
        if (!strncmp(c, "g int", 5) || (!strncmp(c, "t int", 5) && c > said && c[-1] == 'r')) c += 4;
    }
    return sb_take(&b);
}

static void asked(const char *arch)
{
    static const struct {
        const char *parameters, *args, *wanted;
    } cases[] = {
        {"const float *__restrict__ x, const float4 *x4, const unsigned *bits, const void *raw, const char *c,"
         "Hidden *unknown, const float (*rows)[4], const volatile float *v, const float flat[], Pair *const last",
         "['x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x']", ""},
        {"const lathe_f16 *h, const unsigned short *hs, const uint4 *h4, const lathe_bf16 *g, double *wide,"
         "unsigned long long *keys, int *words, float *b0, double **b1, lathe_f16 *b2",
         "['h', 'h', 'h', 'g', 'wide', 'wide', 'words', 'bytes', 'bytes', 'bytes']", ""},
        {"int i, unsigned u, Way w, const int c, long l, unsigned long long q, size_t z, float a, double d,"
         "LatheEpilogue e, const __grid_constant__ LatheTensorMap m, int last",
         "['n', 'n', 'n', 'n', {'tag': 'i64', '#': ['n']}, {'tag': 'i64', '#': ['n']}, {'tag': 'i64', '#': ['n']}, 's',"
         " {'tag': 'f64', '#': ['s']}, 'epilogue', {'tag': 'tensor_map', '#': ['x'], 'box': [8]}, 'n']", ""},
        {"int n, int more", "['n']",
         "twice.lua: kernels.k.steps[1].args: the launch of f passes 2 arguments, and the kernel takes 3: "
         "(float*, int, int)"},
        {"", "['n']",
         "twice.lua: kernels.k.steps[1].args: the launch of f passes 2 arguments, and the kernel takes 1: (float*)"},
        {"long long n", "['n']",
         "twice.lua: kernels.k.steps[1].args[2]: the launch of f passes `n`, an i32, which fits int and unsigned; the "
         "kernel's parameter 2 is long long"},
        {"const float *x, int n", "['x', {'tag': 'i64', '#': ['n']}]",
         "twice.lua: kernels.k.steps[1].args[3]: the launch of f passes `n`, an i64, which fits long long and unsigned "
         "long long; the kernel's parameter 3 is int"},
        {"float n", "['n']", "`n`, an i32, which fits int and unsigned; the kernel's parameter 2 is float"},
        {"bool n", "['n']", "the kernel's parameter 2 is bool"},
        {"short n", "['n']", "the kernel's parameter 2 is short"},
        {"double s", "['s']", "`s`, an f32, which fits float; the kernel's parameter 2 is double"},
        {"float s", "[{'tag': 'f64', '#': ['s']}]",
         "`s`, an f64, which fits double; the kernel's parameter 2 is float"},
        {"const float *x", "['n']", "the kernel's parameter 2 is const float*"},
        {"int n", "['x']", "x, a tensor of f32, which fits float*; the kernel's parameter 2 is int"},
        {"double x", "['x']", "the kernel's parameter 2 is double"},
        {"const double *x", "['x']", "the kernel's parameter 2 is const double*"},
        {"float **x", "['x']", "the kernel's parameter 2 is float**"},
        {"const lathe_bf16 *h", "['h']", "h, a tensor of f16, which fits lathe_f16*; the kernel's parameter 2 is "
         "const lathe_bf16*"},
        {"const lathe_f16 *x", "['x']", "the kernel's parameter 2 is const lathe_f16*"},
        {"const unsigned (*h)[8]", "['h']", "the kernel's parameter 2 is const unsigned int (*)[8]"},
        {"Pair p", "['epilogue']", "the epilogue, which fits LatheEpilogue; the kernel's parameter 2 is Pair"},
        {"LatheEpilogue e", "['x']", "the kernel's parameter 2 is LatheEpilogue"},
        {"const LatheTensorMap *m", "[{'tag': 'tensor_map', '#': ['x'], 'box': [8]}]",
         "a tensor_map of x, which fits LatheTensorMap; the kernel's parameter 2 is const LatheTensorMap*"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *said = ask(arch, cases[i].parameters, cases[i].args), *words = plain(said);
        bool right = *cases[i].wanted ? strstr(words, cases[i].wanted) != NULL : !*said;
        if (!right) fail_msg("%s, f(%s)\n says: %s\nwants: %s", arch, cases[i].parameters, words, cases[i].wanted);
        mem_free(words);
        mem_free(said);
    }
}

/* Other functions of the kernel's name: which of them is the kernel is known by what it returns. Where another returns
 * nothing either, nothing is said; the host's own calls cannot tell these apart. */
static void asked_of_overloaded(const char *arch)
{
    static const char number[] = "__device__ float f(float v) { return v; }";
    static const char nothing[] = "__device__ void f(float *v) {}";
    static const struct {
        const char *other, *parameters, *wanted;
    } cases[] = {
        {number, "int n", ""},
        {number, "float n", "the kernel's parameter 2 is float"},
        {nothing, "int n", ""},
        {nothing, "float n", ""},
    };
    const size_t n = strcmp(arch, "host") ? sizeof cases / sizeof *cases : 2;
    for (size_t i = 0; i < n; i++) {
        char *said = ask_beside(arch, cases[i].other, cases[i].parameters, "['n']", "");
        if (*cases[i].wanted ? !strstr(said, cases[i].wanted) : *said != 0)
            fail_msg("%s, %s, f(%s): %s", arch, cases[i].other, cases[i].parameters, said);
        mem_free(said);
    }
}

static void test_host(void **state)
{
    asked("host");
    asked_of_overloaded("host");
}

static void test_nvrtc(void **state)
{
    if (!have_nvrtc) skip();
    asked("sm_80");
    asked_of_overloaded("sm_80");
    /* f is not at file scope: what its image says of it is compared when it is loaded */
    char *said = ask_beside("sm_80", "namespace inner {", "int n, int more", "['n']", "}");
    assert_string_equal(said, "");
    mem_free(said);
}

/* --- the text, and logs that are about something else --- */

static void test_steps(void **state)
{
    struct problem *p = make_problem("void f(); LatheTensorMap", "['n']");
    const struct kernel *k = &p->kernels[0];
    for (int last = 0; last < 2; last++) {
        struct value *slots = make_slots(p, k, last);
        struct strbuf b = {0};
        signature_ask(p, k, slots, &b);
        assert_non_null(strstr(sb_str(&b), "lathe_launch<1, decltype(lathe_kernel_1<void>(0)), lathe_tensor<float>, "
                                           "lathe_integer<4>>"));
        bool second = strstr(sb_str(&b), "lathe_launch<2, decltype(lathe_kernel_2<void>(0)), lathe_tensor<float>>");
        assert_int_equal(second, last);
        sb_free(&b);
        mem_free(slots);
    }
    problem_free(p);
}

static void test_answers(void **state)
{
    static const struct {
        const char *log, *wanted;   /* NULL: it is about something else */
    } cases[] = {
        {"l.cuh(84): error: incomplete type \"lathe_launches::lathe_misfit<1, 2, long long>\" is not allowed\n",
         "parameter 2 is long long"},
        {"l.cuh:86:20: error: implicit instantiation of undefined template 'lathe_misfit<(int)1, (int)2, A<B<int>>>'\n",
         "parameter 2 is A<B<int>>"},
        {"error_diffusion.cu(3): warning #177-D: unused\n"
         "l.cuh(84): error: incomplete type \"lathe_misfit<1, 2, __nv_bool>\" is not allowed\n", "parameter 2 is bool"},
        {"l.cuh:86:20: Fehler: unvollständiger Typ »lathe_miscount<1, 3, void (*)(int)>«\n",
         "passes 2 arguments, and the kernel takes 3: (int)"},
        {"k.cu(2): error: identifier \"flaot\" is undefined\n"
         "l.cuh(84): error: incomplete type \"lathe_misfit<1, 2, long long>\" is not allowed\n", NULL},
        {"k.cu(2): error: static assertion failed\n", NULL},
        {": error: lathe_misfit<1, 3, int>", NULL},         /* there is no such argument */
        {": error: lathe_misfit<3, 1, int>", NULL},         /* nor step */
        {": error: lathe_misfit<0, 1, int>", NULL},
        {": error: lathe_misfit<1, 99999999999999999999, int>", NULL},
        {": error: lathe_misfit<1, 2, A<int", NULL},
        {": error: lathe_misfit<1, 2, >", NULL},
        {": error: lathe_misfit<x, 2, int>", NULL},
        {": error: lathe_misfit<1", NULL},
        {": error: lathe_misfit<", NULL},
        {"", NULL},
        {NULL, NULL},
    };
    struct problem *p = make_problem("void f(); LatheTensorMap", "['n']");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};
        status s = signature_answer(p, &p->kernels[0], cases[i].log, &e);
        assert_int_equal(s, cases[i].wanted ? LATHE_SPEC : LATHE_OK);
        if (cases[i].wanted && !strstr(e.text, cases[i].wanted)) fail_msg("%s lacks %s", e.text, cases[i].wanted);
    }
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_nvrtc),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_answers),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
