-- random: every configuration once, in random order; at any moment an unbiased sample of the space without repeats.

return strategy {
  name = "random",
  summary = "a uniform random sample without repeats",
  options = {
    batch = integer { 32, min = 1, max = 100000, help = "configurations asked for at once" },
  },
  run = function(tune, space, opt)
    local batch = {}
    for i in shuffled(space:size()) do
      batch[#batch + 1] = space:at(i)
      if #batch == opt.batch then
        tune.evaluate_all(batch)
        batch = {}
      end
    end
    if #batch > 0 then tune.evaluate_all(batch) end
  end,
}
