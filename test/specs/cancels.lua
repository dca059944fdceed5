-- Sums whose terms cancel, by a reference that is a kernel: lathe does not know what it sums.
local type = setting { "type", { "f32", "f16", "bf16" } }
local limit = type == "f32" and 1e-5 or 1e-2
return problem {
  name = "cancels", summary = "y = x w, by a kernel",
  dims = { { "M", 500 }, { "N", 2000 } },
  tensors = {
    { "x", type, { "M", "N" }, fill = uniform(-1, 1) },
    { "w", type, { "N" }, fill = uniform(-1, 1) },
    { "y", type, { "M" }, output = true },
  },
  reference = kernel {
    source = "cancels.cu",
    steps = {
      launch { "cancels_reference", grid = "ceil_div(M, 64)", block = 64, args = { "x", "w", "y", "M", "N" } },
    },
  },
  tolerance = { atol = 100 * limit, rtol = limit, frobenius = limit },
  kernels = {
    { "cancels", source = "cancels.cu",
      params = { { "WAY", { "forward", "backward", "parts", "flush", "bf16", "missing", "zeros", "one_wrong" } } },
      steps = { launch { "cancels", grid = "ceil_div(M, 64)", block = 64, args = { "x", "w", "y", "M", "N" } } },
    },
  },
}
