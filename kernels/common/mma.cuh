// mma.cuh: products on the tensor cores by the instruction mma.sync (sm_80 and later), and their twins for the host,
// where the lanes of a warp do them together.
//
// All 32 lanes of a warp call, with fragments of C [16, 8] += A [16, k] B [k, 8]. With g = lane / 4 and t = lane % 4:
//   c[0], c[1]    C[g][2t], C[g][2t + 1]        c[2], c[3]    C[g + 8][2t], C[g + 8][2t + 1]
//   16 bits, k 16, a pair a register, the lower k in the low half:
//   a[0], a[1]    A[g][2t ..], A[g + 8][2t ..]  a[2], a[3]    A[g][2t + 8 ..], A[g + 8][2t + 8 ..]
//   b[0], b[1]    B[2t ..][g], B[2t + 8 ..][g]
//   tf32, k 8, a float's bits a register, of which the low 13 are ignored:
//   a[0], a[1]    A[g][t], A[g + 8][t]          a[2], a[3]    A[g][t + 4], A[g + 8][t + 4]
//   b[0], b[1]    B[t][g], B[t + 4][g]
// https://docs.nvidia.com/cuda/parallel-thread-execution/ ("Matrix Fragments for mma.m16n8k16", "... m16n8k8")
//
// Rounding: products are exact. The hardware aligns a step's products and C, and rounds their sum toward zero; the host
// adds one product after the other in float32, each sum rounded to nearest. So the host's sums are the more accurate.
#pragma once
#include "lathe.cuh"
#include "split.cuh"

enum lathe_mma_type { LATHE_MMA_BF16, LATHE_MMA_FP16, LATHE_MMA_TF32 };

#if LATHE_HOST
struct lathe_host_mma : lathe_host_together {
    float *c;
    const unsigned *a, *b;
};

// The product for all lanes. A lane that is not there has NaN.
template <lathe_mma_type TYPE> static void lathe_host_mma_run(lathe_host_together *const lanes[32]) {
    constexpr int EACH = TYPE == LATHE_MMA_TF32 ? 1 : 2, DEPTH = 8 * EACH;     // elements of k in a register; k
    float a[16][DEPTH], b[8][DEPTH];
    auto decode = [](unsigned bits, float *to) {
        if constexpr (TYPE == LATHE_MMA_TF32)
            to[0] = __uint_as_float(bits & 0xffffe000u);
        else
            lathe_unpack16<TYPE == LATHE_MMA_FP16>(bits, to[0], to[1]);
    };
    for (int lane = 0; lane < 32; lane++) {
        const lathe_host_mma *mine = static_cast<const lathe_host_mma *>(lanes[lane]);
        const int g = lane / 4, k = lane % 4 * EACH;
        for (int i = 0; i < 4; i++)
            decode(mine ? mine->a[i] : ~0u, &a[g + i % 2 * 8][k + i / 2 * 4 * EACH]);
        for (int i = 0; i < 2; i++)
            decode(mine ? mine->b[i] : ~0u, &b[g][k + i * 4 * EACH]);
    }
    for (int lane = 0; lane < 32; lane++) {
        lathe_host_mma *mine = static_cast<lathe_host_mma *>(lanes[lane]);
        for (int i = 0; mine && i < 4; i++) {
            const float *row = a[lane / 4 + i / 2 * 8], *column = b[lane % 4 * 2 + i % 2];
            float sum = mine->c[i];
            for (int k = 0; k < DEPTH; k++)
                sum = lathe_fma(row[k], column[k], sum);
            mine->c[i] = sum;
        }
    }
}
#endif

// C += A B
template <lathe_mma_type TYPE>
__device__ __forceinline__ void lathe_mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if LATHE_HOST
    lathe_host_mma mine = {{lathe_host_mma_run<TYPE>}, c, a, b};
    lathe_host_do_together(&mine);
#else
    if constexpr (TYPE == LATHE_MMA_BF16)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else if constexpr (TYPE == LATHE_MMA_FP16)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}
