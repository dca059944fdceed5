-- tiny: Y = a (X W^T + b), for the command-line tests: a small space, in which two thirds of the configurations have a
-- flaw on purpose, so that every kind of report has something to show.
return problem {
  name = "tiny",
  summary = "Y = a z, z = X W^T + b",
  dims = { { "M", 5 }, { "N", 7 }, { "K", 9 } },
  scalars = { { "a", 0.5 } },
  tensors = {
    { "X", "f32", { "M", "K" }, fill = uniform(0, 1) },
    { "W", "f32", { "N", "K" }, fill = uniform(-1, 1) },
    { "b", "f32", { "N" }, fill = uniform(-1, 1) },
    { "Y", "f32", { "M", "N" }, output = true },
  },
  epilogue = "a * z",
  reference = gemm { "X", "W", "Y", trans_b = true, bias = "b" },
  tolerance = { atol = 1e-5, rtol = 1e-5 },
  flops = "2.0*M*N*K",
  bytes = "4.0*(M*K + N*K + N + M*N)",
  kernels = {
    { "plain", source = "tiny.cu", summary = "one thread an element",
      params = {
        { "BLOCK", { 32, 64, 128 }, help = "threads a block" },
        { "UNROLL", { 1, 2, 4 }, help = "steps of k at once" },
        { "ORDER", { "up", "down" }, when = "UNROLL > 1", help = "which way along k" },
        { "FLAW", { "none", "wrong", "compile" }, help = "what is not right with it" },
      },
      let = { { "work", "BLOCK * UNROLL" } },
      constraints = { { "work <= 256", "more would be too much for a test" } },
      steps = {
        launch { "tiny", grid = "ceil_div(M * N, BLOCK)", block = "BLOCK",
                 args = { "X", "W", "Y", "M", "N", "K", "epilogue" } },
      },
    },
    { "later", source = "tiny.cu", summary = "the same, for chips that a host is not",
      requires = { "sm >= 90" },
      params = { { "BLOCK", { 32, 64 } } , { "UNROLL", { 1 } }, { "ORDER", { "up" } }, { "FLAW", { "none" } } },
      steps = {
        launch { "tiny", grid = "ceil_div(M * N, BLOCK)", block = "BLOCK",
                 args = { "X", "W", "Y", "M", "N", "K", "epilogue" } },
      },
    },
  },
  baselines = {
    { "gemm_then_scale", source = "scale.cu", summary = "a GEMM, then the epilogue",
      workspace = { { "Z", "f32", { "M", "N" } } },
      steps = { gemm { "X", "W", "Z", trans_b = true },
                launch { "scale", grid = "ceil_div(M * N, 64)", block = 64,
                         args = { "Z", "Y", "M", "N", "epilogue" } } } },
  },
}
