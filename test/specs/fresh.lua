-- A kernel that is right only for some inputs: y = 2 x where x[0] is not positive.
return problem {
  name = "fresh", summary = "y = 2 x, wrong where x[0] > 0",
  dims = { { "N", 100 } },
  tensors = { { "x", "f32", { "N" }, fill = uniform(-1, 1) }, { "y", "f32", { "N" }, output = true } },
  reference = kernel {
    source = "faults_reference.cu",
    steps = { launch { "scale_reference", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N" } } },
  },
  tolerance = { atol = 1e-6, rtol = 1e-6 },
  kernels = {
    { "sometimes", source = "fresh.cu", params = { { "BLOCK", { 32, 64, 96, 128, 160, 192 } } },
      steps = { launch { "sometimes", grid = "ceil_div(N, BLOCK)", block = "BLOCK", args = { "x", "y", "N" } } } },
  },
}
