/* host_shim.h: CUDA's C++ on a CPU. Its text stands before a .cu source when that is compiled for the "host" device
 * (host_compile.c embeds it), and gives the built-ins that kernels use: qualifiers, indices, vector types, barriers,
 * warp operations, atomics, arithmetic. What it imitates and what not: docs/host-device.md.
 *
 * The part before __cplusplus is the contract between such an image and the program that opens it (host_image.c), in
 * both languages; LATHE_HOST_ABI counts its changes. An image calls the program only through the bound runtime, and
 * one thread at a time runs in it, so nothing here needs to be atomic.
 */
#ifndef LATHE_HOST_SHIM_H
#define LATHE_HOST_SHIM_H

#include <stddef.h>
#include <stdint.h>

/* What a thread can wait for: identifier, the intrinsic's name, who must come (the block or the lanes of a mask). */
#define LATHE_HOST_WAITS(X)                                                                                            \
    X(SYNCTHREADS, "__syncthreads", BLOCK)                                                                             \
    X(SYNCTHREADS_COUNT, "__syncthreads_count", BLOCK)                                                                 \
    X(SYNCTHREADS_AND, "__syncthreads_and", BLOCK)                                                                     \
    X(SYNCTHREADS_OR, "__syncthreads_or", BLOCK)                                                                       \
    X(SYNCWARP, "__syncwarp", WARP)                                                                                    \
    X(SHFL, "__shfl_sync", WARP)                                                                                       \
    X(SHFL_UP, "__shfl_up_sync", WARP)                                                                                 \
    X(SHFL_DOWN, "__shfl_down_sync", WARP)                                                                             \
    X(SHFL_XOR, "__shfl_xor_sync", WARP)                                                                               \
    X(BALLOT, "__ballot_sync", WARP)                                                                                   \
    X(ANY, "__any_sync", WARP)                                                                                         \
    X(ALL, "__all_sync", WARP)                                                                                         \
    X(TOGETHER, "a collective operation of the warp", WARP)
enum lathe_host_wait {
#define X(id, name, scope) LATHE_HOST_WAIT_##id,
    LATHE_HOST_WAITS(X)
#undef X
        LATHE_HOST_WAIT_COUNT
};
enum { LATHE_HOST_ABI = 2 };

/* An operation that the lanes of a warp do together. Each waits with the address of its operands, which begin with this
 * struct, as value; when all have come, one call does it for all and leaves each lane's results in its operands. lanes:
 * NULL for a lane that has ended or does not exist. All lanes must have come for the same operation. */
struct lathe_host_together {
    void (*run)(struct lathe_host_together *const lanes[32]);
};

/* What the program gives an image. */
struct lathe_host_runtime {
    uint32_t abi;
    void *block;                /* first argument of the functions */
    /* Gives up the processor until everyone needed has come. value: the lane's contribution or predicate; source: the
     * lane a shuffle reads, already absolute. Returns the lane's result. */
    uint64_t (*wait)(void *block, int kind, uint32_t mask, uint64_t value, uint32_t source);
    uint32_t (*active)(void *block);        /* lanes of the calling warp that have not ended */
};

/* What an image gives the program: where its built-in variables are. */
struct lathe_host_image {
    uint32_t abi;
    int sanitized;
    uint32_t *thread_idx, *block_idx, *block_dim, *grid_dim;    /* x, y, z each */
    unsigned char **shared;                 /* dynamic shared memory of the running block */
};

/* Exported by every image; also one `void lathe_call_NAME(void **args)` for each kernel. */
#define LATHE_HOST_BIND "lathe_host_bind"
#define LATHE_HOST_CALL "lathe_call_"
/* Declared in an image's source where its compiler knows -ftrivial-auto-var-init=pattern. */
#define LATHE_HOST_FILLS_LOCALS "lathe_host_fills_locals"
typedef void (*lathe_host_bind_fn)(const struct lathe_host_runtime *, struct lathe_host_image *);
typedef void (*lathe_host_call_fn)(void **args);

#ifdef __cplusplus

#if (defined(__clang__) ? __clang_major__ >= 8 : __GNUC__ >= 12) && !defined(__NVCOMPILER)
extern const int lathe_host_fills_locals;
#endif

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LATHE_HOST 1

/* ---- qualifiers. __global__ is a mark that host_scan.c reads in the preprocessed text and takes out. */
#define __global__ lathe_host_global__
#define __device__
#define __host__
#define __constant__ static
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
/* The keyword may not follow `static`, to which __shared__ expands; only alignas(number) is understood. */
#define alignas(...) __attribute__((aligned(__VA_ARGS__)))
/* All thread-local variables of an image are shared memory, so the program can fill them with garbage before a block
 * (`used`, for the compiler must not believe that it sees all that is stored there); the address sanitizer, which
 * guards only ordinary variables, gets those. */
