-- linear: Y = epilogue(X W^T + b), float32, row-major; KernelBench level 2 problem 59 by default.
-- Another activation is another `epilogue`; every kernel fuses it, and the verifier evaluates it in double.

local rows_fit = "BM % TM == 0 and BN % TN == 0"

return problem {
  name = "linear",
  summary = "Y = s z sigmoid(z), z = X W^T + b",
  dims = { { "M", 128 }, { "N", 32768 }, { "K", 32768 } },
  scalars = { { "s", 2.0 } },
  tensors = {
    { "X", "f32", { "M", "K" }, fill = uniform(0, 1) },
    { "W", "f32", { "N", "K" }, fill = uniform("-1/sqrt(K)", "1/sqrt(K)") },   -- nn.Linear's initial distribution
    { "b", "f32", { "N" }, fill = uniform("-1/sqrt(K)", "1/sqrt(K)") },
    { "Y", "f32", { "M", "N" }, output = true },
  },
  epilogue = "s * z * sigmoid(z)",
  reference = gemm { "X", "W", "Y", trans_b = true, bias = "b" },
  tolerance = { atol = 1e-4, rtol = 1e-4, times_sgemm_error = 2 },
  flops = "2.0*M*N*K",
  bytes = "4.0*(M*K + N*K + N + M*N)",
  kernels = {
    -- (example of the format; the kernels' owner replaces these)
    { "simt", source = "simt.cu", summary = "one fused fp32 FMA kernel",
      requires = { "sm >= 70 or sm == 0" },
      params = {
        { "BM", { 32, 64, 128 }, help = "rows of the block tile" },
        { "SPLIT_K", { 1, 2, 4 }, help = "blocks that share a tile's K" },
        { "REDUCE", { "second_kernel", "last_block" }, when = "SPLIT_K > 1" },
      },
      let = { { "threads", "BM // 2" }, { "smem", "BM * 32 * 4" } },
      constraints = { { "threads <= max_threads_per_block", "a block has that many threads at most" }, "smem <= max_shared_per_block" },
      workspace = { { "partial", "f32", { "SPLIT_K", "M", "N" }, when = "SPLIT_K > 1" },
                    { "tickets", "u32", { "ceil_div(M, BM)" }, when = "SPLIT_K > 1", zero = "once" } },
      steps = {
        launch { "linear_simt", grid = { "ceil_div(N, BM)", "ceil_div(M, BM)", "SPLIT_K" }, block = "threads", shared = "smem",
                 args = { "X", "W", "Y", "partial", "tickets", "M", "N", "K", "epilogue" } },
        launch { "linear_reduce", when = "SPLIT_K > 1 and REDUCE == 'second_kernel'", grid = "ceil_div(M*N, 256)", block = 256,
                 args = { "partial", "Y", "M", "N", "epilogue" } },
      },
    },
  },
  baselines = {
    -- a kernel whose parameters have one value each (usually none); `eligible` is implied false
    { "cublas_sgemm", source = "epilogue.cu", summary = "cuBLAS SGEMM, then a plain epilogue kernel",
      workspace = { { "Z", "f32", { "M", "N" } } },
      steps = { gemm { "X", "W", "Z", trans_b = true },
                launch { "linear_epilogue_plain", grid = "ceil_div(M*N, 256)", block = 256, args = { "Z", "Y", "M", "N", "epilogue" } } } },
    { "cublas_tf32", source = "epilogue.cu", summary = "the same with TF32 allowed",
      workspace = { { "Z", "f32", { "M", "N" } } },
      steps = { gemm { "X", "W", "Z", trans_b = true, compute = "tf32" },
                launch { "linear_epilogue_plain", grid = "ceil_div(M*N, 256)", block = 256, args = { "Z", "Y", "M", "N", "epilogue" } } } },
    { "cublas_sgemm_alone", summary = "cuBLAS SGEMM without the epilogue", checked = false,
      workspace = { { "Z", "f32", { "M", "N" } } },
      steps = { gemm { "X", "W", "Z", trans_b = true } } },
  },
}
