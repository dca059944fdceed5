-- KernelBench level 2 problem 86: Matmul, Divide, GELU.
return include "../linear/family.lua" {
  name = "kernelbench_86",
  summary = "Y = gelu(z / 10), z = X W^T + b",
  dims = { M = 1024, N = 8192, K = 8192 },
  scalars = { { "divisor", 10.0 } },
  epilogue = "gelu(z * (1 / divisor))",
  torch = {
    init = { { "input_size", "K" }, { "output_size", "N" }, { "divisor", "divisor" } },
    forward = { { "x", "X" } },
    parameters = { { "linear", linear = "W", bias = "b" } },
  },
}
