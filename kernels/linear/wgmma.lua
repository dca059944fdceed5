-- wgmma: one fused kernel on Hopper's tensor cores; see wgmma.cu.

local three = "(FORMAT == 'bf16x3' or FORMAT == 'fp16x3' or FORMAT == 'fp16x3s')"
local promoting = "PROMOTE_K > 0"

-- The launches where `streamed` is the streamed matrix: a launch names its tensors once and for all.
local other = { W = "X", X = "W" }

local function split(streamed)
  return launch { "linear_wgmma_split", when = string.format("STREAM == '%s'", streamed), block = 256,
                  grid = "ceil_div(padded_rows // 8 * ceil_div(K, 256), 8)",
                  args = { other[streamed], "tiles", "exponent", "guard", "shared_rows", "padded_rows", "K" } }
end

local function multiply(streamed)
  local map = tensor_map { streamed, box = { "rows // share_rows", 32 }, swizzle = 128, l2 = 128 }
  return launch { "linear_wgmma", when = string.format("STREAM == '%s'", streamed), grid = "grid", cluster = "blocks",
                  block = "(WARPGROUPS + 1) * 128", shared = "smem", programmatic = "PROGRAMMATIC",
                  args = { map, streamed, "tiles", "exponent", "sums", "guard", "Y", "M", "N", "K", "epilogue" } }
end

