/* test_kernelbench.c: the specifications of kernels/kernelbench are the problems that they say.
 *
 * Their sizes, parameters and formulas are told here a second time, from the definitions of the functions and in long
 * double; what the specification's formula becomes in C++, in float and in double, must give the same, at inputs of all
 * magnitudes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "model/source.h"
#include "search/spec/spec.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 4 };

static long double relu(long double x) { return x > 0 ? x : 0; }
static long double hardtanh(long double x, long double low, long double high)
{
    return x < low ? low : x > high ? high : x;
}
static long double swish(long double x) { return x / (1 + expl(-x)); }
static long double gelu(long double x) { return x / 2 * erfcl(-x * sqrtl(0.5L)); }
static long double mish(long double x) { return x * tanhl(log1pl(expl(x))); }

/* own: the element of the parameter that the problem has besides W and b */
static long double f9(long double z, long double own) { return relu((z - 2) * 1.5L); }
static long double f12(long double z, long double own) { return 2 * z > 0 ? 2 * z : (long double)0.1f * 2 * z; }
static long double f29(long double z, long double own) { return mish(mish(z)); }
static long double f40(long double z, long double own) { return 1.5L * z; }
static long double f53(long double z, long double own) { return gelu(hardtanh(z / 2, -2, 2)); }
static long double f59(long double z, long double own) { return 2 * swish(z); }
static long double f63(long double z, long double own) { return relu(z) / 2; }
static long double f68(long double z, long double own) { return (z < own ? z : own) - own; }
static long double f70(long double z, long double own) { return 2 / (1 + expl(-z)) + z; }
static long double f76(long double z, long double own) { return relu(z + own); }
static long double f81(long double z, long double own)
{
    return hardtanh(tanhl(hardtanh(swish(z) / 2, -1, 1)), -1, 1);
}
static long double f86(long double z, long double own) { return gelu(z / 10); }
static long double f95(long double z, long double own)
{
    return hardtanh(gelu(tanhl(swish(z + own))), -1, 1);
}

static const struct {
    int number;
    int64_t m, n, k;
    bool bias;
    const char *own;            /* the parameter's name, or NULL */
    bool one;                   /* it has one element, not one a column */
    long double (*f)(long double z, long double own);
} problems[] = {
    {9, 1024, 8192, 8192, true, NULL, false, f9},
    {12, 1024, 8192, 8192, true, NULL, false, f12},
    {29, 1024, 8192, 8192, true, NULL, false, f29},
    {40, 16384, 4096, 4096, true, NULL, false, f40},
    {53, 2048, 8192, 8192, true, NULL, false, f53},
    {59, 128, 32768, 32768, true, NULL, false, f59},
    {63, 1024, 8192, 8192, true, NULL, false, f63},
    {68, 128, 16384, 16384, true, "constant", true, f68},
    {70, 1024, 8192, 8192, true, NULL, false, f70},
    {76, 1024, 8192, 8192, false, "bias", false, f76},
    {81, 1024, 8192, 8192, true, NULL, false, f81},
    {86, 1024, 8192, 8192, true, NULL, false, f86},
    {95, 1024, 8192, 8192, true, "add_value", false, f95},
};
enum { PROBLEMS = sizeof problems / sizeof problems[0] };

static const float bias[COLUMNS] = {0, 0.25f, -0.5f, 1e-3f}, own[COLUMNS] = {2, -1.75f, 0.5f, 0};
static char dir[] = "/tmp/lathe-test-kernelbench-XXXXXX";

static struct problem *read_problem(int i)
{
    static const char *const include_dirs[] = {"kernels/common", NULL};
    struct err e = {0};
    json_t *tree;
    struct problem *p;
    char path[60];
    snprintf(path, sizeof path, "kernels/kernelbench/%d.lua", problems[i].number);
    if (spec_read(path, &tree, &e) || problem_from_json(tree, path, include_dirs, &p, &e))
        fail_msg("%s", e.text);
    json_decref(tree);
    return p;
}

static int64_t dim(const struct problem *p, const char *name)
{
    return p->dims[problem_find_dim(p, name)].value;
}

static void are_the_problems(void **state)
{
    for (int i = 0; i < PROBLEMS; i++) {
        struct problem *p = read_problem(i);
        char name[40];
        snprintf(name, sizeof name, "kernelbench_%d", problems[i].number);
        assert_string_equal(p->name, name);
        assert_int_equal(dim(p, "M"), problems[i].m);
        assert_int_equal(dim(p, "N"), problems[i].n);
        assert_int_equal(dim(p, "K"), problems[i].k);
        assert_int_equal(problem_find_tensor(p, "b") >= 0, problems[i].bias);
        assert_int_equal(p->reference.bias, problem_find_tensor(p, "b"));
        assert_int_equal(p->ntensors, 3 + problems[i].bias + (problems[i].own != NULL));
        if (problems[i].own)
            assert_true(problem_find_tensor(p, problems[i].own) >= 0);
        assert_true(p->tolerance.atol == 1e-4 && p->tolerance.rtol == 1e-4 && p->tolerance.times_sgemm_error == 2);
        assert_true(problem_find_kernel(p, "simt") >= 0 && problem_find_kernel(p, "epilogue") >= 0);
        assert_true(problem_find_kernel(p, "sgemm") >= 0 && problem_find_kernel(p, "sgemm_tf32") >= 0);
        assert_non_null(p->torch);
        problem_free(p);
    }
}

