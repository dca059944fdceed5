-- random: every configuration once, in random order; at any moment an unbiased sample without repeats. The kernels of a
-- problem take turns, so that a small space is not drowned by a large one.

return strategy {
  name = "random",
  summary = "a random sample without repeats, the kernels taking turns",
  options = {
    batch = integer { 256, min = 1, max = 100000, help = "configurations asked for at once" },
  },
  run = function(tune, space, opt)
    local turns, batch = {}, {}
    for _, kernel in ipairs(space:kernels()) do
      turns[#turns + 1] = { kernel = kernel, draw = shuffled(space:size(kernel)) }
    end
    while #turns > 0 do
      local turn = table.remove(turns, 1)
      local i = turn.draw()
      if i then
        batch[#batch + 1] = space:at(i, turn.kernel)
        turns[#turns + 1] = turn
      end
      if #batch == opt.batch or #turns == 0 and #batch > 0 then
        evaluate_ahead(tune, batch)
        batch = {}
      end
    end
  end,
}
