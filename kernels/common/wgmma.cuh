// wgmma.cuh: Hopper's warpgroup matrix multiply, m64nNk16 (16-bit operands) and m64nNk8 (TF32), float32 accumulators.
//
// The file that includes it first defines LATHE_WGMMA_N, a multiple of 16 up to 256 as a plain number. Accumulator d of
// thread t of the warpgroup (g = t % 32 / 4, c = t % 4): d[4j + 2h + e] is row 16 (t / 32) + g + 8h, column 8j + 2c +
// e. A's registers for k16: a[0] row g, k 2c and 2c+1; a[1] row g+8, the same k; a[2], a[3] the same rows, k + 8.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-instructions
//
// Invariants: between lathe_wgmma_fence and lathe_wgmma_wait<0> nothing but wgmma touches the accumulators and A's
// registers of a group that is still running.
#pragma once

#define LATHE_WGMMA_TEXT_(x) #x
#define LATHE_WGMMA_TEXT(x) LATHE_WGMMA_TEXT_(x)

// The N / 2 accumulators as text and as operands, 8 registers (16 columns) at a time.
#define LATHE_WGMMA_R16 "%0, %1, %2, %3, %4, %5, %6, %7"
#define LATHE_WGMMA_R32 LATHE_WGMMA_R16 ", " "%8, %9, %10, %11, %12, %13, %14, %15"
#define LATHE_WGMMA_R48 LATHE_WGMMA_R32 ", " "%16, %17, %18, %19, %20, %21, %22, %23"
#define LATHE_WGMMA_R64 LATHE_WGMMA_R48 ", " "%24, %25, %26, %27, %28, %29, %30, %31"
#define LATHE_WGMMA_R80 LATHE_WGMMA_R64 ", " "%32, %33, %34, %35, %36, %37, %38, %39"
#define LATHE_WGMMA_R96 LATHE_WGMMA_R80 ", " "%40, %41, %42, %43, %44, %45, %46, %47"
#define LATHE_WGMMA_R112 LATHE_WGMMA_R96 ", " "%48, %49, %50, %51, %52, %53, %54, %55"
#define LATHE_WGMMA_R128 LATHE_WGMMA_R112 ", " "%56, %57, %58, %59, %60, %61, %62, %63"
#define LATHE_WGMMA_R144 LATHE_WGMMA_R128 ", " "%64, %65, %66, %67, %68, %69, %70, %71"
#define LATHE_WGMMA_R160 LATHE_WGMMA_R144 ", " "%72, %73, %74, %75, %76, %77, %78, %79"
#define LATHE_WGMMA_R176 LATHE_WGMMA_R160 ", " "%80, %81, %82, %83, %84, %85, %86, %87"
#define LATHE_WGMMA_R192 LATHE_WGMMA_R176 ", " "%88, %89, %90, %91, %92, %93, %94, %95"
#define LATHE_WGMMA_R208 LATHE_WGMMA_R192 ", " "%96, %97, %98, %99, %100, %101, %102, %103"
#define LATHE_WGMMA_R224 LATHE_WGMMA_R208 ", " "%104, %105, %106, %107, %108, %109, %110, %111"
#define LATHE_WGMMA_R240 LATHE_WGMMA_R224 ", " "%112, %113, %114, %115, %116, %117, %118, %119"
#define LATHE_WGMMA_R256 LATHE_WGMMA_R240 ", " "%120, %121, %122, %123, %124, %125, %126, %127"
#define LATHE_WGMMA_8(d, i) \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
        "+f"(d[i + 7])
