// verify.cu: what the verifier runs on a device: inputs, reference, comparison. Embedded in the tuner; compiled for the
// campaign's device, the host one included, behind what is generated for the problem: the types (types.cuh) and the
// struct LatheEpilogueRef.
//
// A tensor is an address and the number of its type, LATHE_DTYPE_f32, _f16 or _bf16 (the tuner's enum dtype). Every
// kernel takes any grid: threads stride over the elements. Reductions leave one partial result a thread and the
// host adds them up in order, so the same data gives the same numbers whatever the device does.

typedef unsigned long long lathe_u64;

// One step of splitmix64 (Steele, Lea, Flood 2014): element i of a tensor filled with `seed` is a function of (seed, i)
// alone, so any element can be made again anywhere.
static __device__ __forceinline__ lathe_u64 lathe_mix(lathe_u64 x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// uniform in [0, 1), 24 bits: exact in float
static __device__ __forceinline__ float lathe_unit(lathe_u64 bits) { return (float)(bits >> 40) * 0x1p-24f; }

static __device__ __forceinline__ lathe_u64 lathe_first(void)
{
    return (lathe_u64)blockIdx.x * blockDim.x + threadIdx.x;
}
static __device__ __forceinline__ lathe_u64 lathe_stride(void) { return (lathe_u64)gridDim.x * blockDim.x; }

// Element i of a tensor.
static __device__ __forceinline__ double lathe_read(const void *p, int type, lathe_u64 i)
{
    if (type == LATHE_DTYPE_f16) return lathe_to_float(((const lathe_f16 *)p)[i]);
    if (type == LATHE_DTYPE_bf16) return lathe_to_float(((const lathe_bf16 *)p)[i]);
    return ((const float *)p)[i];
}

// The value rounded to the tensor's type.
static __device__ __forceinline__ void lathe_write(void *p, int type, lathe_u64 i, float value)
{
    if (type == LATHE_DTYPE_f16) ((lathe_f16 *)p)[i] = lathe_from_float<lathe_f16>(value);
    else if (type == LATHE_DTYPE_bf16) ((lathe_bf16 *)p)[i] = lathe_from_float<lathe_bf16>(value);
    else ((float *)p)[i] = value;
}

// Elements that are filled from another seed: none if mix is 0; else the last of the tensor, where tails are, not the
// first, where kernels look first. Of those between, where mix is 1, about half: of the lines of `line` elements an
// eighth has none of them, an eighth nothing else, an eighth each has 1 and 15 of 16. Where it is 2, all but half of
// the elements of an eighth of the lines. trial/bench_fill.c has the same layout.
struct lathe_mixing {
    lathe_u64 other;
    long long line, mix;
};

// The seed that element i of count is filled from.
static __device__ __forceinline__ lathe_u64 lathe_seed_of(lathe_u64 seed, lathe_mixing m, lathe_u64 i,
                                                          long long count)
{
    if (!m.mix) return seed;
    if (i + 1 == (lathe_u64)count) return m.other;
    if (!i) return seed;
    const lathe_u64 key = lathe_mix(seed ^ m.other), kind = lathe_mix(key + i / (lathe_u64)m.line) & 7;
    const lathe_u64 half = kind == 0 ? 0 : kind == 1 ? 16 : kind == 2 ? 1 : kind == 3 ? 15 : 8;
    const lathe_u64 sixteenths = m.mix == 2 ? (kind == 0 ? 8 : 16) : half;
    return (lathe_mix(~key + i * 0x9e3779b97f4a7c15ull) & 15) < sixteenths ? m.other : seed;
}

// The random bits of element i.
static __device__ __forceinline__ lathe_u64 lathe_bits_of(lathe_u64 seed, lathe_u64 i)
{
    return lathe_mix(seed + i * 0x9e3779b97f4a7c15ull);
}

// p[count] uniform in [a, b), then rounded to the type
extern "C" __global__ void lathe_fill_uniform(void *p, int type, long long count, long long seed, float a, float b,
                                              lathe_mixing mixing)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) {
        float v = a + (b - a) * lathe_unit(lathe_bits_of(lathe_seed_of((lathe_u64)seed, mixing, i, count), i));
        lathe_write(p, type, i, v);
    }
}

