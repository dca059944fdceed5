-- forest: an ensemble of regression trees learns the time and the cost of configurations; the next trial is where it
-- promises most (search/lua/guided.lua).

return strategy {
  name = "forest",
  summary = "model-guided: an ensemble of regression trees over the parameters of each kernel",
  options = guided_options(),
  run = function(tune, space, opt) guided(tune, space, opt, model.forest) end,
}
