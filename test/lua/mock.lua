-- mock.lua: prelude.lua's words, and a space and a tune written in Lua, to test strategies without the host.
-- Paths are relative to the repository's root, where busted is run.

local M = { prelude = dofile("search/lua/prelude.lua") }
for _, name in ipairs { "companions", "toolbox", "points", "guided" } do
  assert(loadfile("search/lua/" .. name .. ".lua"))(M.prelude)
end
M.prelude.load_strategy = function(name) return M.load(name) end

-- `model`, as far as a strategy can tell: what it proposes is free, and scores are at random. M.run sets `of`.
local models = { of = nil }
M.models = models
function models.gp(args)
  local space, taken, told, left = models.of, {}, {}, models.of:size(args.kernel)
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
    tell = function(_, result)
      assert(not told[result.config])
      told[result.config] = true
      if not taken[result.config] then taken[result.config], left = true, left - 1 end
    end,
  }
end

models.forest = models.gp

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

-- Parameter p of a mock kernel has the values 2^0, 2^1, ..., every third one texts.
local function values_of(p, size)
  local values = {}
  for v = 0, size - 1 do values[v + 1] = p % 3 == 0 and "v" .. v or 1 << v end
  return values
end

local configuration = {}
function configuration.__pairs(c)
  local p = 0
  return function()
    repeat p = p + 1 until p > #c.at or c.active[p]
    if c.at[p] then return "p" .. p, values_of(p, c.sizes[p])[c.at[p] + 1] end
  end
end