#if LATHE_HOST_SANITIZE
#define __shared__ static
#else
#define __shared__ static thread_local __attribute__((used))
#endif
#ifndef __clang__
#define __builtin_assume(condition) ((void)0)
#endif

/* ---- vector types, aligned as CUDA aligns them */
#define LATHE_HOST_VECTOR(type, name, align2, align4)                                                                  \
    struct name##1 { type x; };                                                                                        \
    struct __align__(align2) name##2 { type x, y; };                                                                   \
    struct name##3 { type x, y, z; };                                                                                  \
    struct __align__(align4) name##4 { type x, y, z, w; };                                                             \
    static inline name##1 make_##name##1(type x) { return {x}; }                                                       \
    static inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                            \
    static inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                                 \
    static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
LATHE_HOST_VECTOR(signed char, char, 2, 4)
LATHE_HOST_VECTOR(unsigned char, uchar, 2, 4)
LATHE_HOST_VECTOR(short, short, 4, 8)
LATHE_HOST_VECTOR(unsigned short, ushort, 4, 8)
LATHE_HOST_VECTOR(int, int, 8, 16)
LATHE_HOST_VECTOR(unsigned, uint, 8, 16)
LATHE_HOST_VECTOR(long long, longlong, 16, 16)
LATHE_HOST_VECTOR(unsigned long long, ulonglong, 16, 16)
LATHE_HOST_VECTOR(float, float, 8, 16)
LATHE_HOST_VECTOR(double, double, 16, 16)
#undef LATHE_HOST_VECTOR

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    operator uint3() const { return {x, y, z}; }
};

/* ---- the thread that runs now; the program writes these whenever it lets another one run */
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static const int warpSize = 32;
static unsigned char *lathe_host_dynamic;
static thread_local volatile unsigned char lathe_host_anchor;
static struct lathe_host_runtime lathe_host_bound;

extern "C" __attribute__((visibility("default"))) void lathe_host_bind(const struct lathe_host_runtime *runtime,
                                                                       struct lathe_host_image *image)
{
    lathe_host_anchor = 0;      /* the thread's instance of the thread-local block is made on first use */
    lathe_host_bound = *runtime;
    *image = {LATHE_HOST_ABI, LATHE_HOST_SANITIZE, &threadIdx.x, &blockIdx.x, &blockDim.x, &gridDim.x,
              &lathe_host_dynamic};
}

/* The block's dynamic shared memory, 128-byte aligned. */
static inline unsigned char *lathe_host_shared() { return lathe_host_dynamic; }

static inline unsigned lathe_host_lane()
{
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

/* ---- a kernel called with cuLaunchKernel's array of argument pointers */
template <size_t... I> struct lathe_host_indices {};
template <size_t N, size_t... I> struct lathe_host_count : lathe_host_count<N - 1, N - 1, I...> {};
template <size_t... I> struct lathe_host_count<0, I...> { typedef lathe_host_indices<I...> type; };

template <class T> static inline T lathe_host_argument(const void *from)
{
    __align__(16) unsigned char bytes[sizeof(T)];
    memcpy(bytes, from, sizeof bytes);
    return *reinterpret_cast<T *>(bytes);
}
template <class... A, size_t... I>
static inline void lathe_host_apply(void (*kernel)(A...), void **args, lathe_host_indices<I...>)
{
    (void)args;
    kernel(lathe_host_argument<A>(args[I])...);
}
template <class... A> static inline void lathe_host_call(void (*kernel)(A...), void **args)
{
    lathe_host_apply(kernel, args, typename lathe_host_count<sizeof...(A)>::type());
}

/* ---- barriers and warp operations */
static inline uint64_t lathe_host_wait_for(int kind, unsigned mask, uint64_t value, unsigned source)
{
    __asm__ volatile("" ::: "memory");
    value = lathe_host_bound.wait(lathe_host_bound.block, kind, mask, value, source);
    __asm__ volatile("" ::: "memory");
    return value;
}
static inline void __syncthreads() { lathe_host_wait_for(LATHE_HOST_WAIT_SYNCTHREADS, 0, 0, 0); }
static inline int __syncthreads_count(int p)
{
    return (int)lathe_host_wait_for(LATHE_HOST_WAIT_SYNCTHREADS_COUNT, 0, p != 0, 0);
}
static inline int __syncthreads_and(int p)
{
    return (int)lathe_host_wait_for(LATHE_HOST_WAIT_SYNCTHREADS_AND, 0, p != 0, 0);
}
static inline int __syncthreads_or(int p)
{
    return (int)lathe_host_wait_for(LATHE_HOST_WAIT_SYNCTHREADS_OR, 0, p != 0, 0);
}
static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    lathe_host_wait_for(LATHE_HOST_WAIT_SYNCWARP, mask, 0, 0);
}
static inline unsigned __ballot_sync(unsigned mask, int p)
{
    return (unsigned)lathe_host_wait_for(LATHE_HOST_WAIT_BALLOT, mask, p != 0, 0);
}
static inline int __any_sync(unsigned mask, int p)
{
    return (int)lathe_host_wait_for(LATHE_HOST_WAIT_ANY, mask, p != 0, 0);
}
static inline int __all_sync(unsigned mask, int p)
{
    return (int)lathe_host_wait_for(LATHE_HOST_WAIT_ALL, mask, p != 0, 0);
}
static inline unsigned __activemask() { return lathe_host_bound.active(lathe_host_bound.block); }

