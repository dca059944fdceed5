-- basin_hopping: hops from the end of one descent to that of another.
--
-- A hop moves every parameter a few steps at random; a descent over neighbours follows. Where it ends takes the place
-- of where it began if it is better, or else, being slower by a share d of the time, with probability exp(-d / T). So
-- the walk is over the bottoms of basins alone. (Wales, Doye: "Global Optimization by Basin-Hopping", J. Phys. Chem. A
-- 101 (1997) 5111-5116.) After `patience` hops without a new best of the walk it starts elsewhere.

return strategy {
  name = "basin_hopping",
  summary = "basin hopping: a random walk over the ends of descents",
  options = {
    kind = choice { "adjacent", "hamming", help = "neighbours: one step of a parameter, or any other value of it" },
    starts = integer { 16, min = 1, max = 1000, help = "configurations of which a walk starts at the best" },
    batch = integer { 4, min = 1, max = 100000, parallel = true,
              help = "neighbours of a kernel asked for at once" },
    hop = number { 0.15, min = 0, max = 1, help = "deviation of a hop, a share of each parameter's range" },
    temperature = number { 0.02, min = 1e-9, max = 1000, help = "T, a share of the time" },
    patience = integer { 15, min = 1, max = 100000, help = "hops without a new best before a new start" },
  },
  run = function(tune, space, opt)
    each_kernel(tune, space, function(search)
      local axes = search:axes()
      local function descend(from) return search:descend(from, opt.kind, true, opt.batch) end

      local function hop(config)
        local x = search:vector(config)
        for i, axis in ipairs(axes) do x[i] = x[i] + gauss() * opt.hop * #axis.values end
        return search:novel { search:nearest(x) }[1]
      end

      while true do
        local here, failures = descend(best_result(search:begin(opt.starts))), 0
        local best = here
        while failures < opt.patience do
          local there = descend(search:try(hop(here.config)))
          if there:better_than(best) then best, failures = there, 0 else failures = failures + 1 end
          if metropolis(here, there, opt.temperature) then here = there end
        end
      end
    end, true)
  end,
}
