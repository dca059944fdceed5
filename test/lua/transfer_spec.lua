-- What transfer makes of earlier campaigns, and how a strategy goes on from what another one found.

local mock = dofile("test/lua/mock.lua")
local transfer = mock.load("transfer")
local here = { problem = "p", device = "d", size = { M = 128, N = 64 } }

local function grid(...) return mock.space { { name = "k", sizes = { ... } } } end

-- An earlier result: of configuration i, in a campaign of this number.
local function found(space, i, campaign, value, fields)
  local x = { config = space:at(i), campaign = campaign, value = value, ratio = 1, exact = true,
              problem = "p", device = "d", size = { M = 64, N = 64 } }
  for name, v in pairs(fields or {}) do x[name] = v end
  return x
end

-- The first n that it asks for, and the size of its first batch.
local function begins(space, options, earlier, n)
  math.randomseed(1)
  local asked, batches = mock.run(transfer, space, options, function(c) return c.index end, n,
                                  { here = here, earlier = earlier })
  local list = {}
  for i = 1, n do list[i] = asked[i].index end
  return list, batches[1]
end

describe("transfer", function()
  it("begins with the best of the nearest campaigns, in one batch", function()
    local space = grid(30)
    local earlier = {
      found(space, 1, 9, 1.0, { device = "other" }),
      found(space, 2, 8, 1.0, { problem = "other" }),
      found(space, 3, 7, 1.0, { size = { M = 128, N = 256 } }),
      found(space, 5, 6, 3.0), found(space, 4, 6, 2.0),
      found(space, 6, 5, 1.0, { size = { M = 128, N = 64 } }),
      found(space, 7, 4, 1.0, { size = { M = 128, N = 64 }, problem = "other", device = "other" }),
    }
    local list, batch = begins(space, {}, earlier, 7)
    assert.are.same({ 6, 4, 5, 3, 2, 1, 7 }, list)
    assert.are.equal(7, batch)
    list, batch = begins(space, { "count=3" }, earlier, 3)
    assert.are.same({ 6, 4, 5 }, list)
    assert.are.equal(3, batch)
  end)

  it("counts doublings of every dimension, and one for a dimension that is not there", function()
    local space = grid(30)
    local earlier = {
      found(space, 1, 6, 1, { size = { M = 16, N = 64 } }),            -- 3
      found(space, 2, 5, 1, { size = {} }),                            -- 2
      found(space, 3, 4, 1, { size = { M = 181, N = 64 } }),           -- 0.5
      found(space, 4, 3, 1, { size = { M = 256, N = 32, K = 9 } }),    -- 3
      found(space, 5, 2, 1, { size = { M = 128, N = 64, K = 9 } }),    -- 1
      found(space, 6, 1, 1, { size = { M = 128, N = 64 } }),           -- 0
    }
    assert.are.same({ 6, 3, 5, 2, 1, 4 }, (begins(space, {}, earlier, 6)))
  end)

  it("takes each configuration once, few of a campaign, exact ones first and newer campaigns before older", function()
    local space = grid(30)
    local earlier = {}
    for i = 1, 8 do earlier[i] = found(space, i, 2, i, { exact = i > 4 }) end
    earlier[9], earlier[10], earlier[11] = found(space, 5, 1, 1), found(space, 5, 1, 2), found(space, 9, 1, 3)
    local list, batch = begins(space, {}, earlier, 4)
    assert.are.same({ 5, 6, 7, 9 }, list)
    assert.are.equal(4, batch)
    list, batch = begins(space, { "each=1" }, earlier, 2)
    assert.are.same({ 5, 9 }, list)
    assert.are.equal(2, batch)
  end)

  it("goes on, knowing what it knows, and asks for everything once", function()
    for _, other in ipairs(transfer.options["then"]) do
      for _, cost in ipairs { function(c) return c.index end, function() return nil end } do
        local space = mock.space { { name = "k", sizes = { 5, 4 } }, { name = "l", sizes = { 3 } } }
        local earlier = { found(space, 20, 1, 1), found(space, 22, 1, 2), found(space, 3, 2, 3) }
        math.randomseed(1)
        local asked, _, ended = mock.run(transfer, space, { "then=" .. other }, cost, nil,
                                         { here = here, earlier = earlier })
        local seen = {}
        for _, c in ipairs(asked) do
          assert.is_nil(seen[c])
          seen[c] = true
        end
        assert.is_true(ended)
        assert.are.equal(space:size(), #asked, other)
        assert.are.same({ 3, 20, 22 }, { asked[1].index, asked[2].index, asked[3].index })
      end
    end
  end)

  it("is the other strategy where nothing is known, or nothing is wanted", function()
    local function sequence(strategy, options, told)
      math.randomseed(7)
      local text = {}
      for i, c in ipairs(mock.run(strategy, grid(6, 5), options, function(c) return c.index end, nil, told)) do
        text[i] = c.index
      end
      return table.concat(text, " ")
    end
    local some = { here = here, earlier = { found(grid(6, 5), 9, 1, 1) } }
    for _, other in ipairs { "gp", "local", "random" } do
      local alone = sequence(mock.load(other), {})
      assert.are.equal(alone, sequence(transfer, { "then=" .. other }))
      assert.are.equal(alone, sequence(transfer, { "then=" .. other, "count=0" }, some))
    end
    assert.are.equal(sequence(mock.load("random"), { "batch=4" }), sequence(transfer, { "then=random", "batch=4" }))
    assert.has_error(function() sequence(transfer, { "then=pso", "each=11" }) end)
  end)

  -- Of 6561 two are better than the rest, and the best is a neighbour of the one that is known.
  it("lets a descent begin at the best that is known", function()
    for _, other in ipairs { "local", "ils" } do
      for seed = 1, 10 do
        local space = grid(9, 9, 9, 9)
        local near = space:at(3000)
        local bottom = space:neighbours(near, "adjacent")[1]
        local function cost(c) return c == bottom and 1 or c == near and 2 or 100 end
        math.randomseed(seed)
        local asked, reached = mock.run(transfer, space, { "then=" .. other, "count=1" }, cost, 60,
                                        { here = here, earlier = { found(space, 3000, 1, 1) } }), false
        for _, c in ipairs(asked) do reached = reached or c == bottom end
        assert.is_true(reached, other)
      end
    end
  end)
end)

describe("gp inside another strategy", function()
  it("learns what others asked for, and leaves out the starts that they were", function()
    local script = mock.load_text([[return strategy { name = "outer", run = function(tune, space)
      tune = remembering(tune, space)
      local gp = companion("gp", { starts = 3 }, tune, space)
      for i = 1, 4 do tune.evaluate(space:at(i)) end
      for batch in function() return gp:ask() end do
        tune.evaluate_all(batch)
        for i = 5, 8 do tune.evaluate(space:at(i)) end
      end
    end }]], "outer")
    local spread, told = 0, 0
    local gp = mock.models.gp
    mock.models.gp = function(args)
      local m = gp(args)
      local old_spread, old_tell = m.spread, m.tell
      m.spread = function(...) spread = spread + 1 return old_spread(...) end
      m.tell = function(...) told = told + 1 return old_tell(...) end
      return m
    end
    local asked, _, ended = mock.run(script, grid(12), {}, function(c) return c.index end)
    mock.models.gp = gp
    assert.is_true(ended)
    assert.are.equal(12, #asked)
    assert.are.equal(12, told)
    assert.are.equal(0, spread)
  end)
end)