/* One C++ file with both structs of every problem, and a function over the columns for each. */
static void *compile_epilogues(void)
{
    struct strbuf b = {0};
    struct err e = {0};
    sb_add(&b, "#include <math.h>\n#include <stddef.h>\n#include <string.h>\n#define __device__\n"
               "#define __forceinline__ inline\n");
    sb_add(&b, expr_c_helpers());
    for (int i = 0; i < PROBLEMS; i++) {
        struct problem *p = read_problem(i);
        int number = problems[i].number;
        sb_addf(&b, "namespace p%d {\n", number);
        if (source_epilogue(p, &b, &e) || source_epilogue_reference(p, &b, &e))
            fail_msg("%d: %s", number, e.text);
        sb_addf(&b, "}\nextern \"C\" void run%d(const void *args, float acc, int n, double out[2]) {\n"
                    "p%d::LatheEpilogue f; p%d::LatheEpilogueRef d;\nstatic_assert(sizeof f == sizeof d, \"\");\n"
                    "memcpy((void *)&f, args, sizeof f); memcpy((void *)&d, args, sizeof d);\n"
                    "out[0] = f(acc, 0, n); out[1] = d(acc, 0, n);\n}\n", number, number, number);
        problem_free(p);
    }
    char *path = path_join(dir, "epilogues.cc");
    assert_int_equal(file_write_atomic(path, sb_str(&b), b.len, &e), LATHE_OK);
    char *library = path_join(dir, "epilogues.so");
    char *command = mem_printf("c++ -std=c++17 -O1 -Wall -Wextra -Wno-unused-parameter -Wno-unused-function -Werror "
                               "-shared -fPIC -o %s %s", library, path);
    assert_int_equal(system(command), 0);
    void *opened = dlopen(library, RTLD_NOW);
    assert_non_null(opened);
    mem_free(command);
    mem_free(library);
    mem_free(path);
    sb_free(&b);
    return opened;
}

/* The bytes of the struct, as a launcher packs them. */
static void pack(const struct problem *p, unsigned char *bytes)
{
    struct field *f;
    int n, at = 0;
    epilogue_fields(p, &f, &n);
    for (int i = 0; i < n; i++) {
        const void *pointer = own;
        int size = (int)p->dims[0].value;
        float scalar;
        switch (f[i].kind) {
        case FIELD_TENSOR:
            if (strcmp(p->tensors[f[i].index].name, "b") == 0)
                pointer = bias;
            memcpy(bytes + at, &pointer, sizeof pointer);
            at += 8;
            break;
        case FIELD_DIM:
            memcpy(bytes + at, &size, 4);
            at += 4;
            break;
        case FIELD_SCALAR:
            scalar = (float)p->scalars[f[i].index].value;
            memcpy(bytes + at, &scalar, 4);
            at += 4;
            break;
        }
    }
    mem_free(f);
}

static bool near(double got, long double want, double within)
{
    return fabsl(got - want) <= within * (1 + fabsl(want));
}

static void check(void *library, int i, const struct problem *p, float acc)
{
    unsigned char args[64] = {0};
    char name[24];
    double out[2];
    void (*run)(const void *, float, int, double *);
    snprintf(name, sizeof name, "run%d", problems[i].number);
    *(void **)&run = dlsym(library, name);
    assert_non_null(run);
    pack(p, args);
    for (int n = 0; n < COLUMNS; n++) {
        long double z = (long double)acc + (problems[i].bias ? bias[n] : 0);
        long double want = problems[i].f(z, problems[i].one ? own[0] : own[n]);
        run(args, acc, n, out);
        if (!near(out[0], want, 1e-6) || !near(out[1], want, 1e-8))     /* its scalars are floats: 0.1f */
            fail_msg("%d at %.9g + bias %g: float %.9g, double %.17g, wanted %.17Lg", problems[i].number, acc, bias[n],
                     out[0], out[1], want);
    }
}

static void compute_the_formulas(void **state)
{
    static const float large[] = {15, 19.9f, 20.1f, 40, 44.4f, 60, 87, 88.5f, 90, 104, 200, 1e4f, 1e10f, 1e18f, 1e30f,
                                  1e38f, 1e-4f, 1e-10f, 1e-38f, 1e-44f, 0};
    if (system("c++ --version >/dev/null 2>&1") != 0)
        skip();
    assert_non_null(mkdtemp(dir));
    void *library = compile_epilogues();
    for (int i = 0; i < PROBLEMS; i++) {
        struct problem *p = read_problem(i);
        for (float acc = -12; acc <= 12; acc += 0.03125f)
            check(library, i, p, acc);
        for (size_t k = 0; k < sizeof large / sizeof large[0]; k++) {
            check(library, i, p, large[k]);
            check(library, i, p, -large[k]);
        }
        problem_free(p);
    }
    dlclose(library);
    char *command = mem_printf("rm -rf %s", dir);
    assert_int_equal(system(command), 0);
    mem_free(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(are_the_problems), cmocka_unit_test(compute_the_formulas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
