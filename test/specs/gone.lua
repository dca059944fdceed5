-- A kernel whose images are gone from the cache when they are wanted.
return problem {
  name = "gone", summary = "y = 2 x, the cache emptied meanwhile",
  dims = { { "N", 64 } },
  tensors = { { "x", "f32", { "N" } }, { "y", "f32", { "N" }, output = true } },
  reference = kernel {
    source = "faults_reference.cu",
    steps = { launch { "scale_reference", grid = 1, block = 64, args = { "x", "y", "N" } } },
  },
  tolerance = { atol = 0, rtol = 1e-6 },
  kernels = {
    { "gone", source = "gone.cu", params = { { "ID", { 0, 1, 2, 3 } } },
      steps = { launch { "gone", grid = 1, block = 64, args = { "x", "y", "N" } } } },
  },
}