template <class T> static inline T lathe_host_shuffle(int kind, unsigned mask, T v, unsigned source)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 4 or 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof v);
    bits = lathe_host_wait_for(kind, mask, bits, source);
    memcpy(&v, &bits, sizeof v);
    return v;
}
template <class T> static inline T __shfl_sync(unsigned mask, T v, int from, int width = 32)
{
    unsigned w = (unsigned)width, first = lathe_host_lane() & ~(w - 1);
    return lathe_host_shuffle(LATHE_HOST_WAIT_SHFL, mask, v, first | ((unsigned)from & (w - 1)));
}
template <class T> static inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32)
{
    unsigned w = (unsigned)width, lane = lathe_host_lane();
    return lathe_host_shuffle(LATHE_HOST_WAIT_SHFL_UP, mask, v, (lane & (w - 1)) < delta ? lane : lane - delta);
}
template <class T> static inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32)
{
    unsigned w = (unsigned)width, lane = lathe_host_lane();
    return lathe_host_shuffle(LATHE_HOST_WAIT_SHFL_DOWN, mask, v, (lane & (w - 1)) + delta >= w ? lane : lane + delta);
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32)
{
    unsigned w = (unsigned)width, lane = lathe_host_lane(), from = lane ^ (unsigned)bits;
    return lathe_host_shuffle(LATHE_HOST_WAIT_SHFL_XOR, mask, v, from > (lane | (w - 1)) ? lane : from);
}

/* For an operation of the whole warp (kernels/common/mma.cuh): does it with the other lanes. */
static inline void lathe_host_do_together(struct lathe_host_together *mine)
{
    lathe_host_wait_for(LATHE_HOST_WAIT_TOGETHER, 0xffffffffu, (uint64_t)(uintptr_t)mine, 0);
}

static inline void __threadfence() { __asm__ volatile("" ::: "memory"); }
static inline void __threadfence_block() { __asm__ volatile("" ::: "memory"); }
static inline void __threadfence_system() { __asm__ volatile("" ::: "memory"); }

