-- mma: tensor cores by mma.sync, from sm_80 on. See mma.cu.
--
-- Returns a function that makes it for X and W of a type: "f32", which it takes as sums of narrow numbers, "f16" or
-- "bf16".

local tiles = "ceil_div(M, BM) * ceil_div(N, BN)"
local words = "ceil_div(K, BK) * row_words"     -- of a row of what the pre-pass makes

-- A dimension of the split sums: whole tiles where the last block adds them up, which leaves them as threads hold them.
local function padded_to(dim, tile)
  return string.format("select(last_block, ceil_div(%s, %s) * %s, %s)", dim, tile, tile, dim)
end

-- Every step but the first may be launched before the one before it has ended.
local function split(from, to, which, rows, when, programmatic)
  return launch { "linear_mma_split", when = when, block = 256, programmatic = programmatic,
                  grid = string.format("ceil_div(%s * ceil_div(K, 512 * word_k), 8)", rows),
                  args = { from, to, "exponents", "guard", rows, "K", which } }
end

local function multiply(x, w, when)
  return launch { "linear_mma", when = when, grid = { tiles, 1, "SPLIT_K" }, block = "threads", shared = "smem",
                  programmatic = "sm >= 90 and (pre_x or scaled)",
                  args = { x, w, "Y", "exponents", "guard", "kept", "partial", "tickets", "M", "N", "K", "epilogue" } }
end

local function reduce()
  return launch { "linear_mma_reduce", when = "SPLIT_K > 1 and not last_block", grid = "ceil_div(M * N, 1024)",
                  block = 256, programmatic = "sm >= 90", args = { "partial", "Y", "guard", "M", "N", "epilogue" } }
end

local function steps(narrow)
  if narrow then return { multiply("X", "W"), reduce() } end
  return {
    launch { "linear_mma_scale", when = "scaled", grid = 1, block = 64,
             args = { "X", "W", "exponents", "guard", "M", "N", "K" } },
    split("X", "X_parts", 0, "M", "pre_x", "sm >= 90 and scaled"),
    split("W", "W_parts", 1, "N", "pre_w", "sm >= 90"),
    multiply("X", "W", "not pre_x"),
    multiply("X_parts", "W", "pre_x and not pre_w"),
    multiply("X_parts", "W_parts", "pre_w"),
    reduce(),
    launch { "linear_fallback", grid = "min(sm_count, ceil_div(M, 64) * ceil_div(N, 64))", block = 256,
             programmatic = "sm >= 90", args = { "X", "W", "Y", "guard", "M", "N", "K", "epilogue" } },
  }
end

local function params(narrow)
  local list = {
    { "TRANSPOSED", { false, true }, help = "compute W X^T, or X W^T" },
    { "BM", { 16, 32, 64, 128, 256 }, help = "rows of Y that a block computes" },
    { "BN", { 32, 64, 128, 256 }, help = "columns of Y that a block computes" },
    { "WM", { 16, 32, 64 }, help = "rows that a warp computes" },
    { "WN", { 16, 32, 64 }, help = "columns that a warp computes" },
    { "BK", { 32, 64, 128 }, help = "elements of k in shared memory at once, a stage" },
    { "STAGES", { 2, 3, 4 }, help = "tiles in shared memory at once" },
    { "FRAGMENTS", { 1, 2 }, help = "2: the next step's operands are read while these are multiplied" },
    { "VEC", narrow and { 2, 4, 8 } or { 1, 2, 4 }, help = "elements that a copy to shared memory moves" },
    { "PROMOTE_K", { 0, 1024, 2048 }, when = not narrow and "FORMAT != 'bf16x1' and FORMAT != 'tf32x1'" or nil,
      help = "elements of k after which the tensor cores' sum is added to another and begun anew; 0: never" },
    { "PROMOTE_TO", { "registers", "shared", "workspace" }, when = "PROMOTE_K > 0", help = "where those others are" },
    { "SPLIT_K", { 1, 2, 4, 8, 16 }, help = "blocks that share a tile's k, whose sums are then added up" },
    { "REDUCE", { "second_kernel", "last_block" }, when = "SPLIT_K > 1", help = "who adds them up" },
    { "MIN_BLOCKS", { 1, 2 }, help = "blocks that an SM must be able to hold, which limits registers" },
    { "GROUP", { 1, 4, 16 }, when = "ceil_div(M, BM) > 1",
      help = "rows of blocks walked together, so that they share W in L2" },
  }
  if narrow then return list end
  table.insert(list, 1, { "FORMAT", { "bf16x1", "tf32x1", "bf16x3", "fp16x3", "tf32x3" },
    help = "what the tensor cores multiply: x3: each number as a sum of two, three products; x1: rounded to one" })
  table.insert(list, 10, { "SPLIT_AT", { "registers", "pre_pass_x", "pre_pass" },
    help = "where numbers become narrow: on the way to the tensor cores; before, by a small kernel, X or X and W" })
  return list
end

