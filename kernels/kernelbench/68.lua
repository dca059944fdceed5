-- KernelBench level 2 problem 68: Matmul, Min, Subtract. The constant is a parameter, so it is a tensor.
return include "../linear/family.lua" {
  name = "kernelbench_68",
  summary = "Y = min(z, c) - c, c = 2, z = X W^T + b",
  dims = { M = 128, N = 16384, K = 16384 },
  tensors = { { "constant", "f32", { 1 }, fill = uniform(2, 2) } },
  epilogue = "min(z, constant[0]) - constant[0]",
  torch = {
    init = { { "in_features", "K" }, { "out_features", "N" }, { "constant", value = "constant" } },
    forward = { { "x", "X" } },
    parameters = { { "linear", linear = "W", bias = "b" }, { "constant", "constant" } },
  },
}
