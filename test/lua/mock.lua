-- mock.lua: prelude.lua's words, and a space and a tune written in Lua, to test strategies without the host.
-- Paths are relative to the repository's root, where busted is run.

local M = { prelude = dofile("search/prelude.lua") }

-- `model`, as far as a strategy can tell: what it proposes is free, and scores are at random. M.run sets `of`.
local models = { of = nil }
function models.gp(args)
  local space, taken, left = models.of, {}, models.of:size(args.kernel)
  local function draw()
    if left == 0 then return nil end
    local i = math.random(space:size(args.kernel))
    while taken[space:at(i, args.kernel)] do i = i % space:size(args.kernel) + 1 end
    return space:at(i, args.kernel)
  end
  return {
    left = function() return left end,
    spread = function(_, tries) assert(tries >= 1) return draw() end,
    propose = function(_, how) assert(how[1]) return draw(), math.random() end,
    assume = function(_, c) assert(not taken[c]) taken[c], left = true, left - 1 end,
    tell = function(_, result) assert(taken[result.config]) end,
  }
end

-- The strategy that a script returns.
function M.load_text(text, name)
  local env = setmetatable({}, { __index = function(_, k)
    local found = M.prelude.strategy[k]
    if k == "model" then found = models end
    if found == nil then found = _G[k] end
    if found == nil then error("unknown name " .. tostring(k), 2) end
    return found
  end })
  return assert(load(text, "@" .. name, "t", env))()
end

-- The same, of a file in search/strategies.
function M.load(name)
  local path = "search/strategies/" .. name .. ".lua"
  local file = assert(io.open(path))
  local text = file:read("a")
  file:close()
  return M.load_text(text, path)
end

-- kernels: { { name = "k1", sizes = { 4, 3 } }, ... }: a grid each, all of it valid. Configurations are interned.
function M.space(kernels)
  local all, first = {}, {}
  for _, kernel in ipairs(kernels) do
    first[kernel.name] = #all
    local n = 1
    for _, size in ipairs(kernel.sizes) do n = n * size end
    for i = 0, n - 1 do
      local c, rest = { kernel = kernel.name, at = {} }, i
      for p, size in ipairs(kernel.sizes) do c.at[p], rest = rest % size, rest // size end
      all[#all + 1] = c
      c.index, c.sizes = #all, kernel.sizes
    end
    kernel.size = n
  end

  local function place(kernel, at, sizes)
    local i, stride = 1, 1
    for p, size in ipairs(sizes) do i, stride = i + at[p] * stride, stride * size end
    return all[first[kernel] + i]
  end

  local space = {}
  function space:size(kernel)
    if not kernel then return #all end
    for _, k in ipairs(kernels) do if k.name == kernel then return k.size end end
  end
  function space:at(i, kernel)
    return assert(all[(kernel and first[kernel] or 0) + i], "out of range")
  end
  function space:random() return all[math.random(#all)] end
  function space:kernels()
    local names = {}
    for i, k in ipairs(kernels) do names[i] = k.name end
    return names
  end
  function space:neighbours(c, kind)
    assert(kind == "hamming" or kind == "adjacent")
    local list = {}
    for p, size in ipairs(c.sizes) do
      for v = 0, size - 1 do
        if v ~= c.at[p] and (kind == "hamming" or math.abs(v - c.at[p]) == 1) then
          local at = table.move(c.at, 1, #c.at, 1, {})
          at[p] = v
          list[#list + 1] = place(c.kernel, at, c.sizes)
        end
      end
    end
    return list
  end
  return space
end

local result = {}
result.__index = result
function result:better_than(other)
  if other == nil then return true end
  return self.ok and (not other.ok or self.value < other.value)
end

-- Runs a strategy until it ends or `budget` configurations were asked for. cost(config) is its objective, nil: it
-- failed. Returns the configurations in the order asked for, the sizes of the batches, and whether it ended by itself.
function M.run(strategy, space, options, cost, budget)
  local asked, batches = {}, {}
  models.of = space
  local tune = {}
  function tune.evaluate_all(list)
    assert(#list > 0, "an empty list")
    return coroutine.yield(list)
  end
  function tune.evaluate(config) return coroutine.yield({ config })[1] end
  local co = coroutine.create(strategy.run)
  local ok, list = coroutine.resume(co, tune, space, M.prelude.resolve(strategy, options or {}))
  while true do
    assert(ok, list)
    if coroutine.status(co) == "dead" then return asked, batches, true end
    local results = {}
    batches[#batches + 1] = #list
    for i, config in ipairs(list) do
      local value = cost(config)
      asked[#asked + 1] = config
      results[i] = setmetatable({ config = config, ok = value ~= nil, value = value, seconds = 1 }, result)
      if value and (not tune.best or value < tune.best.value) then tune.best = results[i] end
    end
    if budget and #asked >= budget then return asked, batches, false end
    ok, list = coroutine.resume(co, results)
  end
end

return M