-- kernels: { { name = "k1", sizes = { 4, 3 }, valid =, active = }, ... }: a grid each. valid(at): whether a combination
-- of places, from 0, is a configuration (left out: all are); active(p, at): whether parameter p applies (all do). As in
-- lathe, what does not apply is 0, and the same configuration is the same object.
function M.space(kernels)
  local all, places, of = {}, {}, {}
  local function key(kernel, at) return kernel .. ":" .. table.concat(at, ",") end
  for _, k in ipairs(kernels) do
    of[k.name], k.first, k.size = k, #all, 0
    local n = 1
    for _, size in ipairs(k.sizes) do n = n * size end
    for i = 0, n - 1 do
      local c, rest, canonical = { kernel = k.name, at = {}, active = {}, sizes = k.sizes }, i, true
      for p, size in ipairs(k.sizes) do c.at[p], rest = rest % size, rest // size end
      for p in ipairs(k.sizes) do
        c.active[p] = not k.active or k.active(p, c.at)
        canonical = canonical and (c.active[p] or c.at[p] == 0)
      end
      if canonical and (not k.valid or k.valid(c.at)) then
        k.size = k.size + 1
        all[#all + 1], places[key(k.name, c.at)] = setmetatable(c, configuration), c
        c.index = #all
      end
    end
  end

  local space = {}
  function space:size(kernel) return kernel and of[kernel].size or #all end
  function space:at(i, kernel)
    assert(i >= 1 and i <= self:size(kernel), "out of range")
    return all[(kernel and of[kernel].first or 0) + i]
  end
  function space:random(kernel) return self:at(math.random(self:size(kernel)), kernel) end
  function space:kernels()
    local names = {}
    for i, k in ipairs(kernels) do names[i] = k.name end
    return names
  end
  function space:parameters(kernel)
    local list = {}
    for p, size in ipairs(of[kernel].sizes) do
      list[p] = { name = "p" .. p, values = values_of(p, size), type = p % 3 == 0 and "string" or "integer" }
    end
    return list
  end
  function space:neighbours(c, kind)
    assert(kind == "hamming" or kind == "adjacent")
    local list = {}
    for p, size in ipairs(c.sizes) do
      for v = 0, size - 1 do
        if c.active[p] and v ~= c.at[p] and (kind == "hamming" or math.abs(v - c.at[p]) == 1) then
          local at = table.move(c.at, 1, #c.at, 1, {})
          at[p] = v
          for q in ipairs(at) do
            if of[c.kernel].active and not of[c.kernel].active(q, at) then at[q] = 0 end
          end
          list[#list + 1] = places[key(c.kernel, at)]
        end
      end
    end
    return list
  end
  local function place_of(p, size, value)
    for v, other in ipairs(values_of(p, size)) do if value == other then return v - 1 end end
  end
  function space:config(x)
    if getmetatable(x) == configuration then return x end
    local at = {}
    for p, size in ipairs(of[x.kernel].sizes) do at[p] = x["p" .. p] and place_of(p, size, x["p" .. p]) or 0 end
    local found = places[key(x.kernel, at)]
    return found, not found and "there is none" or nil
  end
  function space:repair(wanted)
    local at, best, least = {}, nil, math.huge
    for p, size in ipairs(of[wanted.kernel].sizes) do
      at[p] = wanted["p" .. p] and place_of(p, size, wanted["p" .. p]) or 0
    end
    if places[key(wanted.kernel, at)] then return places[key(wanted.kernel, at)] end
    for i = 1, self:size(wanted.kernel) do
      local c, cost = self:at(i, wanted.kernel), 0
      for p in ipairs(c.sizes) do
        if at[p] ~= c.at[p] then cost = cost + 1000 + math.abs(at[p] - c.at[p]) end
      end
      if cost < least then best, least = c, cost end
    end
    return best
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
-- failed. told: what tune.here, tune.earlier and tune.parallel say; nothing, and 1, if left out; and `lazy`. Returns the
-- configurations in the order asked for, the sizes of the batches, and whether it ended by itself.
function M.run(strategy, space, options, cost, budget, told)
  local asked, batches = {}, {}
  models.of = space
  told = told or {}
  local queue, first, last, sent = {}, 1, 0, 0          -- submitted: queue[first] .. queue[last] are not collected
  local tune = setmetatable({ here = told.here or { problem = "", device = "", size = {} },
                              earlier = told.earlier or {},
                              parallel = told.parallel or 1 }, { __index = function(_, name)
    if name == "outstanding" then return last - first + 1 end
    if name ~= "best" then error("tune has no field " .. tostring(name), 2) end
  end })
  -- As a host does that tells all at once; with told.lazy, one that tells no more than is waited for, in that order, and
  -- calls told.lazy(outstanding) before.
  function tune.submit(list)
    assert(#list > 0, "an empty list")
    for _, config in ipairs(list) do last, queue[last + 1] = last + 1, config end
  end
  function tune.collect(n)
    assert(first <= last, "nothing is outstanding")
    n = math.min(n or math.huge, last - first + 1)
    local upto = told.lazy and first + n - 1 or last
    if told.lazy then told.lazy(last - first + 1) end
    if first + n - 1 > sent then
      local results = coroutine.yield(table.move(queue, sent + 1, upto, 1, {}))
      table.move(results, 1, #results, sent + 1, queue)
      sent = upto
    end
    first = first + n
    return table.move(queue, first - n, first - 1, 1, {})
  end
  function tune.evaluate_all(list)
    assert(#list > 0, "an empty list")
    return coroutine.yield(list)
  end
  function tune.evaluate(config) return coroutine.yield({ config })[1] end
  local co = coroutine.create(strategy.run)
  local ok, list = coroutine.resume(co, tune, space, M.prelude.resolve(strategy, options or {}))
  while true do
    assert(ok, list)
    if coroutine.status(co) == "dead" then
      table.move(queue, sent + 1, last, #asked + 1, asked)      -- it submitted them and did not want to know
      return asked, batches, true
    end
    local results = {}
    batches[#batches + 1] = #list
    for i, config in ipairs(list) do
      local value = cost(config)
      asked[#asked + 1] = config
      results[i] = setmetatable({ config = config, ok = value ~= nil, value = value, measured = value, seconds = 1 },
                                result)
      if value and (not tune.best or value < tune.best.value) then tune.best = results[i] end
    end
    if budget and #asked >= budget then return asked, batches, false end
    ok, list = coroutine.resume(co, results)
  end
end

return M
