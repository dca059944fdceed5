-- KernelBench level 2 problem 40: Matmul, Scaling, ResidualAdd. The residual is the product itself.
return include "../linear/family.lua" {
  name = "kernelbench_40",
  summary = "Y = 0.5 z + z, z = X W^T + b",
  dims = { M = 16384, N = 4096, K = 4096 },
  scalars = { { "scaling_factor", 0.5 } },
  epilogue = "z * scaling_factor + z",
  torch = {
    init = { { "in_features", "K" }, { "out_features", "N" }, { "scaling_factor", "scaling_factor" } },
    forward = { { "x", "X" } },
    parameters = { { "matmul", linear = "W", bias = "b" } },
  },
}
