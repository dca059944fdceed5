// lathe.cuh: what every kernel shares. The one place that knows whether it is compiled for a GPU (NVRTC or nvcc, no
// headers) or for a CPU (LATHE_HOST is 1, and the host shim stands before this text): every GPU-only construct has a
// plain C++ twin here with the same meaning.
//
// Invariants: helpers never allocate, never synchronise unless their name says so, and take global and shared addresses
// as ordinary pointers. A vector helper of N elements needs its address aligned to their bytes, at most 16.
#pragma once

// Where warps may get out of step: nothing, but when lathe looks for races (delays.cuh).
#ifndef LATHE_DELAY
#define LATHE_DELAY()
#endif

// Dynamic shared memory of the block, 128-byte aligned, as `unsigned char name[]`.
#if LATHE_HOST
#define LATHE_DYNAMIC_SHARED(name) unsigned char *name = lathe_host_shared()
#else
#define LATHE_DYNAMIC_SHARED(name) extern __shared__ __align__(128) unsigned char name[]
#endif

__device__ __forceinline__ constexpr int lathe_min(int a, int b) { return a < b ? a : b; }
__device__ __forceinline__ constexpr int lathe_max(int a, int b) { return a > b ? a : b; }
__device__ __forceinline__ constexpr int lathe_ceil_div(int a, int b) { return a / b + (a % b != 0); }

// ---- vectors of 1, 2, 4 or 8 elements, moved as one memory access (8 floats as two), as floats in registers

template <int BYTES> struct lathe_pack;
template <> struct lathe_pack<2> { typedef unsigned short type; };
template <> struct lathe_pack<4> { typedef unsigned type; };
template <> struct lathe_pack<8> { typedef uint2 type; };
template <> struct lathe_pack<16> { typedef uint4 type; };

template <int N> __device__ __forceinline__ void lathe_load(float (&to)[N], const float *from) {
    static_assert(N == 1 || N == 2 || N == 4 || N == 8, "a vector access moves 1, 2, 4 or 8 floats");
    constexpr int ONE = N < 4 ? N : 4;
    typedef typename lathe_pack<4 * ONE>::type pack;
    union { pack p[N / ONE]; float f[N]; } u;
#pragma unroll
    for (int i = 0; i < N / ONE; i++)
        u.p[i] = reinterpret_cast<const pack *>(from)[i];
#pragma unroll
    for (int i = 0; i < N; i++)
        to[i] = u.f[i];
}

template <int N> __device__ __forceinline__ void lathe_store(float *to, const float (&from)[N]) {
    static_assert(N == 1 || N == 2 || N == 4 || N == 8, "a vector access moves 1, 2, 4 or 8 floats");
    constexpr int ONE = N < 4 ? N : 4;
    typedef typename lathe_pack<4 * ONE>::type pack;
    union { pack p[N / ONE]; float f[N]; } u;
#pragma unroll
    for (int i = 0; i < N; i++)
        u.f[i] = from[i];
#pragma unroll
    for (int i = 0; i < N / ONE; i++)
        reinterpret_cast<pack *>(to)[i] = u.p[i];
}

// The same for T = lathe_f16 or lathe_bf16.
template <int N, class T> __device__ __forceinline__ void lathe_load(float (&to)[N], const T *from) {
    static_assert(N == 1 || N == 2 || N == 4 || N == 8, "a vector access moves 1, 2, 4 or 8 elements");
    typedef typename lathe_pack<2 * N>::type pack;
    union { pack p; T element[N]; } u;
    u.p = *reinterpret_cast<const pack *>(from);
#pragma unroll
    for (int i = 0; i < N; i++)
        to[i] = lathe_to_float(u.element[i]);
}

template <int N, class T> __device__ __forceinline__ void lathe_store(T *to, const float (&from)[N]) {
    static_assert(N == 1 || N == 2 || N == 4 || N == 8, "a vector access moves 1, 2, 4 or 8 elements");
    typedef typename lathe_pack<2 * N>::type pack;
    union { pack p; unsigned pair[N / 2 + 1]; T element[N]; } u;
    if (N == 1) {
        u.element[0] = lathe_from_float<T>(from[0]);
    } else {
#pragma unroll
        for (int i = 0; i < N / 2; i++)
            u.pair[i] = lathe_pair<T>(from[2 * i], from[2 * i + 1 < N ? 2 * i + 1 : 0]);
    }
    *reinterpret_cast<pack *>(to) = u.p;
}

// Data that no thread writes while the kernel runs: the read-only path.
template <int N> __device__ __forceinline__ void lathe_load_const(float (&to)[N], const float *from) {
#if LATHE_HOST
    lathe_load<N>(to, from);
#else
    if (N == 4) {
        asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(to[0]), "=f"(to[N > 1 ? 1 : 0]), "=f"(to[N > 2 ? 2 : 0]), "=f"(to[N > 3 ? 3 : 0])
                     : "l"(from));
    } else if (N == 2) {
        asm volatile("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(to[0]), "=f"(to[N > 1 ? 1 : 0]) : "l"(from));
    } else {
        asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(to[0]) : "l"(from));
    }
