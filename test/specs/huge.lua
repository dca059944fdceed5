-- A kernel whose formulas test_export_overflow.c replaces, one at a time, by those that leave 64 bits at large sizes.
return problem {
  name = "huge", dims = { { "A", 4 }, { "B", 6 }, { "C", 8 }, { "D", 3 } },
  tensors = { { "x", "f32", { "A" } }, { "y", "f32", { "B" }, output = true } },
  reference = kernel {
    source = "launch.cu", steps = { launch { "launch_factor", grid = 1, block = 32, args = { "y" } } },
  },
  tolerance = { atol = 0, rtol = 0 },
  kernels = {
    { "huge", source = "launch.cu", params = { { "P", { 1 } } }, let = { { "l", 1 } }, constraints = { "D > 0" },
      workspace = { { "w", "f32", { "8 * min(D, 9)" } }, { "v", "f32", { "D" }, when = "D > 0" } },
      steps = {
        launch { "launch_factor", grid = 1, block = 32, args = { "w" } },
        launch { "launch_scale", when = "D > 0", grid = 1, block = 32, shared = 0, programmatic = "D > 0",
                 l2_window = { "x", hit = "streaming", ratio = 0.5, when = "D > 0" },
                 args = { "v", "y", i32 "1", i64 "1", f32 "1", tensor_map { "w", box = { 4 } } } },
      },
    },
  },
}
