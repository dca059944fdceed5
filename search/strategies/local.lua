-- local: descent over neighbours, restarted at random until every configuration is known.
--
-- From a random start, move to a better neighbour until none is better, then start again elsewhere. The kernels of a
-- problem take turns, so that a small space is not drowned by a large one. Neighbours are asked for in random order and
-- in batches, which compile in parallel; what is known already is remembered, never asked for again.

return strategy {
  name = "local",
  summary = "descent over neighbours, restarted at random",
  options = {
    kind = choice { "hamming", "adjacent", help = "neighbours: one parameter to any other value, or one step" },
    first = boolean { true, help = "move when a batch has a better one; false: look at all, take the best" },
    batch = integer { 8, min = 1, max = 100000, help = "neighbours asked for at once" },
  },
  run = function(tune, space, opt)
    local known = {}                                    -- configuration -> its result

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
        if #batch == opt.batch or left == 0 then
          for _, result in ipairs(tune.evaluate_all(batch)) do
            known[result.config] = result
            if result:better_than(best) then best = result end
          end
          batch = {}
        end
      end
      return best
    end

    local starts = {}                                   -- one a kernel: its configurations in random order
    for _, kernel in ipairs(space:kernels()) do
      starts[#starts + 1] = { kernel = kernel, draw = shuffled(space:size(kernel)) }
    end
    while #starts > 0 do
      local turn = table.remove(starts, 1)
      local i = turn.draw()
      while i and known[space:at(i, turn.kernel)] do i = turn.draw() end
      if i then
        starts[#starts + 1] = turn
        local here = tune.evaluate(space:at(i, turn.kernel))
        known[here.config] = here
        repeat
          local from = here
          here = better_neighbour(from)
        until here == from
      end
    end
  end,
}
