-- KernelBench level 2 problem 59: Matmul, Swish, Scaling.
return include "../linear/family.lua" {
  name = "kernelbench_59",
  summary = "Y = 2 z sigmoid(z), z = X W^T + b",
  dims = { M = 128, N = 32768, K = 32768 },
  scalars = { { "scaling_factor", 2.0 } },
  epilogue = "scaling_factor * z * sigmoid(z)",
  torch = {
    init = { { "in_features", "K" }, { "out_features", "N" }, { "scaling_factor", "scaling_factor" } },
    forward = { { "x", "X" } },
    parameters = { { "matmul", linear = "W", bias = "b" } },
  },
}
