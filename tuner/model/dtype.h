/* dtype.h: the types that a tensor's elements can have. Kernels see the 16-bit ones as kernels/common/types.cuh defines
 * them; an exported launcher takes those of CUDA's headers, of the same bits. */
#ifndef LATHE_MODEL_DTYPE_H
#define LATHE_MODEL_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#define DTYPE_TABLE(X) /* name, bytes, type in kernels, type in an export's signature, unit roundoff, largest value */ \
    X(f32, 4, "float", "float", 0x1p-24, 0x1.fffffep127)                                                               \
    X(f64, 8, "double", "double", 0x1p-53, 0x1.fffffffffffffp1023)                                                     \
    X(i32, 4, "int", "int", 0, 2147483647)                                                                             \
    X(u32, 4, "unsigned int", "unsigned int", 0, 4294967295.0)                                                         \
    X(f16, 2, "lathe_f16", "__half", 0x1p-11, 65504)                                                                   \
    X(bf16, 2, "lathe_bf16", "__nv_bfloat16", 0x1p-8, 0x1.fep127)                                                      \
    X(u8, 1, "unsigned char", "unsigned char", 0, 255)
enum dtype {
#define X(name, bytes, ctype, public_type, roundoff, largest) DTYPE_##name,
    DTYPE_TABLE(X)
#undef X
        DTYPE_COUNT
};

const char *dtype_name(enum dtype t);
const char *dtype_ctype(enum dtype t);
const char *dtype_public_type(enum dtype t);
int dtype_bytes(enum dtype t);
double dtype_roundoff(enum dtype t);                /* largest relative error of one rounding; 0 for integers */
double dtype_largest(enum dtype t);                 /* finite value */
bool dtype_is_16_bit_float(enum dtype t);
int dtype_parse(const char *name);                  /* -1 if unknown */

/* Element i of an array of that type. */
double dtype_read(enum dtype t, const void *array, int64_t i);
/* A floating-point type's nearest value, an infinity beyond its range; a NaN stays one. By way of float, as kernels
 * round. */
double dtype_round(enum dtype t, double v);

/* To the nearest, ties to even; every NaN is 0x7fff. Back is exact. */
uint16_t f16_from_float(float x);
uint16_t bf16_from_float(float x);
float f16_to_float(uint16_t bits);
float bf16_to_float(uint16_t bits);

#endif
