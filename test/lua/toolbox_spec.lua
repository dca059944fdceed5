-- What strategies share: search/lua/companions.lua, toolbox.lua and points.lua.

local mock = dofile("test/lua/mock.lua")

local function grid(...) return mock.space { { name = "k", sizes = { ... } } } end

-- Runs `body(tune, space)` as a strategy; what it asked for and the sizes of its batches.
local function run(space, body, cost, budget)
  local strategy = { run = function(tune, s) body(tune, s) end, options = {}, name = "test" }
  return mock.run(strategy, space, {}, cost or function(c) return c.index end, budget)
end

local function parameters_changed(a, b)
  local n = 0
  for p, v in ipairs(a.at) do n = n + (v ~= b.at[p] and 1 or 0) end
  return n
end

-- Runs `body(search)` in the only kernel of a space, then ends.
local function in_search(space, body)
  run(space, function(tune)
    local words, done = mock.prelude.strategy, false
    words.each_kernel(tune, space, function(search)
      body(search)
      done = true
    end)
    assert.is_true(done)
  end)
end

describe("remembering", function()
  local remembering = mock.prelude.strategy.remembering

  it("asks for each once, and answers in the order asked", function()
    local space = grid(10)
    local asked, batches = run(space, function(tune)
      local t = remembering(tune, space)
      assert.are.equal(3, t.evaluate(space:at(3)).value)
      local results = t.evaluate_all { space:at(5), space:at(3), space:at(5), space:at(1) }
      for i, index in ipairs { 5, 3, 5, 1 } do assert.are.equal(index, results[i].value) end
      assert.are.equal(1, t.best.value)
      assert.are.equal(5, t.known[space:at(5)].value)
      assert.is_nil(t.known[space:at(2)])
      assert.are.equal(3, #t.history)
      assert.are.equal(t, remembering(tune, space))
      assert.are.equal(t, remembering(t, space))
      assert.has_error(function() return t.bset end)
    end)
    assert.are.same({ 1, 2 }, batches)
    assert.are.equal(3, #asked)
  end)
end)

describe("companion", function()
  local words = mock.prelude.strategy

  it("waits until all that it wants is known, whoever asked for it", function()
    local space = grid(10)
    local asked = run(space, function(tune)
      tune = words.remembering(tune, space)
      local c = words.companion("exhaustive", { batch = 4 }, tune, space)
      assert.are.equal(4, #c:ask())
      tune.evaluate_all { space:at(1), space:at(3), space:at(6) }
      local rest = c:ask()
      assert.are.same({ 2, 4 }, { rest[1].index, rest[2].index })
      tune.evaluate_all(rest)
      assert.are.equal(5, c:ask()[1].index)
      assert.are.same(3, #c:ask())
      tune.evaluate_all(c:ask())
      tune.evaluate_all(c:ask())
      assert.is_nil(c:ask())
      assert.is_nil(c:ask())
    end)
    assert.are.equal(10, #asked)
  end)

  it("ends when it asks for what is known for ever", function()
    local space, loader = grid(10), mock.prelude.load_strategy
    mock.prelude.load_strategy = function()
      return mock.load_text([[return strategy { name = "s", run = function(tune, space)
        while true do tune.evaluate(space:at(1)) end
      end }]], "s.lua")
    end
    run(space, function(tune)
      local c = words.companion("s", {}, tune, space)
      words.remembering(tune, space).evaluate_all(c:ask())
      assert.is_nil(c:ask())
    end)
    mock.prelude.load_strategy = loader
  end)

  it("refuses options that it does not have", function()
    local space = grid(10)
    run(space, function(tune)
      local ok, message = pcall(words.companion, "local", { bacth = 4 }, tune, space)
      assert.is_false(ok)
      assert.matches("strategy local has no option 'bacth'", message)
    end)
  end)

  it("begins with the best of what others found", function()
    local space, began = grid(50), nil
    run(space, function(tune)
      tune = words.remembering(tune, space)
      tune.evaluate_all { space:at(30), space:at(9), space:at(20), space:at(40) }
      words.each_kernel(tune, space, function(search)
        began = search:begin(3)
        assert.are.equal(3, #search:begin(3))
      end)
    end)
    assert.are.same({ 9, 20, 30 }, { began[1].value, began[2].value, began[3].value })
  end)
end)

describe("a search", function()
  it("gives what is new: the list's own, or a neighbour, or anything, as many as there are", function()
    local space = grid(5, 5)
    in_search(space, function(search)
      search:try_all { space:at(1), space:at(2) }
      local seen = {}
      for _, c in ipairs(search:novel { space:at(7), space:at(1), space:at(7), space:at(2) }) do
        assert.is_nil(search.known[c])
        assert.is_nil(seen[c])
        seen[c] = true
      end
      assert.is_true(seen[space:at(7)])
      local list = {}
      for i = 1, 25 do list[i] = space:at(1) end
      assert.are.equal(23, #search:novel(list))
      assert.are.equal(23, #search:start(100))
      assert.are.equal(23, #search:latin(100))
    end)
  end)

  it("takes a neighbour before anything else, where it knows what it is given", function()
    local space = grid(9, 9, 9)
    in_search(space, function(search)
      search:try(space:at(100))
      for _ = 1, 20 do
        assert.are.equal(1, parameters_changed(space:at(100), search:novel { space:at(100) }[1]))
      end
    end)
  end)

  it("spreads over every parameter", function()
    local space = grid(8, 8, 8)
    in_search(space, function(search)
      local list = search:latin(8)
      for p = 1, 3 do
        local seen = {}
        for _, c in ipairs(list) do seen[c.at[p]] = true end
        for v = 0, 7 do assert.is_true(seen[v]) end
      end
    end)
  end)

  it("begins with configurations that are further from each other than random ones", function()
    local space = grid(8, 8, 8, 8)
    local function closest(list)
      local least = math.huge
      for i, a in ipairs(list) do
        for k = 1, i - 1 do
          local away = 0
          for p, v in ipairs(a.at) do away = away + math.abs(v - list[k].at[p]) end
          least = math.min(least, away)
        end
      end
      return least
    end
    in_search(space, function(search)
      for seed = 1, 5 do
        math.randomseed(seed)
        assert.is_true(closest(search:spread(8)) > closest(search:start(8)) + 2)
      end
      assert.are.equal(8 ^ 4, #search:start(1e6))
    end)
    in_search(grid(3, 1, 2), function(search)
      search:try(search:fresh())
      assert.are.equal(5, #search:spread(100))
    end)
  end)

  it("knows configurations as vectors, and back", function()
    local function active(p, at) return p ~= 3 or at[1] > 0 end
    local space = mock.space { { name = "k", sizes = { 4, 1, 3 }, active = active } }
    in_search(space, function(search)
      assert.are.equal(2, #search:axes())               -- a parameter of one value is none
      for i = 1, space:size() do
        local c = space:at(i)
        local x = search:vector(c)
        assert.are.same({ c.at[1], c.at[3] }, x)
        assert.are.equal(c, search:nearest(x))
        assert.are.equal(c, search:nearest { x[1] + 0.4, x[2] - 0.4 })
      end
      assert.are.same({ 3, 0 }, search:clip { 7.5, -1 })
      assert.are.same({ 3, 0, 2 }, search:nearest({ 1e15, 1e15 }).at)
    end)
  end)

  it("moves points, so many at once, and says where each is: beside what is known already", function()
    local space, together = grid(9, 9), 0
    in_search(space, function(search)
      local try_all = search.try_all
      function search.try_all(self, list)
        together = math.max(together, #list)
        return try_all(self, list)
      end
      local known, arrived = search:nearest { 4, 4 }, {}
      search:try(known)
      search:move(5, 2, function(k) return k == 3 and { 4, 4 } or { k + 0.2, 1 } end, function(k, result, x)
        assert.is_true(search.known[result.config] == result)
        arrived[k] = { result = result, x = x }
      end)
      assert.are.equal(5, #arrived)
      assert.are.equal(2, together)
      assert.are.same({ 2.2, 1 }, arrived[2].x)                 -- the point itself, not its configuration's vector
      assert.are.equal(1, parameters_changed(known, arrived[3].result.config))
      assert.are.same(search:vector(arrived[3].result.config), arrived[3].x)
    end)
  end)

  it("kicks as many parameters as it is told", function()
    local space = grid(6, 6, 6, 6)
    in_search(space, function(search)
      for n = 0, 4 do
        assert.are.equal(n, parameters_changed(space:at(700), search:kick(space:at(700), n)))
      end
    end)
  end)

  it("descends to where no neighbour is better", function()
    local space = grid(7, 7)
    local function cost(c) return c.at[1] ~= 3 and (c.at[1] - 4) ^ 2 + (c.at[2] - 2) ^ 2 or nil end
    for _, first in ipairs { true, false } do
      run(space, function(tune)
        mock.prelude.strategy.each_kernel(tune, space, function(search)
          local low = search:descend(search:try(space:at(49)), "adjacent", first, 2)
          assert.are.equal(0, low.value)
          for _, c in ipairs(space:neighbours(low.config, "adjacent")) do assert.is_truthy(search.known[c]) end
        end)
      end, cost)
    end
  end)
end)

describe("metropolis", function()
  local metropolis = mock.prelude.strategy.metropolis
  local function result(value)
    return { ok = value ~= nil, value = value,
             better_than = function(a, b) return a.ok and (not b.ok or a.value < b.value) end }
  end

  it("takes what is better, what is worse as often as the temperature says, a failure only from another", function()
    math.randomseed(5)
    assert.is_true(metropolis(result(2), result(1), 1e-9))
    assert.is_true(metropolis(result(nil), result(nil), 1e-9))
    assert.is_true(metropolis(result(nil), result(5), 1e-9))
    assert.is_true(metropolis(result(2), result(2), 1e-9))
    local taken = 0
    for _ = 1, 10000 do
      assert.is_false(metropolis(result(1), result(nil), 1e9))
      taken = taken + (metropolis(result(2), result(3), 0.5) and 1 or 0)
    end
    assert.is_true(math.abs(taken / 10000 - math.exp(-1)) < 0.02, taken)
  end)
end)

describe("searches side by side", function()
  -- the outstanding configurations at each moment that something is waited for
  local function outstanding_of(name, options, space, trials)
    local list = {}
    mock.run(mock.load(name), space, options, function(c)
      local sum = 1
      for p, v in ipairs(c.at) do sum = sum + (v - p) ^ 2 end
      return sum
    end, trials, { parallel = 16, lazy = function(n) list[#list + 1] = n end })
    table.sort(list)
    return list
  end

  it("do not go the same way", function()
    for name, least in pairs { tabu = 21, ["local"] = 20, ils = 20, genetic = 16 } do
      math.randomseed(1)
      local options = name ~= "genetic" and { "batch=15" } or {}
      local list = outstanding_of(name, options, mock.space { { name = "k", sizes = { 9, 9, 9, 9, 9, 9 } } }, 400)
      assert.is_true(list[#list // 2] >= least, name .. ": " .. list[#list // 2])
    end
  end)
end)
