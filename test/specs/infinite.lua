-- y is infinite or NaN in places, as masks and logarithms make it. Kernels that are right, and not so there.
return problem {
  name = "infinite", summary = "y = log x, -inf below the diagonal",
  dims = { { "M", 5 }, { "N", 40 } },
  tensors = { { "x", "f32", { "M", "N" }, fill = uniform(-1, 3) }, { "y", "f32", { "M", "N" }, output = true } },
  reference = kernel {
    source = "infinite.cu",
    steps = { launch { "infinite_reference", grid = "M", block = 64, args = { "x", "y", "N" } } },
  },
  tolerance = { atol = 1e-5, rtol = 1e-5, frobenius = 1e-5 },
  kernels = {
    { "infinite", source = "infinite.cu", params = { { "BUG", { 0, 1, 2, 3, 4, 5, 6, 7 } } },
      steps = { launch { "infinite", grid = "M", block = 64, args = { "x", "y", "N" } } } },
  },
}
