-- KernelBench level 2 problem 9: Matmul, Subtract, Multiply, ReLU.
return include "../linear/family.lua" {
  name = "kernelbench_9",
  summary = "Y = relu((z - 2) 1.5), z = X W^T + b",
  dims = { M = 1024, N = 8192, K = 8192 },
  scalars = { { "subtract_value", 2.0 }, { "multiply_value", 1.5 } },
  epilogue = "max((z - subtract_value) * multiply_value, 0)",
  torch = {
    init = { { "in_features", "K" }, { "out_features", "N" },
             { "subtract_value", "subtract_value" }, { "multiply_value", "multiply_value" } },
    forward = { { "x", "X" } },
    parameters = { { "linear", linear = "W", bias = "b" } },
  },
}