#define LATHE_WGMMA_D16(d) LATHE_WGMMA_8(d, 0)
#define LATHE_WGMMA_D32(d) LATHE_WGMMA_D16(d), LATHE_WGMMA_8(d, 8)
#define LATHE_WGMMA_D48(d) LATHE_WGMMA_D32(d), LATHE_WGMMA_8(d, 16)
#define LATHE_WGMMA_D64(d) LATHE_WGMMA_D48(d), LATHE_WGMMA_8(d, 24)
#define LATHE_WGMMA_D80(d) LATHE_WGMMA_D64(d), LATHE_WGMMA_8(d, 32)
#define LATHE_WGMMA_D96(d) LATHE_WGMMA_D80(d), LATHE_WGMMA_8(d, 40)
#define LATHE_WGMMA_D112(d) LATHE_WGMMA_D96(d), LATHE_WGMMA_8(d, 48)
#define LATHE_WGMMA_D128(d) LATHE_WGMMA_D112(d), LATHE_WGMMA_8(d, 56)
#define LATHE_WGMMA_D144(d) LATHE_WGMMA_D128(d), LATHE_WGMMA_8(d, 64)
#define LATHE_WGMMA_D160(d) LATHE_WGMMA_D144(d), LATHE_WGMMA_8(d, 72)
#define LATHE_WGMMA_D176(d) LATHE_WGMMA_D160(d), LATHE_WGMMA_8(d, 80)
#define LATHE_WGMMA_D192(d) LATHE_WGMMA_D176(d), LATHE_WGMMA_8(d, 88)
#define LATHE_WGMMA_D208(d) LATHE_WGMMA_D192(d), LATHE_WGMMA_8(d, 96)
#define LATHE_WGMMA_D224(d) LATHE_WGMMA_D208(d), LATHE_WGMMA_8(d, 104)
#define LATHE_WGMMA_D240(d) LATHE_WGMMA_D224(d), LATHE_WGMMA_8(d, 112)
#define LATHE_WGMMA_D256(d) LATHE_WGMMA_D240(d), LATHE_WGMMA_8(d, 120)

// The operands after them: four registers (A from registers), or any five.
#define LATHE_WGMMA_I16 "%8", "%9", "%10", "%11", "%12", "%13"
#define LATHE_WGMMA_I32 "%16", "%17", "%18", "%19", "%20", "%21"
#define LATHE_WGMMA_I48 "%24", "%25", "%26", "%27", "%28", "%29"
#define LATHE_WGMMA_I64 "%32", "%33", "%34", "%35", "%36", "%37"
#define LATHE_WGMMA_I80 "%40", "%41", "%42", "%43", "%44", "%45"
#define LATHE_WGMMA_I96 "%48", "%49", "%50", "%51", "%52", "%53"
#define LATHE_WGMMA_I112 "%56", "%57", "%58", "%59", "%60", "%61"
#define LATHE_WGMMA_I128 "%64", "%65", "%66", "%67", "%68", "%69"
#define LATHE_WGMMA_I144 "%72", "%73", "%74", "%75", "%76", "%77"
#define LATHE_WGMMA_I160 "%80", "%81", "%82", "%83", "%84", "%85"
#define LATHE_WGMMA_I176 "%88", "%89", "%90", "%91", "%92", "%93"
#define LATHE_WGMMA_I192 "%96", "%97", "%98", "%99", "%100", "%101"
#define LATHE_WGMMA_I208 "%104", "%105", "%106", "%107", "%108", "%109"
#define LATHE_WGMMA_I224 "%112", "%113", "%114", "%115", "%116", "%117"
#define LATHE_WGMMA_I240 "%120", "%121", "%122", "%123", "%124", "%125"
#define LATHE_WGMMA_I256 "%128", "%129", "%130", "%131", "%132", "%133"

#define LATHE_WGMMA_JOIN_(a, b) a##b
#define LATHE_WGMMA_JOIN(a, b) LATHE_WGMMA_JOIN_(a, b)
#define LATHE_WGMMA_R LATHE_WGMMA_JOIN(LATHE_WGMMA_R, LATHE_WGMMA_N)
#define LATHE_WGMMA_D LATHE_WGMMA_JOIN(LATHE_WGMMA_D, LATHE_WGMMA_N)
#define LATHE_WGMMA_I LATHE_WGMMA_JOIN(LATHE_WGMMA_I, LATHE_WGMMA_N)

// A from registers: operands a0 a1 a2 a3, B's descriptor, whether to add to what is there.
#define LATHE_WGMMA_RS_(a0, a1, a2, a3, b, add, shape, types, tail)                                                    \
    "{\n.reg .pred p;\nsetp.ne.b32 p, " add ", 0;\n"                                                                   \
    "wgmma.mma_async.sync.aligned.m64n" LATHE_WGMMA_TEXT(LATHE_WGMMA_N) shape ".f32." types " {" LATHE_WGMMA_R "}, "   \
    "{" a0 ", " a1 ", " a2 ", " a3 "}, " b ", p, 1, 1" tail ";\n}"
