-- KernelBench level 2 problem 63: Gemm, ReLU, Divide.
return include "../linear/family.lua" {
  name = "kernelbench_63",
  summary = "Y = relu(z) / 2, z = X W^T + b",
  dims = { M = 1024, N = 8192, K = 8192 },
  scalars = { { "divisor", 2.0 } },
  epilogue = "max(z, 0) * (1 / divisor)",
  torch = {
    init = { { "in_features", "K" }, { "out_features", "N" }, { "divisor", "divisor" } },
    forward = { { "x", "X" } },
    parameters = { { "linear", linear = "W", bias = "b" } },
  },
}
