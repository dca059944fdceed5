// epilogue.cu: what follows a GEMM: Y = epilogue(Z), one pass over the product.
//
// The GEMM gives Z [M, N], or Z^T [N, M] where TRANSPOSED, in float32; Y is [M, N], of any float type; all row-major.
// At the sizes of interest Z is still in L2, so a pass costs a few microseconds, and what counts is many loads in
// flight and little else.
//
// What the parameters change:
//   VEC            elements a global access moves; N % VEC must be 0, and M % VEC too where TRANSPOSED
//   BLOCK          threads a block
//   GRID           "one_shot": as many blocks as there is work; "grid_stride": PER_SM blocks an SM, which loop
//   ITEMS          rows of Y a thread computes, at the same columns, so that one read of the bias serves them all
//   TILE_M TILE_N  TRANSPOSED: the tile that is turned over in shared memory
//
// Every thread loads all it works on, then computes, then stores, so that nothing waits for a store; and in the plain
// pass a thread writes only what it read itself, so Z may be Y.
#include "lathe.cuh"

constexpr int VEC = LATHE_VEC, BLOCK = LATHE_BLOCK;
constexpr bool STRIDE = LATHE_GRID == LATHE_GRID_grid_stride;

static_assert(BLOCK % 32 == 0 && BLOCK <= 1024, "a block is whole warps, 1024 threads at most");

// at = quotient * by + remainder. A 64-bit division costs many times a 32-bit one, so it is done only where it must be.
__device__ __forceinline__ void divide(long long at, int by, bool narrow, int &quotient, int &remainder) {
    if (narrow) {
        quotient = static_cast<int>(static_cast<unsigned>(at) / static_cast<unsigned>(by));
        remainder = static_cast<int>(static_cast<unsigned>(at) % static_cast<unsigned>(by));
    } else {
        quotient = static_cast<int>(at / by);
        remainder = static_cast<int>(at % by);
    }
}

#if !LATHE_TRANSPOSED

constexpr int ITEMS = LATHE_ITEMS;

// Rows [m, m + ITEMS) of Y, VEC columns from n on. WHOLE: all the rows exist.
template <bool WHOLE>
__device__ __forceinline__ void finish_rows(const float *Z, LatheType_Y *Y, int m, int n, int M, int N,
                                            const LatheEpilogue &epilogue) {
    const long long first = static_cast<long long>(m) * N + n;
    float value[ITEMS][VEC];
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (WHOLE || m + i < M)
            lathe_load<VEC>(value[i], Z + first + static_cast<long long>(i) * N);
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (WHOLE || m + i < M)
#pragma unroll
            for (int e = 0; e < VEC; e++)
                value[i][e] = epilogue(value[i][e], m + i, n + e);
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (WHOLE || m + i < M)
            lathe_store<VEC>(Y + first + static_cast<long long>(i) * N, value[i]);
}

// Z, Y [M, N], may be the same. Work is numbered along a band of ITEMS rows, then band by band.
extern "C" __global__ void __launch_bounds__(BLOCK)
    linear_epilogue(const float *Z, LatheType_Y *Y, int M, int N, LatheEpilogue epilogue) {
    const int columns = N / VEC;
    const long long work = static_cast<long long>(lathe_ceil_div(M, ITEMS)) * columns;
    const bool narrow = work <= 0xffffffffll;
    long long at = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    for (; at < work; at += static_cast<long long>(gridDim.x) * BLOCK) {
        int band, column;
        divide(at, columns, narrow, band, column);
        if (band * ITEMS <= M - ITEMS)
            finish_rows<true>(Z, Y, band * ITEMS, column * VEC, M, N, epilogue);
        else
            finish_rows<false>(Z, Y, band * ITEMS, column * VEC, M, N, epilogue);
        if (!STRIDE)
            break;
    }
}

#else

constexpr int TILE_M = LATHE_TILE_M, TILE_N = LATHE_TILE_N;

// A warp moves patches of 32 elements along memory by VEC rows, PATCHES of them for a tile. In shared memory a row (one
// n) is PITCH floats: odd, so that a patch touches all 32 banks once, along m as along n.
constexpr int WARPS = BLOCK / 32, PATCHES = TILE_M * TILE_N / (BLOCK * VEC), LANES = 32 / VEC;
constexpr int PITCH = TILE_M + 1;

static_assert(TILE_M % 32 == 0 && TILE_N % 32 == 0, "a tile is whole patches in both directions");
static_assert(LATHE_LET_smem >= TILE_N * PITCH * 4, "the specification asks for the tile's shared memory");
static_assert(PATCHES >= 1 && TILE_M * TILE_N % (BLOCK * VEC) == 0, "each warp must move the same number of patches");

// The lane's place in patch i of a tile whose rows are ALONG elements: `along` the memory and `across` it.
template <int ALONG> struct Patch {
    int along, across;
    __device__ __forceinline__ explicit Patch(int i) {
        const unsigned lane = threadIdx.x % 32, patch = threadIdx.x / 32 + i * WARPS;
        along = static_cast<int>(patch % (ALONG / 32) * 32 + lane % LANES * VEC);
        across = static_cast<int>(patch / (ALONG / 32) * VEC + lane / LANES);
    }
};

// Zt [N, M]; Y [M, N]. shared: TILE_N * PITCH floats.
extern "C" __global__ void __launch_bounds__(BLOCK)
    linear_epilogue_transposed(const float *Zt, LatheType_Y *Y, int M, int N, LatheEpilogue epilogue) {
    LATHE_DYNAMIC_SHARED(bytes);
    float *tile = reinterpret_cast<float *>(bytes);
    const int tiles_m = lathe_ceil_div(M, TILE_M), tiles_n = lathe_ceil_div(N, TILE_N);
    const long long tiles = static_cast<long long>(tiles_m) * tiles_n;
    const bool narrow = tiles <= 0xffffffffll;
    for (long long t = blockIdx.x; t < tiles; t += gridDim.x) {
        int tile_n, tile_m;
        divide(t, tiles_m, narrow, tile_n, tile_m);
        const int m0 = tile_m * TILE_M, n0 = tile_n * TILE_N, rows = M - m0, columns = N - n0;

        float value[PATCHES][VEC];
#pragma unroll
        for (int i = 0; i < PATCHES; i++) {
            const Patch<TILE_M> p(i);
            if (p.along < rows && p.across < columns)
                lathe_load<VEC>(value[i], Zt + static_cast<long long>(n0 + p.across) * M + m0 + p.along);
        }
#pragma unroll
        for (int i = 0; i < PATCHES; i++) {
            const Patch<TILE_M> p(i);
            if (p.along < rows && p.across < columns)
#pragma unroll
                for (int e = 0; e < VEC; e++)
                    tile[p.across * PITCH + p.along + e] = value[i][e];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < PATCHES; i++) {
            const Patch<TILE_N> p(i);
            if (p.along < columns && p.across < rows)
#pragma unroll
                for (int e = 0; e < VEC; e++)
                    value[i][e] = epilogue(tile[(p.along + e) * PITCH + p.across], m0 + p.across, n0 + p.along + e);
        }
#pragma unroll
        for (int i = 0; i < PATCHES; i++) {
            const Patch<TILE_N> p(i);
            if (p.along < columns && p.across < rows)
                lathe_store<VEC>(Y + static_cast<long long>(m0 + p.across) * N + n0 + p.along, value[i]);
        }
        if (!STRIDE)
            break;
        __syncthreads();        // the tile is free again
    }
}

#endif
