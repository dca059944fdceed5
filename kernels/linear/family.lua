-- family.lua: problems of the form Y = epilogue(z), z = X W^T + b, row-major, which all kernels of this folder compute.
--
-- Returns a function that makes the problem of
--   name, summary   as problem's
--   dims            the default sizes, { M = 128, N = 32768, K = 32768 }
--   type            of X, W, b and Y: "f32", "f16" or "bf16". Without it, "f32" or what `--set type=...` says: then
--                   the name ends with the other type's, and f32 tensors of the epilogue are of it too
--   output          the type of Y where it is another: "f32" for matrices of 16 bits
--   bias            whether there is a b; true by default
--   scalars, epilogue, tolerance, torch
--                   as problem's; the tolerance by default is what a GEMM of these types reaches
--   tensors         inputs of the epilogue besides b, as problem's
--   check           other values of X that candidates are verified on; by default normal(0, 4), by which z is about
--                   normal(0, 2.3): both sides of the bounds and bends of the usual epilogues. X's fill gives 0.3
--   kernels         a list of names to have only those, in that order; by default every kernel for the type

local bytes_of = { f32 = 4, f16 = 2, bf16 = 2 }
local epilogue, mma, shared = include "epilogue.lua", include "mma.lua", include "wgmma_shared.lua"
local kernels_of = {
  f32 = { f32 = { include "simt.lua", mma "f32", epilogue "f32", include "wgmma.lua", shared("f32", "f32") } },
  f16 = { f16 = { mma "f16", epilogue "f16", shared("f16", "f16") },
          f32 = { mma "f16", epilogue "f32", shared("f16", "f32") } },
  bf16 = { bf16 = { mma "bf16", epilogue "bf16", shared("bf16", "bf16") },
           f32 = { mma "bf16", epilogue "f32", shared("bf16", "f32") } },
}
-- Of each element: float32 sums of thousands of products; or four roundings of the output, which the product's and Y's
-- own share with what the epilogue makes of the first.
local within = { f32 = 1e-4, f16 = 2e-3, bf16 = 1.6e-2 }

local fields = { name = true, summary = true, dims = true, type = true, output = true, bias = true, scalars = true,
                 epilogue = true, tolerance = true, torch = true, tensors = true, check = true, kernels = true }

local function check(f)
  for key in pairs(f) do
    if not fields[key] then error(string.format("family: unknown field '%s'", tostring(key)), 3) end
  end
  for _, dim in ipairs { "M", "N", "K" } do
    if not f.dims or math.type(f.dims[dim]) ~= "integer" then
      error(string.format("family: dims.%s must be an integer, dims = { M = 128, N = 32768, K = 32768 }", dim), 3)
    end
  end
end

-- The kernels for X, W of a type and Y of a type, or those of them that are named.
local function choose(type, output, names)
  local all, chosen = (kernels_of[type] or {})[output], {}
  if not all then
    error(string.format("family: no kernel here is for the type '%s' with an output of '%s'", tostring(type),
                        tostring(output)), 3)
  end
  for i, name in ipairs(names or {}) do
    for _, kernel in ipairs(all) do
      if kernel[1] == name then chosen[i] = kernel end
    end
    if not chosen[i] then error(string.format("family: no kernel '%s' for the type %s", tostring(name), type), 3) end
  end
  return names and chosen or all
end

return function(f)
  check(f)
  local type, bias = f.type or setting { "type", { "f32", "f16", "bf16" } }, f.bias ~= false
  local other = not f.type and type ~= "f32"
  local output = f.output or type
  local kernels = choose(type, output, f.kernels)
  -- nn.Linear's initial distribution
  local initial = uniform("-1/sqrt(K)", "1/sqrt(K)")
  local tensors = {
    { "X", type, { "M", "K" }, fill = uniform(0, 1), check = f.check or normal(0, 4) },
    { "W", type, { "N", "K" }, fill = initial },
  }
  local bytes = {}
  if bias then tensors[#tensors + 1] = { "b", type, { "N" }, fill = initial } end
  for _, tensor in ipairs(f.tensors or {}) do
    if other and tensor[2] == "f32" then tensor[2] = type end
    tensors[#tensors + 1] = tensor
  end
  tensors[#tensors + 1] = { "Y", output, { "M", "N" }, output = true }
  for i, tensor in ipairs(tensors) do
    bytes[i] = string.format("%d.0*%s", bytes_of[tensor[2]] or 8, table.concat(tensor[3], "*"))
  end
  return problem {
    name = other and f.name .. "_" .. type or f.name,
    summary = f.summary,
    dims = { { "M", f.dims.M }, { "N", f.dims.N }, { "K", f.dims.K } },
    scalars = f.scalars,
    tensors = tensors,
    epilogue = f.epilogue,
    reference = gemm { "X", "W", "Y", trans_b = true, bias = bias and "b" or nil },
    tolerance = f.tolerance or { atol = within[output], rtol = within[output], times_sgemm_error = 2 },
    torch = f.torch,
    flops = "2.0*M*N*K",
    bytes = table.concat(bytes, " + "),
    kernels = kernels,
    baselines = include "baselines.lua" (type, output),
  }
end
