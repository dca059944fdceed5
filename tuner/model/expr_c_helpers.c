/* expr_c_helpers.c: the functions that printed expressions call, as source text. */
#include "model/expr.h"

/* What printed expressions may call. Plain C11 and CUDA C++ alike; under NVRTC there is no math.h to include. */
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
           "LATHE_EXPR_FN long long lathe_ceil_div(long long a, long long b) { return a / b + (a % b > 0); }\n"
           "LATHE_EXPR_FN long long lathe_abs(long long a) { return a < 0 ? -a : a; }\n"
           "LATHE_EXPR_FN long long lathe_min_i(long long a, long long b) { return a < b ? a : b; }\n"
           "LATHE_EXPR_FN long long lathe_max_i(long long a, long long b) { return a > b ? a : b; }\n"
           "LATHE_EXPR_FN int lathe_is_pow2(long long a) { return a > 0 && (a & (a - 1)) == 0; }\n"
           "LATHE_EXPR_FN long long lathe_log2(long long a) { long long n = 0; while (a >>= 1) n++; return n; }\n"
           /* the minimum and maximum of a NaN are NaN */
           "LATHE_EXPR_FN float lathe_min_f(float a, float b) { return a < b || a != a ? a : b; }\n"
           "LATHE_EXPR_FN float lathe_max_f(float a, float b) { return a > b || a != a ? a : b; }\n"
           "LATHE_EXPR_FN double lathe_min_d(double a, double b) { return a < b || a != a ? a : b; }\n"
           "LATHE_EXPR_FN double lathe_max_d(double a, double b) { return a > b || a != a ? a : b; }\n"
           "LATHE_EXPR_FN float lathe_mod_f(float a, float b)\n"
           "{ float r = fmodf(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; }\n"
           "LATHE_EXPR_FN double lathe_mod_d(double a, double b)\n"
           "{ double r = fmod(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; }\n"
           "#endif\n";
}
