-- Kernels that are right on ordinary inputs, and wrong on some that float32 can hold.
return problem {
  name = "hard", summary = "Y = X W^T, by kernels that only ordinary inputs are right with",
  dims = { { "M", 64 }, { "N", 64 }, { "K", 96 } },
  tensors = {
    { "X", "f32", { "M", "K" } },
    { "W", "f32", { "N", "K" }, fill = uniform("-1/sqrt(K)", "1/sqrt(K)") },
    { "Y", "f32", { "M", "N" }, output = true },
  },
  reference = gemm { "X", "W", "Y", trans_b = true },
  tolerance = { atol = 1e-4, rtol = 1e-4, frobenius = 1e-5 },
  kernels = {
    { "hard", source = "hard.cu",
      params = { { "FAULT", { "none", "flush", "bf16_pair", "f16_pair", "drop_nan", "skip_zero", "one_wrong" } } },
      steps = {
        launch { "hard", grid = { "ceil_div(N, 16)", "ceil_div(M, 16)" }, block = { 16, 16 },
                 args = { "X", "W", "Y", "M", "N", "K" } },
      },
    },
  },
  baselines = {
    { "sgemm", steps = { gemm { "X", "W", "Y", trans_b = true } } },
    { "alone", checked = false, steps = { gemm { "X", "W", "Y", trans_b = true } } },
  },
}
