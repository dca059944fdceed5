-- points.lua: a search's configurations as vectors, designs of points and points that move, embedded in the binary and
-- run after toolbox.lua: docs/strategies.md, "Tools". Given the prelude's module, it adds methods to `M.search` and a
-- word to `M.strategy`.

local M = ...                   -- the prelude's module
local search = M.search

local SPREAD_TRIES = 30         -- fresh configurations of which search:spread takes the furthest

-- Values in the order that steps go: numbers by size, others as written.
local function in_order(p)
  local values = table.move(p.values, 1, #p.values, 1, {})
  if p.type == "integer" or p.type == "float" then table.sort(values) end
  return values
end

-- search:axes(): the parameters that have more than one value: a list of { name =, values = in order, place = of each
-- value, from 0 }, by name as well.
function search:axes()
  if not self.axes_list then
    self.axes_list = {}
    for _, p in ipairs(self.space:parameters(self.kernel)) do
      local axis = { name = p.name, values = in_order(p), place = {} }
      for i, value in ipairs(axis.values) do axis.place[value] = i - 1 end
      if #axis.values > 1 then
        self.axes_list[#self.axes_list + 1] = axis
        axis.at = #self.axes_list
        self.axes_list[p.name] = axis
      end
    end
  end
  return self.axes_list
end

-- search:vector(config): its place on each axis; 0 where the parameter is inactive.
function search:vector(config)
  local axes, x = self:axes(), {}
  for i = 1, #axes do x[i] = 0 end
  for name, value in pairs(config) do
    local axis = axes[name]
    if axis then x[axis.at] = axis.place[value] end
  end
  return x
end

-- search:clip(x): the vector itself, with every place moved onto its axis.
function search:clip(x)
  for i, axis in ipairs(self:axes()) do x[i] = math.max(0, math.min(#axis.values - 1, x[i])) end
  return x
end

-- search:nearest(x): the valid configuration nearest to a vector, whose places need be neither whole nor on the axis.
function search:nearest(x)
  local wanted = { kernel = self.kernel }
  for i, axis in ipairs(self:axes()) do
    local place = math.floor(x[i] + 0.5)
    wanted[axis.name] = axis.values[math.max(1, math.min(#axis.values, place + 1))]
  end
  return self.space:repair(wanted)
end

-- moving_points(options, population, least): the options of a strategy that moves points, with two more: population,
-- how many they are, by default and at least, and batch.
function M.strategy.moving_points(options, population, least)
  local words = M.strategy
  options.population = words.integer { population, min = least, max = 100000, help = "points" }
  options.batch = words.integer { 4, min = 1, max = 100000, parallel = true, within = "population",
                                  help = "points that move at once" }
  return options
end

-- search:move(n, batch, go, arrive): moves points 1 .. n, `batch` at once. go(k) is the vector that point k moves to;
-- arrive(k, result, x) is told what is there: of the nearest configuration, or of one beside it where that is known,
-- and then x is that one's vector. Where nothing is left some do not arrive.
function search:move(n, batch, go, arrive)
  for first = 1, n, batch do
    local vectors, list = {}, {}
    for k = first, math.min(first + batch - 1, n) do
      vectors[#vectors + 1] = go(k)
      list[#list + 1] = self:nearest(vectors[#vectors])
    end
    for k, result in ipairs(self:try_all(self:novel(list))) do
      arrive(first + k - 1, result, result.config == list[k] and vectors[k] or self:vector(result.config))
    end
  end
end

-- search:latin(n): n configurations that spread over every axis, none known, each once; fewer where fewer are left.
-- Each axis is cut into n parts, and each part is used once (Latin hypercube sampling: McKay, Beckman, Conover,
-- Technometrics 21 (1979) 239-245).
function search:latin(n)
  local axes, points, list = self:axes(), {}, {}
  n = math.min(n, self:left())
  for k = 1, n do points[k] = {} end
  for i, axis in ipairs(axes) do
    local k = 0
    for part in M.strategy.shuffled(n) do
      k = k + 1
      points[k][i] = (part - math.random()) / n * #axis.values - 0.5
    end
  end
  for k = 1, n do list[k] = self:nearest(points[k]) end
  return self:novel(list)
end

-- search:spread(n): n random configurations far from each other, none known, each once; fewer where fewer are left.
-- Each is, of a few fresh ones, that with the largest distance to the nearest of those before it, a sum of shares of
-- the axes (maximin: Johnson, Moore, Ylvisaker, J. Stat. Planning and Inference 26 (1990) 131-148).
function search:spread(n)
  local axes, list, points, taken = self:axes(), {}, {}, {}

  -- The distance to the nearest point; where that is no more than `enough`, something that is no more either.
  local function room(x, enough)
    local nearest = math.huge
    for _, other in ipairs(points) do
      local away = 0
      for i = 1, #x do away = away + math.abs(x[i] - other[i]) end
      if away < nearest then nearest = away end
      if nearest <= enough then break end
    end
    return nearest
  end

  for k = 1, math.min(n, self:left()) do
    local most, best, point = -1, nil, nil
    for _ = 1, k == 1 and 1 or SPREAD_TRIES do
      local config = self:fresh(taken)
      local x = self:vector(config)
      for i, axis in ipairs(axes) do x[i] = x[i] / (#axis.values - 1) end
      local away = room(x, most)
      if away > most then most, best, point = away, config, x end
    end
    list[k], points[k], taken[best] = best, point, true
  end
  return list
end

-- search:begin(n): n results to begin with: when first called the best of what is known already, if that is enough;
-- later, for the rest, and beside another search of the kernel, which would go the same way, search:spread's.
function search:begin(n)
  local found = {}
  for _, result in ipairs(self.begun and {} or self.store.history) do
    if result.config.kernel == self.kernel then found[#found + 1] = result end
  end
  self.begun = true
  table.sort(found, M.strategy.better)
  for k = #found, n + 1, -1 do found[k] = nil end
  if #found < n and self:left() > 0 then
    local others = self:try_all(self:spread(n - #found))
    table.move(others, 1, #others, #found + 1, found)
  end
  return found
end

-- search:kick(config, n): a valid configuration with n parameters, drawn anew, different; near it where that is not
-- valid.
function search:kick(config, n)
  local axes, x = self:axes(), self:vector(config)
  local changed = 0
  for i in M.strategy.shuffled(#axes) do
    if changed == n then break end
    local other = math.random(0, #axes[i].values - 2)
    x[i], changed = other < x[i] and other or other + 1, changed + 1
  end
  return self:nearest(x)
end
