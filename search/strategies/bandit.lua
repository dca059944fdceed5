-- bandit: the budget goes to whichever strategy found something lately.
--
-- Several strategies, the arms, search side by side and share what is known. Each turn is the arm's with the largest
-- sum of two terms: the area under the curve of its new bests among the last `window` trials, where a late one counts
-- more than an early one, and a share for having had few turns. (Fialho, Da Costa, Schoenauer, Sebag: "Analyzing
-- bandit-based adaptive operator selection mechanisms", Ann. Math. Artif. Intell. 60 (2010) 25-64; in a tuner: Ansel et
-- al., "OpenTuner", PACT (2014) 303-316.)

local options = {
  window = integer { 500, min = 1, max = 10000, help = "trials that are looked back on" },
  explore = number { 0.05, min = 0, max = 100, help = "weight of having had few turns" },
}
local names = { "annealing", "basin_hopping", "differential_evolution", "dual_annealing", "firefly", "genetic", "ils",
                "local", "pso", "tabu" }
local defaults = { basin_hopping = true, differential_evolution = true, dual_annealing = true, genetic = true,
                   tabu = true }
for _, name in ipairs(names) do
  options[name] = boolean { defaults[name] or false, help = "whether " .. name .. " is an arm" }
end

return strategy {
  name = "bandit",
  summary = "several strategies; turns go to those that found something lately",
  options = options,
  run = function(tune, space, opt)
    tune = remembering(tune, space)
    local arms, uses = {}, {}                   -- uses: a list of { arm =, new_best = }, one a trial
    local asked, best = {}, nil                 -- asked[config]: the arm that did
    local depth = pipeline_depth(tune)
    for _, name in ipairs(names) do
      if opt[name] then arms[#arms + 1] = companion(name, {}, tune, space) end
    end

    local function rate()
      local first = math.max(1, #uses - opt.window + 1)
      for _, arm in ipairs(arms) do arm.count, arm.sum = 0, 0 end
      for i = first, #uses do
        local arm = uses[i].arm
        arm.count = arm.count + 1
        if uses[i].new_best then arm.sum = arm.sum + arm.count end
      end
      for _, arm in ipairs(arms) do
        local n = arm.count
        arm.score = n == 0 and math.huge or
          2 * arm.sum / (n * (n + 1)) + opt.explore * math.sqrt(2 * math.log(#uses - first + 1, 2) / n)
      end
    end

    -- The turn is that of the best arm that does not wait for results.
    local function next_arm()
      rate()
      local best
      for i, arm in ipairs(arms) do
        if not arm:waits() and (not best or arm.score > arms[best].score) then best = i end
      end
      return best
    end

    local function learn(results)
      for _, result in ipairs(results) do
        local arm = asked[result.config]
        if result.ok and result:better_than(best) then best, uses[#uses + 1] = result, { arm = arm, new_best = true }
        else uses[#uses + 1] = { arm = arm, new_best = false } end
      end
    end

    while #arms > 0 or tune.outstanding > 0 do
      local at = tune.outstanding < depth and next_arm()
      if at then
        local list = arms[at]:ask()
        if not list then table.remove(arms, at)
        elseif #list > 0 then
          for _, config in ipairs(list) do asked[config] = arms[at] end
          tune.submit(list)
        end
      elseif tune.outstanding == 0 then         -- all arms wait for what somebody else asked for
        tune.evaluate_all(arms[1].wanted)
      else
        learn(tune.collect(depth > 1 and 1 or nil))
      end
    end
  end,
}
