-- forest: an ensemble of regression trees learns the time and the cost of configurations; the next trial is where it
-- promises most (search/lua/guided.lua).

return strategy {
  name = "forest",
  summary = "model-guided: an ensemble of regression trees over the parameters of each kernel",
  options = {
    starts = integer { 4, min = 1, max = 1000, help = "trials of each kernel before its model is asked, spread out" },
    batch = integer { 1, min = 1, max = 1000, help = "configurations asked for at once" },
    kappa = number { 2, min = 0, max = 100, help = "deviations below the mean that the optimistic guess is" },
    bold = number { 0.05, min = 0, max = 10, help = "how much kappa grows with each trial that brought nothing better" },
    cost = number { 0.5, min = 0, max = 10, help = "how much the cost of a trial counts: the power of its seconds" },
    tries = integer { 30, min = 1, max = 10000, help = "random configurations of which the start takes the furthest" },
    candidates = integer { 20000, min = 16, max = 1000000, help = "configurations of a kernel compared for a trial" },
  },
  run = function(tune, space, opt) guided(tune, space, opt, model.forest) end,
}
