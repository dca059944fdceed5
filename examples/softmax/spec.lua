-- softmax: Y[m, n] = exp(X[m, n]) / sum over n of exp(X[m, n]), float32, row-major. docs/tutorial.md goes through it.
return problem {
  name = "softmax", summary = "Y = softmax of each row of X",
  dims = { { "M", 8192 }, { "N", 4096 } },
  tensors = {
    { "X", "f32", { "M", "N" }, fill = normal(0, 3) },
    { "Y", "f32", { "M", "N" }, output = true },
  },
  reference = kernel {
    source = "reference.cu",
    steps = { launch { "softmax_reference", grid = "M", block = 64, args = { "X", "Y", "M", "N" } } },
  },
  tolerance = { atol = 1e-7, rtol = 1e-5 },
  flops = "5.0*M*N", bytes = "8.0*M*N",
  torch = { forward = { { "x", "X" } }, formula = "torch.softmax(X, dim=1)" },
  kernels = {
    { "rows", source = "softmax.cu", summary = "a row for each LANES threads, one or more rows a block",
      params = {
        { "LANES", { 4, 8, 16, 32, 64, 128, 256, 512, 1024 }, help = "threads that share a row" },
        { "ROWS", { 1, 2, 4, 8, 16 }, help = "rows a block works on at once" },
        { "VEC", { 1, 2, 4 }, help = "floats that a thread moves at once" },
        { "KEEP", { "registers", "shared", "nothing" }, help = "where the row is between reading and writing" },
        { "HELD", { 1, 2, 4, 8, 16 }, when = "KEEP == 'registers'", help = "vectors of the row that a thread holds" },
        { "SUM", { "after_max", "online" }, when = "KEEP != 'registers'",
          help = "the sum in a pass of its own, or in one pass with the maximum" },
        { "EXP", { "precise", "fast" }, help = "expf, or the hardware's approximation" },
      },
      let = { { "threads", "LANES * ROWS" } },
      constraints = {
        { "threads <= max_threads_per_block", "a block has that many threads at most" },
        { "threads >= 32", "less than a warp wastes the rest of it" },
        { "N % VEC == 0", "a row begins at a whole vector" },
        { "KEEP != 'registers' or LANES * VEC * HELD >= N", "the row must fit the registers that hold it" },
        { "KEEP != 'registers' or VEC * HELD <= 32", "a thread has too few registers for more" },
        { "KEEP != 'shared' or ROWS * N * 4 <= max_shared_per_block", "the rows must fit shared memory" },
        { "KEEP != 'registers' or HELD == 1 or LANES * VEC * (HELD // 2) < N", "half as many would do", search = true },
        { "LANES * VEC < 2 * N", "most threads would have nothing to do", search = true },
      },
      steps = {
        launch { "softmax_rows", grid = "ceil_div(M, ROWS)", block = { "LANES", "ROWS" },
                 shared = "select(KEEP == 'shared', ROWS * N * 4, 0)", args = { "X", "Y", "M", "N" } },
      },
    },
  },
  baselines = {
    { "plain", source = "plain.cu", summary = "what one writes first: a block a row, three passes over it",
      steps = { launch { "softmax_plain", grid = "M", block = 256, args = { "X", "Y", "M", "N" } } } },
  },
}
