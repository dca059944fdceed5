-- genetic: a population that breeds, the better ones more often.
--
-- A child takes each parameter from one of two parents, each the best of a few drawn at random; then each parameter is
-- drawn anew with probability `mutation`. What a constraint refuses becomes the nearest valid configuration; what is
-- known already, one that is not. Children replace those that are worse; where nothing better comes for long, a new
-- population begins. (Holland: "Adaptation in Natural and Artificial Systems" (1975); that parents stay until they are
-- beaten is Whitley's GENITOR, ICGA (1989) 116-121.)

return strategy {
  name = "genetic",
  summary = "a genetic algorithm: configurations breed, the better ones stay",
  options = {
    population = integer { 16, min = 2, max = 100000, help = "configurations that are kept" },
    children = integer { 8, min = 1, max = 100000, help = "bred from them at once" },
    tournament = integer { 4, min = 1, max = 1000, help = "drawn at random, of which the best is a parent" },
    mutation = number { 0.04, min = 0, max = 1, help = "probability that a child's parameter is drawn anew" },
    patience = integer { 80, min = 1, max = 1000000, help = "trials without a new best before a new population" },
  },
  run = function(tune, space, opt)
    each_kernel(tune, space, function(search)
      local axes = search:axes()

      local function parent(population)
        local best = population[math.random(#population)]
        for _ = 2, opt.tournament do
          local other = population[math.random(#population)]
          if other:better_than(best) then best = other end
        end
        return search:vector(best.config)
      end

      local function child(population)
        local x, y = parent(population), parent(population)
        for i, axis in ipairs(axes) do
          if math.random() < 0.5 then x[i] = y[i] end
          if math.random() < opt.mutation then x[i] = math.random(0, #axis.values - 1) end
        end
        return search:nearest(x)
      end

      while true do
        local population, best, idle = search:begin(opt.population), nil, 0
        while idle < opt.patience do
          local children = {}
          for k = 1, opt.children do children[k] = child(population) end
          for _, result in ipairs(search:try_all(search:novel(children))) do population[#population + 1] = result end
          table.sort(population, better)
          for k = #population, opt.population + 1, -1 do population[k] = nil end
          best, idle = population[1], population[1] == best and idle + opt.children or 0
        end
      end
    end, true)
  end,
}
