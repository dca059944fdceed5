// machine.cuh: enough of a Hopper GPU to run kernels/linear/wgmma.cu as it stands: the blocks of a launch at once,
// their threads as fibres that take turns at random, barriers in shared memory by their rules (mbarrier), copies that
// land when they like. The host shim stands before this and asks `wait` of it.
//
// Invariants: one fibre runs at a time and gives up only in a call of this file. What must not be read yet holds NaN.
#pragma once
#include <ucontext.h>
#include <functional>
#include <array>
#include <map>
#include <vector>

#define MACHINE_FAIL(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

struct Mbarrier {
    int count, pending, tx;
    unsigned phase;
};

struct Fibre {
    ucontext_t context;
    int block, thread;
    bool done;
    unsigned barrier, parity;               // that it waits for
    uint64_t value, result;                 // of a meeting
    unsigned source;
};

struct Flight {
    std::function<void()> copy;
    int block;
    unsigned barrier, bytes;
};

struct Machine {
    enum { SHARED_AT = 0x480, SHARED_BYTES = 232448 };      // an address of shared memory, aligned as promised: to 128
    enum { STACK_BYTES = 128 << 10 };
    struct Block {
        std::vector<unsigned char> memory;
        unsigned char *shared;
        std::map<unsigned, Mbarrier> barriers;
        std::vector<Fibre *> waiting;
    };
    std::vector<Block> blocks;
    std::vector<Fibre> fibres;
    std::vector<void *> stacks;             // kept from run to run
    std::vector<Fibre *> ready;
    std::map<uint64_t, std::vector<Fibre *>> meetings;
    std::vector<Flight> flights;
    std::function<void()> body;
    ucontext_t scheduler;
    Fibre *now;
    int first_block, cluster = 1;
    uint64_t random_state = 1;
    unsigned landing;                       // of 256: how often a copy lands rather than a fibre runs

    unsigned random(unsigned n) {
        random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<unsigned>((random_state >> 33) % n);
    }
    Block &block() { return blocks[now->block]; }
    Block &block_of_cluster(unsigned rank) { return blocks[now->block / cluster * cluster + rank]; }
    int rank() const { return now->block % cluster; }
    static unsigned char *at(Block &b, unsigned address) { return b.shared + (address - SHARED_AT); }

    void give_up() { swapcontext(&now->context, &scheduler); }
    void pause() {                          // others may run
        ready.push_back(now);
        give_up();
    }

    // All `expected` fibres that name this meeting have come; the last one runs `complete`.
    void meet(uint64_t name, unsigned expected, const std::function<void(std::vector<Fibre *> &)> &complete) {
        std::vector<Fibre *> &here = meetings[name];
        here.push_back(now);
        if (here.size() == expected) {
            std::vector<Fibre *> all;
            all.swap(here);
            complete(all);
            ready.insert(ready.end(), all.begin(), all.end());
        }
        give_up();
    }

    Mbarrier &barrier(Block &b, unsigned address) {
        auto found = b.barriers.find(address);
        if (found == b.barriers.end())
            MACHINE_FAIL("a barrier that was never made");
        return found->second;
    }
    void settle(Block &b, unsigned address) {
        Mbarrier &m = barrier(b, address);
        if (m.pending != 0 || m.tx != 0)
            return;
        m.phase++;
        m.pending = m.count;
        for (size_t i = 0; i < b.waiting.size();) {
            Fibre *f = b.waiting[i];
            if (f->barrier == address && (m.phase & 1) != f->parity) {
                ready.push_back(f);
                b.waiting[i] = b.waiting.back();
                b.waiting.pop_back();
            } else {
                i++;
            }
        }
    }
    void arrive(Block &b, unsigned address, int bytes) {
        Mbarrier &m = barrier(b, address);
        if (m.pending == 0)
            MACHINE_FAIL("more arrivals than a phase takes");
        m.tx += bytes;
        m.pending--;
        settle(b, address);
        if (random(4) == 0)
            pause();
    }
    void wait(unsigned address, unsigned parity) {
        if (random(4) == 0)
            pause();
        while ((barrier(block(), address).phase & 1) == parity) {
            now->barrier = address;
            now->parity = parity;
            block().waiting.push_back(now);
            give_up();
        }
    }
    void land(size_t i) {
        Flight f = std::move(flights[i]);
        flights[i] = std::move(flights.back());
        flights.pop_back();
        f.copy();
        barrier(blocks[f.block], f.barrier).tx -= static_cast<int>(f.bytes);
        settle(blocks[f.block], f.barrier);
    }

    static void start();
    void run(int grid, int threads, int first, int count, const std::function<void()> &what) {
        body = what;
        first_block = first;
        blockDim = dim3(threads);
        gridDim = dim3(grid);
        blocks.assign(count, Block());
        fibres.assign(static_cast<size_t>(count) * threads, Fibre());
        ready.clear();
        landing = random(3) == 0 ? 4 : random(256);
        for (Block &b : blocks) {
            b.memory.assign(SHARED_BYTES + 256, 0xff);
            b.shared = b.memory.data() + (128 - reinterpret_cast<uintptr_t>(b.memory.data()) % 128) % 128;
        }
        for (size_t i = 0; i < fibres.size(); i++) {
            Fibre &f = fibres[i];
            f.block = static_cast<int>(i) / threads;
            f.thread = static_cast<int>(i) % threads;
            f.done = false;
            if (stacks.size() <= i)
                stacks.push_back(malloc(STACK_BYTES));
            getcontext(&f.context);
            f.context.uc_stack.ss_sp = stacks[i];
            f.context.uc_stack.ss_size = STACK_BYTES;
            f.context.uc_link = &scheduler;
            makecontext(&f.context, start, 0);
            ready.push_back(&f);
        }
        while (!ready.empty() || !flights.empty()) {
            if (ready.empty() || (!flights.empty() && random(256) < landing)) {
                land(random(flights.size()));
                continue;
            }
            const size_t i = random(3) == 0 ? random(ready.size()) : ready.size() - 1;
            now = ready[i];
            ready[i] = ready.back();
            ready.pop_back();
            threadIdx.x = now->thread;
            blockIdx.x = first_block + now->block;
            lathe_host_dynamic = block().shared;
            swapcontext(&scheduler, &now->context);
        }
        for (Fibre &f : fibres)
            if (!f.done)
                MACHINE_FAIL("deadlock: thread %d of block %d waits", f.thread, f.block);
    }
};
static Machine machine;

void Machine::start() {
    machine.body();
    machine.now->done = true;
}

// What the shim asks for: barriers of a block and of a warp, and shuffles.
static uint64_t machine_wait(void *, int kind, uint32_t mask, uint64_t value, uint32_t source) {
    Fibre *me = machine.now;
    const bool warp = kind != LATHE_HOST_WAIT_SYNCTHREADS;
    me->value = value;
    me->source = source;
    if (warp && mask != 0xffffffffu)
        MACHINE_FAIL("not all of a warp");
    const uint64_t name = static_cast<uint64_t>(me->block) << 32 | (warp ? 1 + me->thread / 32 : 0);
    machine.meet(name, warp ? 32 : blockDim.x, [&](std::vector<Fibre *> &all) {
        for (Fibre *f : all)
            for (Fibre *g : all)
                if (kind == LATHE_HOST_WAIT_SHFL_XOR && g->thread % 32 == static_cast<int>(f->source))
                    f->result = g->value;
    });
    return me->result;
}
