-- `lathe doctor --selftest`: y = 2 x by kernels that end as the value of their one parameter says (selftest.cu,
-- embedded). y has elements enough to tell rounding from mistakes.
local kernels = { "ok", "compile", "resources", "launch", "timeout", "crash", "wrong", "inaccurate", "unstable" }

return problem {
  name = "selftest", summary = "y = 2 x, by a kernel for each outcome",
  dims = { { "N", 8192 } },
  tensors = {
    { "x", "f32", { "N" }, fill = uniform(0.5, 1) },
    { "y", "f32", { "N" }, output = true },
  },
  reference = kernel {
    source = "selftest.cu",
    steps = { launch { "twice", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N" } } },
  },
  tolerance = { atol = 1e-6, rtol = 1e-6, frobenius = 1e-6 },
  flops = "N", bytes = "8*N",
  kernels = {
    { "scale", source = "selftest.cu",
      params = { { "OUTCOME", kernels } },
      constraints = { { "OUTCOME != 'unstable' or sm > 0", "no times are too unsteady for a host" } },
      steps = {
        launch { "scale", grid = { "ceil_div(N, 64)", "select(OUTCOME == 'launch', 70000, 1)" }, block = 64,
                 shared = "select(OUTCOME == 'resources', 1000000, 0)", args = { "x", "y", "N" } },
      },
    },
  },
}
