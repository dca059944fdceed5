-- linear_f16: Y = epilogue(X W^T + b) with all tensors in f16, row-major: the kernels of ../linear for this type.
local family = include "../linear/family.lua"

return family {
  name = "linear_f16",
  summary = "Y = s z sigmoid(z), z = X W^T + b, in f16",
  type = "f16",
  dims = { M = 1024, N = 8192, K = 8192 },
  scalars = { { "s", 2.0 } },
  epilogue = "s * z * sigmoid(z)",
}
