-- dual_annealing: a walk with steps of all lengths that cools, and a descent from each best that it finds.
--
-- A step moves every parameter, or one at a time, by a random length whose distribution has a heavy tail: most are
-- short, some cross the whole range, fewer as the temperature falls ("generalized simulated annealing": Tsallis,
-- Stariolo, Physica A 233 (1996) 395-406). Steps for the worse are taken with the probability of the same theory. A new
-- best of the walk is the start of a descent over neighbours; that is the dual of the two (Xiang, Sun, Fan, Gong,
-- Physics Letters A 233 (1997) 216-220). When the walk is cold it starts anew.

return strategy {
  name = "dual_annealing",
  summary = "generalized simulated annealing with descents",
  options = {
    starts = integer { 16, min = 1, max = 1000, help = "configurations of which a walk starts at the best" },
    visit = number { 2.62, min = 1.1, max = 2.99, help = "shape of the steps' distribution: larger, a heavier tail" },
    accept = number { 6, min = 0.01, max = 1000, help = "no step is taken that is slower by more than T / accept" },
    hot = number { 3, min = 1e-6, max = 1000, help = "temperature at first, for lengths and for the share of time" },
    trials = integer { 100, min = 1, max = 1000000, help = "steps of a walk" },
    kind = choice { "adjacent", "hamming", help = "neighbours: one step of a parameter, or any other value of it" },
    batch = integer { 4, min = 1, max = 100000, parallel = true,
              help = "neighbours of a kernel asked for at once" },
  },
  run = function(tune, space, opt)
    local tail = (opt.visit - 1) / (3 - opt.visit)

    -- A random length, in shares of a parameter's range.
    local function length(temperature)
      return temperature ^ (1 / (3 - opt.visit)) * gauss() / math.abs(gauss()) ^ tail
    end

    local function accepts(here, there, temperature)
      if there:better_than(here) or not here.ok then return true end
      if not there.ok then return false end
      local loss = there.value / here.value - 1
      return math.random() < math.max(0, 1 - opt.accept * loss / temperature) ^ (1 / opt.accept)
    end

    each_kernel(tune, space, function(search)
      local axes = search:axes()

      -- Around, and around again, where a step leaves the range.
      local function moved(x, i, temperature)
        local n = #axes[i].values
        return (x[i] + 0.5 + n * math.max(-1e6, math.min(1e6, length(temperature)))) % n - 0.5
      end

      while true do
        local here = best_result(search:begin(opt.starts))
        local best = search:descend(here, opt.kind, true, opt.batch)
        here = best
        for step = 1, opt.trials do
          local temperature = opt.hot * (2 ^ (opt.visit - 1) - 1) / ((1 + step) ^ (opt.visit - 1) - 1)
          local x, only = search:vector(here.config), step % 2 == 0 and #axes > 0 and math.random(#axes)
          for i = 1, #axes do
            if not only or only == i then x[i] = moved(x, i, temperature) end
          end
          local there = search:try(search:novel { search:nearest(x) }[1])
          if accepts(here, there, temperature) then here = there end
          if there:better_than(best) then
            best = search:descend(there, opt.kind, true, opt.batch)
            here = best
          end
        end
      end
    end, true)
  end,
}
