-- The guard of kernels/linear: products of 16-bit parts, noticed where they cannot answer for a result, and the
-- fallback. What wgmma does on GPUs only, a thread an element here, from the very tiles that linear_wgmma_split makes.
local function split(matrix, rows, streamed)
  return launch { "linear_wgmma_split", when = "STREAM == '" .. streamed .. "'", block = 256,
                  grid = "ceil_div(padded_rows // 8 * ceil_div(K, 256), 8)",
                  args = { matrix, "tiles", "exponent", "guard", rows, "padded_rows", "K" } }
end
local function multiply(streamed)
  return launch { "guarded_multiply", when = "STREAM == '" .. streamed .. "'", grid = "ceil_div(M * N, 256)",
                  block = 256,
                  args = { streamed, "tiles", "exponent", "guard", "Y", "M", "N", "K", "epilogue" } }
end

return problem {
  name = "guarded", summary = "Y = relu(X W^T + b), by parts of 16 bits with a guard",
  dims = { { "M", 40 }, { "N", 57 }, { "K", 300 } },
  tensors = {
    { "X", "f32", { "M", "K" } },
    { "W", "f32", { "N", "K" }, fill = uniform("-1/sqrt(K)", "1/sqrt(K)") },
    { "b", "f32", { "N" } },
    { "Y", "f32", { "M", "N" }, output = true },
  },
  epilogue = "max(z, 0)",
  reference = gemm { "X", "W", "Y", trans_b = true, bias = "b" },
  tolerance = { atol = 1e-4, rtol = 1e-4, times_sgemm_error = 100 },
  kernels = {
    { "guarded", source = "guarded.cu",
      params = {
        { "FORMAT", { "bf16x3", "fp16x3", "fp16x3s", "bf16x1", "fp16x1" } },
        { "STREAM", { "W", "X" } },
        { "COLUMNS", { 16, 48 } },
        { "FAULT", { "none", "no_fallback", "sums_unseen" } },
      },
      let = {
        { "shared_rows", "select(STREAM == 'W', M, N)" },
        { "padded_rows", "ceil_div(shared_rows, COLUMNS) * COLUMNS" },
      },
      constraints = { { "K % 4 == 0", "rows must begin at a multiple of 16 bytes" } },
      workspace = {
        { "tiles", "u8", { "padded_rows", "ceil_div(K, 32)", 128 } },
        { "exponent", "i32", { 1 } },
        { "guard", "u32", { 2 }, zero = "once" },
      },
      steps = {
        split("X", "M", "W"), split("W", "N", "X"), multiply("W"), multiply("X"),
        launch { "linear_fallback", when = "FAULT != 'no_fallback'", grid = 3, block = 256,
                 args = { "X", "W", "Y", "guard", "M", "N", "K", "epilogue" } },
        launch { "guarded_lower", when = "FAULT == 'no_fallback'", grid = 1, block = 1, args = { "guard" } },
      },
    },
  },
}
