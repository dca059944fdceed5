-- Products that are off by little: what rounds more than the tolerance allows, and what only looks like it.
return problem {
  name = "near", summary = "Y = X W^T, by kernels that are slightly wrong",
  dims = { { "M", 64 }, { "N", 96 }, { "K", 256 } },
  tensors = {
    { "X", "f32", { "M", "K" } },
    { "W", "f32", { "N", "K" }, fill = uniform("-1/sqrt(K)", "1/sqrt(K)") },
    { "Y", "f32", { "M", "N" }, output = true },
  },
  reference = gemm { "X", "W", "Y", trans_b = true },
  tolerance = { atol = 1e-4, rtol = 1e-4, times_sgemm_error = 2 },
  kernels = {
    { "near", source = "near.cu",
      params = {
        { "BUG", { "none", "tf32", "bf16", "bf16_cut", "one_off", "column", "row", "tile", "dropped_k", "unwritten",
                   "nan", "unsteady", "tired", "fp4" } },
      },
      steps = {
        launch { "near", grid = { "ceil_div(N, 16)", "ceil_div(M, 16)" }, block = { 16, 16 },
                 args = { "X", "W", "Y", "M", "N", "K" } },
      },
    },
  },
  baselines = {
    { "tf32", steps = { gemm { "X", "W", "Y", trans_b = true, compute = "tf32" } } },
  },
}
