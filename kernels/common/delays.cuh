// delays.cuh: stands before a kernel's text when lathe looks for races on a GPU. Warps pause for a random while around
// __syncthreads(), at LATHE_DELAY() (lathe.cuh, hopper.cuh: after waiting for a copy or for other warps, after telling
// them something), and blocks where they ask which one they are. An order that nothing enforces is then not kept by
// luck: a read that needs a barrier comes before the write, a stage that was given back early is overwritten.
// Noise injection; see O. Edelstein et al., "Multithreaded Java program test generation", IBM Systems Journal 41
// (2002).
//
// All lanes of a warp pause alike, so what needs them together finds them together. A pause is the exception: once in
// four times up to 2 us, once in 256 up to 32 us, blocks every other time up to 16 us. So a launch takes tens of
// milliseconds at most where it has some thousand barriers.
#define LATHE_DELAYS 1
#if !LATHE_HOST
__device__ __forceinline__ unsigned lathe_delay_mix(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

__device__ __forceinline__ void lathe_delay_warp() {
    unsigned clock, warp, multiprocessor;
    asm volatile("mov.u32 %0, %%clock;\nmov.u32 %1, %%warpid;\nmov.u32 %2, %%smid;"
                 : "=r"(clock), "=r"(warp), "=r"(multiprocessor)::"memory");
    const unsigned random = lathe_delay_mix(clock + warp * 0x9e3779b9u + multiprocessor * 0x85ebca6bu);
    if (random % 4 == 0)
        asm volatile("nanosleep.u32 %0;" ::"r"(random >> 8 & (random % 256 == 0 ? 0x7fffu : 0x7ffu)) : "memory");
}

__device__ __forceinline__ void lathe_delay_block() {
    unsigned x, y, z, time;
    asm volatile("mov.u32 %0, %%ctaid.x;\nmov.u32 %1, %%ctaid.y;\nmov.u32 %2, %%ctaid.z;\nmov.u32 %3, %%globaltimer_lo;"
                 : "=r"(x), "=r"(y), "=r"(z), "=r"(time)::"memory");
    const unsigned random = lathe_delay_mix(x + y * 0x9e3779b9u + z * 0x85ebca6bu + (time >> 20) * 0xc2b2ae35u);
    if (random % 2 == 0)        // the same for all warps of the block
        asm volatile("nanosleep.u32 %0;" ::"r"(random >> 8 & 0x3fffu) : "memory");
}

#define LATHE_DELAY() lathe_delay_warp()
#define __syncthreads() (lathe_delay_warp(), __syncthreads(), lathe_delay_warp())
#define blockIdx (lathe_delay_block(), blockIdx)
#endif
