-- All that a launch can say, by a small kernel for sm_90 and later: y = 2 x, seen as a matrix.
local shape = { "select(VIEW, 2 * M, M)", "select(VIEW, N // 2, N)" }

local function map(name)
  return tensor_map { name, shape = shape, box = { "ROWS", "COLS" }, swizzle = "SWIZZLE", l2 = "L2" }
end

return problem {
  name = "boxes", summary = "y = 2 x, by tensor maps, clusters and programmatic launches",
  dims = { { "M", 1000 }, { "N", 1032 } },
  tensors = {
    { "x", "f32", { "M", "N" }, fill = uniform(-1, 1) },
    { "y", "f32", { "M", "N" }, output = true },
  },
  reference = kernel {
    source = "faults_reference.cu",
    steps = { launch { "scale_reference", grid = "ceil_div(M * N, 64)", block = 64, args = { "x", "y", "M * N" } } },
  },
  tolerance = { atol = 1e-6, rtol = 1e-6 },
  flops = "M*N", bytes = "8*M*N",
  kernels = {
    { "tma", source = "launch.cu", summary = "boxes by the tensor memory accelerator",
      requires = { { "sm >= 90", "needs TMA, clusters and programmatic launches" } },
      params = {
        { "ROWS", { 8, 64, 256 } },
        { "COLS", { 8, 16, 32, 64 } },
        { "SWIZZLE", { 0, 32, 64, 128 } },
        { "L2", { 0, 64, 128, 256 } },
        { "CLUSTER", { 1, 2, 4 } },
        { "PREPARE", { true, false } },
        { "OVERLAP", { false, true }, when = "PREPARE" },
        { "STORE", { "tma", "threads" } },
        { "VIEW", { false, true } },
        { "PERSIST", { false, true } },
      },
      constraints = {
        { "SWIZZLE == 0 or COLS * 4 == SWIZZLE", "a row of the box is as long as the swizzle" },
        { "N % 8 == 0", "rows, and half rows, lie a multiple of 16 bytes apart" },
      },
      workspace = { { "factor", "f32", { 1 }, when = "PREPARE" } },
      steps = {
        launch { "launch_factor", when = "PREPARE", grid = 1, block = 32, args = { "factor" } },
        launch { "launch_scale",
                 grid = { "CLUSTER * ceil_div(select(VIEW, N // 2, N), COLS * CLUSTER)",
                          "ceil_div(select(VIEW, 2 * M, M), ROWS)" },
                 block = 128, cluster = "CLUSTER", shared = "ROWS * COLS * 4 + 1024",
                 programmatic = "PREPARE and OVERLAP",
                 l2_window = { "x", hit = "persisting", miss = "streaming", ratio = 0.5, when = "PERSIST" },
                 args = { map "x", map "y", "y", "factor", shape[1], shape[2] } },
      },
    },
  },
}
