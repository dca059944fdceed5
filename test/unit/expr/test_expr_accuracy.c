/* test_expr_accuracy.c: the printed activations in float, against the long double functions of their definitions.
 *
 * The program that measures is compiled by the system's compiler from what expr_c_helpers() prints. It takes
 * every LATHE_STRIDE-th float; what a stride of 17 measured stands beside each bound. On a GPU, CUDA's expf and erff
 * may be off by 1 ulp more than glibc's, and the reciprocal by 1 ulp. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "expr/expr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char measure[] =
    "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "static long double sigmoid(long double x) { return 1 / (1 + expl(-x)); }\n"
    "static long double gelu(long double x) { return x / 2 * erfcl(-x * sqrtl(0.5L)); }\n"
    "static long double mish(long double x) { return x * tanhl(log1pl(expl(x))); }\n"
    "struct worst { double of_size, of_x; float at; };\n"
    /* relative to the result where that is no smaller than 2^-100, and to x (to 1), in units of 2^-24 */
    "static struct worst worst(float (*f)(float), long double (*exact)(long double), uint32_t stride, int one)\n"
    "{\n"
    "    struct worst w = {0, 0, 0};\n"
    "    for (uint64_t i = 0; i < 0x100000000; i += stride) {\n"
    "        uint32_t bits = (uint32_t)i;\n"
    "        float x;\n"
    "        memcpy(&x, &bits, 4);\n"
    "        if (!isfinite(x))\n"
    "            continue;\n"
    "        long double y = exact(x), off = fabsl(f(x) - y), scale = one ? 1 : fabsl(x);\n"
    "        double of_size = fabsl(y) >= 0x1p-100L ? (double)(off / fabsl(y) * 0x1p24L) : 0;\n"
    "        double of_x = off < 0x1p-140L ? 0 : (double)(off / scale * 0x1p24L);\n"
    "        if (!(of_size <= w.of_size)) { w.of_size = of_size; w.at = x; }\n"
    "        if (!(of_x <= w.of_x)) w.of_x = of_x;\n"
    "    }\n"
    "    return w;\n"
    "}\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    uint32_t stride = (uint32_t)atoi(argv[1]);\n"
    "    float (*f[])(float) = {lathe_sigmoid_f, lathe_gelu_f, lathe_mish_f};\n"
    "    long double (*exact[])(long double) = {sigmoid, gelu, mish};\n"
    "    for (int i = 0; i < 3; i++) {\n"
    "        struct worst w = worst(f[i], exact[i], stride, i == 0);\n"
    "        printf(\"%.6g %.6g %.6g \", w.of_size, w.of_x, w.at);\n"
    "    }\n"
    "    float inf = INFINITY, nan = NAN;\n"
    "    int right = lathe_sigmoid_f(inf) == 1 && lathe_sigmoid_f(-inf) == 0 && lathe_gelu_f(inf) == inf &&\n"
    "        lathe_mish_f(inf) == inf && isnan(lathe_sigmoid_f(nan)) && isnan(lathe_gelu_f(nan)) &&\n"
    "        isnan(lathe_mish_f(nan));\n"
    "    printf(\"%d\\n\", right);\n"
    "    return 0;\n"
    "}\n";

static void errors_in_float(void **state)
{
    static const struct {
        const char *name;
        double of_size, of_x;   /* units of 2^-24: an ulp is 1 to 2 of them; 0: no bound */
    } bounds[] = {
        {"sigmoid", 3, 2},      /* measured: 2.41 of the result, 1.50 of 1 */
        {"gelu", 0, 2},         /* 1.76 of x; where the result is small, as for PyTorch, it has no more than that */
        {"mish", 6, 3},         /* 5.38 of the result, 2.67 of x */
    };
    const char *stride = getenv("LATHE_STRIDE");
    char dir[] = "/tmp/lathe-test-accuracy-XXXXXX";
    struct err e = {0};
    assert_non_null(mkdtemp(dir));
    char *source = path_join(dir, "t.c"), *text = mem_printf("%s%s", expr_c_helpers(), measure);
    assert_int_equal(file_write_atomic(source, text, strlen(text), &e), LATHE_OK);
    char *command = mem_printf("cc -std=gnu11 -O2 -o %s/t %s -lm && %s/t %s >%s/out", dir, source, dir,
                               stride ? stride : "100003", dir);
    assert_int_equal(system(command), 0);
    char *path = path_join(dir, "out"), *out, *at;
    assert_int_equal(file_read(path, &out, NULL, &e), LATHE_OK);
    print_message("%s", out);
    at = out;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        double of_size = strtod(at, &at), of_x = strtod(at, &at), where = strtod(at, &at);
        if (!(of_x <= bounds[i].of_x) || (bounds[i].of_size > 0 && !(of_size <= bounds[i].of_size)))
            fail_msg("%s: off by %g of the result (at %g), by %g of x", bounds[i].name, of_size, where, of_x);
    }
    assert_int_equal(atoi(at), 1);                  /* infinities and NaNs */
    mem_free(out);
    mem_free(path);
    mem_free(command);
    command = mem_printf("rm -rf %s", dir);
    assert_int_equal(system(command), 0);
    mem_free(command);
    mem_free(source);
    mem_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors_in_float)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
