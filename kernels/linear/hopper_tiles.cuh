// hopper_tiles.cuh: how kernels whose warps have roles go through tiles and stages: the ring of stages, a block's part
// of k, the order of tiles. Plain arithmetic; every role of a block computes the same.
#pragma once
#include "lathe.cuh"

// STAGES of shared memory in turn: an index and the parity of its current round.
template <int STAGES> struct LatheRing {
    int stage = 0;
    unsigned parity = 0;
    __device__ __forceinline__ void next() {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    __device__ __forceinline__ void skip(int count) {
        const int at = stage + count;
        stage = at % STAGES;
        parity ^= at / STAGES & 1;
    }
    __device__ __forceinline__ int before() const { return stage == 0 ? STAGES - 1 : stage - 1; }
};

// The chunks of k of part `part` of PARTS.
template <int PARTS> struct LatheRange {
    int begin, count;
    __device__ __forceinline__ LatheRange(int chunks, int part) {
        begin = static_cast<int>(static_cast<long long>(chunks) * part / PARTS);
        count = static_cast<int>(static_cast<long long>(chunks) * (part + 1) / PARTS) - begin;
    }
};

// Work is numbered in units: the tiles of a cluster, HIGH tiles below each other or WIDE beside each other. Units run
// along rows within a band of GROUP unit columns, so that those at work at one time meet in L2.
template <int HIGH, int WIDE, int GROUP> struct LatheUnits {
    static_assert(HIGH == 1 || WIDE == 1, "a cluster's tiles stand in a row or in a column");
    int rows, columns;                                  // of units
    __device__ __forceinline__ LatheUnits(int tile_rows, int tile_columns)
        : rows(lathe_ceil_div(tile_rows, HIGH)), columns(lathe_ceil_div(tile_columns, WIDE)) {}
    __device__ __forceinline__ int count() const { return rows * columns; }
    // The tile of block `rank` of the cluster in unit u; it may lie outside the matrix.
    __device__ __forceinline__ void tile(int u, int rank, int &row, int &column) const {
        const int band = u / (GROUP * rows), width = lathe_min(GROUP, columns - band * GROUP);
        const int within = u - band * GROUP * rows;
        row = within / width;
        column = band * GROUP + within % width;
        if (HIGH > 1)
            row = row * HIGH + rank;
        if (WIDE > 1)
            column = column * WIDE + rank;
    }
};
