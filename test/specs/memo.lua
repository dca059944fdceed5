-- Kernels that keep their results, and see by a part of the inputs whether these are still the same.
return problem {
  name = "memo", summary = "Y = S sin(X), unless what is kept is taken for it",
  dims = { { "M", 64 }, { "N", 96 } },
  tensors = {
    { "X", "f32", { "M", "N" }, fill = normal(0, 1) },
    { "S", "f32", { "N" }, fill = uniform(1, 2) },
    { "Y", "f32", { "M", "N" }, output = true },
  },
  reference = kernel {
    source = "memo.cu",
    steps = { launch { "memo_reference", grid = "M", block = 32, args = { "X", "S", "Y", "M", "N" } } },
  },
  tolerance = { atol = 1e-6, rtol = 1e-5 },
  kernels = {
    { "memo", source = "memo.cu",
      params = { { "MEMO", { "none", "element", "middle", "row", "workspace", "one" } } },
      workspace = { { "kept", "f32", { "M", "N + 1" } } },
      steps = { launch { "memo", grid = "M", block = 32, args = { "X", "S", "Y", "kept", "M", "N" } } },
    },
  },
}
