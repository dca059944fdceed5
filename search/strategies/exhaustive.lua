-- exhaustive: every configuration once, in the space's order.

return strategy {
  name = "exhaustive",
  summary = "every configuration, in the space's order",
  options = {
    -- where one ends the device waits for the first image of the next
    batch = integer { 256, min = 1, max = 100000, help = "configurations asked for at once" },
  },
  run = function(tune, space, opt)
    local size, batch = space:size(), {}
    for i = 1, size do
      batch[#batch + 1] = space:at(i)
      if #batch == opt.batch or i == size then
        tune.evaluate_all(batch)
        batch = {}
      end
    end
  end,
}
