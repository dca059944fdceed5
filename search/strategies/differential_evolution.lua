-- differential_evolution: steps are the differences of others.
--
-- Each member of a population is a point: a place on every parameter. Its trial point is another member, the best or a
-- random one, moved by a weight times the difference of two more; each parameter is taken from there with probability
-- `crossover`. The nearest valid configuration that is not known is tried, and takes the member's place if it is
-- better. As the population draws together, so do the steps; where nothing better comes for long, all start anew.
-- The weight is drawn for each trial point, so that steps differ when few differences are left. (Storn, Price:
-- "Differential Evolution", J. Global Optimization 11 (1997) 341-359; the drawn weight: Price, Storn, Lampinen:
-- "Differential Evolution" (2005), 2.5.3, there called dither.)

return strategy {
  name = "differential_evolution",
  summary = "differential evolution: points move by differences of others",
  options = moving_points({
    base = choice { "best", "random", "current", help = "what is moved: the best, any, or the member toward the best" },
    weight = number { 0.7, min = 0, max = 2, help = "of the difference, in the mean" },
    dither = number { 1, min = 0, max = 2, help = "the range that the weight is drawn from, around its mean" },
    crossover = number { 0.9, min = 0, max = 1, help = "probability that a parameter is taken from the moved point" },
    patience = integer { 80, min = 1, max = 1000000, help = "trials without a new best before a new population" },
  }, 8, 4),
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
        local weight = opt.weight + opt.dither * (math.random() - 0.5)
        local pull = opt.base == "current" and weight or 0
        local always, x = math.random(#axes), {}
        for i = 1, #axes do
          local moved = from.x[i] + pull * (to.x[i] - from.x[i]) + weight * (b.x[i] - c.x[i])
          x[i] = (i == always or math.random() < opt.crossover) and moved or member.x[i]
        end
        return search:clip(x)
      end

      local function replace(k, result, x)
        if result:better_than(members[k].result) then members[k] = { x = x, result = result } end
      end

      while true do
        for k, result in ipairs(search:begin(opt.population)) do
          members[k] = { x = search:vector(result.config), result = result }
        end
        local leader, idle = best(), 0
        while idle < opt.patience do
          search:move(#members, opt.batch, function(k) return trial(members[k], best()) end, replace)
          local now = best()
          leader, idle = now, now == leader and idle + #members or 0
        end
      end
    end, true)
  end,
}
