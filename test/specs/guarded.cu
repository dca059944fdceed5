// guarded.cu: kernels/linear's split operand, guard and fallback around a product that needs no tensor cores.
#include "lathe.cuh"

// Nothing of hopper.cuh runs here, and its PTX is no language of a CPU.
static inline size_t __cvta_generic_to_shared(const void *) { return 0; }
#define LATHE_WARPGROUPS 2          // and what the pipeline's shape is does not matter
#define LATHE_TILES 1
#define LATHE_LET_stages 2
#define LATHE_CLUSTER 1
#define LATHE_SPLIT_K 1
#define LATHE_PROMOTE_K 0
#define LATHE_PROMOTE 0
#define LATHE_PROMOTE_registers 0
#define LATHE_MULTICAST 0
#define LATHE_MULTICAST_shared 0
#define LATHE_MULTICAST_streamed 0
#define LATHE_GROUP 1
#define LATHE_LET_smem 65536
#define asm
#define volatile(...)
#include "../../kernels/linear/wgmma_split.cuh"
#undef volatile
#undef asm

// A number of 16 bits.
static __device__ float number(unsigned bits)
{
    float first, second;
    lathe_unpack16<FP16>(bits, first, second);
    return first;
}

// Element k of a row of the split matrix, part 0 or 1: where wgmma's swizzle has it, and its lanes' order of 16 k.
static __device__ float part_of(const unsigned char *tiles, int row, int k, int part, int chunks)
{
    const int r = row % COLUMNS, lane = k % 16 / 4, unit = k % CHUNK / 16 * 2 + k % 4 / 2 + 4 * part;
    const int swizzle = SHARED_ROW == 128 ? r & 7 : r >> 1 & 3;
    const unsigned char *at = tiles + (static_cast<long long>(row / COLUMNS) * chunks + k / CHUNK) * SHARED_BYTES +
                              r * SHARED_ROW + (unit ^ swizzle) * 16 + lane * 4 + k % 2 * 2;
    return number(*reinterpret_cast<const unsigned short *>(at));
}

// An element a thread. Sums of 32 k at a time.
extern "C" __global__ void __launch_bounds__(256)
    guarded_multiply(const float *streamed, const unsigned char *tiles, const int *exponent, unsigned *guard, float *Y,
                     int M, int N, int K, LatheEpilogue epilogue)
{
    const int i = blockIdx.x * 256 + threadIdx.x, m = i / N, n = i % N, chunks = lathe_ceil_div(K, CHUNK);
    const int row = STREAM_X ? m : n, other = STREAM_X ? n : m, rows = STREAM_X ? M : N;
    const int e = FP16 ? lathe_sample_exponent(streamed, static_cast<long long>(rows) * K) : 0;
    const float scale = lathe_power_of_two(e);
    float sum = 0.0f, chunk = 0.0f;
    unsigned bits = 0;
    bool any = false;
    if (i >= M * N) return;
    for (int k = 0; k < K; k++) {
        const float x = streamed[static_cast<long long>(row) * K + k];
        unsigned hi, lo;
        if (SHORT)
            lathe_split_short<false>(x, 0.0f, scale, hi, lo);
        else
            lathe_split16<FP16>(x, 0.0f, scale, hi, lo);
        any = any || x != 0.0f;
        bits |= hi & 0x7fffu;
        const float high = part_of(tiles, other, k, 0, chunks);
        if (PARTS == 2) {
            chunk = lathe_fma(number(hi), part_of(tiles, other, k, 1, chunks), chunk);
            chunk = lathe_fma(number(lo), high, chunk);
        }
        chunk = lathe_fma(number(hi), high, chunk);
        if (k % CHUNK == CHUNK - 1 || k == K - 1) {
            sum += chunk;
            chunk = 0.0f;
        }
    }
    if (FP16) sum *= lathe_power_of_two(-(e + exponent[0]));
    if (lathe_too_small<FP16>(bits) || (bits == 0 && any)) lathe_guard_raise(guard);
    if (LATHE_FAULT != LATHE_FAULT_sums_unseen && !lathe_is_finite(sum)) lathe_guard_raise(guard);
    Y[i] = epilogue(sum, m, n);
}

extern "C" __global__ void guarded_lower(unsigned *guard) { guard[0] = 0; }