#define LATHE_WGMMA_RS(...) LATHE_WGMMA_RS_(__VA_ARGS__)
// Both from shared memory: A's and B's descriptors, whether to add.
#define LATHE_WGMMA_SS_(a, b, add, u0, u1, u2, shape, types, tail)                                                     \
    "{\n.reg .pred p;\nsetp.ne.b32 p, " add ", 0;\n"                                                                   \
    "wgmma.mma_async.sync.aligned.m64n" LATHE_WGMMA_TEXT(LATHE_WGMMA_N) shape ".f32." types " {" LATHE_WGMMA_R "}, "   \
    a ", " b ", p, 1, 1" tail ";\n}"
#define LATHE_WGMMA_SS(...) LATHE_WGMMA_SS_(__VA_ARGS__)

__device__ __forceinline__ void lathe_wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void lathe_wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Until at most PENDING of this warpgroup's committed groups are unfinished.
template <int PENDING> __device__ __forceinline__ void lathe_wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

// A matrix of rows of ROW_BYTES (128 or 64) of K-major data in shared memory, swizzled by as much; `address` as a
// shared address, 16-byte units within the row allowed. Add bytes / 16 to move along the row.
template <int ROW_BYTES> __device__ __forceinline__ unsigned long long lathe_wgmma_matrix(unsigned address) {
    static_assert(ROW_BYTES == 128 || ROW_BYTES == 64, "rows of a swizzle atom");
    const unsigned long long swizzle = ROW_BYTES == 128 ? 1 : 2, eight_rows = ROW_BYTES / 2;
    return (swizzle << 62) | (eight_rows << 32) | (1ull << 16) | ((address & 0x3ffff) >> 4);
}

enum lathe_wgmma_type { LATHE_WGMMA_BF16, LATHE_WGMMA_FP16, LATHE_WGMMA_TF32 };

// d = a b (+ d), A's 64 rows from registers.
template <lathe_wgmma_type TYPE>
__device__ __forceinline__ void lathe_wgmma(float (&d)[LATHE_WGMMA_N / 2], const unsigned (&a)[4], unsigned long long b,
                                            int add) {
    if constexpr (TYPE == LATHE_WGMMA_BF16)
        asm volatile(LATHE_WGMMA_RS(LATHE_WGMMA_I, "k16", "bf16.bf16", ", 0")
                     : LATHE_WGMMA_D(d)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
    else if constexpr (TYPE == LATHE_WGMMA_FP16)
        asm volatile(LATHE_WGMMA_RS(LATHE_WGMMA_I, "k16", "f16.f16", ", 0")
                     : LATHE_WGMMA_D(d)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
    else
        asm volatile(LATHE_WGMMA_RS(LATHE_WGMMA_I, "k8", "tf32.tf32", "")
                     : LATHE_WGMMA_D(d)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

// The same with A from shared memory.
template <lathe_wgmma_type TYPE>
__device__ __forceinline__ void lathe_wgmma(float (&d)[LATHE_WGMMA_N / 2], unsigned long long a, unsigned long long b,
                                            int add) {
    if constexpr (TYPE == LATHE_WGMMA_BF16)
        asm volatile(LATHE_WGMMA_SS(LATHE_WGMMA_I, "k16", "bf16.bf16", ", 0, 0")
                     : LATHE_WGMMA_D(d)
                     : "l"(a), "l"(b), "r"(add));
    else if constexpr (TYPE == LATHE_WGMMA_FP16)
        asm volatile(LATHE_WGMMA_SS(LATHE_WGMMA_I, "k16", "f16.f16", ", 0, 0")
                     : LATHE_WGMMA_D(d)
                     : "l"(a), "l"(b), "r"(add));
    else
        asm volatile(LATHE_WGMMA_SS(LATHE_WGMMA_I, "k8", "tf32.tf32", "")
                     : LATHE_WGMMA_D(d)
                     : "l"(a), "l"(b), "r"(add));
}
