-- What the kernels of this family are compared with: cuBLAS, and the plainest epilogue.
--
-- Returns a function that makes them for matrices of a type and Y of a type. Of 16-bit matrices, gemm is what is done
-- commonly: the product is rounded to Y's type before the bias is added, and Y once more.

local function plain(function_name)
  return launch { function_name, grid = "ceil_div(M * N, 256)", block = 256, args = { "Z", "Y", "M", "N", "epilogue" } }
end

local function product(type) return { { "Z", type, { "M", "N" } } } end

local function with_plain(name, summary, compute)
  return { name, source = beside "plain.cu", summary = summary, workspace = product "f32",
           steps = { gemm { "X", "W", "Z", trans_b = true, compute = compute }, plain "linear_epilogue_plain" } }
end

local function alone(name, summary, compute)
  return { name, summary = summary, workspace = product "f32", checked = false,
           steps = { gemm { "X", "W", "Z", trans_b = true, compute = compute } } }
end

local sgemm = {
  with_plain("sgemm", "cuBLAS SGEMM, then a plain epilogue kernel"),
  with_plain("sgemm_tf32", "the same with TF32 allowed", "tf32"),
  alone("sgemm_alone", "cuBLAS SGEMM without the epilogue"),
  -- For those who compare formats: each would take its time of every campaign.
  with_plain("sgemm_bf16", "the same with bf16 allowed for the products", "bf16"),
  with_plain("sgemm_f16", "the same with f16 allowed for the products", "f16"),
  alone("sgemm_tf32_alone", "the GEMM with TF32 allowed, without the epilogue", "tf32"),
  alone("sgemm_bf16_alone", "the GEMM with bf16 allowed, without the epilogue", "bf16"),
  alone("sgemm_f16_alone", "the GEMM with f16 allowed, without the epilogue", "f16"),
}
for i = 4, #sgemm do sgemm[i].usual = false end

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
