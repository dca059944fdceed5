-- differential_evolution: steps are the differences of others.
--
-- Each member of a population is a point: a place on every parameter. Its trial point is another member, the best or a
-- random one, moved by `weight` times the difference of two more; each parameter is taken from there with probability
-- `crossover`. The nearest valid configuration that is not known is tried, and takes the member's place if it is
-- better. As the population draws together, so do the steps; where nothing better comes for long, all start anew.
-- (Storn, Price: "Differential Evolution", J. Global Optimization 11 (1997) 341-359.)

return strategy {
  name = "differential_evolution",
  summary = "differential evolution: points move by differences of others",
  options = {
    base = choice { "best", "random", "current", help = "what is moved: the best, any, or the member toward the best" },
    population = integer { 8, min = 4, max = 100000, help = "members" },
    batch = integer { 4, min = 1, max = 100000, help = "members that move at once" },
    weight = number { 0.7, min = 0, max = 2, help = "of the difference" },
    crossover = number { 0.9, min = 0, max = 1, help = "probability that a parameter is taken from the moved point" },
    patience = integer { 80, min = 1, max = 1000000, help = "trials without a new best before a new population" },
  },
  run = function(tune, space, opt)
    each_kernel(tune, space, function(search)
      local axes, members = search:axes(), {}

      local function best()
        local first = members[1]
        for _, m in ipairs(members) do if m.result:better_than(first.result) then first = m end end
        return first
      end

      local function trial(member, to)
        local pick = shuffled(#members)
        local a, b, c = members[pick()], members[pick()], members[pick()]
        local from = opt.base == "best" and to or opt.base == "random" and a or member
        local pull = opt.base == "current" and opt.weight or 0
        local always, x = math.random(#axes), {}
        for i = 1, #axes do
          local moved = from.x[i] + pull * (to.x[i] - from.x[i]) + opt.weight * (b.x[i] - c.x[i])
          x[i] = (i == always or math.random() < opt.crossover) and moved or member.x[i]
        end
        return search:clip(x)
      end

      local function move(first)
        local trials, list, to = {}, {}, best()
        for k = first, math.min(first + opt.batch - 1, #members) do
          trials[#trials + 1] = trial(members[k], to)
          list[#list + 1] = search:nearest(trials[#trials])
        end
        for k, result in ipairs(search:try_all(search:novel(list))) do
          if result:better_than(members[first + k - 1].result) then
            local x = result.config == list[k] and trials[k] or search:vector(result.config)
            members[first + k - 1] = { x = x, result = result }
          end
        end
      end

      while true do
        for k, result in ipairs(search:begin(opt.population)) do
          members[k] = { x = search:vector(result.config), result = result }
        end
        local leader, idle = best(), 0
        while idle < opt.patience do
          for first = 1, #members, opt.batch do move(first) end
          local now = best()
          leader, idle = now, now == leader and idle + #members or 0
        end
      end
    end)
  end,
}
