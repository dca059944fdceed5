// verify.cu: what the verifier runs on a device: inputs, reference, comparison. Embedded in the tuner; compiled for the
// campaign's device, the host one included, behind the generated struct LatheEpilogueRef of the problem.
//
// Every kernel takes any grid: threads stride over the elements. Reductions leave one partial result a thread and the
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

// p[count] uniform in [a, b)
extern "C" __global__ void lathe_fill_uniform(float *p, long long count, long long seed, float a, float b)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) {
        float v = a + (b - a) * lathe_unit(lathe_mix((lathe_u64)seed + i * 0x9e3779b97f4a7c15ull));
        p[i] = v;
    }
}

// p[count] normal with mean a and deviation b (Box and Muller)
extern "C" __global__ void lathe_fill_normal(float *p, long long count, long long seed, float a, float b)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) {
        lathe_u64 h = lathe_mix((lathe_u64)seed + i * 0x9e3779b97f4a7c15ull);
        float u = 1.0f - lathe_unit(h), v = lathe_unit(lathe_mix(h));
        p[i] = a + b * sqrtf(-2.0f * logf(u)) * cosf(6.2831853071795865f * v);
    }
}

extern "C" __global__ void lathe_upcast(const float *from, double *to, long long count)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) to[i] = from[i];
}

#if LATHE_GEMM // the reference is a GEMM: outputs have two dimensions
// Y[m, n] = epilogue(Z[m, n]) in double; Z in double or float, row-major
extern "C" __global__ void lathe_reference_f64(const double *Z, double *Y, long long m, long long n, LatheEpilogueRef ep)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)(m * n); i += lathe_stride())
        Y[i] = ep(Z[i], (int)(i / (lathe_u64)n), (int)(i % (lathe_u64)n));
}

// The float32 GEMM followed by an exact epilogue: what the tolerance is measured against.
extern "C" __global__ void lathe_reference_f32(const float *Z, float *Y, long long m, long long n, LatheEpilogueRef ep)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)(m * n); i += lathe_stride())
        Y[i] = (float)ep((double)Z[i], (int)(i / (lathe_u64)n), (int)(i % (lathe_u64)n));
}
#endif

// out[thread] = sum of mix(index, word): a hash of the words that does not depend on the order of addition
extern "C" __global__ void lathe_hash(const unsigned int *p, long long words, lathe_u64 *out)
{
    lathe_u64 sum = 0;
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)words; i += lathe_stride())
        sum += lathe_mix((i << 32 | i >> 32) ^ lathe_mix(p[i]));
    out[lathe_first()] = sum;
}

struct lathe_partial {      // trial/verify.c has the same layout
    double max_abs, max_rel, diff1, diff2, ref2;  // diff1: the sum of |diff|, diff2 of its square
    lathe_u64 mismatches;
};

// An element is right when |got - ref| <= atol + rtol |ref|. Written so that NaN anywhere fails.
extern "C" __global__ void lathe_compare(const float *got, const double *ref, long long count, double atol, double rtol,
                                         lathe_partial *out)
{
    lathe_partial p = {0, 0, 0, 0, 0, 0};
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) {
        double r = ref[i], diff = fabs((double)got[i] - r);
        if (!(diff <= atol + rtol * fabs(r))) p.mismatches++;
        if (diff > p.max_abs || diff != diff) p.max_abs = diff; // once NaN, always NaN: nothing is greater
        double rel = diff / fabs(r);
        if (r != 0 && (rel > p.max_rel || rel != rel)) p.max_rel = rel;
        p.diff1 += diff;
        p.diff2 += diff * diff;
        p.ref2 += r * r;
    }
    out[lathe_first()] = p;
}
