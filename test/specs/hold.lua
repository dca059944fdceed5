-- y = 2 x by a kernel that waits where HOLD says, so that a test can look, or kill, at that moment.
return problem {
  name = "hold", summary = "y = 2 x, by kernels that wait",
  dims = { { "N", 100 } },
  tensors = {
    { "x", "f32", { "N" }, fill = uniform(-1, 1) },
    { "y", "f32", { "N" }, output = true },
  },
  reference = kernel {
    source = "hold.cu",
    steps = { launch { "hold_reference", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N" } } },
  },
  tolerance = { atol = 1e-6, rtol = 1e-6 },
  flops = "N", bytes = "8*N",
  kernels = {
    { "hold", source = "hold.cu",
      params = {
        { "HOLD", { "never", "device", "compile", "final", "breaks" } },
        { "ID", { 1, 2, 3, 4, 5, 6, 7, 8 } },
      },
      steps = { launch { "hold", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N" } } },
    },
  },
}
