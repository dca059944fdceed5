/* expr_c_helpers.c: the functions that printed expressions call, as source text. */
#include "expr/expr.h"

/* What printed expressions may call. Plain C11 and CUDA C++ alike; under NVRTC there is no math.h to include.
 * test_expr_accuracy.c measures the functions in float. */
const char *expr_c_helpers(void)
{
    return "#ifndef LATHE_EXPR_HELPERS\n"
           "#define LATHE_EXPR_HELPERS\n"
           "#ifdef __CUDACC__\n"
           "#define LATHE_EXPR_FN inline __host__ __device__\n"
           "#else\n"
           "#include <math.h>\n"
           "#define LATHE_EXPR_FN static inline\n"
           "#endif\n"
           "LATHE_EXPR_FN long long lathe_floor_div(long long a, long long b)\n"
           "{ long long q = a / b; return q - (a % b != 0 && (a < 0) != (b < 0)); }\n"
           "LATHE_EXPR_FN long long lathe_floor_mod(long long a, long long b)\n"
           "{ long long r = a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r; }\n"
           "LATHE_EXPR_FN long long lathe_ceil_div_i(long long a, long long b) { return a / b + (a % b > 0); }\n"
           "LATHE_EXPR_FN long long lathe_abs(long long a) { return a < 0 ? -a : a; }\n"
           "LATHE_EXPR_FN long long lathe_min_i(long long a, long long b) { return a < b ? a : b; }\n"
           "LATHE_EXPR_FN long long lathe_max_i(long long a, long long b) { return a > b ? a : b; }\n"
           "LATHE_EXPR_FN int lathe_is_pow2(long long a) { return a > 0 && (a & (a - 1)) == 0; }\n"
           "LATHE_EXPR_FN long long lathe_log2(long long a) { long long n = 0; while (a >>= 1) n++; return n; }\n"
           /* the minimum and maximum of a NaN are NaN; newer GPUs have an instruction */
           "#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800\n"
           "LATHE_EXPR_FN float lathe_min_f(float a, float b)\n"
           "{ float r; asm(\"min.NaN.f32 %0, %1, %2;\" : \"=f\"(r) : \"f\"(a), \"f\"(b)); return r; }\n"
           "LATHE_EXPR_FN float lathe_max_f(float a, float b)\n"
           "{ float r; asm(\"max.NaN.f32 %0, %1, %2;\" : \"=f\"(r) : \"f\"(a), \"f\"(b)); return r; }\n"
           "#else\n"
           "LATHE_EXPR_FN float lathe_min_f(float a, float b) { return a < b || a != a ? a : b; }\n"
           "LATHE_EXPR_FN float lathe_max_f(float a, float b) { return a > b || a != a ? a : b; }\n"
           "#endif\n"
           "LATHE_EXPR_FN double lathe_min_d(double a, double b) { return a < b || a != a ? a : b; }\n"
           "LATHE_EXPR_FN double lathe_max_d(double a, double b) { return a > b || a != a ? a : b; }\n"
           "LATHE_EXPR_FN float lathe_mod_f(float a, float b)\n"
           "{ float r = fmodf(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; }\n"
           "LATHE_EXPR_FN double lathe_mod_d(double a, double b)\n"
           "{ double r = fmod(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; }\n"
           /* 1 / a for an a of at least 1, at most 1 ulp off; 0 for one above 2^126. Division takes ten times as many
            * instructions on a GPU, and has a branch. */
           "LATHE_EXPR_FN float lathe_reciprocal(float a)\n"
           "{\n"
           "#ifdef __CUDA_ARCH__\n"
           "    float r;\n"
           "    asm(\"rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(r) : \"f\"(a));\n"
           "    return r;\n"
           "#else\n"
           "    return 1.0f / a;\n"
           "#endif\n"
           "}\n"
           "LATHE_EXPR_FN float lathe_sigmoid_f(float x) { return lathe_reciprocal(1.0f + expf(-x)); }\n"
           "LATHE_EXPR_FN double lathe_sigmoid_d(double x) { return 1.0 / (1.0 + exp(-x)); }\n"
           "LATHE_EXPR_FN float lathe_gelu_f(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }\n"
           "LATHE_EXPR_FN double lathe_gelu_d(double x) { return 0.5 * x * (1.0 + erf(x * 0.7071067811865476)); }\n"
           /* tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2), all of whose terms are positive; it is 1 from 20 on */
           "LATHE_EXPR_FN float lathe_mish_f(float x)\n"
           "{ float e = expf(fminf(x, 20.0f)), n = e * (e + 2.0f); return x * (n * lathe_reciprocal(n + 2.0f)); }\n"
           "LATHE_EXPR_FN double lathe_mish_d(double x)\n"
           "{ double e = exp(fmin(x, 20.0)), n = e * (e + 2.0); return x * (n / (n + 2.0)); }\n"
           "#endif\n";
}

