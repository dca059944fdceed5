-- wgmma_shared: one fused Hopper kernel, both operands from shared memory; see wgmma_shared.cu.
--
-- Returns a function that makes it for X and W of a type and Y of a type.

local bytes_of = { f32 = 4, f16 = 2, bf16 = 2 }

return function(type, output)
  local float = type == "f32"
  local widest = 16 // bytes_of[output]                 -- elements of Y in the widest store
  local converts, plain = "FORMAT != 'tf32x1'", "FORMAT == 'tf32x1'"
  local once = "M <= select(SWAP, COLUMNS, select(SCHEDULE == 'pingpong', 1, WARPGROUPS) * TILES * 64)"
  local three = "(FORMAT == 'bf16x3' or FORMAT == 'fp16x3')"                -- products of two parts
  local box = float and "select(FORMAT == 'tf32x1', 32, 64)" or "64"        -- elements in 128 bytes

  -- A launch names its buffers once and for all: there is one for either order of two matrices.
  local function multiply(a, b, swap, when, programmatic)
    local function map(matrix, rows)
      return tensor_map { matrix, box = { rows, box }, swizzle = 128, l2 = "L2" }
    end
    return launch { "linear_wgmma_shared", when = (swap and "SWAP" or "not SWAP") .. (when and " and " .. when or ""),
                    grid = "grid", cluster = "blocks", block = "(WARPGROUPS + 1) * 128", shared = "smem",
                    programmatic = programmatic,
                    args = { map(a, "rows // share_a"), map(b, "COLUMNS // share_b"), "exponents", "sums", "guard",
                             "Y", "M", "N", "K", "epilogue" } }
  end

  local kernel = {
    "wgmma_shared", source = beside "wgmma_shared.cu",
    summary = "one fused Hopper kernel, " .. (float and "of TF32 or of pairs of 16-bit numbers" or "of " .. type),
    requires = { { "sm == 90", "wgmma is an instruction of Hopper GPUs (sm_90a)" } },
    params = {
      { "SWAP", { false, true }, help = "the tensor cores compute W X^T, and stores turn it over; or X W^T" },
      { "SCHEDULE", { "cooperative", "pingpong" },
        help = "warpgroups share each tile, or take turns: one finishes a tile while the other multiplies the next" },
      { "WARPGROUPS", { 1, 2, 3 }, help = "that multiply; another one copies" },
      { "TILES", { 1, 2 }, help = "of 64 rows, a warpgroup" },
      { "COLUMNS", { 32, 64, 96, 128, 160, 176, 192, 208, 224, 240, 256 }, help = "of a tile" },
      { "STAGES", { 2, 3, 4, 5, 6, 7, 8 }, help = "of 128 bytes of k in shared memory at once" },
      { "PER_SM", { 1, 2 }, when = "WARPGROUPS == 1", help = "blocks that share an SM" },
      { "SPLIT_K", { 1, 2, 4 }, when = "SCHEDULE == 'cooperative'",
        help = "blocks of a cluster that share a tile's k" },
      { "CLUSTER", { 1, 2, 4 }, when = "SPLIT_K == 1", help = "blocks that share what one of them reads" },
      { "MULTICAST", { "X", "W" }, when = "CLUSTER > 1", help = "the matrix that they share" },
      { "GROUP", { 1, 2, 4, 8, 16 }, when = "ceil_div(select(SWAP, M, N), COLUMNS) > 1",
        help = "columns of tiles walked together, so that they meet in L2" },
      { "STORE", { "registers", "shared" },
        help = "Y is written from where the tensor cores leave it, or turned over in shared memory to make wide rows" },
      { "VEC", widest == 8 and { 1, 2, 4, 8 } or { 1, 2, 4 }, help = "elements that a store moves" },
      { "L2", { 128, 256 }, when = once, help = "bytes that the L2 fetches from memory at a time" },
      { "EVICT_FIRST", { false, true }, when = once, help = "L2 is told that W is read once" },
      { "EVICT_LAST", { false, true }, when = once, help = "L2 is told that X is read often" },
    },
    let = {
      { "parts", float and "select(" .. three .. ", 2, 1)" or "1" },        -- numbers of an element
      { "accumulators", "TILES * COLUMNS // 2" .. (float and " * select(parts == 2 and PROMOTE_K > 0, 2, 1)" or "") },
      { "blocks", "CLUSTER * SPLIT_K" },                                    -- of a cluster
      { "readers", "select(SCHEDULE == 'pingpong', 1, WARPGROUPS)" },       -- warpgroups that share a tile
      { "rows", "readers * TILES * 64" },
      { "a_rows", "select(SWAP, N, M)" },
      { "b_rows", "select(SWAP, M, N)" },
      { "share_a", "select(CLUSTER > 1 and (MULTICAST == 'W' and SWAP or MULTICAST == 'X' and not SWAP), CLUSTER, 1)" },
      { "share_b", "CLUSTER // share_a" },
      { "row_units", "ceil_div(ceil_div(a_rows, rows), share_b)" },
      { "column_units", "ceil_div(ceil_div(b_rows, COLUMNS), share_a)" },
      { "units", "row_units * column_units" },
      { "slots", "max(1, sm_count * PER_SM // blocks)" },                   -- clusters at once
      { "grid", "ceil_div(units, ceil_div(units, slots)) * blocks" },       -- all of them busy equally long
      { "chunks", "ceil_div(K, " .. box .. " // parts)" },
      { "stage_bytes", "(rows + COLUMNS) * 128" },
      { "slab", "select(COLUMNS % 32 == 0, 32, 16)" },
      { "staging", "select(STORE == 'shared', WARPGROUPS * 16 * select(SWAP, slab * 20, 16 * (slab + 8)), 0)" },
      { "smem", "STAGES * stage_bytes + staging + 8 * (2 * STAGES + 4) + 1024" },
      { "widest", "select(STORE == 'shared', " .. widest .. ", select(SWAP, 1, 2))" },  -- what VEC can be
    },
    constraints = {
      -- The static assertions of wgmma_shared.cu.
      { "SCHEDULE == 'cooperative' or WARPGROUPS == 2", "two warpgroups take turns" },
      { "COLUMNS // slab % SPLIT_K == 0", "each block of a split k finishes whole slabs of columns" },
      { "rows // share_a % 8 == 0 and COLUMNS // share_b % 8 == 0",
        "each block of a cluster copies whole groups of 8 rows" },
      { "rows // share_a <= 256", "a box of a tensor map has at most 256 rows" },
      { "VEC <= widest", "a thread has no more neighbours to store" },
      { "smem <= min(max_shared_per_block, max_shared_per_sm // PER_SM - 1024)",
        "a block has that much shared memory at most" },
      -- What sizes demand.
      { "K % " .. 16 // bytes_of[type] .. " == 0",
        "rows of X and W must begin at a multiple of 16 bytes for the copy engine" },
      { "N % VEC == 0", "rows of Y must begin at a multiple of VEC elements" },
      { "chunks >= SPLIT_K", "each block of a split k needs some of it" },
      { "a_rows + rows * CLUSTER < 2147483648 and b_rows + COLUMNS * CLUSTER < 2147483648 and units < 2147480000",
        "rows, columns and tiles are counted in 32 bits" },
      -- What registers allow.
      { "WARPGROUPS < 3 and PER_SM == 1 or COLUMNS <= 176",
        "an instruction of that width needs more registers than a thread has at first" },
      { "accumulators <= select(WARPGROUPS == 3, 88, select(PER_SM == 2, 128, 176))",
        "registers would spill to memory" },
      -- What cannot be good, but would be right.
      { "share_a <= ceil_div(b_rows, COLUMNS)", "a cluster's blocks would have no columns", search = true },
      { "share_b <= ceil_div(a_rows, rows)", "a cluster's blocks would have no rows", search = true },
      { "rows * COLUMNS >= 128 * 96", "a small tile reads more than it multiplies", search = true },
      { "STAGES * stage_bytes * PER_SM >= 120 * 1024", "too little in flight", search = true },
      { "VEC == widest or N % (2 * VEC) != 0", "wider stores are better where they are possible", search = true },
      { "GROUP <= max(1, column_units)", "there are no more columns of tiles", search = true },
      { "SPLIT_K == 1 or 2 * units <= sm_count", "the tiles alone keep the GPU busy", search = true },
      { "SCHEDULE == 'cooperative' or units > slots", "there are not two tiles to take turns with", search = true },
      { "PER_SM == 1 or units > slots // 2", "there are not two tiles for an SM", search = true },
    },
    workspace = {
      { "sums", "f32", { "grid", "WARPGROUPS * TILES", "64 * COLUMNS" }, when = "SPLIT_K > 1" },
      { "exponents", "i32", { 2 }, when = float and "FORMAT == 'fp16x1' or FORMAT == 'fp16x3'" },
      { "guard", "u32", { 2 }, zero = "once", when = float and converts },
    },
    computes = { { type } },
    steps = {},
  }

  if not float then
    kernel.steps = { multiply("X", "W", false), multiply("W", "X", true) }
    return kernel
  end
  table.insert(kernel.params, 1, { "FORMAT", { "tf32x1", "bf16x1", "fp16x1", "bf16x3", "fp16x3" },
    help = "numbers that are multiplied: the float32 as it is; or, made before, one or two of 16 bits" })
  table.insert(kernel.params, 7, { "PROMOTE_K", { 0, 256, 512, 768, 1024 }, when = three,
    help = "k summed by the tensor cores, which round toward zero, before float32 addition; 0: all" })
  table.insert(kernel.params, { "PROGRAMMATIC", { true, false }, when = converts,
    help = "the kernels start before the ones before them have ended" })
  kernel.computes = {
    { "tf32", when = plain },
    { "bf16", products = "select(parts == 2, 3, 1)", when = "FORMAT == 'bf16x1' or FORMAT == 'bf16x3'" },
    { "f16", products = "select(parts == 2, 3, 1)" },
  }
  table.insert(kernel.let, { "pitch", "select(parts == 2, chunks * 64, ceil_div(K, 8) * 8)" })
  for _, buffer in ipairs {
    { "x16", "f16", { "M", "pitch" }, when = converts },
    { "w16", "f16", { "N", "pitch" }, when = converts },
  } do table.insert(kernel.workspace, buffer) end
  for _, constraint in ipairs {
    { "PROMOTE_K // 32 < chunks // SPLIT_K", "no sums would be promoted", search = true },
    { "FORMAT == 'tf32x1' or min(M, N) >= 256",
      "all of X and W is written and read again before, for few products", search = true },
  } do table.insert(kernel.constraints, constraint) end
  local programmatic = "PROGRAMMATIC and " .. converts
  kernel.steps = {
    launch { "linear_wgmma_convert", when = converts, grid = "8 * sm_count", block = 256,
             args = { "X", "W", "x16", "w16", "exponents", "guard", "M", "N", "K" } },
    multiply("X", "W", false, plain), multiply("W", "X", true, plain),
    multiply("x16", "w16", false, converts, programmatic), multiply("w16", "x16", true, converts, programmatic),
    launch { "linear_fallback", when = converts, grid = "2 * sm_count", block = 256, programmatic = programmatic,
             args = { "X", "W", "Y", "guard", "M", "N", "K", "epilogue" } },
  }
  return kernel
end
