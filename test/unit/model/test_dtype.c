/* test_dtype.c: the types of tensors, and every 16-bit number to float and back, by the tuner and by kernels. */
#include "base/mem.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "model/dtype.h"
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void names(void **state)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        assert_int_equal(dtype_parse(dtype_name((enum dtype)i)), i);
    assert_int_equal(dtype_parse("float"), -1);
    assert_string_equal(dtype_ctype(DTYPE_bf16), "lathe_bf16");
    assert_string_equal(dtype_public_type(DTYPE_bf16), "__nv_bfloat16");
    assert_string_equal(dtype_public_type(DTYPE_f16), "__half");
    assert_string_equal(dtype_public_type(DTYPE_f32), dtype_ctype(DTYPE_f32));
    assert_int_equal(dtype_bytes(DTYPE_f64), 8);
    assert_int_equal(dtype_bytes(DTYPE_f16), 2);
    assert_true(dtype_roundoff(DTYPE_f16) == 1.0 / 2048 && dtype_roundoff(DTYPE_bf16) == 1.0 / 256);
    assert_true(dtype_is_16_bit_float(DTYPE_bf16) && !dtype_is_16_bit_float(DTYPE_f32));
}

static void reads(void **state)
{
    const uint16_t f16[] = {0, 0x3c01}, bf16[] = {0, 0xbf81};
    const float f32[] = {0, 0.5f};
    const double f64[] = {0, 1e-300};
    const int32_t i32[] = {0, -7};
    const uint32_t u32[] = {0, 4000000000u};
    const uint8_t u8[] = {0, 200};
    assert_true(dtype_read(DTYPE_f16, f16, 1) == 1 + 0x1p-10);
    assert_true(dtype_read(DTYPE_bf16, bf16, 1) == -(1 + 0x1p-7));
    assert_true(dtype_read(DTYPE_f32, f32, 1) == 0.5);
    assert_true(dtype_read(DTYPE_f64, f64, 1) == 1e-300);
    assert_true(dtype_read(DTYPE_i32, i32, 1) == -7);
    assert_true(dtype_read(DTYPE_u32, u32, 1) == 4e9);
    assert_true(dtype_read(DTYPE_u8, u8, 1) == 200);
}

/* --- the conversions, by what the formats mean --- */

struct format {
    const char *name;
    int exponent_bits, fraction_bits;
    float (*to_float)(uint16_t);
    uint16_t (*from_float)(float);
};

static const struct format formats[] = {
    {"f16", 5, 10, f16_to_float, f16_from_float},
    {"bf16", 8, 7, bf16_to_float, bf16_from_float},
};

/* NaN and infinity included. */
static double meaning(const struct format *f, unsigned bits)
{
    int bias = (1 << (f->exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> f->fraction_bits) & ((1 << f->exponent_bits) - 1);
    double fraction = bits & ((1u << f->fraction_bits) - 1), sign = bits >> 15 ? -1 : 1;
    if (exponent == (1 << f->exponent_bits) - 1)
        return fraction == 0 ? sign * INFINITY : NAN;
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias - f->fraction_bits);
    return sign * ldexp(fraction + (1 << f->fraction_bits), exponent - bias - f->fraction_bits);
}

static void must_be(const struct format *f, float x, unsigned want)
{
    unsigned got = f->from_float(x);
    if (got != want)
        fail_msg("%s of %a is %#x, not %#x", f->name, (double)x, got, want);
}

/* x between the positive numbers `bits` and its successor, in the float's own steps. */
static void check_between(const struct format *f, unsigned bits)
{
    double low = meaning(f, bits), high = meaning(f, bits + 1);
    if (isinf(high))
        high = 2 * low - meaning(f, bits - 1);      /* where the next number would be: rounding does not see the end */
    double middle = (low + high) / 2;
    if ((double)(float)middle != middle)
        return;                                     /* below the smallest float */
    unsigned even = bits & 1 ? bits + 1 : bits;
    float m = (float)middle;
    for (unsigned sign = 0; sign <= 0x8000u; sign += 0x8000u) {
        float s = sign ? -1.0f : 1.0f;
        must_be(f, s * m, sign | even);
        must_be(f, s * nextafterf(m, INFINITY), sign | (bits + 1));
        must_be(f, s * nextafterf(m, 0), sign | bits);
        must_be(f, s * nextafterf((float)low, INFINITY), sign | bits);
    }
}

static void every_number(void **state)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const struct format *f = &formats[i];
        unsigned infinity = ((1u << f->exponent_bits) - 1) << f->fraction_bits;
        for (unsigned bits = 0; bits <= 0xffff; bits++) {
            double want = meaning(f, bits);
            float got = f->to_float((uint16_t)bits);
            if (isnan(want) ? !isnan(got) : (double)got != want || !signbit(got) != !signbit(want))
                fail_msg("%s: %#x is %g, not %g", f->name, bits, (double)got, want);
            must_be(f, got, isnan(want) ? 0x7fff : bits);
            if (bits < infinity)
                check_between(f, bits);
        }
        must_be(f, NAN, 0x7fff);
        must_be(f, -NAN, 0x7fff);
        must_be(f, 0x1.fffffep127f, infinity);
        must_be(f, -INFINITY, 0x8000u | infinity);
    }
    must_be(&formats[0], 0x1p-149f, 0);             /* the smallest float is nothing in f16, and a tie in bf16 */
    must_be(&formats[1], 0x1p-149f, 0);
    must_be(&formats[1], 0x1p-133f, 1);
    must_be(&formats[0], 65519.996f, 0x7bff);
    must_be(&formats[0], 65520.0f, 0x7c00);
}

