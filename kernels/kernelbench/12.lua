-- KernelBench level 2 problem 12: Gemm, Multiply, LeakyReLU.
return include "../linear/family.lua" {
  name = "kernelbench_12",
  summary = "Y = leaky_relu(2 z), slope 0.1, z = X W^T + b",
  dims = { M = 1024, N = 8192, K = 8192 },
  scalars = { { "multiplier", 2.0 }, { "negative_slope", 0.1 } },
  epilogue = "select(z * multiplier > 0, z * multiplier, negative_slope * (z * multiplier))",
  torch = {
    init = { { "in_features", "K" }, { "out_features", "N" },
             { "multiplier", "multiplier" }, { "negative_slope", "negative_slope" } },
    forward = { { "x", "X" } },
    parameters = { { "gemm", linear = "W", bias = "b" } },
  },
}
