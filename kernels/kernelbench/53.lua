-- KernelBench level 2 problem 53: Gemm, Scaling, Hardtanh, GELU.
return include "../linear/family.lua" {
  name = "kernelbench_53",
  summary = "Y = gelu(clamp(0.5 z, -2, 2)), z = X W^T + b",
  dims = { M = 2048, N = 8192, K = 8192 },
  scalars = { { "scaling_factor", 0.5 }, { "hardtanh_min", -2.0 }, { "hardtanh_max", 2.0 } },
  epilogue = "gelu(clamp(z * scaling_factor, hardtanh_min, hardtanh_max))",
  torch = {
    init = { { "in_features", "K" }, { "out_features", "N" },
             { "scaling_factor", "scaling_factor" }, { "hardtanh_min", "hardtanh_min" },
             { "hardtanh_max", "hardtanh_max" } },
    forward = { { "x", "X" } },
    parameters = { { "gemm", linear = "W", bias = "b" } },
  },
}
