-- KernelBench level 2 problem 29: Matmul, Mish, Mish.
return include "../linear/family.lua" {
  name = "kernelbench_29",
  summary = "Y = mish(mish(z)), z = X W^T + b",
  dims = { M = 1024, N = 8192, K = 8192 },
  epilogue = "mish(mish(z))",
  torch = {
    init = { { "in_features", "K" }, { "out_features", "N" } },
    forward = { { "x", "X" } },
    parameters = { { "linear", linear = "W", bias = "b" } },
  },
}
