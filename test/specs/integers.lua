-- integers.lua: the kernels of kernels/linear with an epilogue that is exact on small integers.
-- Returns a function that makes the problem for tensors of a type.
return function(type)
  return include "../../kernels/linear/family.lua" {
    name = "integers_" .. type, type = type, bias = false,
    dims = { M = 300, N = 280, K = 296 },
    scalars = { { "s", 0.5 } },
    epilogue = "s * z + m % 5 - 2 * (n % 3)",
  }
end
