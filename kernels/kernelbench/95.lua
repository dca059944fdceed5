-- KernelBench level 2 problem 95: Matmul, Add, Swish, Tanh, GELU, Hardtanh.
return include "../linear/family.lua" {
  name = "kernelbench_95",
  summary = "Y = clamp(gelu(tanh(v sigmoid(v))), -1, 1), v = X W^T + b + add_value",
  dims = { M = 1024, N = 8192, K = 8192 },
  tensors = { { "add_value", "f32", { "N" }, fill = normal(0, 1) } },
  scalars = { { "hardtanh_min", -1.0 }, { "hardtanh_max", 1.0 } },
  epilogue = "clamp(gelu(tanh((z + add_value[n]) * sigmoid(z + add_value[n]))), hardtanh_min, hardtanh_max)",
  torch = {
    init = { { "in_features", "K" }, { "out_features", "N" }, { "add_value_shape", shape = "add_value" } },
    forward = { { "x", "X" } },
    parameters = { { "matmul", linear = "W", bias = "b" }, { "add_value", "add_value" } },
  },
}
