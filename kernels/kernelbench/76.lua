-- KernelBench level 2 problem 76: Gemm, Add, ReLU. The linear layer has no bias; a parameter of its own is added.
return include "../linear/family.lua" {
  name = "kernelbench_76",
  summary = "Y = relu(z + bias), z = X W^T",
  dims = { M = 1024, N = 8192, K = 8192 },
  bias = false,
  tensors = { { "bias", "f32", { "N" }, fill = normal(0, 1) } },
  epilogue = "max(z + bias[n], 0)",
  torch = {
    init = { { "in_features", "K" }, { "out_features", "N" }, { "bias_shape", shape = "bias" } },
    forward = { { "x", "X" } },
    parameters = { { "gemm", linear = "W" }, { "bias", "bias" } },
  },
}
