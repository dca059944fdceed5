-- KernelBench level 2 problem 86: Matmul, Divide, GELU.
return include "../linear/family.lua" {
  name = "kernelbench_86",
  summary = "Y = gelu(z / 10), z = X W^T + b",
  dims = { M = 1024, N = 8192, K = 8192 },
  scalars = { { "divisor", 10.0 } },
  check = normal(0, 16),    -- z / 10 is about normal(0, 0.9): more than GELU's middle, where it is nearly a parabola
  epilogue = "gelu(z * (1 / divisor))",
  torch = {
    init = { { "input_size", "K" }, { "output_size", "N" }, { "divisor", "divisor" } },
    forward = { { "x", "X" } },
    parameters = { { "linear", linear = "W", bias = "b" } },
  },
}