#endif
}

// Data that another block wrote earlier in this kernel: read from L2, never from a stale L1 line.
template <int N> __device__ __forceinline__ void lathe_load_coherent(float (&to)[N], const float *from) {
#if LATHE_HOST
    lathe_load<N>(to, from);
#else
    static_assert(N == 4, "coherent loads move 4 floats");
    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
                 : "l"(from)
                 : "memory");
#endif
}

// ---- asynchronous copies from global to shared memory (cp.async, sm_80 and later; an immediate copy on the host)

// Copies FLOATS floats, or writes zeros if !valid (`from` is then not read, but must be a legal address).
// PREFETCH: bytes of L2 to fetch around it, 0, 64, 128 or 256; a hint only.
template <int FLOATS, int PREFETCH>
__device__ __forceinline__ void lathe_copy_async(float *to, const float *from, bool valid) {
#if LATHE_HOST
    for (int i = 0; i < FLOATS; i++)
        to[i] = valid ? from[i] : 0.0f;
#else
    const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
    const unsigned bytes = valid ? FLOATS * 4 : 0;
    if (FLOATS == 4)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
    else if (FLOATS == 2)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
#endif
}

// The same when every element is known to exist.
template <int FLOATS, int PREFETCH> __device__ __forceinline__ void lathe_copy_async(float *to, const float *from) {
#if LATHE_HOST
    for (int i = 0; i < FLOATS; i++)
        to[i] = from[i];
#else
    const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if (FLOATS == 4 && PREFETCH == 256)
        asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
    else if (FLOATS == 4 && PREFETCH == 128)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
    else if (FLOATS == 4)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
    else if (FLOATS == 2)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared), "l"(from) : "memory");
#endif
}

// Closes the group of copies issued so far by this thread.
__device__ __forceinline__ void lathe_copy_commit() {
#if !LATHE_HOST
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most PENDING of this thread's groups are unfinished. A barrier must follow before others read.
template <int PENDING> __device__ __forceinline__ void lathe_copy_wait() {
#if !LATHE_HOST
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
    LATHE_DELAY();
}

// acc + a * b, rounded once.
__device__ __forceinline__ float lathe_fma(float a, float b, float acc) {
#if LATHE_HOST
    return __builtin_fmaf(a, b, acc);
#else
    return __fmaf_rn(a, b, acc);
#endif
}

// The same value, but the compiler cannot know that: what is computed from it is computed there, not ahead of a loop.
__device__ __forceinline__ int lathe_opaque(int value) {
#if !LATHE_HOST
    asm volatile("" : "+r"(value));
#endif
    return value;
}

// The same value in another register: no constraint on this one, such as four neighbours for a 16-byte store, reaches
// the one it came from. (A move would be seen through; a multiplication by one is not.)
__device__ __forceinline__ float lathe_new_register(float value) {
#if LATHE_HOST
    return value;
#else
    float result;
    asm volatile("mul.rn.f32 %0, %1, 0f3f800000;" : "=f"(result) : "f"(value));
    return result;
#endif
}

// ---- the last of several blocks

// Called by every thread of a block after its global writes. True, in all threads of exactly one of `blocks` blocks
// that share `ticket`: the one that came last, which then sees what all of them wrote. It resets the ticket to 0, so
// that a ticket zeroed once serves every later launch. Synchronises the block. `flag` is one word of shared memory.
__device__ __forceinline__ bool lathe_is_last_block(unsigned *ticket, unsigned blocks, volatile unsigned *flag) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned taken = atomicAdd(ticket, 1u);
        const bool last = taken == blocks - 1;
        if (last)
            *ticket = 0;
        *flag = last ? 1u : 0u;
    }
    __syncthreads();
    const bool last = *flag != 0;
    __threadfence();
    return last;
}

// ---- tensor maps and programmatic launches

// The type of a parameter to which a launch gives a tensor map: `const __grid_constant__ LatheTensorMap map`. What
// cp.async.bulk.tensor (sm_90 and later) takes is its address. It is CUtensorMap, without CUDA's headers.
struct __align__(64) LatheTensorMap {
    unsigned long long opaque[16];
};

// Waits until every launch before this one in the queue has ended and what it wrote can be read: nothing that another
// step of the pipeline writes or reads may be touched before. Every thread block must call it, or the launch after this
// one cannot rely on those before it. Where the launch is not `programmatic`, before sm_90 and on the host it is so
// already.
__device__ __forceinline__ void lathe_grid_dependency_wait() {
#if !LATHE_HOST && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next launch begin, if it is `programmatic`, as soon as every block has called this or ended. A hint; what
// this launch writes is seen only after the next one has waited.
__device__ __forceinline__ void lathe_grid_dependency_launch() {
#if !LATHE_HOST && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
    LATHE_DELAY();
}
