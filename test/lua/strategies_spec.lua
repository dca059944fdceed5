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

for _, case in ipairs {
  { "exhaustive" }, { "exhaustive", "batch=1" }, { "exhaustive", "batch=1000" },
  { "random" }, { "random", "batch=1" }, { "random", "batch=1000" },
  { "local" }, { "local", "kind=adjacent" }, { "local", "first=false" }, { "local", "batch=1" },
  { "local", "kind=adjacent", "first=false", "batch=3" },
  { "gp" }, { "gp", "batch=5" }, { "gp", "batch=1000", "starts=1" },
} do
  describe(table.concat(case, " "), function()
    local strategy, options = mock.load(case[1]), { table.unpack(case, 2) }

    it("asks for each configuration once, then ends", function()
      for seed = 1, 5 do
        math.randomseed(seed)
        local space = two_kernels()
        local asked, _, ended = mock.run(strategy, space, options, bowl)
        assert.is_true(ended)
        assert_each_once(asked, space)
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
      -- local asks for its kernels together, and for its starts at once
      local size = strategy.name == "local" and math.max(opt.batch, opt.starts) * #space:kernels() or opt.batch
      for _, n in ipairs(batches) do assert.is_true(n <= size) end
    end)

    it("has help for every option", function()
      for name, option in pairs(strategy.options) do assert.is_true(#option.help > 5, name) end
      assert.is_true(#strategy.summary > 10)
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
    for _, case in ipairs { { "true", 1 + 4 }, { "false", 1 + 29 } } do
      local space, asked, moves, start = mock.space { { name = "k", sizes = { 30 } } }, 0, {}, nil
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
