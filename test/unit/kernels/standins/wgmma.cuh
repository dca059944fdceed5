// wgmma.cuh: what kernels/common/wgmma.cuh offers of 16-bit operands, A in registers, on the machine of machine.cuh. A
// product reads its operands as late as it may: when it is waited for. Sums are float32's, each rounded to nearest.
#pragma once
#include "split.cuh"

enum lathe_wgmma_type { LATHE_WGMMA_BF16, LATHE_WGMMA_FP16, LATHE_WGMMA_TF32 };

struct MachineProduct {
    float *sum;
    const unsigned *registers;
    unsigned long long b;
    int add, call;
};
struct MachineThread {
    std::vector<MachineProduct> open;
    std::vector<std::vector<MachineProduct>> committed;
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

static bool machine_fp16;
template <int PENDING> static void lathe_wgmma_wait() {
    machine.pause();
    MachineThread &t = machine_thread(machine.now);
    while (t.committed.size() > PENDING) {
        for (const MachineProduct &p : t.committed.front())
            machine_multiply(p, machine_fp16, LATHE_WGMMA_N);
        t.committed.erase(t.committed.begin());
    }
    __syncwarp();
}

template <lathe_wgmma_type TYPE>
static void lathe_wgmma(float (&d)[LATHE_WGMMA_N / 2], const unsigned (&a)[4], unsigned long long b, int add) {
    MachineThread &t = machine_thread(machine.now);
    machine_fp16 = TYPE == LATHE_WGMMA_FP16;
    t.open.push_back({d, a, b, add, static_cast<int>(t.given.size())});
    t.given.push_back({a[0], a[1], a[2], a[3]});
}
