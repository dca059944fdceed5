-- local: descent over neighbours, restarted at random until every configuration is known.
--
-- A descent starts at the best of a few random configurations and moves to a better neighbour until none is better
-- (search:descend of docs/strategies.md). Each kernel of the problem has descents of its own. Neighbours are asked for
-- in random order; what is known already is remembered, never asked for again.

return strategy {
  name = "local",
  summary = "descent over neighbours, restarted at random",
  options = {
    kind = choice { "hamming", "adjacent", help = "neighbours: one parameter to any other value, or one step" },
    first = boolean { true, help = "move when a batch has a better one; false: look at all, take the best" },
    starts = integer { 4, min = 1, max = 1000, help = "random configurations of which a descent starts at the best" },
    batch = integer { 8, min = 1, max = 100000, parallel = true,
              help = "neighbours of a kernel asked for at once" },
  },
  run = function(tune, space, opt)
    each_kernel(tune, space, function(search)
      local known = not search.begun and search:best() or nil   -- where another strategy came before this one
      while true do
        local start = search:best_of(search:start(opt.starts), known)
        known = nil
        search:descend(start, opt.kind, opt.first, opt.batch)
      end
    end, true)
  end,
}
