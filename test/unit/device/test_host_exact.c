/* test_host_exact.c: the host device: options in $CXX that weaken arithmetic are undone, an image cannot change the
 * floating-point environment of what runs after it, and local variables that nobody wrote hold garbage. */
#include "host_fixture.h"
#include <fenv.h>
#include <math.h>

enum { CHECKS = 11, IN = 7 + 64 };

/* Compiles host_exact.cu with `cxx` and loads it. */
static struct dev_module *load(const char *cxx, const char *number)
{
    char *folder = path_dirname(__FILE__), *path = path_join(folder, "host_exact.cu"), *source, *before;
    static const char *const include_dirs[] = {"kernels/common", NULL};
    OK(source_assemble(path, include_dirs, &source, &e));
    before = getenv("CXX") ? mem_strdup(getenv("CXX")) : NULL;
    setenv("CXX", cxx, 1);
    char *defines[] = {(char *)number}, *image = path_join(fx->dir, "exact.so");
    struct jit_request r = {.source = source, .name = "host_exact.cu", .defines = defines, .ndefines = 1,
                            .arch = "host", .image_path = image};
    struct jit_outcome out;
    struct dev_module *m;
    OK(host_compile(&r, &out, &e));
    if (!out.ok || out.log) fail_msg("%s: %s", cxx, out.log);
    OK(ops->load(fx->dev, image, &m, &e));
    unlink(image);
    if (before) setenv("CXX", before, 1);
    else unsetenv("CXX");
    mem_free(before);
    mem_free(image);
    mem_free(source);
    mem_free(path);
    mem_free(folder);
    return m;
}

static void launch(struct dev_module *m, const char *name, void **args)
{
    struct dev_function *f = NULL;
    OK(ops->function(fx->dev, m, name, &f, &e));
    OK(ops->launch(fx->dev, f, &(struct dev_launch){.grid = {1, 1, 1}, .block = {1, 1, 1}}, args, &e));
}

static void must_be_exact(const char *cxx)
{
    float in[IN] = {NAN, INFINITY, 1e8f, 1, -0.0f, 3, 0x1p-140f, 1};
    for (int i = 8; i < IN; i++) in[i] = 0x1p-24f;
    int out[CHECKS];
    struct dev_module *m = load(cxx, "LATHE_NUMBER=17");
    dev_ptr pi = buffer(sizeof in, 0), po = buffer(sizeof out, 0);
    OK(ops->copy_in(fx->dev, pi, in, sizeof in, &e));
    launch(m, "exact", ARGS(&pi, &po));
    take(in, pi, sizeof in);
    take(out, po, sizeof out);
    ops->unload(fx->dev, m);
    for (int i = 0; i < CHECKS; i++)
        if (!out[i]) fail_msg("CXX='%s': check %d of host_exact.cu fails", cxx, i);
}

static bool is_here(const char *compiler)
{
    char *command = mem_printf("command -v %s >/dev/null 2>&1", compiler);
    bool here = system(command) == 0;
    mem_free(command);
    return here;
}

static void test_options_undone(void **state)
{
    static const struct {
        const char *compiler, *options[9];
    } cases[] = {
        {"g++", {"-ffast-math", "-Ofast", "-ffinite-math-only", "-funsafe-math-optimizations",
                 "-fassociative-math -freciprocal-math -fno-signed-zeros -fno-trapping-math",
                 "-fsingle-precision-constant", "-ffp-contract=fast -ffast-math -fcx-limited-range", "-O0", NULL}},
        {"clang++", {"-ffast-math", "-Ofast", "-ffinite-math-only", "-funsafe-math-optimizations",
                     "-fassociative-math -freciprocal-math -fno-signed-zeros -fno-trapping-math",
                     "-ffp-model=fast", "-fdenormal-fp-math=preserve-sign -fapprox-func", "-fno-honor-nans", NULL}},
    };
    if (HOST_ASAN) skip();      /* nothing else is compiled there, and clang's images cannot be opened */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int n = 0; is_here(cases[i].compiler) && cases[i].options[n]; n++) {
            char *cxx = mem_printf("%s %s", cases[i].compiler, cases[i].options[n]);
            must_be_exact(cxx);
            mem_free(cxx);
        }
}

/* What crtfastmath.o does, and fesetround, ends with the image's opening and the launch. */
static void test_environment(void **state)
{
    if (HOST_ASAN) skip();
    volatile float tiny = 0x1p-140f;
    struct dev_module *m = load("c++", "LATHE_NUMBER=18");
    assert_true(tiny * 2.0f > 0);
    int out;
    dev_ptr p = buffer(4, 1);
    launch(m, "rounds_up", ARGS(&p));
    assert_int_equal(fegetround(), FE_TONEAREST);
    take(&out, p, 4);
    assert_int_equal(out, 0);
    ops->unload(fx->dev, m);
}

static void test_locals(void **state)
{
    static const char *const compilers[] = {"g++", "clang++"};
    if (HOST_ASAN) skip();
    for (int i = 0; i < 2; i++) {
        char *probe = mem_printf("%s -ftrivial-auto-var-init=pattern -E -x c++ /dev/null >/dev/null 2>&1",
                                 compilers[i]);
        bool has = system(probe) == 0;
        mem_free(probe);
        if (!has) continue;
        struct dev_module *m = load(compilers[i], "LATHE_NUMBER=17");
        float out[4];
        int words[2], at = 100;
        dev_ptr po = buffer(sizeof out, 0), pw = buffer(sizeof words, 0);
        launch(m, "local", ARGS(&po, &pw, &at));
        take(out, po, sizeof out);
        take(words, pw, sizeof words);
        ops->unload(fx->dev, m);
        for (int n = 0; n < 4; n++)
            if (fabsf(out[n]) < 1e30f) fail_msg("%s: local %d is %g", compilers[i], n, (double)out[n]);
        for (int n = 0; n < 2; n++) assert_true(words[n] == (int)0xfefefefe || words[n] == (int)0xaaaaaaaa);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_undone),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_locals),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
