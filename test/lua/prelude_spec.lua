-- The words of specifications and strategies, and how options are read.

local M = dofile("search/lua/prelude.lua")

local function message(f, ...)
  local ok, m = pcall(f, ...)
  assert.is_false(ok)
  return m
end

describe("the words of a specification", function()
  local spec = M.spec

  it("tag a copy of their table", function()
    for _, tag in ipairs { "problem", "launch", "gemm", "kernel" } do
      local fields = { "a", name = "b" }
      local tagged = spec[tag](fields)
      assert.are.same({ "a", name = "b", tag = tag }, tagged)
      assert.are.same({ "a", name = "b" }, fields)
    end
  end)

  it("keep formulas as they are", function()
    assert.are.same({ tag = "uniform", 0, "1/sqrt(K)" }, spec.uniform(0, "1/sqrt(K)"))
    assert.are.same({ tag = "normal", -1, 2.5 }, spec.normal(-1, 2.5))
    assert.are.same({ tag = "i64", "M * N" }, spec.i64("M * N"))
    assert.are.same({ tag = "f32", 3 }, spec.f32 { 3 })
  end)

  it("refuse what they can't tag, at the caller's line", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local m = message(function() local x = spec.problem("name") return x end)
    assert.is_truthy(m:find("prelude_spec.lua:" .. line .. ": problem takes a table, problem { ... }", 1, true))
    assert.matches('the string "name"', m)
    assert.matches("already a launch", message(spec.problem, spec.launch {}))
    assert.matches("takes two arguments", message(spec.uniform, 1, 2, 3))
    assert.matches("was given nothing", message(spec.uniform, 1))
    assert.matches("was given true", message(spec.i32, true))
    assert.matches("was given a table", message(spec.i32, { 1, 2 }))
  end)
end)

describe("options", function()
  local words = M.strategy

  it("take their default from the first place, or from default", function()
    assert.are.equal("a", words.choice { "a", "b" }.default)
    assert.are.equal("b", words.choice { "a", "b", default = "b" }.default)
    assert.are.equal(3, words.integer { 3 }.default)
    assert.are.equal(4, words.integer { default = 4, min = 1, max = 9 }.default)
    assert.are.equal(0.5, words.number { 0.5, min = 0 }.default)
    assert.are.equal(false, words.boolean { false }.default)
    assert.are.equal("", words.boolean { true }.help)
  end)

  it("refuse a default that they would not take", function()
    assert.matches("an integer from 5 to 9 was expected", message(words.integer, { 3, min = 5, max = 9 }))
    assert.matches("an integer was expected", message(words.integer, { 3.5 }))
    assert.matches("a number of at most 1 was expected", message(words.number, { 2, max = 1 }))
    assert.matches("a number was expected", message(words.number, { 0 / 0 }))
    assert.matches("a number was expected", message(words.number, { math.huge }))
    assert.matches("one of a, b was expected", message(words.choice, { "a", "b", default = "c" }))
    assert.matches("true or false was expected", message(words.boolean, { 1 }))
    assert.matches("the default is missing", message(words.integer, { min = 1 }))
    assert.matches("one default is enough", message(words.integer, { 1, 2 }))
    assert.matches("at least one string", message(words.choice, {}))
    assert.matches("choice 2 must be a string, not 3", message(words.choice, { "a", 3 }))
    assert.matches("unknown field 'mim'; known: default, help, max, min, parallel, within", message(words.integer, { 1, mim = 2 }))
    assert.matches("min must be a number", message(words.integer, { 1, min = "x" }))
    assert.matches("integer: help has a control character, byte 0, at 2",
                   message(words.integer, { 1, help = "a\0b" }))
    assert.matches("choice 2 has a control character, byte 0, at 3", message(words.choice, { "a", "ab\0" }))
    assert.are.equal("two\nlines", words.integer { 1, help = "two\nlines" }.help)
  end)
end)

describe("strategy { }", function()
  local function run() end
  local words = M.strategy

  it("fills in what may be left out", function()
    local s = words.strategy { name = "x", run = run }
    assert.are.equal("", s.summary)
    assert.are.same({}, s.options)
  end)

  it("names what is wrong", function()
    local function fails(fields, pattern) assert.matches(pattern, message(words.strategy, fields)) end
    fails({ run = run }, "name is missing")
    fails({ name = "x" }, "run is missing")
    fails({ name = 3, run = run }, "name must be a string, not 3")
    fails({ name = "x\0", run = run }, "strategy: name has a control character, byte 0, at 2")
    fails({ name = "x", run = run, summary = "\27[2J" }, "strategy: summary has a control character, byte 27, at 1")
    fails({ name = "x", run = "y" }, "run must be a function")
    fails({ name = "x", run = run, optoins = {} }, "unknown field 'optoins'; known: name, options, run, summary")
    fails({ name = "x", run = run, options = { 3 } }, "an option needs a name")
    fails({ name = "x", run = run, options = { n = 3 } }, "option n must be made by")
    fails({ name = "x", run = run, options = { n = words.integer { 1, parallel = true, within = "m" },
                                               m = words.number { 2 } } }, 'within = "m" names no integer option')
    fails({ name = "x", run = run, options = { ["a b"] = words.integer { 1 } } }, "an option needs a name")
  end)
end)

