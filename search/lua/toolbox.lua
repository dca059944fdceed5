-- toolbox.lua: what strategies share that search, embedded in the binary and run after companions.lua:
-- docs/strategies.md, "Tools".
--
-- Given the prelude's module, it adds words to `M.strategy`, and M.search, the methods of a search.
--
-- Invariant: a search is resumed only while its kernel has configurations that are not known, so its function needs no
-- end.

local M = ...                   -- the prelude's module

local MOST_SIDES = 4            -- searches of a kernel side by side

-- A search in each kernel ---------------------------------------------------------------------------------------------

local search = {}
search.__index = search
M.search = search

-- The rounds that a search sits out: one for each eighth that its best is slower than the best of all, seven at most.
local function behind(s, tune)
  local best = tune.best
  if not best then return 0 end
  local own = s:best()
  if not own or not own.ok then return 7 end
  return math.min(7, math.floor(8 * (own.value / best.value - 1)))
end

-- beside: another search of the kernel goes on; where that began this one does not.
local function new_search(tune, space, kernel, beside)
  return setmetatable({ kernel = kernel, begun = beside, space = space, known = tune.known, store = tune.store,
                        size = space:size(kernel), draw = M.strategy.shuffled(space:size(kernel)) }, search)
end

-- A search in each kernel, in rounds.
local function rounds(tune, space, run, beside)
  local live = {}
  for i, kernel in ipairs(space:kernels()) do
    local s = new_search(tune, space, kernel, beside)
    live[i] = { search = s, wait = 0, go = coroutine.wrap(function() run(s) end) }
  end
  while true do
    local all, still, soonest = {}, {}, math.huge
    for _, d in ipairs(live) do soonest = math.min(soonest, d.wait) end
    for _, d in ipairs(live) do
      d.wait = d.wait - soonest
      local wanted = d.wait == 0 and d.search:left() > 0 and d.go()
      if wanted then table.move(wanted, 1, #wanted, #all + 1, all) end
      if wanted or d.wait > 0 then still[#still + 1] = d end
    end
    if #still == 0 then return end
    if #all > 0 then tune.evaluate_all(all) end
    for _, d in ipairs(still) do d.wait = d.wait > 0 and d.wait or 1 + behind(d.search, tune) end
    live = still
  end
end

-- each_kernel(tune, space, function(search) ... end, several): calls the function once for each kernel, at the same
-- time: what they ask for in a round is asked for at once. A kernel whose best is behind sits rounds out. Returns when
-- every configuration is known, or every function returned.
--
-- several: true where a search asks for several at once. While they do not fill the device's pipeline, one more search
-- of each kernel is begun, by the same function, and goes on beside the first: one asks while another waits.
function M.strategy.each_kernel(tune, space, run, several)
  tune = M.strategy.remembering(tune, space)
  if not several or M.strategy.pipeline_depth(tune) == 1 then return rounds(tune, space, run) end
  local begun = 0
  local function another()
    if begun == MOST_SIDES then return nil end
    local beside = begun > 0
    begun = begun + 1
    return M.new_companion(tune, function(inner) rounds(inner, space, run, beside) end)
  end
  M.strategy.run_together(tune, { another() }, another)
end

function search:left() return self.store.left[self.kernel] end      -- configurations that are not known
function search:best() return self.store.best[self.kernel] end      -- the best result; nil: nothing is known

-- search:try_all(list): the results of a list of this kernel's configurations. Those that are not known are asked for,
-- at once; while all are known nothing is asked.
function search:try_all(list)
  if not M.all_known(self.store, list) then coroutine.yield(list) end
  return M.results_of(self.store, list)
end

function search:try(config) return self.known[config] or self:try_all { config }[1] end

-- search:fresh(taken): a random configuration that is neither known nor in `taken`, a set that may be left out. There
-- must be one.
function search:fresh(taken)
  while true do
    local i = self.draw()
    if i then
      local config = self.space:at(i, self.kernel)
      if not self.known[config] and not (taken and taken[config]) then return config end
    else
      self.draw = M.strategy.shuffled(self.size)
    end
  end
end

-- search:start(n): n fresh configurations, each once; fewer where fewer are left.
function search:start(n)
  local list, taken = {}, {}
  for k = 1, math.min(n, self:left()) do
    list[k] = self:fresh(taken)
    taken[list[k]] = true
  end
  return list
end

-- A neighbour at random that is neither known nor taken; nil: there is none.
local function unknown_neighbour(s, config, kind, taken)
  local around = {}
  for _, c in ipairs(s.space:neighbours(config, kind)) do
    if not s.known[c] and not taken[c] then around[#around + 1] = c end
  end
  return #around > 0 and around[math.random(#around)] or nil
end

-- search:novel(list): as many configurations, none known and each once: those of the list, or in their place a
-- neighbour at random, an adjacent one first, or anything fresh. Fewer where fewer are left.
function search:novel(list)
  local out, taken = {}, {}
  for _, config in ipairs(list) do
    if #out == self:left() then break end
    if self.known[config] or taken[config] then
      config = unknown_neighbour(self, config, "adjacent", taken) or unknown_neighbour(self, config, "hamming", taken)
               or self:fresh(taken)
    end
    out[#out + 1], taken[config] = config, true
  end
  return out
end

-- search:aside(config, kind): a random neighbour, known or not; a fresh configuration if there is none.
function search:aside(config, kind)
  local around = self.space:neighbours(config, kind)
  return #around > 0 and around[math.random(#around)] or self:fresh()
end

-- search:descend(here, kind, first, batch): the result that descent over neighbours ends at. They are asked for in
-- random order, `batch` at once; first: it moves when a batch has a better one, else it looks at all and takes the
-- best.
function search:descend(here, kind, first, batch)
  while true do
    local best, unknown = here, {}
    for _, config in ipairs(self.space:neighbours(here.config, kind)) do
      local result = self.known[config]
      if not result then unknown[#unknown + 1] = config
      elseif result:better_than(best) then best = result end
    end
    local some = {}
    for i in M.strategy.shuffled(#unknown) do
      if first and best ~= here then break end
      some[#some + 1] = unknown[i]
      if #some == batch then best, some = self:best_of(some, best), {} end
    end
    if #some > 0 and not (first and best ~= here) then best = self:best_of(some, best) end
    if best == here then return here end
    here = best
  end
end

-- search:best_of(list, best): the best of the list's results, and of `best`, which may be nil.
function search:best_of(list, best) return M.strategy.best_result(self:try_all(list), best) end

-- Numbers -------------------------------------------------------------------------------------------------------------

-- A normal random number (Box and Muller, Ann. Math. Stat. 29 (1958) 610-611).
function M.strategy.gauss()
  return math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random())
end

-- best_result(results, best): the best of a list of results, and of `best`, which may be nil.
function M.strategy.best_result(results, best)
  for _, result in ipairs(results) do
    if result:better_than(best) then best = result end
  end
  return best
end

-- metropolis(here, there, temperature): whether a walk that is at one result goes on to another: if it is better, or,
-- being slower by a share d of the time, with probability exp(-d / temperature) (Metropolis et al., J. Chem. Phys. 21
-- (1953) 1087-1092). To a failure only from another one.
function M.strategy.metropolis(here, there, temperature)
  if there:better_than(here) or not here.ok then return true end
  return there.ok and math.random() < math.exp((1 - there.value / here.value) / temperature)
end

-- better(a, b): whether a result goes before another, for table.sort.
function M.strategy.better(a, b) return a:better_than(b) end
