-- y = 2 x by a kernel that sleeps: a device worker that is busy while the processor is not. ID changes nothing.
local ids = {}
for i = 1, 64 do ids[i] = i end

return problem {
  name = "sleep", summary = "y = 2 x, asleep most of the time",
  dims = { { "N", 64 } },
  tensors = {
    { "x", "f32", { "N" }, fill = uniform(-1, 1) },
    { "y", "f32", { "N" }, output = true },
  },
  reference = kernel {
    source = "sleep.cu",
    steps = { launch { "nap_reference", grid = 1, block = 64, args = { "x", "y", "N" } } },
  },
  tolerance = { atol = 1e-6, rtol = 1e-6 },
  flops = "N", bytes = "8*N",
  kernels = {
    { "nap", source = "sleep.cu", params = { { "ID", ids } },
      steps = { launch { "nap", grid = 1, block = 64, args = { "x", "y", "N" } } },
    },
  },
}
