-- epilogue: a GEMM by cuBLAS, then one fused kernel.
--
-- Returns a function that makes it for Y of a type: "f32", "f16" or "bf16". The GEMM's result is float32 for all of
-- them: rounded to 16 bits before the bias is added it would lose what cancels, and be infinite where Y need not be.

-- As many blocks as the work needs, or a fixed number that share it.
local function blocks(needed)
  return string.format("select(GRID == 'one_shot', %s, min(%s, PER_SM * sm_count))", needed, needed)
end

local function pass(from, when)
  return launch { "linear_epilogue", when = when, grid = blocks "ceil_div(ceil_div(M, ITEMS) * (N // VEC), BLOCK)",
                  block = "BLOCK", args = { from, "Y", "M", "N", "epilogue" } }
end

return function(type)
  local narrow = type ~= "f32"      -- then the GEMM cannot write to Y
  local to_z = narrow and "not TRANSPOSED" or "not TRANSPOSED and not IN_PLACE"
  local kernel = {
    "epilogue", source = beside "epilogue.cu", summary = "a cuBLAS GEMM, then one fused kernel",
    params = {
      { "TRANSPOSED", { false, true }, help = "the GEMM computes W X^T, and the kernel turns it over; or X W^T" },
      { "VEC", narrow and { 1, 2, 4, 8 } or { 1, 2, 4 }, help = "elements that a global load or store moves" },
      { "ITEMS", { 1, 2, 4, 8, 16 }, when = "not TRANSPOSED", help = "rows that a thread computes" },
      { "TILE_M", { 32, 64, 128 }, when = "TRANSPOSED", help = "rows of Y in the tile turned over in shared memory" },
      { "TILE_N", { 32, 64, 128 }, when = "TRANSPOSED", help = "columns of Y in that tile" },
      { "BLOCK", { 64, 128, 256, 512, 1024 }, help = "threads a block" },
      { "GRID", { "one_shot", "grid_stride" }, help = "as many blocks as there is work, or a fixed number that loop" },
      { "PER_SM", { 1, 2, 4, 8, 16 }, when = "GRID == 'grid_stride'", help = "blocks an SM that loop" },
    },
    let = {
      { "smem", "select(TRANSPOSED, TILE_N * (TILE_M + 1) * 4, 0)" },
    },
    constraints = {
      -- The static assertions of epilogue.cu; test/cli/linear.bats proves that they agree.
      { "BLOCK <= max_threads_per_block", "a block has that many threads at most" },
      { "not TRANSPOSED or TILE_M * TILE_N % (BLOCK * VEC) == 0", "each warp must move as many pieces of the tile" },
      -- What device and size demand.
      { "N % VEC == 0", "rows of Y must begin at a multiple of VEC elements" },
      { "not TRANSPOSED or M % VEC == 0", "rows of the transposed product must begin at a multiple of VEC elements" },
      { "smem <= max_shared_per_block", "a block has that much shared memory at most" },
      -- What cannot be good, but would be right.
      { "not TRANSPOSED or TILE_M * TILE_N <= 32 * BLOCK",
        "a thread holds its part of the tile in registers", search = true },
      { "ITEMS * VEC <= 32", "a thread holds its elements in registers", search = true },
      { "GRID == 'one_shot' or PER_SM * BLOCK <= max_threads_per_sm",
        "an SM does not hold so many threads", search = true },
    },
    workspace = {
      { "Z", "f32", { "M", "N" }, when = to_z },
      { "Zt", "f32", { "N", "M" }, when = "TRANSPOSED" },
    },
    steps = {
      gemm { "X", "W", "Z", trans_b = true, when = to_z },
      gemm { "W", "X", "Zt", trans_b = true, when = "TRANSPOSED" },
      pass("Z", to_z),
      launch { "linear_epilogue_transposed", when = "TRANSPOSED", block = "BLOCK", shared = "smem",
               grid = blocks "ceil_div(M, TILE_M) * ceil_div(N, TILE_N)", args = { "Zt", "Y", "M", "N", "epilogue" } },
    },
  }
  if not narrow then
    local to_y = "not TRANSPOSED and IN_PLACE"
    table.insert(kernel.params, 2, { "IN_PLACE", { false, true }, when = "not TRANSPOSED",
                                     help = "the GEMM writes to Y, and the kernel works there" })
    table.insert(kernel.steps, gemm { "X", "W", "Y", trans_b = true, when = to_y })
    table.insert(kernel.steps, pass("Y", to_y))
  end
  return kernel
end
