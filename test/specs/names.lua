-- A problem and a kernel with something of everything, to which test_export_names.c adds tensors, scalars, lets and
-- workspace that are named as the words of generated code.
return problem {
  name = "names", summary = "Y = select(z > a, z, b) + R[m, n]",
  dims = { { "M", 40 }, { "N", 24 }, { "K", 16 } },
  scalars = { { "a", 0.5 }, { "b", 0.25 } },
  tensors = {
    { "X", "f32", { "M", "K" }, fill = normal(0, "b") },
    { "W", "f16", { "N", "K" } },
    { "V", "f32", { "N", "K" } },
    { "R", "f32", { "M", "N" } },
    { "Y", "f32", { "M", "N" }, output = true },
  },
  epilogue = "select(z > a, z, b) + R[m, n]",
  reference = gemm { "X", "V", "Y", trans_b = true },
  tolerance = { atol = 1e-4, rtol = 1e-4 },
  kernels = {
    { "all", source = "launch.cu", requires = { "sm >= 90" },
      params = { { "TILE", { 8, 16 } }, { "EARLY", { false, true } } },
      let = { { "rows", "ceil_div(M, TILE)" }, { "wide", "N >= 24" }, { "scale", "K * 0.5" } },
      constraints = {
        { "rows * TILE * N * K < 100000 and (wide or K > 4)", "it is an example" },
        { "M < 50", "more is not worth trying", search = true },
      },
      workspace = {
        { "Z", "f32", { "M", "N" } },
        { "tickets", "u32", { "rows" }, zero = "once" },
        { "sums", "f32", { "rows", "N" }, zero = "each", when = "wide" },
      },
      steps = {
        gemm { "X", "V", "Z", trans_b = true },
        launch { "launch_factor", when = "wide", grid = "rows", block = "TILE", args = { "tickets", f32 "scale" } },
        launch { "launch_scale", grid = { "2 * rows", "K" }, block = { "TILE", 2 }, cluster = 2, shared = "rows * 4",
                 programmatic = "EARLY", l2_window = { "X", hit = "persisting", ratio = 0.5, when = "wide" },
                 args = { tensor_map { "Z", box = { "TILE", 8 } }, "X", "W", "sums", "Y", "rows", i64 "M * N", f32 "a",
                          f64 "b", "epilogue" } },
      },
    },
  },
}
