-- twins.lua: linear's `simt` under two names, for a null test: the same configuration of both must take the same time.
local p = include "../../kernels/linear/family.lua" {
  name = "twins",
  summary = "one kernel under two names",
  dims = { M = 128, N = 4096, K = 4096 },
  scalars = { { "s", 2.0 } },
  epilogue = "s * z * sigmoid(z)",
  kernels = { "simt" },
}

local function named(name, kernel)
  local copy = {}
  for key, value in pairs(kernel) do copy[key] = value end
  copy[1] = name
  return copy
end

p.kernels = { named("one", p.kernels[1]), named("two", p.kernels[1]) }
return p
