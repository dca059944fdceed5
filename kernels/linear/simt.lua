-- simt: one fused kernel of float32 FMA.

local tiles = "ceil_div(M, BM) * ceil_div(N, BN)"
local last_block = "REDUCE == 'last_block'"
local stream = "SCHEDULE == 'stream'"
-- As many blocks as there are at once, each with a tile of k of some tile at least. Any number would be right.
local stream_blocks = string.format("min(sm_count * MIN_BLOCKS, %s * ceil_div(K, BK))", tiles)

-- A dimension of the split sums: whole tiles where the last block adds them up, which leaves them as threads hold them;
-- one tile in a stream, where each block has two parts of tiles at most.
local function padded_to(dim, tile)
  local whole = string.format("ceil_div(%s, %s) * %s", dim, tile, tile)
  return string.format("select(%s, %s, select(%s, %s, %s))", stream, tile, last_block, whole, dim)
end

return {
  "simt", source = beside "simt.cu", summary = "one fused float32 FMA kernel",
  requires = { { "sm >= 70 or sm == 0", "needs Volta or later, or the host" } },
  params = {
    { "TRANSPOSED", { false, true }, help = "compute W X^T and turn it over on the way out, or X W^T" },
    { "BM", { 16, 32, 64, 128, 256 }, help = "rows of Y that a block computes" },
    { "BN", { 16, 32, 64, 128, 256 }, help = "columns of Y that a block computes" },
    { "TM", { 4, 8, 16 }, help = "rows that a thread computes" },
    { "TN", { 4, 8, 16 }, help = "columns that a thread computes" },
    { "LANES_M", { 2, 4, 8, 16 }, help = "threads of a warp along M; the other 32 / LANES_M lie along N" },
    { "BK", { 8, 16, 32 }, help = "elements of k in shared memory at once, a stage" },
    { "UNROLL", { 2, 4, 8, 16 }, help = "steps of k unrolled in the inner loop" },
    { "FRAGMENTS", { 1, 2 }, help = "2: the next step's operands are read while these are multiplied" },
    { "LAYOUT", { "transposed", "padded" }, help = "of tiles in shared memory: [k][row], or [row][k] with gaps" },
    { "FILL", { "register", "async" }, help = "to shared memory through registers, or by asynchronous copies" },
    { "STAGES", { 1, 2, 4 }, help = "tiles in shared memory at once" },
    { "VEC", { 1, 2, 4 }, help = "floats that a global load or store moves" },
    { "PREFETCH", { 0, 128 }, when = "FILL == 'async' and VEC == 4", help = "bytes of L2 that a copy asks for" },
    { "SPLIT_K", { 1, 2, 4, 8, 16, 32 }, help = "blocks that share a tile's k, whose sums are then added up" },
    { "REDUCE", { "second_kernel", "last_block" }, when = "SPLIT_K > 1", help = "who adds them up" },
    { "SCHEDULE", { "tiles", "stream" }, when = "SPLIT_K == 1",
      help = "a block a tile, or as many blocks as SMs hold, which share all tiles' k evenly" },
    { "MIN_BLOCKS", { 1, 2, 4 },
      help = "blocks that an SM must be able to hold, which limits registers; a stream has that many an SM" },
    { "STORE", { "direct", "shared" }, when = "SPLIT_K == 1 and not TRANSPOSED",
      help = "to Y from registers, or through shared memory a row at a time" },
    { "GROUP", { 1, 2, 8 }, when = "SPLIT_K == 1 and ceil_div(M, BM) > 1",
      help = "rows of blocks walked together, so that they share W in L2" },
  },
  let = {
    { "threads", "(BM // TM) * (BN // TN)" },
    { "warp_m", "LANES_M * TM" },
    { "warp_n", "32 // LANES_M * TN" },
    { "step", "select(LAYOUT == 'padded', 4, 1)" },     -- elements of k that the inner loop takes at once
    { "stage_floats", "select(LAYOUT == 'padded', (BM + BN) * (BK + 4), BK * (BM + BN + 8))" },
    { "out_floats", "select(TRANSPOSED or STORE == 'shared', BM // TM * (BN + 4), 0)" },
    { "smem", "4 * max(STAGES * stage_floats, out_floats)" },
    -- Registers that a thread needs, about: its sums, operands, pieces on their way to shared memory, addresses. Fitted
    -- to what NVRTC 13 made of random configurations for sm_90a.
    { "pieces", "ceil_div(BM * BK, VEC * threads) + ceil_div(BN * BK, VEC * threads)" },
    { "operands", "FRAGMENTS * (TM + TN) * select(LAYOUT == 'padded', 5, 2) // 2" },
    { "filling", "select(FILL == 'async', 3 * pieces, pieces + ceil_div((BM + BN) * BK, threads))" },
    { "registers", "20 + TM * TN + operands + filling" },
    { "register_limit", "min(max_registers_per_thread, max_registers_per_sm // (threads * MIN_BLOCKS) // 8 * 8)" },
  },
  constraints = {
    -- The static assertions of simt.cu; test/cli/linear.bats proves that they agree.
    { "BM % warp_m == 0 and BN % warp_n == 0", "warps must tile the block's tile" },
    { "threads <= max_threads_per_block", "a block has that many threads at most" },
    { "BK % UNROLL == 0 and UNROLL % step == 0", "UNROLL must divide BK into whole steps" },
    { "FRAGMENTS == 1 or UNROLL // step % 2 == 0", "two sets of operands alternate, so the steps must be even" },
    { "LAYOUT == 'padded' or threads % (4 * BK) == 0", "each thread must load the same k of every row" },
    { "LAYOUT == 'transposed' or threads % (BK // VEC) == 0", "each thread must load the same k of every row" },
    { "LAYOUT == 'padded' or FILL == 'register' or VEC == 1", "an asynchronous copy cannot turn a vector" },
    { "select(FILL == 'async', STAGES >= 2, STAGES <= 2)", "asynchronous copies need 2 stages, registers at most 2" },
    -- What device and size demand.
    { "FILL == 'register' or sm >= 80 or sm == 0", "asynchronous copies need sm_80 or later" },
    { "K % VEC == 0", "rows of X and W must begin at a multiple of VEC floats" },
    { "smem <= max_shared_per_block", "a block has that much shared memory at most" },
    { "SPLIT_K <= ceil_div(K, BK)", "each of the blocks that share a tile's k needs some of it" },
    { "M + BM < 2147483648 and N + BN < 2147483648", "rows and columns are counted in 32 bits" },
    -- What cannot be good, but would be right.
    { "threads >= 64", "blocks of one warp leave most of an SM idle", search = true },
    { "threads <= 64 + 4 * TM * TN", "fewer threads with larger tiles read less of shared memory", search = true },
    { "BM <= 8 * BN and BN <= 8 * BM",
      "a long thin tile of a block reads more of X and W than a square one", search = true },
    { "warp_m <= 4 * warp_n and warp_n <= 4 * warp_m",
      "a warp's long thin tile reads more of shared memory", search = true },
    { "UNROLL * TM * TN <= 1024", "the inner loop would not fit the instruction cache", search = true },
    { "registers <= register_limit", "registers would spill to memory", search = true },
    { "MIN_BLOCKS * threads <= max_threads_per_sm", "an SM does not hold so many threads", search = true },
    { "MIN_BLOCKS * (smem + 1024) <= max_shared_per_sm", "an SM does not have so much shared memory", search = true },
    { "MIN_BLOCKS == 1 or SCHEDULE == 'stream' or register_limit < min(2 * registers, max_registers_per_thread)",
      "registers are not limited by it, so it is the same as 1", search = true },
  },
  workspace = {
    { "partial", "f32", { string.format("select(%s, 2 * %s, SPLIT_K)", stream, stream_blocks), padded_to("M", "BM"),
                          padded_to("N", "BN") }, when = "SPLIT_K > 1 or " .. stream },
    { "tickets", "u32", { tiles }, zero = "once",
      when = string.format("SPLIT_K > 1 and %s or %s", last_block, stream) },
  },
  computes = { { "f32" } },
  steps = {
    launch { "linear_simt", block = "threads", shared = "smem",
             grid = { string.format("select(%s, %s, %s)", stream, stream_blocks, tiles), 1, "SPLIT_K" },
             args = { "X", "W", "Y", "partial", "tickets", "M", "N", "K", "epilogue" } },
    launch { "linear_simt_reduce", when = "SPLIT_K > 1 and not (" .. last_block .. ")",
             grid = "ceil_div(M * N, 256 * VEC)", block = 256, args = { "partial", "Y", "M", "N", "epilogue" } },
  },
}