return function(type)
  local narrow = type ~= "f32"
  -- The value of a let for float32 tensors, and for others.
  local function either(f32, other) return narrow and other or f32 end
  local let = {
    { "warps", "(BM // WM) * (BN // WN)" },
    { "threads", "32 * warps" },
    -- what mma.cu knows of the types and of the parameters whose values are texts
    { "narrow", tostring(narrow) },
    { "tf32", either("FORMAT == 'tf32x1' or FORMAT == 'tf32x3'", "false") },
    { "three", either("FORMAT != 'bf16x1' and FORMAT != 'tf32x1'", "false") },
    { "fp16", either("FORMAT == 'fp16x3'", tostring(type == "f16")) },
    { "scaled", "fp16 and not narrow" },
    { "pre_x", either("SPLIT_AT != 'registers'", "false") },
    { "pre_w", either("SPLIT_AT == 'pre_pass'", "false") },
    { "last_block", "SPLIT_K > 1 and REDUCE == 'last_block'" },
    { "promote_registers", "PROMOTE_K > 0 and PROMOTE_TO == 'registers'" },
    { "promote_shared", "PROMOTE_K > 0 and PROMOTE_TO == 'shared'" },
    { "promote_workspace", "PROMOTE_K > 0 and PROMOTE_TO == 'workspace'" },
    { "word_k", "select(narrow or pre_x and not three and not tf32, 2, 1)" },   -- elements of k in 4 bytes of a tile
    { "row_words", "BK // word_k" },
    { "vec_words", either("VEC", "VEC // 2") },
    { "smem", "STAGES * 4 * row_words * (BM + BN) + select(promote_shared, 4 * BM * BN, 0)" },
    -- Registers that a thread needs, about: its sums, what it has read of each row and made of it, addresses. A little
    -- less than what NVRTC 13 makes of them, for a few spilled outside of the loop do no harm.
    { "sums", "WM * WN // 32 * select(promote_registers, 2, 1)" },
    { "a_row", "4 * FRAGMENTS + select(narrow or pre_x, 0, select(not three, -1, select(tf32, 4, 1)))" },
    { "registers", "28 + sums + a_row * (WM // 8 + WN // 8)" },
    { "register_limit",
      "min(max_registers_per_thread, max_registers_per_sm // max(1, MIN_BLOCKS * threads) // 8 * 8)" },
  }
  local constraints = {
    -- The static assertions of mma.cu; test/unit/campaign/test_linear.c proves that they agree.
    { "BM % WM == 0 and BN % WN == 0", "warps must tile the block's tile" },
    { "threads <= max_threads_per_block", "a block has that many threads at most" },
    { "not TRANSPOSED or WN % 32 == 0", "the transposed product comes in fours of rows" },
    { "row_words % 32 == 0", "a row of a tile is 128 bytes, or a multiple" },
    { "threads % max(1, row_words // vec_words) == 0", "each thread must copy the same k of every row" },
    { "PROMOTE_K % BK == 0", "sums are promoted between tiles" },
    { "not pre_x or not tf32 or not three", "two float32 for each number are more to read than one" },
    { "pre_x == pre_w or three", "both tiles must hold a number in as many bytes" },
    -- What device and size demand.
    { "K % VEC == 0", "rows of X and W must begin at a multiple of VEC elements" },
    { "smem <= max_shared_per_block", "a block has that much shared memory at most" },
    { "SPLIT_K <= ceil_div(K, BK)", "each of the blocks that share a tile's k needs some of it" },
    { "M + BM < 2147483648 and N + BN < 2147483648 and K + BK < 2147483648", "numbers of rows have 32 bits" },
    -- What cannot be good, but would be right.
    { "vec_words == 4 or K % (2 * VEC) != 0", "wider copies can be had", search = true },
    { "row_words <= 64", "longer rows only make fewer stages", search = true },
    { "threads >= 128 and threads <= 512",
      "an SM has four schedulers, and larger blocks wait for each other", search = true },
    { "BM <= 8 * BN and BN <= 8 * BM",
      "a long thin tile of a block reads more of X and W than a square one", search = true },
    { "WM <= 4 * WN and WN <= 4 * WM and WM * WN >= 512",
      "a warp's small or thin tile reads more of shared memory", search = true },
    { "PROMOTE_K == 0 or PROMOTE_K * SPLIT_K < K",
      "a sum so short is never promoted, so it is the same as 0", search = true },
    { "registers <= register_limit", "registers would spill to memory", search = true },
    { "MIN_BLOCKS * threads <= max_threads_per_sm", "an SM does not hold so many threads", search = true },
    { "MIN_BLOCKS * (smem + 1024) <= max_shared_per_sm", "an SM does not have so much shared memory", search = true },
    { "MIN_BLOCKS == 1 or register_limit < max_registers_per_thread",
      "it limits no register, so it is the same as 1", search = true },
  }
  return {
    "mma", source = beside "mma.cu", params = params(narrow), let = let, constraints = constraints,
    summary = either("tensor cores by mma.sync, float32 as sums of narrower numbers", "tensor cores by mma.sync"),
    requires = { { "sm >= 80 or sm == 0", "needs Ampere or later, or the host" } },
    workspace = {
      { "guard", "u32", { 2 }, zero = "once", when = "not narrow" },
      { "exponents", "i32", { 2 }, when = "scaled" },
      { "X_parts", "f32", { "M", words }, when = "pre_x" },
      { "W_parts", "f32", { "N", words }, when = "pre_w" },
      { "kept", "f32", { tiles, "SPLIT_K", "BM * BN" }, when = "promote_workspace" },
      { "partial", "f32", { "SPLIT_K", padded_to("M", "BM"), padded_to("N", "BN") }, when = "SPLIT_K > 1" },
      { "tickets", "u32", { tiles }, zero = "once", when = "last_block" },
    },
    computes = narrow and { { type } } or {
      { "tf32", products = "select(three, 3, 1)", when = "tf32" },
      { "f16", products = 3, when = "fp16" },
      { "bf16", products = "select(three, 3, 1)" },
    },
    steps = steps(narrow),
  }
end
