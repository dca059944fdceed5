// gpu_faults.cu: y[n] = 2 x[n], and a fault chosen by LATHE_BUG. What the compiler could see, and leave out or do in
// another way, is in PTX or depends on n.
//
//   misaligned_load, misaligned_store, misaligned_shared   8 bytes at a multiple of 4
//   assert, trap     the device's own assert; the instruction that ends a grid
//   address, read    a write to, a read from nobody's address near 0; far: a write far beyond all memory
//   shared, local    beyond the shared, the local memory that any block, any thread has
//   stack            calls without end
//   pc               a call of an address that no code is at

#if LATHE_BUG == LATHE_BUG_assert
extern "C" __device__ __attribute__((noreturn)) void __assertfail(const char *message, const char *file,
                                                                  unsigned int line, const char *function,
                                                                  size_t size);   // the driver's
#endif

#if LATHE_BUG == LATHE_BUG_stack
static __device__ __noinline__ float deep(volatile float *above, int n)
{
    volatile float own[64];
    own[n & 63] = above[n & 63];
    return n == -1 ? own[0] : deep(own, n + (n >= 0)) + own[1];
}
#endif

extern "C" __global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? 2.0f * x[i] : 0.0f;
#if LATHE_BUG == LATHE_BUG_misaligned_load
    float a, b;
    if (i == 0) {
        asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(a), "=f"(b) : "l"(x + 1) : "memory");
        v += 0.0f * (a + b);
    }
#elif LATHE_BUG == LATHE_BUG_misaligned_store
    if (i == 0) asm volatile("st.global.v2.f32 [%0], {%1, %1};" ::"l"(y + 1), "f"(v) : "memory");
#elif LATHE_BUG == LATHE_BUG_misaligned_shared
    __shared__ float s[64];
    const unsigned at = (unsigned)__cvta_generic_to_shared(s) + 4;
    if (i == 0) asm volatile("st.shared.v2.f32 [%0], {%1, %1};" ::"r"(at), "f"(v) : "memory");
#elif LATHE_BUG == LATHE_BUG_assert
    if (i == 3) __assertfail("planted", "gpu_faults.cu", __LINE__, "scale", 1);
#elif LATHE_BUG == LATHE_BUG_trap
    if (i == 3) __trap();
#elif LATHE_BUG == LATHE_BUG_address
    if (i == 0) *(volatile float *)8 = v;
#elif LATHE_BUG == LATHE_BUG_read
    if (i == 0) v += *(volatile const float *)8;
#elif LATHE_BUG == LATHE_BUG_far
    if (i == 0) ((volatile float *)y)[(1ull << 45) + n] = v;
#elif LATHE_BUG == LATHE_BUG_shared
    if (i == 0) asm volatile("st.shared.f32 [%0], %1;" ::"r"(0x7f000000u + 4 * n), "f"(v) : "memory");
#elif LATHE_BUG == LATHE_BUG_local
    if (i == 0) asm volatile("st.local.f32 [%0], %1;" ::"r"(0x7f000000u + 4 * n), "f"(v) : "memory");
#elif LATHE_BUG == LATHE_BUG_stack
    volatile float first[64];
    first[i & 63] = v;
    if (i == 0) v += deep(first, n);
#elif LATHE_BUG == LATHE_BUG_pc
    void (*nowhere)(int) = (void (*)(int))(0x123456780ull + 16 * n);
    if (i == 0) nowhere(n);
#endif
    if (i < n) y[i] = v;
}
