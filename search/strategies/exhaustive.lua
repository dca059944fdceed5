-- exhaustive: every configuration once, in the space's order.

return strategy {
  name = "exhaustive",
  summary = "every configuration, in the space's order",
  options = {
    batch = integer { 256, min = 1, max = 100000, help = "configurations asked for at once" },
  },
  run = function(tune, space, opt)
    local size, batch = space:size(), {}
    for i = 1, size do
      batch[#batch + 1] = space:at(i)
      if #batch == opt.batch or i == size then
        evaluate_ahead(tune, batch)
        batch = {}
      end
    end
  end,
}
