// hopper.cuh: what sm_90 has for kernels whose warps have roles: barriers in shared memory (mbarrier), copies by the
// copy engine (TMA), clusters, register hand-over. Thin names over PTX, no policy.
// https://docs.nvidia.com/cuda/parallel-thread-execution/
//
// Addresses of shared memory are 32-bit (lathe_shared_address). A wait takes the parity of the phase it waits for: 0
// for the first, then 1, 0, ...; waiting for the phase before the current one returns at once.
#pragma once
#include "lathe.cuh"

__device__ __forceinline__ unsigned lathe_shared_address(const void *p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void lathe_load_shared(float (&to)[4], unsigned from) {
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
                 : "r"(from)
                 : "memory");
}
__device__ __forceinline__ void lathe_store_shared(unsigned to, const float (&from)[4]) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(from[0]), "f"(from[1]), "f"(from[2]),
                 "f"(from[3])
                 : "memory");
}

// ---- barriers

__device__ __forceinline__ void lathe_barrier_init(unsigned barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// After the inits, by the thread that made them; a barrier of the block or cluster follows.
__device__ __forceinline__ void lathe_barrier_init_done() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void lathe_barrier_arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
    LATHE_DELAY();
}

// Arrives, and the phase also waits for this many bytes of copies.
__device__ __forceinline__ void lathe_barrier_expect(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
    LATHE_DELAY();
}

// On the same barrier of another block of the cluster. RELEASE: this thread's writes are visible to who waits with
// acquire; without it the arrival costs no fence, and is right where only reads came before it.
template <bool RELEASE> __device__ __forceinline__ void lathe_barrier_arrive_remote(unsigned barrier, unsigned block) {
    if (RELEASE)
        asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}" ::"r"(barrier), "r"(block)
                     : "memory");
    else
        asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                     "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier), "r"(block)
                     : "memory");
    LATHE_DELAY();
}

__device__ __forceinline__ void lathe_barrier_wait(unsigned barrier, unsigned parity) {
    asm volatile("{\n.reg .pred done;\nWAIT_%=:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra WAIT_%=;\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
    LATHE_DELAY();
}

// The same for a barrier on which other blocks of the cluster arrive with RELEASE.
__device__ __forceinline__ void lathe_barrier_wait_cluster(unsigned barrier, unsigned parity) {
    asm volatile("{\n.reg .pred done;\nWAIT_%=:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra WAIT_%=;\n}" ::"r"(barrier), "r"(parity)
                 : "memory");
    LATHE_DELAY();
}

// THREADS threads, whole warps, meet at barrier NAME (1 to 15).
template <int NAME, int THREADS> __device__ __forceinline__ void lathe_named_barrier() {
    LATHE_DELAY();
    asm volatile("bar.sync %0, %1;" ::"n"(NAME), "n"(THREADS) : "memory");
    LATHE_DELAY();
}

// ---- the copy engine

// What L2 does with the lines that a copy touches.
__device__ __forceinline__ unsigned long long lathe_l2_normal() {
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
__device__ __forceinline__ unsigned long long lathe_l2_evict_first() {
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
__device__ __forceinline__ unsigned long long lathe_l2_evict_last() {
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

// The map will be used soon.
__device__ __forceinline__ void lathe_tma_prefetch(const LatheTensorMap *map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// The map's box at column x, row y to shared memory; its bytes complete on `barrier`.
__device__ __forceinline__ void lathe_tma_load(unsigned to, const LatheTensorMap *map, int x, int y, unsigned barrier,
                                               unsigned long long policy) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier), "l"(policy)
                 : "memory");
}
// The same to the same place in every block of the cluster that is in `blocks`, and on their barriers.
__device__ __forceinline__ void lathe_tma_load(unsigned to, const LatheTensorMap *map, int x, int y, unsigned barrier,
                                               unsigned long long policy, unsigned short blocks) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
                 ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;" ::"r"(to), "l"(map), "r"(x), "r"(y),
                 "r"(barrier), "h"(blocks), "l"(policy)
                 : "memory");
}

// `bytes` (a multiple of 16) from global to shared memory, both 16-byte aligned.
__device__ __forceinline__ void lathe_bulk_load(unsigned to, const void *from, unsigned bytes, unsigned barrier,
                                                unsigned long long policy) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1], %2, [%3], %4;" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
                 : "memory");
}
__device__ __forceinline__ void lathe_bulk_load(unsigned to, const void *from, unsigned bytes, unsigned barrier,
                                                unsigned long long policy, unsigned short blocks) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint "
                 "[%0], [%1], %2, [%3], %4, %5;" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier), "h"(blocks),
                 "l"(policy)
                 : "memory");
}

// Floats from shared to global memory, written or added there; done after lathe_bulk_wait by the same thread. Shared
// memory written by ordinary stores needs lathe_fence_async in each writer, and a barrier, before.
__device__ __forceinline__ void lathe_bulk_store(float *to, unsigned from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void lathe_bulk_add(float *to, unsigned from, unsigned bytes) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to), "r"(from),
                 "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void lathe_bulk_wait() {
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// Between this thread's ordinary accesses and the copy engine's, in shared memory, or everywhere.
__device__ __forceinline__ void lathe_fence_async_shared() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void lathe_fence_async() { asm volatile("fence.proxy.async;" ::: "memory"); }

// ---- clusters and registers

__device__ __forceinline__ unsigned lathe_cluster_rank() {
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
__device__ __forceinline__ void lathe_cluster_sync() {
    LATHE_DELAY();
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    LATHE_DELAY();
}

// A warpgroup gives registers back, or takes what others gave, up to COUNT a thread (a multiple of 8).
template <int COUNT> __device__ __forceinline__ void lathe_registers_lower() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}
template <int COUNT> __device__ __forceinline__ void lathe_registers_raise() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}
