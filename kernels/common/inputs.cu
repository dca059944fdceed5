// inputs.cu: inputs of other kinds than a specification's fills, on which a kernel that is right on those may be wrong
// (docs/method.md), and what results on them are measured by. Compiled behind verify.cu; LATHE_INPUTS_name is the
// number of a class.

// The sign of a random value, and a magnitude between 2^low and 2^high, all exponents alike.
static __device__ __forceinline__ float lathe_log_uniform(lathe_u64 h, double low, double high)
{
    const float magnitude = (float)exp2(low + (high - low) * (double)lathe_unit(lathe_mix(h)));
    return h & 1 ? -magnitude : magnitude;
}

static __device__ __forceinline__ float lathe_between(lathe_u64 h, float a, float b)
{
    return a + (b - a) * lathe_unit(h);
}

static __device__ __forceinline__ float lathe_normal(lathe_u64 h)
{
    return sqrtf(-2.0f * logf(1.0f - lathe_unit(h))) * cosf(6.2831853071795865f * lathe_unit(lathe_mix(h)));
}

static __device__ __forceinline__ float lathe_infinity(void) { return lathe_bits_float(0x7f800000u); }

// Lines of one operand and of the other meet in every combination: A's go by 4, B's by 2.
static __device__ __forceinline__ float lathe_overflowing(lathe_u64 h, bool b, lathe_u64 line, lathe_u64 at,
                                                          lathe_u64 length)
{
    const float ordinary = lathe_between(h, -1.0f, 1.0f), huge = lathe_between(h, 1.0f, 2.0f) * 1e20f;
    if (b) return line % 2 == 0 ? huge : ordinary * 0x1p-8f;
    if (line % 4 == 0) return huge;
    if (line % 4 == 2) return -huge;
    return line % 4 == 1 && at == line % length ? 3.40282347e38f : ordinary;    // the largest number there is
}

// One NaN or infinity in every eighth line; in another eighth zeros that meet those of the other operand.
static __device__ __forceinline__ float lathe_special(lathe_u64 h, bool b, lathe_u64 line, lathe_u64 at,
                                                          lathe_u64 length)
{
    if (line % 8 == (b ? 5 : 1) && at == lathe_mix(line) % length) {
        const lathe_u64 kind = line / 8 % 3;
        return kind == 0 ? lathe_infinity() : kind == 1 ? -lathe_infinity() : lathe_bits_float(0x7fc00000u);
    }
    for (lathe_u64 other = 1; line % 8 == 3 && other < 24; other += 4)
        if (at == lathe_mix(other) % length) return 0.0f;
    return lathe_between(h, -1.0f, 1.0f);
}

// Values of a class. part: 0 the GEMM's A (or any input, where there is no GEMM), 1 its B, 2 the bias. Element i is in
// line i / length at i % length, or, where lines are not contiguous, the other way round. rms: of the specification's
// fill.
static __device__ float lathe_class_value(int inputs, int part, lathe_u64 h, lathe_u64 line, lathe_u64 at,
                                          lathe_u64 length, lathe_u64 key, float rms)
{
    const bool b = part == 1;
    if (part == 2 && (inputs == LATHE_INPUTS_tiny || inputs == LATHE_INPUTS_rows || inputs == LATHE_INPUTS_faint))
        return 0.0f;
    switch (inputs) {
    case LATHE_INPUTS_zeros: return 0.0f;
    case LATHE_INPUTS_ones: return 1.0f;
    case LATHE_INPUTS_integers: return (float)(int)(lathe_mix(h) % 17) - 8.0f;
    case LATHE_INPUTS_wide: return lathe_log_uniform(h, -19.93, 19.93);         // 1e-6 to 1e6
    case LATHE_INPUTS_large: {                                                  // 1e12 to 1e18, B less for long sums
        const double less = b && length > 32768 ? log2(length / 32768.0) : 0.0;
        return lathe_log_uniform(h, 39.87 - less, 59.79 - less);
    }
    case LATHE_INPUTS_tiny:
        return line % 2 == 0 ? lathe_log_uniform(h, -149.0, -126.2) : lathe_between(h, -1.0f, 1.0f);
    case LATHE_INPUTS_outliers: return lathe_normal(h) * rms * (lathe_mix(h + 1) % 512 == 0 ? 1e5f : 1.0f);
    case LATHE_INPUTS_rows:
        return lathe_between(h, -1.0f, 1.0f) * (float)exp2(-39.86 + 79.72 * (double)lathe_unit(lathe_mix(key + line)));
    case LATHE_INPUTS_faint: return lathe_normal(h) * rms * (line % 50 == 7 ? 1e-9f : 1.0f);
    case LATHE_INPUTS_columns: {                        // the same in both operands: their products are of one size
        const double power = -19.93 + 39.86 * (double)lathe_unit(lathe_mix(at + 1));
        return lathe_between(h, -1.0f, 1.0f) * (float)exp2(b ? -power : power);
    }
    case LATHE_INPUTS_special: return lathe_special(h, b, line, at, length);
    case LATHE_INPUTS_overflow: return lathe_overflowing(h, b, line, at, length);
    default: return lathe_normal(h) * rms;
    }
}

// p[count] of a class, rounded to the type. Of a type with less range than float finite values stay finite, but for the
// classes that are about infinities.
extern "C" __global__ void lathe_fill_class(void *p, int type, long long count, long long seed, int inputs, int part,
                                            long long length, int contiguous, float rms, lathe_mixing mixing)
{
    const lathe_u64 lines = (lathe_u64)(count / length);
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) {
        const lathe_u64 line = contiguous ? i / (lathe_u64)length : i % lines;
        const lathe_u64 at = contiguous ? i % (lathe_u64)length : i / lines;
        const lathe_u64 key = lathe_seed_of((lathe_u64)seed, mixing, i, count), h = lathe_bits_of(key, i);
        float v = lathe_class_value(inputs, part, h, line, at, (lathe_u64)length, key, rms);
        if (type == LATHE_DTYPE_f16 && inputs != LATHE_INPUTS_special && inputs != LATHE_INPUTS_overflow)
            v = v > 65504.0f ? 65504.0f : v < -65504.0f ? -65504.0f : v;
        lathe_write(p, type, i, v);
    }
}

