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

    while #arms > 0 do
      rate()
      local at = 1
      for i, arm in ipairs(arms) do if arm.score > arms[at].score then at = i end end
      local arm, best = arms[at], tune.best
      local list = arm:ask()
      if list then
        for _, result in ipairs(tune.evaluate_all(list)) do
          local new = result.ok and result:better_than(best)
          uses[#uses + 1] = { arm = arm, new_best = new }
          if new then best = result end
        end
      else
        table.remove(arms, at)
      end
    end
  end,
}
