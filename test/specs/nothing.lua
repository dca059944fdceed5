-- A reference of zeros, which no error is relative to.
return problem {
  name = "nothing", summary = "y = 0",
  dims = { { "N", 40 } },
  tensors = { { "x", "f32", { "N" } }, { "y", "f32", { "N" }, output = true } },
  reference = kernel {
    source = "nothing.cu",
    steps = { launch { "nothing_reference", grid = 1, block = 64, args = { "y", "N" } } },
  },
  tolerance = { atol = 1e-6, rtol = 1e-6, frobenius = 1e-5 },
  kernels = {
    { "nothing", source = "nothing.cu", params = { { "GIVES", { 0.0, 1e-12, 1e-3 } } },
      steps = { launch { "nothing", grid = 1, block = 64, args = { "y", "N" } } } },
  },
}
