-- local: descent over neighbours, restarted at random until every configuration is known.
--
-- A descent starts at the best of a few random configurations and moves to a better neighbour until none is better.
-- Each kernel of the problem has a descent of its own, a coroutine that yields the configurations it wants to know. They
-- go ahead together, so that batches compile in parallel; but a kernel whose best is behind the best of all sits rounds
-- out, one for each eighth that it is slower, seven at most. Neighbours are asked for in random order; what is known
-- already is remembered, never asked for again.

return strategy {
  name = "local",
  summary = "descent over neighbours, restarted at random",
  options = {
    kind = choice { "hamming", "adjacent", help = "neighbours: one parameter to any other value, or one step" },
    first = boolean { true, help = "move when a batch has a better one; false: look at all, take the best" },
    starts = integer { 4, min = 1, max = 1000, help = "random configurations of which a descent starts at the best" },
    batch = integer { 8, min = 1, max = 100000, help = "neighbours of a kernel asked for at once" },
  },
  run = function(tune, space, opt)
    local known = {}                                    -- configuration -> its result

    -- Asks for a list, in the descent's coroutine; the better of `best` and what came.
    local function ask(list, best)
      for _, result in ipairs(coroutine.yield(list)) do
        known[result.config] = result
        if not best or result:better_than(best) then best = result end
      end
      return best
    end

    local function better_neighbour(here)
      local best, unknown = here, {}
      for _, config in ipairs(space:neighbours(here.config, opt.kind)) do
        local result = known[config]
        if not result then unknown[#unknown + 1] = config
        elseif result:better_than(best) then best = result end
      end
      local batch, left = {}, #unknown
      for i in shuffled(#unknown) do
        if opt.first and best ~= here then return best end
        batch[#batch + 1], left = unknown[i], left - 1
        if #batch == opt.batch or left == 0 then best, batch = ask(batch, best), {} end
      end
      return best
    end

    local function descents(kernel)
      local draw = shuffled(space:size(kernel))
      while true do
        local starts = {}
        for i in draw do
          local config = space:at(i, kernel)
          if not known[config] then starts[#starts + 1] = config end
          if #starts == opt.starts then break end
        end
        if #starts == 0 then return end
        local here, from = ask(starts), nil
        repeat from, here = here, better_neighbour(here) until here == from
      end
    end

    local live = {}                                     -- the descents that go on, and what each is to be told next
    for _, kernel in ipairs(space:kernels()) do
      live[#live + 1] = { go = coroutine.wrap(function() descents(kernel) end), wait = 0 }
    end
    -- The rounds that a descent sits out.
    local function behind(d)
      if not tune.best then return 0 end
      if not d.best or not d.best.ok then return 7 end
      return math.min(7, math.floor(8 * (d.best.value / tune.best.value - 1)))
    end
    while #live > 0 do
      local all, asking, still, soonest = {}, {}, {}, math.huge
      for _, d in ipairs(live) do soonest = math.min(soonest, d.wait) end
      for _, d in ipairs(live) do
        d.wait = d.wait - soonest
        local list = d.wait == 0 and d.go(d.told)
        if list then
          d.first, d.count, asking[#asking + 1] = #all + 1, #list, d
          table.move(list, 1, #list, #all + 1, all)
        end
        if list or d.wait > 0 then still[#still + 1] = d end
      end
      local results = #all > 0 and tune.evaluate_all(all) or {}
      for _, d in ipairs(asking) do
        d.told = table.move(results, d.first, d.first + d.count - 1, 1, {})
        for _, result in ipairs(d.told) do
          if result:better_than(d.best) then d.best = result end
        end
      end
      for _, d in ipairs(still) do d.wait = d.wait > 0 and d.wait or 1 + behind(d) end
      live = still
    end
  end,
}
