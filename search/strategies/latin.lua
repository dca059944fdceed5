-- latin: Latin hypercube designs, one after another, until every configuration is known.
--
-- A design of n configurations cuts each parameter's values into n parts and uses each part once, so that even a few
-- configurations see every value of every parameter (McKay, Beckman, Conover: "A comparison of three methods for
-- selecting values of input variables ...", Technometrics 21 (1979) 239-245). What a constraint refuses becomes the
-- nearest valid configuration; what is known already a neighbour: search:latin of docs/strategies.md.

return strategy {
  name = "latin",
  summary = "Latin hypercube designs: samples that spread over every parameter",
  options = {
    samples = integer { 16, min = 1, max = 100000, help = "configurations of a design, asked for at once" },
  },
  run = function(tune, space, opt)
    each_kernel(tune, space, function(search)
      while true do search:try_all(search:latin(opt.samples)) end
    end, true)
  end,
}
