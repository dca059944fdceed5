-- y = 2 x, whose reference kernel does wrong what BUG says (references.bats): the kernel is right.
return problem {
  name = "unfit", summary = "y = 2 x, by a reference that may be wrong",
  dims = { { "N", 1000 }, { "BUG", 9 } },
  tensors = {
    { "x", "f32", { "N" }, fill = uniform(-1, 1) },
    { "y", "f32", { "N" }, output = true },
  },
  reference = kernel {
    source = "unfit.cu",
    workspace = { { "w", "f32", { 64 } } },
    steps = {
      launch { "unfit_reference", when = "BUG != 4", grid = "ceil_div(N, 64)", block = 64,
               args = { "x", "y", "w", "N", "BUG" } },
      launch { "unfit_partly", when = "BUG == 4", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N" } },
    },
  },
  tolerance = { atol = 1e-6, rtol = 1e-6 },
  flops = "N", bytes = "8*N",
  kernels = {
    { "unfit", source = "unfit.cu",
      steps = { launch { "unfit", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N" } } } },
  },
}