/* ---- atomics: the second parameter takes no part in deduction, so that atomicAdd(unsigned *, 1) is one */
template <class T> struct lathe_host_same { typedef T type; };
#define LATHE_HOST_ATOMIC(function, update)                                                                            \
    template <class T> static inline T function(T *at, typename lathe_host_same<T>::type v)                            \
    {                                                                                                                  \
        static_assert(sizeof(T) == 4 || sizeof(T) == 8, #function " works on 4 or 8 bytes");                           \
        T old = *at;                                                                                                   \
        *at = (update);                                                                                                \
        return old;                                                                                                    \
    }
LATHE_HOST_ATOMIC(atomicAdd, old + v)
LATHE_HOST_ATOMIC(atomicSub, old - v)
LATHE_HOST_ATOMIC(atomicExch, v)
LATHE_HOST_ATOMIC(atomicMax, old < v ? v : old)
LATHE_HOST_ATOMIC(atomicMin, v < old ? v : old)
LATHE_HOST_ATOMIC(atomicAnd, old & v)
LATHE_HOST_ATOMIC(atomicOr, old | v)
LATHE_HOST_ATOMIC(atomicXor, old ^ v)
#undef LATHE_HOST_ATOMIC
template <class T>
static inline T atomicCAS(T *at, typename lathe_host_same<T>::type expected, typename lathe_host_same<T>::type v)
{
    T old = *at;
    if (old == expected) *at = v;
    return old;
}
static inline unsigned atomicInc(unsigned *at, unsigned limit)
{
    unsigned old = *at;
    *at = old >= limit ? 0 : old + 1;
    return old;
}
static inline unsigned atomicDec(unsigned *at, unsigned limit)
{
    unsigned old = *at;
    *at = old == 0 || old > limit ? limit : old - 1;
    return old;
}

/* ---- loads and stores with cache hints: plain ones here */
#define LATHE_HOST_LOAD(function)                                                                                      \
    template <class T> static inline T function(const T *p) { return *p; }
LATHE_HOST_LOAD(__ldg)
LATHE_HOST_LOAD(__ldca)
LATHE_HOST_LOAD(__ldcg)
LATHE_HOST_LOAD(__ldcs)
LATHE_HOST_LOAD(__ldcv)
LATHE_HOST_LOAD(__ldlu)
#undef LATHE_HOST_LOAD
#define LATHE_HOST_STORE(function)                                                                                     \
    template <class T> static inline void function(T *p, typename lathe_host_same<T>::type v) { *p = v; }
LATHE_HOST_STORE(__stcg)
LATHE_HOST_STORE(__stcs)
LATHE_HOST_STORE(__stwb)
LATHE_HOST_STORE(__stwt)
#undef LATHE_HOST_STORE

/* ---- the same bits as another type */
template <class To, class From> static inline To lathe_host_bits(From v)
{
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To to;
    memcpy(&to, &v, sizeof to);
    return to;
}
static inline unsigned __float_as_uint(float v) { return lathe_host_bits<unsigned>(v); }
static inline int __float_as_int(float v) { return lathe_host_bits<int>(v); }
static inline float __uint_as_float(unsigned v) { return lathe_host_bits<float>(v); }
static inline float __int_as_float(int v) { return lathe_host_bits<float>(v); }
static inline long long __double_as_longlong(double v) { return lathe_host_bits<long long>(v); }
static inline double __longlong_as_double(long long v) { return lathe_host_bits<double>(v); }

/* ---- arithmetic: round to nearest as named, and the fast approximations are the precise functions. The C library
 * declares some of the fast ones' names itself, hence macros for those. */
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __frcp_rn(float a) { return 1.0f / a; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
static inline float __frsqrt_rn(float a) { return (float)(1.0 / sqrt((double)a)); }
static inline float rsqrtf(float a) { return (float)(1.0 / sqrt((double)a)); }
static inline double rsqrt(double a) { return 1.0 / sqrt(a); }
static inline float __saturatef(float a) { return a > 0 ? (a < 1 ? a : 1.0f) : 0.0f; }
static inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double a) { return sqrt(a); }
#define __expf(x) expf(x)
#define __exp10f(x) powf(10.0f, x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)

static inline int __float2int_rn(float v) { return (int)rintf(v); }
static inline int __float2int_rz(float v) { return (int)v; }
static inline int __float2int_rd(float v) { return (int)floorf(v); }
static inline int __float2int_ru(float v) { return (int)ceilf(v); }
static inline unsigned __float2uint_rn(float v) { return (unsigned)rintf(v); }
static inline unsigned __float2uint_rz(float v) { return (unsigned)v; }
static inline float __int2float_rn(int v) { return (float)v; }
static inline float __uint2float_rn(unsigned v) { return (float)v; }
static inline float __double2float_rn(double v) { return (float)v; }

static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline unsigned __brev(unsigned v)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++) r |= (v >> i & 1u) << (31 - i);
    return r;
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
static inline int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }

/* min and max of any two numbers, in their common type; of floating ones the one that is not NaN. */
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
template <class A, class B> static inline constexpr auto min(A a, B b)
{
    typedef decltype(true ? A() : B()) T;
    if constexpr ((T)0.5 != (T)0) return min((T)a, (T)b);
    else return (T)b < (T)a ? (T)b : (T)a;
}
template <class A, class B> static inline constexpr auto max(A a, B b)
{
    typedef decltype(true ? A() : B()) T;
    if constexpr ((T)0.5 != (T)0) return max((T)a, (T)b);
    else return (T)a < (T)b ? (T)b : (T)a;
}

/* ---- the rest */
static inline void __trap() { __builtin_trap(); }
static inline void __nanosleep(unsigned) {}
static inline long long clock64()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}
/* A kernel's printf goes to the error stream: the program's standard output is not the kernel's. */
__attribute__((format(printf, 1, 2))) static inline int lathe_host_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vfprintf(stderr, format, args);
    va_end(args);
    return n;
}
#define printf lathe_host_printf

#endif /* __cplusplus */
#endif
