-- ils: iterated local search: descend, kick, descend again.
--
-- A descent ends where no neighbour is better. A kick, a few parameters drawn anew, leads out of there, and the next
-- descent starts where it lands. Its end is kept if it is better than the one before, or at random now and then; after
-- `patience` kicks that led nowhere the search starts elsewhere. (Lourenço, Martin, Stützle: "Iterated Local Search",
-- Handbook of Metaheuristics (2003) 320-353.)

return strategy {
  name = "ils",
  summary = "iterated local search: descend, kick, descend again",
  options = {
    kind = choice { "adjacent", "hamming", help = "neighbours: one step of a parameter, or any other value of it" },
    first = boolean { true, help = "move when a batch has a better one; false: look at all, take the best" },
    starts = integer { 16, min = 1, max = 1000, help = "configurations of which it starts at the best" },
    batch = integer { 4, min = 1, max = 100000, parallel = true,
              help = "neighbours of a kernel asked for at once" },
    kick = integer { 1, min = 1, max = 64, help = "parameters that a kick draws anew" },
    patience = integer { 8, min = 1, max = 100000, help = "kicks that led nowhere before a new start" },
  },
  run = function(tune, space, opt)
    each_kernel(tune, space, function(search)
      while true do
        local start = best_result(search:begin(opt.starts))
        local here, failures = search:descend(start, opt.kind, opt.first, opt.batch), 0
        while failures < opt.patience do
          local landed = search:try(search:novel { search:kick(here.config, opt.kick) }[1])
          local there = search:descend(landed, opt.kind, opt.first, opt.batch)
          if there:better_than(here) then here, failures = there, 0 else failures = failures + 1 end
        end
      end
    end, true)
  end,
}
