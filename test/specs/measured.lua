-- Kernels of which two are right until the final measures them.
return problem {
  name = "measured", summary = "y = 2 x, wrong or crashing once it is measured in the final",
  dims = { { "N", 64 } },
  tensors = { { "x", "f32", { "N" } }, { "y", "f32", { "N" }, output = true } },
  reference = kernel {
    source = "faults_reference.cu",
    steps = { launch { "scale_reference", grid = 1, block = 64, args = { "x", "y", "N" } } },
  },
  tolerance = { atol = 0, rtol = 1e-6 },
  kernels = {
    { "measured", source = "measured.cu", params = { { "ID", { 0, 1, 2, 3, 4, 5, 6 } } },
      steps = { launch { "measured", grid = 1, block = 64, args = { "x", "y", "N" } } } },
  },
}