// p[count] normal with mean a and deviation b (Box and Muller), then rounded to the type
extern "C" __global__ void lathe_fill_normal(void *p, int type, long long count, long long seed, float a, float b,
                                             lathe_mixing mixing)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) {
        lathe_u64 h = lathe_bits_of(lathe_seed_of((lathe_u64)seed, mixing, i, count), i);
        float u = 1.0f - lathe_unit(h), v = lathe_unit(lathe_mix(h));
        lathe_write(p, type, i, a + b * sqrtf(-2.0f * logf(u)) * cosf(6.2831853071795865f * v));
    }
}

extern "C" __global__ void lathe_upcast(const void *from, int type, double *to, long long count)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) to[i] = lathe_read(from, type, i);
}

#if LATHE_GEMM // the reference is a GEMM: outputs have two dimensions
// Y[m, n] = epilogue(Z[m, n]) in double, row-major
extern "C" __global__ void lathe_reference_f64(const double *Z, double *Y, long long m, long long n,
                                               LatheEpilogueRef ep)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)(m * n); i += lathe_stride())
        Y[i] = ep(Z[i], (int)(i / (lathe_u64)n), (int)(i % (lathe_u64)n));
}

// The GEMM with sums in float, followed by an exact epilogue and rounded to Y's type: what the tolerance is measured
// against.
extern "C" __global__ void lathe_reference_f32(const float *Z, void *Y, int type, long long m, long long n,
                                               LatheEpilogueRef ep)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)(m * n); i += lathe_stride())
        lathe_write(Y, type, i, (float)ep((double)Z[i], (int)(i / (lathe_u64)n), (int)(i % (lathe_u64)n)));
}
#endif

static __device__ __forceinline__ lathe_u64 lathe_hash_of(lathe_u64 i, unsigned int word)
{
    return lathe_mix((i << 32 | i >> 32) ^ lathe_mix(word));
}

// out[thread] = sum of mix(index, word): a hash of the words that does not depend on the order of addition. The last
// word of a size that is no multiple of 4 has zeros where there are no bytes. Four words at a time: few threads run,
// and each waits for its loads.
extern "C" __global__ void lathe_hash(const unsigned int *p, long long bytes, lathe_u64 *out)
{
    const lathe_u64 whole = (lathe_u64)bytes / 4, stride = lathe_stride();
    lathe_u64 sum = 0, i = lathe_first();
    for (; i + 3 * stride < whole; i += 4 * stride) {
        const unsigned int a = p[i], b = p[i + stride], c = p[i + 2 * stride], d = p[i + 3 * stride];
        sum += lathe_hash_of(i, a) + lathe_hash_of(i + stride, b) + lathe_hash_of(i + 2 * stride, c) +
               lathe_hash_of(i + 3 * stride, d);
    }
    for (; i < whole; i += stride) sum += lathe_hash_of(i, p[i]);
    if (i == whole && bytes % 4) {
        unsigned int word = 0;
        for (int b = 0; b < (int)(bytes % 4); b++)
            word |= (unsigned int)((const unsigned char *)(p + i))[b] << 8 * b;
        sum += lathe_hash_of(i, word);
    }
    out[lathe_first()] = sum;
}

// out[thread] = sum of p: fewer partial results, which are fewer bytes to copy
extern "C" __global__ void lathe_sum(const lathe_u64 *p, long long count, lathe_u64 *out)
{
    lathe_u64 sum = 0;
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) sum += p[i];
    out[lathe_first()] = sum;
}

// A value as a tensor of the type holds it.
static __device__ __forceinline__ float lathe_rounded(double v, int type)
{
    if (type == LATHE_DTYPE_f16) return lathe_to_float(lathe_from_float<lathe_f16>((float)v));
    if (type == LATHE_DTYPE_bf16) return lathe_to_float(lathe_from_float<lathe_bf16>((float)v));
    return (float)v;
}

