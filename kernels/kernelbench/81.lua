-- KernelBench level 2 problem 81: Gemm, Swish, Divide, Clamp, Tanh, Clamp.
return include "../linear/family.lua" {
  name = "kernelbench_81",
  summary = "Y = clamp(tanh(clamp(z sigmoid(z) / 2, -1, 1)), -1, 1), z = X W^T + b",
  dims = { M = 1024, N = 8192, K = 8192 },
  scalars = { { "divisor", 2.0 }, { "clamp_min", -1.0 }, { "clamp_max", 1.0 } },
  epilogue = "clamp(tanh(clamp(z * sigmoid(z) * (1 / divisor), clamp_min, clamp_max)), clamp_min, clamp_max)",
  torch = {
    init = { { "in_features", "K" }, { "out_features", "N" }, { "bias", bias = "b", default = true } },
    forward = { { "x", "X" } },
    parameters = { { "gemm", linear = "W", bias = "b" } },
  },
}
