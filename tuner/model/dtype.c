/* dtype.c: see dtype.h. The conversions are those of kernels/common/types.cuh; a test compares all of them. */
#include "model/dtype.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *ctype, *public_type;
    int bytes;
    double roundoff, largest;
} dtypes[DTYPE_COUNT] = {
#define X(name, bytes, ctype, public_type, roundoff, largest) {#name, ctype, public_type, bytes, roundoff, largest},
    DTYPE_TABLE(X)
#undef X
};

const char *dtype_name(enum dtype t)
{
    return (unsigned)t < DTYPE_COUNT ? dtypes[t].name : "unknown";
}

const char *dtype_ctype(enum dtype t)
{
    return (unsigned)t < DTYPE_COUNT ? dtypes[t].ctype : "void";
}

const char *dtype_public_type(enum dtype t)
{
    return (unsigned)t < DTYPE_COUNT ? dtypes[t].public_type : "void";
}

int dtype_bytes(enum dtype t)
{
    return (unsigned)t < DTYPE_COUNT ? dtypes[t].bytes : 0;
}

double dtype_roundoff(enum dtype t)
{
    return (unsigned)t < DTYPE_COUNT ? dtypes[t].roundoff : 0;
}

double dtype_largest(enum dtype t)
{
    return (unsigned)t < DTYPE_COUNT ? dtypes[t].largest : 0;
}

bool dtype_is_16_bit_float(enum dtype t)
{
    return t == DTYPE_f16 || t == DTYPE_bf16;
}

int dtype_parse(const char *name)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return i;
    return -1;
}

double dtype_read(enum dtype t, const void *array, int64_t i)
{
    switch (t) {
    case DTYPE_f32: return ((const float *)array)[i];
    case DTYPE_f64: return ((const double *)array)[i];
    case DTYPE_i32: return ((const int32_t *)array)[i];
    case DTYPE_u32: return ((const uint32_t *)array)[i];
    case DTYPE_f16: return f16_to_float(((const uint16_t *)array)[i]);
    case DTYPE_bf16: return bf16_to_float(((const uint16_t *)array)[i]);
    case DTYPE_u8: return ((const uint8_t *)array)[i];
    default: return NAN;
    }
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

uint16_t f16_from_float(float x)
{
    uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return 0x7fff;
    if (magnitude >= 0x47800000u)                   /* 65536 and more */
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude >= 0x38800000u)                   /* 2^-14 and more; what rounds up to 65536 becomes infinity */
        return (uint16_t)(sign | (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
    /* subnormal: beside 0.5 the last bit of a float is 2^-24 */
    return (uint16_t)(sign | (bits_of(of_bits(magnitude) + 0.5f) - 0x3f000000u));
}

uint16_t bf16_from_float(float x)
{
    uint32_t bits = bits_of(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

float f16_to_float(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    if (magnitude > 0x7c00u)
        return of_bits(0x7fffffffu);
    if (magnitude == 0x7c00u)
        return of_bits(sign | 0x7f800000u);
    if (magnitude >= 0x0400u)                       /* the exponent's bias is 127 there, 15 here */
        return of_bits(sign | ((magnitude << 13) + 0x38000000u));
    return of_bits(sign | bits_of((float)magnitude * 0x1p-24f));
}

float bf16_to_float(uint16_t bits)
{
    return of_bits((uint32_t)bits << 16);
}

double dtype_round(enum dtype t, double v)
{
    if (t == DTYPE_f16) return f16_to_float(f16_from_float((float)v));
    if (t == DTYPE_bf16) return bf16_to_float(bf16_from_float((float)v));
    return (float)v;
}