// out[thread] = how many elements of p are `value`, when both are rounded to the type. A NaN is like any other.
extern "C" __global__ void lathe_count_same(const double *p, int type, long long count, double value, lathe_u64 *out)
{
    const float wanted = lathe_rounded(value, type);
    lathe_u64 same = 0;
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) {
        const float x = lathe_rounded(p[i], type);
        same += x == wanted || (x != x && wanted != wanted);
    }
    out[lathe_first()] = same;
}

struct lathe_partial {      // trial/bench.c has the same layout
    double max_abs, max_rel, diff1, diff2, ref2;  // diff1: the sum of |diff|, diff2 of its square
    lathe_u64 mismatches, idle;                   // idle: that are the common value, exactly, as they should
};

// out[thread] = the partial results that it strides over as one. Once NaN, a largest stays NaN.
extern "C" __global__ void lathe_join(const lathe_partial *p, long long count, lathe_partial *out)
{
    lathe_partial all = {0, 0, 0, 0, 0, 0, 0};
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) {
        const lathe_partial q = p[i];
        if (q.max_abs > all.max_abs || q.max_abs != q.max_abs) all.max_abs = q.max_abs;
        if (q.max_rel > all.max_rel || q.max_rel != q.max_rel) all.max_rel = q.max_rel;
        all.diff1 += q.diff1;
        all.diff2 += q.diff2;
        all.ref2 += q.ref2;
        all.mismatches += q.mismatches;
        all.idle += q.idle;
    }
    out[lathe_first()] = all;
}

// Whether the element has the bits that outputs hold before a run, LATHE_OUTPUT_NAN. They are a NaN that no arithmetic
// gives; in 16 bits half of them.
static __device__ __forceinline__ bool lathe_unwritten(const void *p, int type, lathe_u64 i)
{
    if (type == LATHE_DTYPE_f16) return ((const lathe_f16 *)p)[i].bits == (LATHE_OUTPUT_NAN & 0xffff);
    if (type == LATHE_DTYPE_bf16) return ((const lathe_bf16 *)p)[i].bits == (LATHE_OUTPUT_NAN & 0xffff);
    return lathe_float_bits(((const float *)p)[i]) == LATHE_OUTPUT_NAN;
}

// Whether what should be a NaN, or an infinity, is that.
static __device__ __forceinline__ bool lathe_same(const void *got, int type, lathe_u64 i, double wanted)
{
    const double g = lathe_read(got, type, i);
    return wanted != wanted ? g != g && !lathe_unwritten(got, type, i) : g == wanted;
}

// Leaves `word` in a block's dynamic shared memory, `bytes` of it, where the kernel after it finds it. On the host device
// the shim does that.
extern "C" __global__ void lathe_leave_shared(unsigned word, int bytes)
{
#if !LATHE_HOST
    extern __shared__ unsigned lathe_left[];
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) static_cast<volatile unsigned *>(lathe_left)[i] = word;
#endif
}

// An element is right when |got - ref| <= atol + rtol |ref|; where ref is a NaN or an infinity, when got is that; and
// where the type can hold ref as an infinity only, also when got is that. Such elements count in no error while they
// are right. Written so that NaN anywhere else fails. common: a value that many elements may have, as max(z, 0) gives
// it; NaN if none.
extern "C" __global__ void lathe_compare(const void *got, int type, const double *ref, long long count, double atol,
                                         double rtol, double common, lathe_partial *out)
{
    lathe_partial p = {0, 0, 0, 0, 0, 0, 0};
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) {
        const double r = ref[i], held = lathe_rounded(r, type);
        if (held - held != 0 && lathe_same(got, type, i, held)) {
            if (held == common) p.idle++;
            continue;
        }
        double diff = fabs(lathe_read(got, type, i) - r);
        if (!(r - r == 0 && diff <= atol + rtol * fabs(r))) p.mismatches++;
        if (diff == 0 && r == common) p.idle++;
        if (diff > p.max_abs || diff != diff) p.max_abs = diff; // once NaN, always NaN: nothing is greater
        double rel = diff / fabs(r);
        if (r != 0 && (rel > p.max_rel || rel != rel)) p.max_rel = rel;
        p.diff1 += diff;
        p.diff2 += diff * diff;
        if (held != 0) p.ref2 += r * r;         // what the type holds as zero is no part of a norm
    }
    out[lathe_first()] = p;
}
