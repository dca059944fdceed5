-- A kernel that is right for longer than a trial lasts.
return problem {
  name = "late", summary = "y = 2 x, wrong after many launches",
  dims = { { "N", 64 } },
  tensors = { { "x", "f32", { "N" } }, { "y", "f32", { "N" }, output = true } },
  reference = kernel {
    source = "faults_reference.cu",
    steps = { launch { "scale_reference", grid = 1, block = 64, args = { "x", "y", "N" } } },
  },
  tolerance = { atol = 0, rtol = 1e-6 },
  kernels = {
    { "late", source = "late.cu", params = { { "AFTER", { 0, 40, 80 } } },
      steps = { launch { "late", grid = 1, block = 64, args = { "x", "y", "N" } } } },
  },
}
