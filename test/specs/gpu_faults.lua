-- y = 2 x, by kernels that fault as only a GPU can, as the values of one parameter: `none` is right, whatever else is
-- here ends as `crash`, by the driver's name of the fault (scripts/check_gpu). What a host can do too is in faults.lua.
return problem {
  name = "gpu_faults", summary = "y = 2 x, by kernels with faults that need a GPU",
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
    { "scale", source = "gpu_faults.cu",
      requires = { { "sm >= 80", "a host has none of these faults" } },
      params = {
        { "BUG", { "none", "misaligned_load", "misaligned_store", "misaligned_shared", "assert", "trap", "address",
                   "read", "far", "shared", "local", "stack", "pc" } },
      },
      steps = {
        launch { "scale", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N" } },
      },
    },
  },
}
