-- transfer: begins with the best that earlier campaigns of the database found, then goes on as another strategy, which
-- knows what came of them. Without such campaigns it is that other strategy.
--
-- The nearest campaigns come first: those of the same problem on the same device, then of other problems, then on other
-- devices; among them those of sizes that are fewer doublings away. Each gives a few of its best only: the next ones
-- are like them, and teach less than what the other strategy would try.

-- The doublings between two sizes; a dimension that only one of them has counts as one.
local function doublings(a, b)
  local sum = 0
  for name, n in pairs(a) do sum = sum + (b[name] and math.abs(math.log(n / b[name], 2)) or 1) end
  for name in pairs(b) do sum = sum + (a[name] and 0 or 1) end
  return sum
end

-- What is known, the most promising first.
local function in_order(earlier, here)
  local list = {}
  for i, x in ipairs(earlier) do
    local abroad = (x.device ~= here.device and 2 or 0) + (x.problem ~= here.problem and 1 or 0)
    list[i] = { x = x, abroad, doublings(x.size, here.size), -x.campaign, x.exact and 0 or 1, x.value, i }
  end
  table.sort(list, function(a, b)
    for k = 1, #a do
      if a[k] ~= b[k] then return a[k] < b[k] end
    end
    return false
  end)
  return list
end

return strategy {
  name = "transfer",
  summary = "the best of other sizes, problems and devices in the database, then another strategy",
  options = {
    count = integer { 15, min = 0, max = 1000, help = "earlier configurations to begin with at most, all at once" },
    each = integer { 3, min = 1, max = 10, help = "of them from one campaign at most" },
    ["then"] = choice { "gp", "forest", "local", "ils", "tabu", "annealing", "dual_annealing", "basin_hopping",
                        "genetic", "differential_evolution", "pso", "firefly", "bandit", "latin", "random",
                        "exhaustive", help = "the strategy that goes on" },
    batch = integer { 0, min = 0, max = 1000, help = "its option of that name; 0: as it has it" },
  },
  run = function(tune, space, opt)
    local chosen, taken, from = {}, {}, {}
    for _, item in ipairs(in_order(tune.earlier, tune.here)) do
      local config, campaign = item.x.config, item.x.campaign
      local n = from[campaign] or 0
      if #chosen < opt.count and n < opt.each and not taken[config] then
        chosen[#chosen + 1], taken[config], from[campaign] = config, true, n + 1
      end
    end
    tune = remembering(tune, space)
    if #chosen > 0 then tune.evaluate_all(chosen) end
    local other = companion(opt["then"], opt.batch > 0 and { batch = opt.batch } or {}, tune, space)
    run_together(tune, { other })
  end,
}
