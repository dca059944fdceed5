-- A problem whose epilogue hides every product of its fills: z is about normal(0, 1/3), and Y is 0 below z = 2. Returns
-- a function that makes it, with other values of X to verify on or none.
return function(name, check)
  return problem {
    name = name, summary = "Y = relu((z - 2) 1.5), z = X W^T, by kernels that are wrong where it is 0",
    dims = { { "M", 256 }, { "N", 128 }, { "K", 128 } },
    tensors = {
      { "X", "f32", { "M", "K" }, check = check },
      { "W", "f32", { "N", "K" }, fill = uniform("-1/sqrt(K)", "1/sqrt(K)") },
      { "Y", "f32", { "M", "N" }, output = true },
    },
    epilogue = "max((z - 2) * 1.5, 0)",
    reference = gemm { "X", "W", "Y", trans_b = true },
    tolerance = { atol = 1e-4, rtol = 1e-4, times_sgemm_error = 2 },
    kernels = {
      { "hides", source = beside "hides.cu",
        params = { { "BUG", { "none", "f16", "clipped", "nothing", "on_fills", "f16_on_fills", "stray" } } },
        steps = {
          launch { "hides", grid = { "ceil_div(N, 16)", "ceil_div(M, 16)" }, block = { 16, 16 },
                   args = { "X", "W", "Y", "M", "N", "K", "epilogue" } },
        },
      },
    },
    baselines = {
      { "tf32", source = beside "hides.cu", workspace = { { "Z", "f32", { "M", "N" } } },
        steps = {
          gemm { "X", "W", "Z", trans_b = true, compute = "tf32" },
          launch { "finish", grid = "ceil_div(M*N, 256)", block = 256, args = { "Z", "Y", "M", "N", "epilogue" } },
        },
      },
    },
  }
end
