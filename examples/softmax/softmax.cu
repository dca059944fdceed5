// softmax.cu: Y = softmax of each row of X. LANES threads share a row, ROWS rows are a block.
//
// Between reading and writing a row is held in registers (HELD vectors a thread: it is read once), in shared memory
// (read once, any N that fits) or nowhere (read again, from cache). SUM == online finds maximum and sum in one pass,
// scaling the sum anew when the maximum grows (M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax",
// arXiv:1805.02867). Any M; N must be a multiple of VEC.
#include "lathe.cuh"

constexpr int LANES = LATHE_LANES, ROWS = LATHE_ROWS, VEC = LATHE_VEC, HELD = LATHE_HELD;
constexpr bool REGISTERS = LATHE_KEEP == LATHE_KEEP_registers, SHARED = LATHE_KEEP == LATHE_KEEP_shared;
constexpr bool ONLINE = LATHE_SUM == LATHE_SUM_online;
constexpr int WIDTH = LANES < 32 ? LANES : 32, WARPS = LANES < 32 ? 1 : LANES / 32; // of one row
constexpr float LOWEST = -3.402823466e38f;                                          // finite: LOWEST - LOWEST is 0

static_assert(LANES * ROWS >= 32 && LANES * ROWS <= 1024, "a warp at least, a block at most");

__device__ __forceinline__ float exponential(float x) {
#if LATHE_EXP == LATHE_EXP_fast
    return __expf(x);
#else
    return expf(x);
#endif
}

// The maximum of a part of the row, and the sum of exp(x - most) over that part.
struct Part {
    float most, sum;
};

__device__ __forceinline__ Part join(Part a, Part b) {
    const float most = fmaxf(a.most, b.most);
    return {most, a.sum * exponential(a.most - most) + b.sum * exponential(b.most - most)};
}

// The same of all threads of the row, in every one of them. `parts` has room for ROWS * WARPS.
__device__ __forceinline__ Part join_row(Part mine, Part *parts) {
#pragma unroll
    for (int apart = WIDTH / 2; apart > 0; apart /= 2) {
        const Part other = {__shfl_xor_sync(0xffffffffu, mine.most, apart),
                            __shfl_xor_sync(0xffffffffu, mine.sum, apart)};
        mine = join(mine, other);
    }
    if (WARPS == 1)
        return mine;
    Part *row = parts + threadIdx.y * WARPS;
    if (threadIdx.x % 32 == 0)
        row[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = row[0];
#pragma unroll
    for (int w = 1; w < WARPS; w++)
        mine = join(mine, row[w]);
    return mine;
}

__device__ __forceinline__ void add(Part &part, const float (&x)[VEC]) {
    float most = part.most;
#pragma unroll
    for (int i = 0; i < VEC; i++)
        most = fmaxf(most, x[i]);
    float sum = part.sum * exponential(part.most - most);
#pragma unroll
    for (int i = 0; i < VEC; i++)
        sum += exponential(x[i] - most);
    part = {most, sum};
}

__device__ __forceinline__ void write(float *y, float (&x)[VEC], Part row) {
    const float scale = 1.0f / row.sum;
#pragma unroll
    for (int i = 0; i < VEC; i++)
        x[i] = exponential(x[i] - row.most) * scale;
    lathe_store<VEC>(y, x);
}

// X, Y [M, N]
extern "C" __global__ void __launch_bounds__(LANES *ROWS) softmax_rows(const float *X, float *Y, int M, int N) {
    __shared__ Part parts[ROWS * WARPS];
    LATHE_DYNAMIC_SHARED(bytes); // KEEP == shared: [ROWS][N]
    const int m = blockIdx.x * ROWS + threadIdx.y;
    const bool mine = m < M; // every thread comes to every barrier and shuffle, also one that has no row
    const long long at = static_cast<long long>(mine ? m : 0) * N;
    const int begin = threadIdx.x * VEC, end = mine ? N : 0;
    float *kept = reinterpret_cast<float *>(bytes) + static_cast<long long>(threadIdx.y) * N;
    Part part = {LOWEST, 0};
    if constexpr (REGISTERS) {
        float x[HELD][VEC];
#pragma unroll
        for (int h = 0; h < HELD; h++) {
            const int n = begin + h * LANES * VEC;
            if (n < end)
                lathe_load<VEC>(x[h], X + at + n);
#pragma unroll
            for (int i = 0; i < VEC; i++)
                part.most = fmaxf(part.most, n < end ? x[h][i] : LOWEST);
        }
#pragma unroll
        for (int h = 0; h < HELD; h++)
#pragma unroll
            for (int i = 0; i < VEC; i++)
                if (begin + h * LANES * VEC < end)
                    part.sum += exponential(x[h][i] - part.most);
        part = join_row(part, parts);
#pragma unroll
        for (int h = 0; h < HELD; h++)
            if (begin + h * LANES * VEC < end)
                write(Y + at + begin + h * LANES * VEC, x[h], part);
    } else {
        for (int n = begin; n < end; n += LANES * VEC) {
            float x[VEC];
            lathe_load<VEC>(x, X + at + n);
            if (SHARED)
                lathe_store<VEC>(kept + n, x); // read again by this very thread
            if (ONLINE)
                add(part, x);
            else
#pragma unroll
                for (int i = 0; i < VEC; i++)
                    part.most = fmaxf(part.most, x[i]);
        }
        if (!ONLINE)
            for (int n = begin; n < end; n += LANES * VEC) {
                float x[VEC];
                lathe_load<VEC>(x, (SHARED ? kept : X + at) + n);
#pragma unroll
                for (int i = 0; i < VEC; i++)
                    part.sum += exponential(x[i] - part.most);
            }
        part = join_row(part, parts);
        for (int n = begin; n < end; n += LANES * VEC) {
            float x[VEC];
            lathe_load<VEC>(x, (SHARED ? kept : X + at) + n);
            write(Y + at + n, x, part);
        }
    }
}
