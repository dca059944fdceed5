-- What the kernels of this family are compared with: cuBLAS, and the plainest epilogue.
--
-- Returns a function that makes them for matrices of a type and Y of a type. Of 16-bit matrices, gemm is what is done
-- commonly: the product is rounded to Y's type before the bias is added, and Y once more.

local function plain(function_name)
  return launch { function_name, grid = "ceil_div(M * N, 256)", block = 256, args = { "Z", "Y", "M", "N", "epilogue" } }
end

local function product(type) return { { "Z", type, { "M", "N" } } } end

local sgemm = {
  { "sgemm", source = beside "plain.cu", summary = "cuBLAS SGEMM, then a plain epilogue kernel",
    workspace = product "f32", steps = { gemm { "X", "W", "Z", trans_b = true }, plain "linear_epilogue_plain" } },
  { "sgemm_tf32", source = beside "plain.cu", summary = "the same with TF32 allowed", workspace = product "f32",
    steps = { gemm { "X", "W", "Z", trans_b = true, compute = "tf32" }, plain "linear_epilogue_plain" } },
  { "sgemm_alone", summary = "cuBLAS SGEMM without the epilogue", workspace = product "f32", checked = false,
    steps = { gemm { "X", "W", "Z", trans_b = true } } },
}

return function(type, output)
  if type == "f32" then return sgemm end
  local list = {
    { "gemm", source = beside "plain.cu", summary = "cuBLAS GEMM of " .. type .. ", then a plain epilogue kernel",
      workspace = product(output), steps = { gemm { "X", "W", "Z", trans_b = true }, plain "linear_epilogue_plain" } },
    { "gemm_alone", summary = "cuBLAS GEMM without the epilogue", workspace = product(output), checked = false,
      steps = { gemm { "X", "W", "Z", trans_b = true } } },
  }
  if output ~= "f32" then
    table.insert(list, 2, { "gemm_wide", source = beside "plain.cu", summary = "the same, with a product of float32",
                            workspace = product "f32",
                            steps = { gemm { "X", "W", "Z", trans_b = true }, plain "linear_epilogue_wide" } })
  end
  return list
end