return {
  "wgmma", source = beside "wgmma.cu", summary = "one fused Hopper kernel, float32 as sums of 16-bit numbers",
  requires = { { "sm == 90", "wgmma is an instruction of Hopper GPUs (sm_90a)" } },
  params = {
    { "FORMAT", { "bf16x3", "fp16x3", "fp16x3s", "bf16x1", "fp16x1" },
      help = "numbers that are multiplied: three products of two parts each (s: of fewer bits), or one of rounded " ..
             "operands" },
    { "STREAM", { "W", "X" }, help = "the matrix that is split in registers, on its way; the other is split before" },
    { "WARPGROUPS", { 2, 3 }, help = "that multiply; another one copies" },
    { "TILES", { 1, 2 }, help = "of 64 rows of the streamed matrix, a warpgroup" },
    { "COLUMNS", { 96, 128, 144, 160, 176, 192, 208, 224, 240, 256 }, help = "rows of the other matrix, a block" },
    { "STAGES_LESS", { 0, 1 }, help = "stages of 32 k in shared memory, fewer than it has room for" },
    { "SPLIT_K", { 1, 2, 4 }, help = "blocks of a cluster that share a tile's k" },
    { "CLUSTER", { 1, 2 }, when = "SPLIT_K == 1", help = "blocks that share what one of them reads" },
    { "MULTICAST", { "streamed", "shared" }, when = "CLUSTER > 1", help = "the matrix that they share" },
    { "PROMOTE_K", { 0, 256, 512, 768, 1024, 1280, 2048 },
      help = "k summed by the tensor cores, which round toward zero, before float32 addition; 0: all" },
    { "PROMOTE", { "registers", "workspace" }, when = promoting, help = "where these sums are added" },
    { "GROUP", { 1, 2, 4, 8, 16, 32 }, when = "ceil_div(select(STREAM == 'W', M, N), COLUMNS) > 1",
      help = "columns of tiles walked together, so that they meet in L2" },
    { "VEC", { 1, 4 }, help = "floats that a store moves at most" },
    { "EVICT_FIRST", { false, true }, help = "L2 is told that the streamed matrix is read once" },
    { "EVICT_LAST", { false, true }, help = "L2 is told that the other matrix is read often" },
    { "PROGRAMMATIC", { true, false }, help = "the kernels start before the ones before them have ended" },
  },
  let = {
    { "parts", string.format("select(%s, 2, 1)", three) },
    { "blocks", "CLUSTER * SPLIT_K" },                                      -- of a cluster
    { "rows", "WARPGROUPS * TILES * 64" },
    { "streams", "WARPGROUPS * TILES" },
    { "streamed_rows", "select(STREAM == 'W', N, M)" },
    { "shared_rows", "select(STREAM == 'W', M, N)" },
    { "share_rows", "select(CLUSTER > 1 and MULTICAST == 'streamed', CLUSTER, 1)" },
    { "share_columns", "select(CLUSTER > 1 and MULTICAST == 'shared', CLUSTER, 1)" },
    { "row_units", "ceil_div(ceil_div(streamed_rows, rows), share_columns)" },
    { "column_units", "ceil_div(ceil_div(shared_rows, COLUMNS), share_rows)" },
    { "units", "row_units * column_units" },
    { "slots", "max(1, sm_count // blocks)" },                              -- clusters at once
    { "grid", "ceil_div(units, ceil_div(units, slots)) * blocks" },         -- all of them busy equally long
    { "padded_rows", "column_units * share_rows * COLUMNS" },
    { "chunks", "ceil_div(K, 32)" },
    { "in_registers", "PROMOTE_K > 0 and PROMOTE == 'registers'" },
    { "in_workspace", "PROMOTE_K > 0 and PROMOTE == 'workspace'" },
    { "stage_bytes", "rows * 128 + COLUMNS * 64 * parts" },
    { "staging", "select(in_workspace, COLUMNS * 256, 0)" },
    { "other_bytes", "staging + 8 * (4 + streams) + 16 + 1024" },
    { "stages", "min(8, (max_shared_per_block - other_bytes) // (stage_bytes + 24)) - STAGES_LESS" },
    { "smem", "stages * (stage_bytes + 24) + other_bytes" },
    -- Registers for sums, and for operands on their way.
    { "accumulators", "TILES * COLUMNS // 2 * select(in_registers, 2, 1)" },
    { "operands", "TILES * (8 + 8 * parts)" },
  },
  constraints = {
    -- The static assertions of wgmma.cu.
    { "in_registers or not in_workspace or PROMOTE_K // 32 % streams == 0",
      "each tile of 64 rows hands over its sums at a time of its own" },
    { "COLUMNS % (8 * SPLIT_K) == 0", "each block of a split k finishes whole groups of 8 columns" },
    { "rows // share_rows % 8 == 0 and COLUMNS // share_columns % 8 == 0 and COLUMNS % share_columns == 0",
      "each block of a cluster copies whole groups of 8 rows" },
    { "rows // share_rows <= 256", "a box of a tensor map has at most 256 rows" },
    { "stages >= 2", "a block does not have so much shared memory" },
    -- What sizes demand.
    { "K % 4 == 0", "rows of X and W must begin at a multiple of 16 bytes for the copy engine" },
    { "N % VEC == 0", "rows of Y must begin at a multiple of VEC floats" },
    { "chunks >= SPLIT_K", "each block of a split k needs some of it" },
    { "not in_workspace or PROMOTE_K // 32 < chunks // SPLIT_K",
      "each tile of 64 rows would not have handed over once" },
    { "streamed_rows + rows * CLUSTER < 2147483648 and shared_rows + COLUMNS * CLUSTER < 2147483648",
      "rows and columns are counted in 32 bits" },
    -- What registers allow.
    { "WARPGROUPS < 3 or COLUMNS <= 176", "so wide an instruction needs more registers than a thread of 512 has" },
    { "accumulators + operands <= select(WARPGROUPS == 3, 152, 216)", "registers would spill to memory" },
    -- What cannot be good, but would be right.
    { "parts == 2 or PROMOTE_K == 0",
      "one rounded product is less accurate than sums rounded toward zero", search = true },
    { "not in_registers or PROMOTE_K // 32 < chunks // SPLIT_K", "no sums would be promoted", search = true },
    { "share_rows <= ceil_div(shared_rows, COLUMNS)", "a cluster's blocks would have no columns", search = true },
    { "share_columns <= ceil_div(streamed_rows, rows)", "a cluster's blocks would have no rows", search = true },
    { "shared_rows <= streamed_rows", "splitting the larger matrix beforehand costs more", search = true },
    { "stages >= 3", "too little is in flight", search = true },
    { "COLUMNS <= 128 or 8 * padded_rows <= 9 * shared_rows",
      "more than a ninth of the columns would be padding", search = true },
    { "units <= slots or 4 * units >= 3 * slots * ceil_div(units, slots)",
      "too many SMs would idle in the last round", search = true },
    { "VEC == 4 or N % 4 != 0", "whole vectors are better where they are possible", search = true },
    { "GROUP <= max(1, column_units)", "there are no more columns of tiles", search = true },
    { "SPLIT_K == 1 or 2 * units <= sm_count", "the tiles alone keep the GPU busy", search = true },
  },
  workspace = {
    { "tiles", "u8", { "padded_rows", "chunks", "64 * parts" } },
    { "exponent", "i32", { 1 }, when = "FORMAT != 'bf16x3' and FORMAT != 'bf16x1'" },
    { "sums", "f32", { "grid", "streams", "64 * COLUMNS" }, when = "in_workspace or SPLIT_K > 1" },
    { "guard", "u32", { 2 }, zero = "once" },
  },
  computes = {
    { "bf16", products = "select(parts == 2, 3, 1)", when = "FORMAT == 'bf16x3' or FORMAT == 'bf16x1'" },
    { "f16", products = "select(parts == 2, 3, 1)" },
  },
  steps = {
    split("W"), split("X"), multiply("W"), multiply("X"),
    launch { "linear_fallback", grid = "2 * sm_count", block = 256, programmatic = "PROGRAMMATIC",
             args = { "X", "W", "Y", "guard", "M", "N", "K", "epilogue" } },
  },
}
