// wgmma.cuh: what kernels/common/wgmma.cuh offers, on the machine of machine.cuh: 16-bit operands with A in registers,
// and all types with both in shared memory. A product reads its operands as late as it may, when it is waited for; or,
// now and then where A is in shared memory, at once. Sums are float32's, each rounded to nearest.
#pragma once
#include "split.cuh"

enum lathe_wgmma_type { LATHE_WGMMA_BF16, LATHE_WGMMA_FP16, LATHE_WGMMA_TF32 };

struct MachineProduct {
    float *sum;
    const unsigned *registers;
    unsigned long long b;
    int add, call;
};
typedef std::vector<std::function<void()>> MachineGroup;
struct MachineThread {
    MachineGroup open;
    std::vector<MachineGroup> committed;
    std::vector<std::array<unsigned, 4>> given;     // A of each call
};
static MachineThread &machine_thread(const Fibre *f) {
    static std::vector<MachineThread> threads(machine.fibres.size());
    return threads[f - machine.fibres.data()];
}

template <int ROW_BYTES> static unsigned long long lathe_wgmma_matrix(unsigned address) {
    return static_cast<unsigned long long>(ROW_BYTES) << 32 | address >> 4;
}

static void lathe_wgmma_fence() {}
static void lathe_wgmma_commit() {
    MachineThread &t = machine_thread(machine.now);
    t.committed.push_back(t.open);
    t.open.clear();
    __syncwarp();
}

static float machine_number(bool fp16, unsigned bits) {
    float first, second;
    if (fp16) lathe_unpack16<true>(bits & 0xffffu, first, second);
    else lathe_unpack16<false>(bits & 0xffffu, first, second);
    return first;
}

// This thread's sums: rows lane / 4 (+ 8), columns 8j + lane % 4 * 2 (+ 1).
static void machine_multiply(const MachineProduct &p, bool fp16, int columns) {
    const int lane = machine.now->thread % 32, row_bytes = static_cast<int>(p.b >> 32);
    const unsigned start = static_cast<unsigned>(p.b) << 4;
    Fibre *first = machine.now - lane;
    if (memcmp(p.registers, machine_thread(machine.now).given[p.call].data(), 16) != 0)
        MACHINE_FAIL("operands changed while they were multiplied");
    float a[2][16];
    for (int h = 0; h < 2; h++)
        for (int k = 0; k < 16; k++) {
            const unsigned word = machine_thread(first + lane / 4 * 4 + k % 8 / 2).given[p.call][h + k / 8 * 2];
            a[h][k] = machine_number(fp16, word >> k % 2 * 16);
        }
    for (int j = 0; j < columns / 8; j++)
        for (int e = 0; e < 2; e++) {
            const int n = 8 * j + lane % 4 * 2 + e;
            float b[16];
            for (int k = 0; k < 16; k++) {
                unsigned at = start + n * row_bytes + k * 2;
                at ^= (at >> 7 & (row_bytes == 128 ? 7 : 3)) << 4;
                unsigned short bits;
                memcpy(&bits, Machine::at(machine.block(), at), 2);
                b[k] = machine_number(fp16, bits);
            }
            for (int h = 0; h < 2; h++) {
                float sum = p.add ? p.sum[4 * j + 2 * h + e] : 0.0f;
                for (int k = 0; k < 16; k++)
                    sum = lathe_fma(a[h][k], b[k], sum);
                p.sum[4 * j + 2 * h + e] = sum;
            }
        }
}

static void machine_finish(MachineGroup &group) {
    for (const std::function<void()> &product : group)
        product();
    group.clear();
}
template <int PENDING> static void lathe_wgmma_wait() {
    machine.pause();
    MachineThread &t = machine_thread(machine.now);
    while (t.committed.size() > PENDING) {
        machine_finish(t.committed.front());
        t.committed.erase(t.committed.begin());
    }
    __syncwarp();
}

template <lathe_wgmma_type TYPE>
static void lathe_wgmma(float (&d)[LATHE_WGMMA_N / 2], const unsigned (&a)[4], unsigned long long b, int add) {
    MachineThread &t = machine_thread(machine.now);
    const MachineProduct p = {d, a, b, add, static_cast<int>(t.given.size())};
    t.open.push_back([=] { machine_multiply(p, TYPE == LATHE_WGMMA_FP16, LATHE_WGMMA_N); });
    t.given.push_back({a[0], a[1], a[2], a[3]});
}

// Element k of 32 bytes of row `row` of a matrix in shared memory.
template <lathe_wgmma_type TYPE> static float machine_element(unsigned long long matrix, int row, int k) {
    const unsigned start = static_cast<unsigned>(matrix) << 4, row_bytes = static_cast<unsigned>(matrix >> 32);
    unsigned at = start + row * row_bytes + k * (TYPE == LATHE_WGMMA_TF32 ? 4 : 2), bits = 0;
    at ^= (at >> 7 & (row_bytes == 128 ? 7 : 3)) << 4;
    memcpy(&bits, Machine::at(machine.block(), at), TYPE == LATHE_WGMMA_TF32 ? 4 : 2);
    if (TYPE == LATHE_WGMMA_TF32)
        return __uint_as_float(bits & 0xffffe000u);
    return machine_number(TYPE == LATHE_WGMMA_FP16, bits);
}

template <lathe_wgmma_type TYPE>
static void lathe_wgmma(float (&d)[LATHE_WGMMA_N / 2], unsigned long long a, unsigned long long b, int add) {
    MachineThread &t = machine_thread(machine.now);
    const int thread = machine.now->thread % 128, g = thread % 32 / 4, c = thread % 4;
    float *const sums = d;
    t.open.push_back([=] {
        for (int i = 0; i < LATHE_WGMMA_N / 2; i++) {
            const int row = thread / 32 * 16 + g + 8 * (i / 2 % 2), column = i / 4 * 8 + 2 * c + i % 2;
            float sum = add ? sums[i] : 0.0f;
            for (int k = 0; k < (TYPE == LATHE_WGMMA_TF32 ? 8 : 16); k++)
                sum = lathe_fma(machine_element<TYPE>(a, row, k), machine_element<TYPE>(b, column, k), sum);
            sums[i] = sum;
        }
    });
    if (machine.random(2)) {                            // with all before it
        for (MachineGroup &group : t.committed)
            machine_finish(group);
        machine_finish(t.open);
    }
}
