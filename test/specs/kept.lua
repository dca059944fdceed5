-- Kernels that keep results of earlier inputs: right only where inputs never change.
local function keeps(name)
  return { name, source = "kept.cu", params = { { "BLOCK", { 128 } } },
           steps = { launch { name, grid = "ceil_div(N, BLOCK)", block = "BLOCK", args = { "x", "y", "N" } } } }
end
local reference = kernel {
  source = "faults_reference.cu",
  steps = { launch { "scale_reference", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N" } } },
}
return problem {
  name = "kept", summary = "y = 2 x, of the inputs of another launch",
  dims = { { "N", 100 } },
  tensors = { { "x", "f32", { "N" }, fill = uniform(-1, 1) }, { "y", "f32", { "N" }, output = true } },
  reference = reference,
  tolerance = { atol = 1e-6, rtol = 1e-6 },
  kernels = { keeps("first"), keeps("last") },
}
