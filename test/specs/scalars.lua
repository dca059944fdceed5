-- Scalars as a kernel's own arguments, as sums of them, and in what must not vary: a let that is compiled in, a
-- constraint, workspace. Right as it is; test/mutants/scalars.txt and test/cli/scalars.bats make it wrong.
return problem {
  name = "scalars", summary = "Y = clamp(gain X + offset, low, high) + steps",
  dims = { { "M", 64 }, { "N", 96 } },
  scalars = { { "gain", 2.0 }, { "offset", 0.0 }, { "low", -3.0 }, { "high", 3.0 }, { "steps", 4.0 } },
  tensors = {
    { "X", "f32", { "M", "N" }, fill = normal(0, 1) },
    { "Y", "f32", { "M", "N" }, output = true },
  },
  reference = kernel {
    source = "scalars.cu",
    steps = {
      launch { "scalars_reference", grid = "M", block = 32,
               args = { "X", "Y", "N", "gain", "offset", "low", "high", "steps" } },
    },
  },
  tolerance = { atol = 1e-5, rtol = 1e-5 },
  kernels = {
    { "scalars", source = "scalars.cu",
      params = { { "BLOCK", { 32, 64 } } },
      let = { { "count", "floor(steps)" }, { "twice", "2 * gain" } },
      constraints = { "steps <= 8" },
      workspace = { { "room", "f32", { "count", "M" }, zero = "once" } },
      steps = {
        launch { "scalars", grid = "M", block = "BLOCK",
                 args = { "X", "Y", "N", "twice", "offset", "low", "high" } },
      },
    },
  },
}
