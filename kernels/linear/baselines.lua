-- What the kernels of this family are compared with: cuBLAS, and the plainest epilogue.

local z = { { "Z", "f32", { "M", "N" } } }
local plain = launch { "linear_epilogue_plain", grid = "ceil_div(M * N, 256)", block = 256,
                       args = { "Z", "Y", "M", "N", "epilogue" } }

return {
  { "sgemm", source = beside "plain.cu", summary = "cuBLAS SGEMM, then a plain epilogue kernel", workspace = z,
    steps = { gemm { "X", "W", "Z", trans_b = true }, plain } },
  { "sgemm_tf32", source = beside "plain.cu", summary = "the same with TF32 allowed", workspace = z,
    steps = { gemm { "X", "W", "Z", trans_b = true, compute = "tf32" }, plain } },
  { "sgemm_alone", summary = "cuBLAS SGEMM without the epilogue", workspace = z, checked = false,
    steps = { gemm { "X", "W", "Z", trans_b = true } } },
}
