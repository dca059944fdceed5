-- guided.lua: the loop of strategies that are guided by a model, embedded in the binary and run after toolbox.lua:
-- docs/strategies.md, "Tools". Given the prelude's module, it adds words to `M.strategy`.

local M = ...                   -- the prelude's module

-- guided_options(): the options that guided takes, as a strategy declares them.
function M.strategy.guided_options()
  local integer, number = M.strategy.integer, M.strategy.number
  return {
    starts = integer { 4, min = 1, max = 1000, help = "trials of each kernel before its model is asked, spread out" },
    batch = integer { 0, min = 0, max = 1000, help = "configurations under way; 0: as the device's pipeline takes" },
    kappa = number { 2, min = 0, max = 100, help = "deviations below the mean that the optimistic guess is" },
    bold = number { 0.05, min = 0, max = 10,
                    help = "how much kappa grows with each trial that brought nothing better" },
    cost = number { 0.5, min = 0, max = 10, help = "how much the cost of a trial counts: the power of its seconds" },
    tries = integer { 30, min = 1, max = 10000, help = "random configurations of which the start takes the furthest" },
    candidates = integer { 20000, min = 16, max = 1000000, help = "configurations of a kernel compared for a trial" },
  }
end

-- guided(tune, space, opt, make): asks for what models promise most of, until no configuration is left. make is
-- model.gp or another of `model`; opt has the values of guided_options.
--
-- Each kernel has a model of its own; all speak of milliseconds, so that the promises of kernels can be compared. The
-- first trials of each are spread over its space. Then three ways to weigh a promise take turns: the improvement
-- expected, less where the trial would take long; an optimistic guess; the prediction itself.
function M.strategy.guided(tune, space, opt, make)
  tune = M.strategy.remembering(tune, space)
  local kernels = {}                                  -- a list, and by name
  for i, name in ipairs(space:kernels()) do
    kernels[i] = { model = make { kernel = name, candidates = opt.candidates }, tried = 0, timed = 0 }
    kernels[name] = kernels[i]
  end
  local most, overlaps = opt.batch, M.strategy.pipeline_depth(tune) > 1
  if most == 0 then most = overlaps and M.strategy.pipeline_depth(tune) or tune.parallel end
  -- The compilers of a pipeline need not wait for the first results.
  local starts = overlaps and math.max(opt.starts, math.min(most, tune.parallel) // #kernels) or opt.starts
  local tried, timed = 0, 0                           -- trials of all kernels, and those whose time is known
  local best, idle = nil, 0                           -- the best, and the trials since
  local cycle, turn = { "ei", "lcb", "mean" }, 0

  -- The kernel that is owed a spread trial: its starts; later, while no time of it is known, one each time that all
  -- kernels had twice its share.
  local function owed()
    local who
    for _, k in ipairs(kernels) do
      local late = k.timed == 0 and (timed == 0 or tried >= 2 * k.tried * #kernels)
      if (late or k.tried < starts) and k.model:left() > 0 and (not who or k.tried < who.tried) then who = k end
    end
    return who
  end

  local function most_promising()
    local who, what, most
    local how = { cycle[turn % #cycle + 1] }
    if how[1] == "ei" then how.best, how.cost = best and best.value, opt.cost end
    if how[1] == "lcb" then how.kappa = opt.kappa * (1 + opt.bold * idle) end
    turn = turn + 1
    for _, k in ipairs(kernels) do
      local config, score = k.model:propose(how)
      if config and (not most or score > most) then who, what, most = k, config, score end
    end
    return who, what
  end

  -- What became known since, also what another strategy asked for.
  local learned, asked = 0, {}
  local function learn()
    for i = learned + 1, #tune.history do
      local result = tune.history[i]
      local k = kernels[result.config.kernel]
      k.model:tell(result)
      idle = idle + 1
      if result.ok and result:better_than(best) then best, idle = result, 0 end
      if result.measured then k.timed, timed = k.timed + 1, timed + 1 end
      if not asked[result.config] then k.tried, tried = k.tried + 1, tried + 1 end
    end
    learned = #tune.history
  end

  -- What is proposed while others are outstanding knows nothing of their results: no more than is known already, at
  -- first the starts.
  while true do
    learn()
    local batch, now = {}, math.min(most, math.max(learned, starts * #kernels))
    while tune.outstanding + #batch < now do
      local k, config = owed(), nil
      if k then config = k.model:spread(opt.tries) else k, config = most_promising() end
      if not config then break end
      k.model:assume(config)
      k.tried, tried, batch[#batch + 1], asked[config] = k.tried + 1, tried + 1, config, true
    end
    if #batch > 0 then tune.submit(batch) end
    if tune.outstanding == 0 then return end
    tune.collect(overlaps and 1 or tune.outstanding)
  end
end
