-- linear: Y = epilogue(X W^T + b), float32, row-major; KernelBench level 2 problem 59 by default.
-- Another activation is another `epilogue`; every kernel fuses it, and the verifier evaluates it in double.
local family = include "family.lua"

return family {
  name = "linear",
  summary = "Y = s z sigmoid(z), z = X W^T + b",
  dims = { M = 128, N = 32768, K = 32768 },
  scalars = { { "s", 2.0 } },
  epilogue = "s * z * sigmoid(z)",
}