/* Zero divides nothing, ceil_div divides by what is above 0, log2 is of a power of two, and an integer has 64 bits: as
 * expr_eval has it. Plain C, since compilers for devices and for Windows have no built-in functions of overflow. */
const char *expr_c_guards(void)
{
    return "LATHE_EXPR_FN long long lathe_divisor(long long a, int *undefined) { return a ? a : (*undefined = 1); }\n"
           "LATHE_EXPR_FN double lathe_divisor_d(double a, int *undefined) { return a != 0 ? a : (*undefined = 1); }\n"
           "LATHE_EXPR_FN long long lathe_positive(long long a, int *undefined)\n"
           "{ return a > 0 ? a : (*undefined = 1); }\n"
           "LATHE_EXPR_FN long long lathe_power_of_2(long long a, int *undefined)\n"
           "{ return lathe_is_pow2(a) ? a : (*undefined = 1); }\n"
           "LATHE_EXPR_FN long long lathe_sum(long long a, long long b, int *undefined)\n"
           "{ return (b > 0 ? a > LLONG_MAX - b : a < LLONG_MIN - b) ? (*undefined = 1) : a + b; }\n"
           "LATHE_EXPR_FN long long lathe_difference(long long a, long long b, int *undefined)\n"
           "{ return (b < 0 ? a > LLONG_MAX + b : a < LLONG_MIN + b) ? (*undefined = 1) : a - b; }\n"
           "LATHE_EXPR_FN long long lathe_product(long long a, long long b, int *undefined)\n"
           "{\n"
           "    const int over = a > 0 ? (b > 0 ? a > LLONG_MAX / b : b < LLONG_MIN / a)\n"
           "                   : a < 0 ? (b > 0 ? a < LLONG_MIN / b : b < LLONG_MAX / a) : 0;\n"
           "    return over ? (*undefined = 1) : a * b;\n"
           "}\n"
           "LATHE_EXPR_FN long long lathe_negative(long long a, int *undefined)\n"
           "{ return a == LLONG_MIN ? (*undefined = 1) : -a; }\n"
           "LATHE_EXPR_FN long long lathe_magnitude(long long a, int *undefined)\n"
           "{ return a < 0 ? lathe_negative(a, undefined) : a; }\n"
           "LATHE_EXPR_FN long long lathe_quotient(long long a, long long b, int *undefined)\n"
           "{ return b == -1 ? lathe_negative(a, undefined) : lathe_floor_div(a, lathe_divisor(b, undefined)); }\n"
           "LATHE_EXPR_FN long long lathe_remainder(long long a, long long b, int *undefined)\n"
           "{ return b == -1 ? 0 : lathe_floor_mod(a, lathe_divisor(b, undefined)); }\n"
           "LATHE_EXPR_FN long long lathe_whole(double a, int *undefined)\n"
           "{ return a >= -9223372036854775808.0 && a < 9223372036854775808.0 ? (long long)a : (*undefined = 1); }\n";
}