/* --- what kernels have: types.cuh as the system's compiler builds it --- */

static char dir[64];

static int make_dir(void **state)
{
    snprintf(dir, sizeof dir, "/tmp/lathe-dtype-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

static void *kernels_library(void)
{
    static const char text[] =
        "#define __device__\n#define __forceinline__ inline\n#include \"kernels/common/types.cuh\"\n"
        "extern \"C\" float to_f16(unsigned short b) { lathe_f16 x = {b}; return lathe_to_float(x); }\n"
        "extern \"C\" float to_bf16(unsigned short b) { lathe_bf16 x = {b}; return lathe_to_float(x); }\n"
        "extern \"C\" unsigned short from_f16(float x) { return lathe_from_float<lathe_f16>(x).bits; }\n"
        "extern \"C\" unsigned short from_bf16(float x) { return lathe_from_float<lathe_bf16>(x).bits; }\n"
        "extern \"C\" unsigned pair_f16(float x, float y) { return lathe_pair<lathe_f16>(x, y); }\n"
        "extern \"C\" unsigned pair_bf16(float x, float y) { return lathe_pair<lathe_bf16>(x, y); }\n";
    char path[100], command[400];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/types.cc", dir);
    if (file_write_atomic(path, text, sizeof text - 1, &e))
        fail_msg("%s", e.text);
    snprintf(command, sizeof command, "c++ -std=c++17 -O2 -Wall -Wextra -Werror -I. -shared -fPIC -o %s/types.so %s",
             dir, path);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/types.so", dir);
    void *library = dlopen(path, RTLD_NOW);
    assert_non_null(library);
    return library;
}

static void *function(void *library, const char *name)
{
    void *f = dlsym(library, name);
    assert_non_null(f);
    return f;
}

static bool same(float a, float b) { return memcmp(&a, &b, sizeof a) == 0; }

static void kernels_convert_alike(void **state)
{
    if (system("c++ --version > /dev/null 2>&1") != 0)
        skip();
    void *library = kernels_library();
    const char *const to_name[] = {"to_f16", "to_bf16"}, *const from_name[] = {"from_f16", "from_bf16"};
    const char *const pair_name[] = {"pair_f16", "pair_bf16"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const struct format *f = &formats[i];
        float (*to)(uint16_t);
        uint16_t (*from)(float);
        unsigned (*pair)(float, float);
        *(void **)&to = function(library, to_name[i]);
        *(void **)&from = function(library, from_name[i]);
        *(void **)&pair = function(library, pair_name[i]);
        for (unsigned bits = 0; bits <= 0xffff; bits++) {
            float got = to((uint16_t)bits), want = f->to_float((uint16_t)bits);
            if (!same(got, want) && !(isnan(got) && isnan(want)))
                fail_msg("%s: %#x is %g to a kernel, %g to the tuner", f->name, bits, (double)got, (double)want);
        }
        struct rng rng;
        rng_seed(&rng, 1);
        for (unsigned n = 0; n < 4000000; n++) {    /* every upper half, and what lies between */
            uint32_t bits = n < 0x80000 ? (n >> 3) << 16 | (uint32_t[]){0, 1, 0x0fff, 0x1000, 0x7fff, 0x8000, 0x8001,
                                          0xffff}[n & 7] : (uint32_t)rng_next(&rng);
            float x;
            memcpy(&x, &bits, sizeof x);
            if (from(x) != f->from_float(x) ||
                pair(x, 1.0f) != (f->from_float(x) | (unsigned)f->from_float(1.0f) << 16))
                fail_msg("%s of %a is %#x to a kernel, %#x to the tuner", f->name, (double)x, from(x),
                         f->from_float(x));
        }
    }
    dlclose(library);
}

static void rounds(void **state)
{
    assert_true(dtype_round(DTYPE_f16, 65519.0) == 65504.0);
    assert_true(isinf(dtype_round(DTYPE_f16, 65520.0)));
    assert_true(dtype_round(DTYPE_f16, -70000.0) == -INFINITY);
    assert_true(dtype_round(DTYPE_bf16, 257.0) == 256.0);
    assert_true(dtype_round(DTYPE_f32, 1e39) == INFINITY && dtype_round(DTYPE_f32, 0.1) == (double)0.1f);
    for (int t = 0; t < 3; t++)
        assert_true(isnan(dtype_round((enum dtype[]){DTYPE_f32, DTYPE_f16, DTYPE_bf16}[t], NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(reads),
        cmocka_unit_test(rounds),
        cmocka_unit_test(every_number),
        cmocka_unit_test(kernels_convert_alike),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
