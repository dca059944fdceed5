-- gp: a Gaussian process learns the time and the cost of configurations; the next trial is where it promises most
-- (search/lua/guided.lua).

return strategy {
  name = "gp",
  summary = "model-guided: a Gaussian process over the parameters of each kernel",
  options = guided_options(),
  run = function(tune, space, opt) guided(tune, space, opt, model.gp) end,
}
