// hopper.cuh: what kernels/common/hopper.cuh offers, on the machine of machine.cuh.
#pragma once
#include "lathe.cuh"
#include "machine.cuh"

static unsigned lathe_shared_address(const void *p) {
    return Machine::SHARED_AT + static_cast<unsigned>(static_cast<const unsigned char *>(p) - machine.block().shared);
}

static void lathe_barrier_init(unsigned barrier, unsigned arrivals) {
    const int n = static_cast<int>(arrivals);
    if (barrier % 8 != 0 || !machine.block().barriers.insert({barrier, {n, n, 0, 0}}).second)
        MACHINE_FAIL("a barrier at %x", barrier);
}
static void lathe_barrier_init_done() {}
static void lathe_barrier_arrive(unsigned barrier) { machine.arrive(machine.block(), barrier, 0); }
static void lathe_barrier_expect(unsigned barrier, unsigned bytes) {
    machine.arrive(machine.block(), barrier, static_cast<int>(bytes));
}
template <bool RELEASE> static void lathe_barrier_arrive_remote(unsigned barrier, unsigned rank) {
    machine.arrive(machine.block_of_cluster(rank), barrier, 0);
}
static void lathe_barrier_wait(unsigned barrier, unsigned parity) { machine.wait(barrier, parity); }
static void lathe_barrier_wait_cluster(unsigned barrier, unsigned parity) { machine.wait(barrier, parity); }
template <int NAME, int THREADS> static void lathe_named_barrier() {
    const uint64_t name = static_cast<uint64_t>(machine.now->block) << 32 | (1000 + NAME);
    machine.meet(name, THREADS, [](std::vector<Fibre *> &) {});
}

static unsigned long long lathe_l2_normal() { return 0; }
static unsigned long long lathe_l2_evict_first() { return 0; }
static unsigned long long lathe_l2_evict_last() { return 0; }

// To one block, or to those of the cluster that `blocks` names; NaN stands there until it has landed.
template <class COPY> static void machine_load(unsigned to, unsigned bytes, unsigned barrier, int blocks, COPY copy) {
    for (int rank = 0; rank < machine.cluster; rank++)
        if (blocks < 0 ? rank == machine.rank() : blocks >> rank & 1) {
            Machine::Block &b = machine.block_of_cluster(rank);
            memset(Machine::at(b, to), 0xff, bytes);
            const int block = static_cast<int>(&b - machine.blocks.data());
            machine.flights.push_back({[=, &b] { copy(b); }, block, barrier, bytes});
        }
}

struct MachineMap {                         // what a LatheTensorMap holds here
    const void *matrix;
    int rows, columns, box_rows, element;   // element: bytes of one; a box has 128 bytes a row
};
static void lathe_tma_prefetch(const LatheTensorMap *) {}
static void lathe_tma_load(unsigned to, const LatheTensorMap *map, int x, int y, unsigned barrier, unsigned long long,
                           int blocks = -1) {
    MachineMap m;
    memcpy(&m, map, sizeof m);
    if (to % 1024 != 0)
        MACHINE_FAIL("a swizzled box at %x", to);
    machine_load(to, m.box_rows * 128, barrier, blocks, [=](Machine::Block &b) {
        const char *const matrix = static_cast<const char *>(m.matrix);
        for (int r = 0; r < m.box_rows; r++)
            for (int c = 0; c < 128 / m.element; c++) {
                const int byte = c * m.element;
                unsigned char *const at = Machine::at(b, to + r * 128 + ((byte / 16 ^ r % 8) << 4) + byte % 16);
                if (y + r < m.rows && x + c < m.columns)
                    memcpy(at, matrix + (static_cast<long long>(y + r) * m.columns + x + c) * m.element, m.element);
                else
                    memset(at, 0, m.element);
            }
    });
}
static void lathe_bulk_load(unsigned to, const void *from, unsigned bytes, unsigned barrier, unsigned long long,
                            int blocks = -1) {
    if (to % 16 != 0 || bytes % 16 != 0)
        MACHINE_FAIL("a bulk copy of %u bytes to %x", bytes, to);
    machine_load(to, bytes, barrier, blocks, [=](Machine::Block &b) { memcpy(Machine::at(b, to), from, bytes); });
}

// They read at the last moment, when they are waited for.
static std::map<Fibre *, std::vector<std::function<void()>>> machine_stores;
static void machine_store(float *to, unsigned from, unsigned bytes, bool add) {
    machine_stores[machine.now].push_back([=] {
        const float *source = reinterpret_cast<const float *>(Machine::at(machine.block(), from));
        for (unsigned i = 0; i < bytes / 4; i++)
            to[i] = add ? to[i] + source[i] : source[i];
    });
}
static void lathe_bulk_store(float *to, unsigned from, unsigned bytes) { machine_store(to, from, bytes, false); }
static void lathe_bulk_add(float *to, unsigned from, unsigned bytes) { machine_store(to, from, bytes, true); }
static void lathe_bulk_wait() {
    for (unsigned i = machine.random(2) ? machine.random(2000) : 0; i > 0; i--)
        machine.pause();
    for (auto &store : machine_stores[machine.now])
        store();
    machine_stores[machine.now].clear();
}

static void lathe_fence_async_shared() {}
static void lathe_fence_async() {}
static unsigned lathe_cluster_rank() { return machine.rank(); }
static void lathe_cluster_sync() {
    const uint64_t name = static_cast<uint64_t>(machine.now->block / machine.cluster) << 32 | 2000;
    machine.meet(name, machine.cluster * blockDim.x, [](std::vector<Fibre *> &) {});
}
template <int COUNT> static void lathe_registers_lower() {}
template <int COUNT> static void lathe_registers_raise() {}
static void lathe_load_shared(float (&to)[4], unsigned from) { memcpy(to, Machine::at(machine.block(), from), 16); }
static void lathe_store_shared(unsigned to, const float (&from)[4]) {
    memcpy(Machine::at(machine.block(), to), from, 16);
}
