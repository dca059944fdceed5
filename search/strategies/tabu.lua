-- tabu: always on to the best neighbour that is not forbidden, even where it is worse.
--
-- A step asks for some neighbours that are not known, and goes to the best of all that are, except the last `tenure`
-- places that it was at: so it climbs out of a dip instead of ending there. After `patience` steps without a new best
-- of its walk it starts elsewhere. (Glover: "Tabu Search, Part I", ORSA J. Computing 1 (1989) 190-206.)

return strategy {
  name = "tabu",
  summary = "tabu search: to the best neighbour that was not visited lately",
  options = {
    kind = choice { "adjacent", "hamming", help = "neighbours: one step of a parameter, or any other value of it" },
    starts = integer { 16, min = 1, max = 1000, help = "configurations of which it starts at the best" },
    batch = integer { 8, min = 1, max = 100000, parallel = true,
              help = "neighbours of a kernel asked for before each step" },
    tenure = integer { 20, min = 1, max = 100000, help = "places visited last that are forbidden" },
    patience = integer { 20, min = 1, max = 100000, help = "steps without a new best before a new start" },
  },
  run = function(tune, space, opt)
    local function step(search, here, visited)
      local known, unknown, some = {}, {}, {}
      for _, config in ipairs(space:neighbours(here.config, opt.kind)) do
        local result = search.known[config]
        if not result then unknown[#unknown + 1] = config
        elseif not visited[config] then known[#known + 1] = result end
      end
      for i in shuffled(#unknown) do
        some[#some + 1] = unknown[i]
        if #some == opt.batch then break end
      end
      local best = #some > 0 and search:best_of(some) or nil
      for _, result in ipairs(known) do
        if result:better_than(best) then best = result end
      end
      return best
    end

    each_kernel(tune, space, function(search)
      while true do
        local here = best_result(search:begin(opt.starts))
        local best, failures, visited, walk = here, 0, {}, {}
        while here and failures < opt.patience do
          visited[here.config], walk[#walk + 1] = true, here.config
          if #walk > opt.tenure then visited[walk[#walk - opt.tenure]] = nil end
          here = step(search, here, visited)
          if here and here:better_than(best) then best, failures = here, 0 else failures = failures + 1 end
        end
      end
    end, true)
  end,
}
