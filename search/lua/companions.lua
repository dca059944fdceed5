-- companions.lua: how strategies remember, and how several go on together, embedded in the binary and run after
-- prelude.lua: docs/strategies.md, "Tools".
--
-- Given the prelude's module, it adds words to `M.strategy`, and for toolbox.lua M.new_companion, M.all_known and
-- M.results_of.
-- M.load_strategy(name), which the host or the test puts there, gives the table of a strategy that comes with lathe.
--
-- Invariant: a tune that remembers asks for a configuration once, whoever of those that share its store wants it.

local M = ...                   -- the prelude's module

local ASKED_IN_VAIN = 10000     -- times in a row that a companion may ask for what is known
local PIPELINE = 8              -- of tune.parallel: with fewer compilers every trial had better know all before it

-- Remembering ---------------------------------------------------------------------------------------------------------

local remembering_tunes = setmetatable({}, { __mode = "k" })

-- Those of a list that are neither known nor asked for, each once.
local function unasked_of(store, list)
  local unasked, listed = {}, {}
  for _, config in ipairs(list) do
    if not store.known[config] and not store.pending[config] and not listed[config] then
      unasked[#unasked + 1], listed[config] = config, true
    end
  end
  return unasked
end

function M.all_known(store, list)
  for _, config in ipairs(list) do
    if not store.known[config] then return false end
  end
  return true
end

local function record(store, results)
  for _, result in ipairs(results) do
    local config = result.config
    store.pending[config] = nil
    if not store.known[config] then
      local kernel = config.kernel
      store.known[config] = result
      store.history[#store.history + 1] = result
      store.left[kernel] = store.left[kernel] - 1
      if result:better_than(store.best[kernel]) then store.best[kernel] = result end
    end
  end
end

function M.results_of(store, list)
  local results = {}
  for i, config in ipairs(list) do results[i] = store.known[config] end
  return results
end

-- The configurations of the space that a list means. name: whose argument it is, for messages.
local function configs_of(store, list, name)
  if type(list) ~= "table" then error(name .. ": a list of configurations was expected", 3) end
  if #list == 0 then error(name .. ": the list is empty", 3) end
  local configs = {}
  for i, item in ipairs(list) do
    local config, why = item, nil
    if type(item) ~= "userdata" or not item.index then config, why = store.space:config(item) end
    if not config then error(string.format("%s: item %d is no configuration of the space: %s", name, i, why), 3) end
    configs[i] = config
  end
  return configs
end

-- A tune over a store. ask(list) sees to it that what of it is unknown becomes known some time; wait(list) returns when
-- all of it is.
local function new_tune(store, base, ask, wait)
  local first, last, queue = 1, 0, {}           -- submitted and not collected: queue[first] .. queue[last]
  local tune = setmetatable({ known = store.known, pending = store.pending, history = store.history, store = store },
                            { __index = function(_, name)
                              if name == "outstanding" then return last - first + 1 end
                              return base[name]
                            end })
  local function evaluate_all(list)
    ask(list)
    wait(list)
    return M.results_of(store, list)
  end
  function tune.submit(list)
    list = configs_of(store, list, "tune.submit")
    ask(list)
    for _, config in ipairs(list) do last, queue[last + 1] = last + 1, config end
  end
  function tune.collect(n)
    if first > last then error("tune.collect: nothing is outstanding: what tune.submit was given is collected", 2) end
    local count = n == nil and last - first + 1 or math.tointeger(n)
    if not count or count < 1 then error("tune.collect: a whole number of at least 1 was expected", 2) end
    count = math.min(count, last - first + 1)
    local list = table.move(queue, first, first + count - 1, 1, {})
    for i = first, first + count - 1 do queue[i] = nil end
    first = first + count
    wait(list)
    return M.results_of(store, list)
  end
  function tune.evaluate_all(list) return evaluate_all(configs_of(store, list, "tune.evaluate_all")) end
  function tune.evaluate(config) return evaluate_all(configs_of(store, { config }, "tune.evaluate"))[1] end
  remembering_tunes[tune] = tune
  return tune
end

-- remembering(tune, space): a tune that asks for each configuration of the space once and answers from memory
-- afterwards. tune.known[config] is a configuration's result, tune.pending[config] whether it was asked for and is not
-- known yet, tune.history all results by age. The same for the same tune, so that everything that searches with it
-- shares what is known.
function M.strategy.remembering(tune, space)
  if remembering_tunes[tune] then return remembering_tunes[tune] end
  local store = { space = space, known = {}, pending = {}, history = {}, left = {}, best = {} }
  for _, kernel in ipairs(space:kernels()) do store.left[kernel] = space:size(kernel) end
  local function ask(list)
    local unasked = unasked_of(store, list)
    if #unasked > 0 then tune.submit(unasked) end
    for _, config in ipairs(unasked) do store.pending[config] = true end
  end
  local function wait(list)
    for _, config in ipairs(list) do
      while not store.known[config] do record(store, tune.collect(1)) end
    end
  end
  remembering_tunes[tune] = new_tune(store, tune, ask, wait)
  return remembering_tunes[tune]
end

-- How many may be outstanding before a strategy that can go on has to wait: more than compile at once, so that what
-- takes long holds nothing up; 1, which is none beside what it asked for together, where there is no pipeline to fill.
function M.strategy.pipeline_depth(tune)
  return tune.parallel < PIPELINE and 1 or (3 * tune.parallel + 1) // 2
end

-- evaluate_ahead(tune, list): asks for a list whose results decide nothing, and returns when what is outstanding no
-- longer fills the pipeline.
function M.strategy.evaluate_ahead(tune, list)
  tune.submit(list)
  local spare = tune.outstanding - M.strategy.pipeline_depth(tune) + 1
  if spare > 0 then tune.collect(spare) end
end

-- One strategy inside another -----------------------------------------------------------------------------------------

local companion = {}
companion.__index = companion

-- go(tune) inside another strategy's, sharing what that knows.
function M.new_companion(tune, go)
  local c = setmetatable({ store = tune.store, asked = {}, wanted = {}, turns = 0, ended = false }, companion)
  local vain = 0                -- times in a row that it asked for what is known
  local inner = new_tune(tune.store, tune, function(list)
    vain = M.all_known(c.store, list) and vain + 1 or 0
    table.move(list, 1, #list, #c.asked + 1, c.asked)
  end, function(list)
    c.wanted = list
    if vain >= ASKED_IN_VAIN then coroutine.yield(true) end
    if not M.all_known(c.store, list) then coroutine.yield() end
  end)
  c.go = coroutine.wrap(function()
    go(inner)
    return true
  end)
  return c
end

-- companion(name, options, tune, space): a strategy that comes with lathe, to be run by another one. options: by name,
-- those that are not the defaults. What `tune` knows it knows too, and the other way round.
function M.strategy.companion(name, options, tune, space)
  local outer, script, texts = M.strategy.remembering(tune, space), M.load_strategy(name), {}
  for option, value in pairs(options or {}) do texts[#texts + 1] = option .. "=" .. tostring(value) end
  local opt = M.resolve(script, texts)
  local c = M.new_companion(outer, function(inner) script.run(inner, space, opt) end)
  c.name = name
  return c
end

-- companion:ask(): the configurations that it asks for, none of them known or asked for by others; an empty list if it
-- waits for such; nil: it has ended. It goes on when all that it waits for is known, whoever asked for it.
function companion:ask()
  if not self.ended and M.all_known(self.store, self.wanted) then
    self.turns, self.ended = self.turns + 1, self.go() or false
  end
  self.asked = unasked_of(self.store, self.asked)
  if self.ended and #self.asked == 0 then return nil end
  return table.move(self.asked, 1, #self.asked, 1, {})
end

-- companion:waits(): whether it cannot go on yet.
function companion:waits() return not self.ended and not M.all_known(self.store, self.wanted) end

local function all_wait(companions)
  for _, c in ipairs(companions) do
    if not c.ended and not c:waits() then return false end
  end
  return true
end

-- Whether what companions have outstanding leaves room; not before each had its second turn, as many ask for less in
-- the first.
local function room_for_more(tune, companions, depth)
  for _, c in ipairs(companions) do
    if c.turns < 2 then return false end
  end
  return tune.outstanding < depth and all_wait(companions)
end

-- run_together(tune, companions, another): each goes on as soon as it can, until all have ended. another() gives one
-- more, nil for none; it may be left out, and is asked while those that there are leave room in the pipeline.
function M.strategy.run_together(tune, companions, another)
  local depth = M.strategy.pipeline_depth(tune)
  while true do
    local live                          -- the first that has not ended
    for _, c in ipairs(companions) do
      local list = c:ask()
      if list and #list > 0 then tune.submit(list) end
      live = live or list and c
    end
    if not live then break end
    local one_more = another and room_for_more(tune, companions, depth) and another()
    companions[#companions + 1] = one_more or nil
    while not live.ended and all_wait(companions) do
      if tune.outstanding > 0 then tune.collect(1) else tune.evaluate_all(live.wanted) end
    end
  end
  if tune.outstanding > 0 then tune.collect() end
end
