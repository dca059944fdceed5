-- KernelBench level 2 problem 70: Gemm, Sigmoid, Scaling, ResidualAdd. The residual is the product itself.
return include "../linear/family.lua" {
  name = "kernelbench_70",
  summary = "Y = 2 sigmoid(z) + z, z = X W^T + b",
  dims = { M = 1024, N = 8192, K = 8192 },
  scalars = { { "scaling_factor", 2.0 } },
  epilogue = "sigmoid(z) * scaling_factor + z",
  torch = {
    init = { { "input_size", "K" }, { "hidden_size", "N" }, { "scaling_factor", "scaling_factor" } },
    forward = { { "x", "X" } },
    parameters = { { "gemm", linear = "W", bias = "b" } },
  },
}
