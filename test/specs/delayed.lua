-- y = 2 x by kernels that end otherwise where they are compiled for the verification with delays: as a race would, not
-- at all, in a text that does not compile with them, or in an image that cannot be launched.
return problem {
  name = "delayed", summary = "y = 2 x, right but for what delays show",
  dims = { { "N", 4096 } },
  tensors = {
    { "x", "f32", { "N" }, fill = uniform(0.5, 1) },
    { "y", "f32", { "N" }, output = true },
  },
  reference = kernel {
    source = "delayed.cu",
    steps = { launch { "twice", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N" } } },
  },
  tolerance = { atol = 1e-6, rtol = 1e-6, frobenius = 1e-6 },
  flops = "N", bytes = "8*N",
  kernels = {
    { "scale", source = "delayed.cu",
      params = { { "KIND", { "right", "race", "refused", "unlaunched" } } },
      steps = { launch { "scale", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N" } } },
    },
  },
}
