-- 16-bit tensors: matrices and a residual of type IN, the output of type OUT, a bias of type BIAS, by a plain kernel
-- with planted bugs.
local roundoff = { f16 = 2.0 ^ -11, bf16 = 2.0 ^ -8, f32 = 2.0 ^ -24 }

local function finish(function_name)
  return launch { function_name, grid = "ceil_div(M * N, 64)", block = 64, args = { "Z", "Y", "M", "N", "epilogue" } }
end

return function(name, IN, OUT, BIAS)
  local tolerance = 4 * roundoff[OUT] + 1e-6
  return problem {
    name = name, summary = "Y = max(z, 0) + R, z = X W^T + b, from " .. IN .. " to " .. OUT,
    dims = { { "M", 5 }, { "N", 7 }, { "K", 9 } },
    tensors = {
      { "X", IN, { "M", "K" }, fill = uniform(-1, 1) },
      { "W", IN, { "N", "K" }, fill = normal(0, 0.3) },
      { "b", BIAS, { "N" }, fill = uniform(0, 1) },
      { "R", IN, { "M", "N" }, fill = uniform(0, 2) },
      { "Y", OUT, { "M", "N" }, output = true },
    },
    epilogue = "max(z, 0) + R[m, n]",
    reference = gemm { "X", "W", "Y", trans_b = true, bias = "b" },
    tolerance = { atol = tolerance, rtol = tolerance, times_sgemm_error = 2 },
    flops = "2.0*M*N*K",
    kernels = {
      { "plain", source = "narrow.cu",
        params = { { "BUG", { "none", "one_wrong", "last", "past", "before", "input" } } },
        steps = {
          launch { "narrow", grid = "ceil_div(M * N, 64)", block = 64,
                   args = { "X", "W", "Y", "M", "N", "K", "epilogue" } },
        },
      },
      { "library", source = "narrow_finish.cu", workspace = { { "Z", IN, { "M", "N" } } },
        steps = { gemm { "X", "W", "Z", trans_b = true, compute = "f32" }, finish "finish_narrow" } },
    },
    baselines = {
      { "gemm", source = "narrow_finish.cu", workspace = { { "Z", "f32", { "M", "N" } } },
        steps = { gemm { "X", "W", "Z", trans_b = true }, finish "finish_wide" } },
    },
  }
end
