-- What portfolio begins with, when steps from the best join the model, and how many it asks for at once. The model of
-- mock.lua proposes at random, so whatever is found quickly was found by steps.

local mock = dofile("test/lua/mock.lua")
local portfolio = mock.load("portfolio")

local function grid(...) return mock.space { { name = "k", sizes = { ... } } } end

-- The configurations asked for, as a list for each batch.
local function batches_of(space, options, cost, budget, told)
  local asked, sizes = mock.run(portfolio, space, options, cost, budget, told)
  local batches, from = {}, 1
  for i, size in ipairs(sizes) do batches[i], from = table.move(asked, from, from + size - 1, 1, {}), from + size end
  return batches
end

local function is_step(space, from, to, kind)
  for _, c in ipairs(space:neighbours(from, kind)) do
    if c == to then return true end
  end
  return false
end

describe("portfolio", function()
  it("begins as transfer does", function()
    local space = grid(30)
    local told = { here = { problem = "p", device = "d", size = { M = 8 } }, earlier = {} }
    for i = 1, 5 do
      told.earlier[i] = { config = space:at(3 * i), campaign = i, value = i, ratio = 1, exact = true, problem = "p",
                          device = i > 3 and "other" or "d", size = { M = 8 << i } }
    end
    local function first(strategy, options)
      math.randomseed(1)
      local asked, sizes = mock.run(strategy, space, options, function(c) return c.index end, 8, told)
      return { table.unpack(asked, 1, sizes[1]) }
    end
    assert.are.same(first(mock.load("transfer"), {}), first(portfolio, {}))
    assert.are.equal(5, #first(portfolio, {}))
    assert.are.equal(2, #first(portfolio, { "count=2" }))
    assert.are.equal(1, #first(portfolio, { "count=0" }))
  end)

  it("asks the model alone while that finds better ones", function()
    local value = 1e6
    local batches = batches_of(grid(9, 9, 9), { "patience=2" }, function() value = value - 1 return value end, 200)
    for _, batch in ipairs(batches) do assert.are.equal(1, #batch) end
  end)

  it("adds a step from the best when nothing better came for long, until one comes", function()
    local space, best, idle, n = grid(9, 9, 9, 9), nil, 0, 0
    local values = {}
    local function cost(c)
      n = n + 1
      values[c] = n == 30 and 1 or 2
      return values[c]
    end
    for _, batch in ipairs(batches_of(space, { "patience=7", "share=1" }, cost, 70)) do
      local joined = idle >= 7
      assert.are.equal(joined and 2 or 1, #batch)
      if joined then assert.is_true(is_step(space, best, batch[2], "hamming")) end
      for _, c in ipairs(batch) do
        idle = idle + 1
        if not best or values[c] < values[best] then best, idle = c, 0 end
      end
    end
    assert.are.equal(1, values[best])
  end)

  it("steps to adjacent ones first, then to the others, then from the second best", function()
    local space = grid(5, 5, 40)
    local best, second = space:at(1), space:at(25 * 20)
    local seen, order = {}, {}
    local function cost(c) return c == best and 1 or c == second and 2 or 100 + c.index end
    local told = { earlier = {} }
    for i, c in ipairs { best, second } do
      told.earlier[i] = { config = c, campaign = i, value = 1, ratio = 1, exact = true, problem = "", device = "",
                          size = {} }
    end
    for i, batch in ipairs(batches_of(space, { "patience=0", "share=1" }, cost, 400, told)) do
      if i > 1 then order[#order + 1] = batch[2] end
      for _, c in ipairs(batch) do seen[c] = true end
    end
    local stages = { { best, "adjacent" }, { best, "hamming" }, { second, "adjacent" }, { second, "hamming" } }
    local stage = 1
    for _, c in ipairs(order) do
      while stage <= 4 and not is_step(space, stages[stage][1], c, stages[stage][2]) do stage = stage + 1 end
    end
    assert.are.equal(5, stage)                          -- each stage came to its end, in this order
    for i = 1, 4 do
      for _, c in ipairs(space:neighbours(stages[i][1], stages[i][2])) do assert.is_true(seen[c]) end
    end
  end)

  it("has as many under way as tune.parallel or batch says, as soon as so many are known", function()
    for _, case in ipairs { { {}, nil, 1 }, { {}, 4, 4 }, { { "batch=5" }, 4, 5 } } do      -- no pipeline: all at once
      local told, known, alone = { parallel = case[2] }, 0, 0
      local batches = batches_of(grid(9, 9, 9, 9), case[1], function() return 1 end, 400, told)
      for i, batch in ipairs(batches) do
        local model = math.min(case[3], math.max(known, 4))
        alone = i > 1 and known - 1 >= 40 and alone + model or 0
        assert.are.equal(model + alone // 4, #batch)            -- one step for every four trials of the model
        alone = alone % 4
        known = known + #batch
      end
    end
  end)

  it("keeps a pipeline full: one is proposed for each that becomes known", function()
    local outstanding = {}
    local told = { parallel = 16, lazy = function(n) outstanding[#outstanding + 1] = n end }
    local asked, sizes = mock.run(portfolio, grid(9, 9, 9, 9), {}, function() return 1 end, 200, told)
    for _, n in ipairs(sizes) do assert.are.equal(1, n) end
    for i = 1, 40 do                                            -- no more than are known, or the starts
      assert.are.equal(math.max(16, math.min(24, i - 1)), outstanding[i])
    end
    for i = 100, #outstanding do                                -- with steps beside the model's
      assert.is_true(outstanding[i] >= 24 and outstanding[i] <= 24 + 7, outstanding[i])
    end
    local seen = {}
    for _, c in ipairs(asked) do
      assert.is_nil(seen[c])
      seen[c] = true
    end
  end)

  it("finds the bottom of a bowl although the model knows nothing", function()
    local found = 0
    for seed = 1, 10 do
      math.randomseed(seed)
      local space = grid(9, 9, 9, 9)
      local function cost(c)
        local sum = 1
        for p, v in ipairs(c.at) do sum = sum + (v - p) ^ 2 end
        return sum
      end
      for _, c in ipairs(mock.run(portfolio, space, { "patience=0", "share=1" }, cost, 300)) do
        if cost(c) == 1 then found = found + 1 end
      end
    end
    assert.is_true(found >= 9, found .. " of 10")
  end)

  it("does not step in a kernel that is behind", function()
    local space = mock.space { { name = "k1", sizes = { 9, 9, 9 } }, { name = "k2", sizes = { 9, 9, 9 } } }
    local function cost(c) return (c.kernel == "k1" and 1 or 50) + c.at[1] + c.at[2] end
    local steps = 0
    for _, batch in ipairs(batches_of(space, {}, cost, 300)) do
      if batch[2] then
        assert.are.equal("k1", batch[2].kernel)
        steps = steps + 1
      end
    end
    assert.is_true(steps > 20)
  end)
end)