// p[count] = |p|
extern "C" __global__ void lathe_absolute(double *p, long long count)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) p[i] = fabs(p[i]);
}

// x, but +-most beyond it; a NaN stays one.
static __device__ __forceinline__ double lathe_within(double x, double most)
{
    return x > most ? most : x < -most ? -most : x;
}

// p[count]: every number times 1 + by or 1 - by, as the seed says, rounded to the type; what would
// overflow stays as it is.
extern "C" __global__ void lathe_perturb(void *p, int type, long long count, long long seed, double by)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) {
        const double x = lathe_read(p, type, i), sign = lathe_bits_of((lathe_u64)seed, i) >> 32 & 1 ? by : -by;
        const float moved = lathe_rounded(x + x * sign, type);
        if (moved - moved == 0) lathe_write(p, type, i, moved);
    }
}

// S[count] += (y - ref)^2, where neither is NaN. edge: the type's largest number, which an infinity counts as.
extern "C" __global__ void lathe_add_square(const void *y, int type, const double *ref, double *S, long long count,
                                            double edge)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) {
        const double d = lathe_within(lathe_read(y, type, i), edge) - lathe_within(ref[i], edge);
        if (d == d) S[i] += d * d;
    }
}

// out[thread] = the largest |p| that is no NaN; edge as above
extern "C" __global__ void lathe_largest(const double *p, long long count, double edge, double *out)
{
    double largest = 0.0;
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride())
        if (fabs(lathe_within(p[i], edge)) > largest) largest = fabs(lathe_within(p[i], edge));
    out[lathe_first()] = largest;
}

// S[count]: on entry what lathe_add_square left, on return what an error is relative to: |ref|, how far inputs that
// moved by one would move it, as `factor` says (but `most` at most), and `smallest`.
extern "C" __global__ void lathe_sensitivity(double *S, const double *ref, long long count, double factor, double most,
                                             double smallest)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) {
        const double moved = sqrt(S[i]) * factor;
        S[i] = fabs(ref[i]) + (moved < most ? moved : most) + smallest;
    }
}

#if LATHE_GEMM
// S[m, n]: on entry sum over k of |x| |w|, on return what an error of Y is relative to: |Y| + slope * that sum, where
// slope is the epilogue's own there. Z: the sums of x w. smallest: what the sums may lose by being rounded to multiples
// of the smallest denormal number, over the least limit (2^-17), so that any limit allows it. So is what an epilogue in
// float may lose where its result is far smaller than what it is computed from, as gelu(-5) is: 4 * 2^-24 |z|.
extern "C" __global__ void lathe_scale(const double *Z, double *S, double smallest, long long m, long long n,
                                       LatheEpilogueRef ep)
{
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)(m * n); i += lathe_stride()) {
        const int row = (int)(i / (lathe_u64)n), column = (int)(i % (lathe_u64)n);
        const double z = Z[i], sum = S[i], y = ep(z, row, column), step = sum * 0x1p-12;
        double slope = 0.0;
        if (step > 0 && step < 1e300) {         // no infinity, no NaN
            const double up = fabs(ep(z + step, row, column) - y), down = fabs(ep(z - step, row, column) - y);
            slope = (up > down ? up : down) / step;
        }
        S[i] = fabs(y) + (slope > 0 ? slope * sum : 0.0) + (1.0 + slope) * smallest + fabs(z) * 0x1p-5;
    }
}
#endif

// Results where the inputs are not of one size: each element is measured by its own scale. `sgemm` has the results of
// the GEMM that sums in float32, of the same type as `got`: what is NaN or infinite there must be so here, and nothing
// else. Elsewhere |got - ref| may be limit * scale, and one rounding to the type. scale NULL: |ref|; sgemm NULL: ref.
// max_rel is the largest error over the scale.
extern "C" __global__ void lathe_compare_scaled(const void *got, int type, const double *ref, const double *scale,
                                                const void *sgemm, long long count, double limit, double unit,
                                                double least, lathe_partial *out)
{
    lathe_partial p = {0, 0, 0, 0, 0, 0, 0};
    for (lathe_u64 i = lathe_first(); i < (lathe_u64)count; i += lathe_stride()) {
        const double s = sgemm ? lathe_read(sgemm, type, i) : ref[i];
        double g = lathe_read(got, type, i), r = ref[i];
        const bool narrow = type == LATHE_DTYPE_f16 && r - r == 0;      // an infinity may be but a number beyond 65520
        if (s != s || (s - s != 0 && !narrow)) {
            if (!lathe_same(got, type, i, s)) p.mismatches++;
            continue;
        }
        if (narrow) {
            g = lathe_within(g, 65520.0);
            r = lathe_within(r, 65520.0);
        }
        const double diff = fabs(g - r), free = unit * fabs(r) + least;
        const double over = diff <= free ? 0.0 : (diff - free) / (scale ? scale[i] : fabs(r));
        if (!(over <= limit)) p.mismatches++;
        if (over > p.max_rel || over != over) p.max_rel = over;
        if (diff > p.max_abs || diff != diff) p.max_abs = diff;
        p.diff1 += diff;
        p.diff2 += diff * diff;
        p.ref2 += r * r;
    }
    out[lathe_first()] = p;
}
