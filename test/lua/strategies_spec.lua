-- The strategies of search/strategies against a space written in Lua.

local mock = dofile("test/lua/mock.lua")

local function two_kernels()
  return mock.space { { name = "k1", sizes = { 5, 4, 3 } }, { name = "k2", sizes = { 7 } } }
end

-- A bowl around the middle; kernel k2 is worse; some fail.
local function bowl(c)
  local sum, failing = c.kernel == "k2" and 100 or 1, 0
  for p, v in ipairs(c.at) do
    sum = sum + (v - c.sizes[p] / 2) ^ 2
    failing = failing * 5 + v
  end
  return failing % 7 ~= 3 and sum or nil
end

local function assert_each_once(asked, space)
  local seen = {}
  for _, c in ipairs(asked) do
    assert.is_nil(seen[c])
    seen[c] = true
  end
  assert.are.equal(space:size(), #asked)
end

-- Two kernels, one with holes and a parameter that applies only where the first one is not at its first value.
local function holes()
  return mock.space {
    { name = "k1", sizes = { 4, 3, 3, 2 }, valid = function(at) return (at[1] + 2 * at[2] + at[4]) % 4 ~= 1 end,
      active = function(p, at) return p ~= 3 or at[1] > 0 end },
    { name = "k2", sizes = { 3, 1, 2 } },
  }
end

-- How many configurations a strategy may ask for at once in a kernel.
local function most_at_once(opt)
  local most = 16                       -- what the arms of a bandit start with
  for _, name in ipairs { "batch", "starts", "samples", "population", "children" } do
    most = math.max(most, rawget(opt, name) or 0)
  end
  return most
end

for _, case in ipairs {
  { "exhaustive" }, { "exhaustive", "batch=1" }, { "exhaustive", "batch=1000" },
  { "random" }, { "random", "batch=1" }, { "random", "batch=1000" },
  { "local" }, { "local", "kind=adjacent" }, { "local", "first=false" }, { "local", "batch=1" },
  { "local", "kind=adjacent", "first=false", "batch=3" },
  { "gp" }, { "gp", "batch=5" }, { "gp", "batch=1000", "starts=1" },
  { "forest" }, { "forest", "batch=5" }, { "forest", "batch=1000", "starts=1" },
  { "latin" }, { "latin", "samples=1" }, { "latin", "samples=1000" },
  { "ils" }, { "ils", "kind=hamming", "first=false", "kick=64", "batch=1", "starts=1" },
  { "tabu" }, { "tabu", "kind=hamming", "tenure=1", "batch=1", "starts=1" },
  { "annealing" }, { "annealing", "kind=hamming", "starts=1", "trials=5", "hot=1000" },
  { "genetic" }, { "genetic", "population=2", "children=1", "mutation=0" }, { "genetic", "mutation=1" },
  { "differential_evolution" }, { "differential_evolution", "base=random", "population=4", "batch=1" },
  { "differential_evolution", "base=current", "weight=0", "dither=0", "crossover=0", "batch=1000" },
  { "dual_annealing" }, { "dual_annealing", "starts=1", "trials=3", "visit=1.1", "kind=hamming", "batch=1" },
  { "dual_annealing", "visit=2.99", "hot=1000" },
  { "firefly" }, { "firefly", "population=1", "batch=1", "rounds=1" }, { "firefly", "pull=0", "random=0" },
  { "basin_hopping" }, { "basin_hopping", "starts=1", "hop=0", "patience=1", "kind=hamming" },
  { "bandit" }, { "bandit", "window=1", "explore=0", "annealing=true", "basin_hopping=true", "dual_annealing=true",
                  "firefly=true", "local=true" },
  { "portfolio" }, { "portfolio", "patience=0", "batch=9" }, { "portfolio", "patience=1000000", "batch=3" },
  { "transfer" }, { "transfer", "then=local", "batch=8" }, { "transfer", "then=exhaustive", "count=0", "batch=2" },
  { "pso" }, { "pso", "population=1", "batch=1" }, { "pso", "inertia=0", "own=0", "all=0", "population=1000" },
} do
  describe(table.concat(case, " "), function()
    local strategy, options = mock.load(case[1]), { table.unpack(case, 2) }

    it("asks for each configuration once, then ends", function()
      for seed = 1, 5 do
        for _, space in ipairs { two_kernels(), holes() } do
          math.randomseed(seed)
          local asked, _, ended = mock.run(strategy, space, options, bowl)
          assert.is_true(ended)
          assert_each_once(asked, space)
        end
      end
    end)

    it("asks for each configuration once, then ends, in a pipeline too", function()
      for seed = 1, 3 do
        for _, space in ipairs { two_kernels(), holes(), mock.space { { name = "k", sizes = { 1 } } } } do
          math.randomseed(seed)
          local asked, _, ended = mock.run(strategy, space, options, bowl, nil, { parallel = 16, lazy = function() end })
          assert.is_true(ended)
          assert_each_once(asked, space)
        end
      end
    end)

    it("ends on a space of one, and where all fail, and where all are equal", function()
      for _, cost in ipairs { bowl, function() return nil end, function() return 1.0 end } do
        local one, space = mock.space { { name = "k", sizes = { 1 } } }, two_kernels()
        assert_each_once(mock.run(strategy, one, options, cost), one)
        assert_each_once(mock.run(strategy, space, options, cost), space)
      end
    end)

    it("keeps to its batch size", function()
      local space = two_kernels()
      local _, batches = mock.run(strategy, space, options, bowl)
      local opt = mock.prelude.resolve(strategy, options)
      -- searches of kernels ask together
      local size = most_at_once(opt) * #space:kernels()
      for _, n in ipairs(batches) do assert.is_true(n <= size) end
    end)

    it("asks for the same with the same seed, and for other things with another", function()
      local function sequence(seed)
        math.randomseed(seed)
        local text = {}
        for i, c in ipairs(mock.run(strategy, holes(), options, bowl)) do text[i] = c.index end
        return table.concat(text, " ")
      end
      assert.are.equal(sequence(3), sequence(3))
      local draws = case[1] ~= "exhaustive" and case[2] ~= "then=exhaustive"
      if draws then assert.are_not.equal(sequence(3), sequence(4)) end
    end)

    it("has help for every option", function()
      for name, option in pairs(strategy.options) do assert.is_true(#option.help > 5, name) end
      assert.is_true(#strategy.summary > 10)
    end)
  end)
end

-- Which strategies find the best of 6561 within so many trials, more often than not; at random it takes 3281.
for name, trials in pairs { ils = 150, tabu = 150, annealing = 250, genetic = 250,
                            differential_evolution = 400, pso = 400, dual_annealing = 250, firefly = 800,
                            basin_hopping = 150, bandit = 400 } do
  describe(name, function()
    it("finds the bottom of a bowl", function()
      local found = 0
      for seed = 1, 10 do
        math.randomseed(seed)
        local space = mock.space { { name = "k", sizes = { 9, 9, 9, 9 } } }
        local function cost(c)
          local sum = 1
          for p, v in ipairs(c.at) do sum = sum + (v - p) ^ 2 end
          return sum
        end
        for _, c in ipairs(mock.run(mock.load(name), space, {}, cost, trials)) do
          if cost(c) == 1 then found = found + 1 end
        end
      end
      assert.is_true(found >= 6, name .. ": " .. found .. " of 10")
    end)
  end)
end

describe("exhaustive", function()
  it("goes in order", function()
    local asked = mock.run(mock.load("exhaustive"), two_kernels(), {}, bowl)
    for i, c in ipairs(asked) do assert.are.equal(i, c.index) end
  end)
end)

describe("local", function()
  local big = { 9, 9, 9, 9 }

  it("walks down a bowl in few steps", function()
    for seed = 1, 10 do
      math.randomseed(seed)
      local space = mock.space { { name = "k", sizes = big } }
      local function cost(c)
        local sum = 1
        for p, v in ipairs(c.at) do sum = sum + (v - p) ^ 2 end
        return sum
      end
      local asked, best = mock.run(mock.load("local"), space, {}, cost, 150), math.huge
      for _, c in ipairs(asked) do best = math.min(best, cost(c)) end
      assert.are.equal(1, best) -- of 6561
    end
  end)

  -- k2 takes `times` as long as k1: how many of 200 configurations are k2's
  local function share_of_slower(times)
    local space = mock.space { { name = "k1", sizes = big }, { name = "k2", sizes = big } }
    local function cost(c)
      local sum = 100
      for _, v in ipairs(c.at) do sum = sum + v end
      return c.kernel == "k2" and times * sum or sum
    end
    local asked, count = mock.run(mock.load("local"), space, {}, cost, 200), 0
    for _, c in ipairs(asked) do count = count + (c.kernel == "k2" and 1 or 0) end
    return count
  end

  it("goes down in every kernel that may still win, at the same time", function()
    local count = share_of_slower(1.05)
    assert.is_true(count >= 60 and count <= 140, count)
  end)

  it("asks for little of a kernel that is far behind, but does not forget it", function()
    local count = share_of_slower(3)
    assert.is_true(count >= 8 and count <= 50, count)
  end)

  it("starts at the best of its starts", function()
    local space, first = mock.space { { name = "k", sizes = { 1000 } } }, nil
    local neighbours = space.neighbours
    function space:neighbours(config, kind)
      first = first or config
      return neighbours(self, config, kind)
    end
    local asked = mock.run(mock.load("local"), space, { "starts=6" }, function(c) return c.at[1] end, 20)
    local best = math.huge
    for i = 1, 6 do best = math.min(best, asked[i].at[1]) end
    assert.are.equal(best, first.at[1])
  end)

  it("moves at once with first, and looks at all neighbours without", function()
    -- every neighbour is better than the start, so the first batch of four is enough to move
    for _, case in ipairs { { "true", 1 + 4 }, { "false", 1 + 30 } } do
      local space, asked, moves, start = mock.space { { name = "k", sizes = { 30, 2 } } }, 0, {}, nil
      local function cost(c)
        asked, start = asked + 1, start or c
        return c == start and 1000 or c.at[1]
      end
      local neighbours = space.neighbours
      function space:neighbours(...)
        moves[#moves + 1] = asked
        return neighbours(self, ...)
      end
      mock.run(mock.load("local"), space, { "starts=1", "batch=4", "first=" .. case[1] }, cost)
      assert.are.equal(1, moves[1])
      assert.are.equal(case[2], moves[2])
    end
  end)
end)

describe("the example in docs/strategies.md", function()
  local text = assert(io.open("docs/strategies.md")):read("a"):match("```lua\n(.-)```")

  it("runs, and asks for each configuration once", function()
    local strategy = mock.load_text(text, "docs/strategies.md")
    math.randomseed(1)
    local space = two_kernels()
    local asked, _, ended = mock.run(strategy, space, { "patience=3" }, bowl)
    assert.is_true(ended)
    assert_each_once(asked, space)
  end)
end)
