-- Every way a kernel can fail, as the values of one parameter, on a problem that is no GEMM: y = 2 x.
return problem {
  name = "faults", summary = "y = 2 x, by kernels with planted bugs",
  dims = { { "N", 1000 } },
  tensors = {
    { "x", "f32", { "N" }, fill = uniform(-1, 1) },
    { "y", "f32", { "N" }, output = true },
  },
  reference = kernel {
    source = "faults_reference.cu",
    steps = { launch { "scale_reference", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N" } } },
  },
  tolerance = { atol = 1e-6, rtol = 1e-6 },
  flops = "N", bytes = "8*N",
  kernels = {
    { "scale", source = "faults.cu",
      params = {
        { "BUG", { "none", "compile", "shared", "hang", "overrun", "underrun", "unwritten", "nan", "one_wrong", "input",
                   "second_launch", "tired", "lazy", "stale", "in_order", "heals", "peeks", "not_zero", "far", "segfault",
                   "abort", "huge_block" } },
      },
      workspace = { { "seen", "u32", { 1 }, zero = "once" }, { "kept", "f32", { "N" } } },
      steps = {
        launch { "scale", grid = "ceil_div(N, 64)",
                 block = "select(BUG == 'huge_block', 1024, 64)",
                 shared = "select(BUG == 'shared', 1000000, 0)", args = { "x", "y", "seen", "kept", "N" } },
      },
    },
  },
}