describe("what the command line says of options", function()
  local words = M.strategy
  local s = words.strategy {
    name = "x", run = function() end,
    options = {
      kind = words.choice { "near", "far" }, n = words.integer { 3, min = 1, max = 9 },
      t = words.number { 0.5, min = 0 },
      quick = words.boolean { true, help = "be quick" },
    },
  }

  it("is read by type", function()
    assert.are.same({ kind = "near", n = 3, t = 0.5, quick = true }, M.resolve(s, {}))
    assert.are.same({ kind = "far", n = 9, t = 0.25, quick = false },
                    M.resolve(s, { "kind=far", "n=9", "t=0.25", "quick=false" }))
    assert.are.equal("option n of strategy x is given twice: n=5, and n=2", message(M.resolve, s, { "n=5", "n=2" }))
    assert.are.equal("integer", math.type(M.resolve(s, { "n=4.0" }).n))
  end)

  it("is refused when it does not fit, without a position", function()
    local function fails(text, wanted) assert.are.equal(wanted, message(M.resolve, s, { text })) end
    fails("n=0", "option n of strategy x: an integer from 1 to 9 was expected, got '0'")
    fails("n=2.5", "option n of strategy x: an integer from 1 to 9 was expected, got '2.5'")
    for _, v in ipairs { "0x5", " 5", "5 ", "0x1p2" } do
      fails("n=" .. v, "option n of strategy x: an integer from 1 to 9 was expected, got '" .. v .. "'")
      fails("t=" .. v, "option t of strategy x: a number of at least 0 was expected, got '" .. v .. "'")
    end
    fails("n=", "option n of strategy x: an integer from 1 to 9 was expected, got ''")
    fails("t=-1", "option t of strategy x: a number of at least 0 was expected, got '-1'")
    fails("t=nan", "option t of strategy x: a number of at least 0 was expected, got 'nan'")
    fails("t=1e999", "option t of strategy x: a number of at least 0 was expected, got '1e999'")
    fails("kind=x", "option kind of strategy x: one of near, far was expected, got 'x'")
    fails("quick=1", "option quick of strategy x: true or false was expected, got '1'")
    fails("nn=1", "strategy x has no option 'nn'; it has: kind, n, quick, t")
    fails("n", "option 'n': write NAME=VALUE")
  end)

  it("leaves an option that is for compilers to their number", function()
    local own = words.strategy {
      name = "x", run = function() end,
      options = {
        batch = words.integer { 4, min = 1, max = 9, parallel = true }, wide = words.integer { 2, parallel = true },
        some = words.integer { 3, parallel = true, within = "all" }, all = words.integer { 6 },
        n = words.integer { 1 },
      },
    }
    local function gives(compilers, given, wanted)
      M.compilers = compilers
      local text = M.options_text(M.resolve(own, given))
      M.compilers = 0
      assert.are.equal(wanted, text)
    end
    gives(0, {}, "all=6 batch=4 n=1 some=3 wide=2")
    gives(-1, {}, "all=6 batch=4 n=1 some=3 wide=2")
    gives(3, {}, "all=6 batch=4 n=1 some=3 wide=3")
    gives(5, {}, "all=6 batch=5 n=1 some=5 wide=5")
    gives(64, {}, "all=6 batch=9 n=1 some=6 wide=16")           -- an option's own bounds stay
    gives(64, { "all=2" }, "all=2 batch=9 n=1 some=3 wide=16")  -- the default is not lowered
    gives(64, { "batch=2", "wide=1", "some=9" }, "all=6 batch=2 n=1 some=9 wide=1")
    assert.are.equal("points; on a device the compilers, if those are more",
                     M.describe_options(words.strategy { name = "x", run = function() end, options = {
                       n = words.integer { 1, parallel = true, help = "points" } } })[1].help)
  end)

  it("is written back so that it reads back", function()
    local values = M.resolve(s, { "t=0.1", "kind=far" })
    assert.are.equal("kind=far n=3 quick=true t=0.1", M.options_text(values))
    assert.are.equal("x=0.30000000000000004", M.options_text { x = 0.1 + 0.2 })
  end)

  it("can't be misspelt by the script", function()
    assert.matches("strategy x has no option 'kin'", message(function() return M.resolve(s, {}).kin end))
  end)

  it("is described for --help", function()
    assert.are.same({
      { name = "kind", type = "choice", default = "near", range = "near|far", help = "" },
      { name = "n", type = "integer", default = "3", range = "1..9", help = "" },
      { name = "quick", type = "boolean", default = "true", range = "true|false", help = "be quick" },
      { name = "t", type = "number", default = "0.5", range = "0..", help = "" },
    }, M.describe_options(s))
  end)
end)

describe("shuffled", function()
  it("gives each number once", function()
    for n = 0, 20 do
      local seen, count = {}, 0
      for i in M.strategy.shuffled(n) do
        assert.is_true(i >= 1 and i <= n and not seen[i])
        seen[i], count = true, count + 1
      end
      assert.are.equal(n, count)
    end
  end)

  it("is uniform over orders", function()
    local counts = {}
    for _ = 1, 6000 do
      local order = {}
      for i in M.strategy.shuffled(3) do order[#order + 1] = i end
      local key = table.concat(order)
      counts[key] = (counts[key] or 0) + 1
    end
    for _, order in ipairs { "123", "132", "213", "231", "312", "321" } do
      assert.is_true(counts[order] > 800 and counts[order] < 1200)
    end
  end)

  it("costs nothing for what is not drawn", function()
    local draw, seen = M.strategy.shuffled(math.maxinteger), {}
    for _ = 1, 1000 do
      local i = draw()
      assert.is_nil(seen[i])
      seen[i] = true
    end
  end)
end)
