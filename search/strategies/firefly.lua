-- firefly: each flies toward those that shine brighter, the near ones most.
--
-- A firefly is a point, a place on every parameter; it is the brighter the faster its configuration is. It moves toward
-- each brighter one by a share that falls with their distance, from `pull` when they are together, and a little at
-- random; the random part shrinks with every round. The brightest flies at random alone. The nearest valid
-- configuration that is not known is tried. (Yang: "Firefly Algorithms for Multimodal Optimization", SAGA (2009)
-- 169-178.)

return strategy {
  name = "firefly",
  summary = "fireflies: points fly toward brighter ones, the near ones most",
  options = moving_points({
    pull = number { 1, min = 0, max = 2, help = "share of the way to one that is very near" },
    absorption = number { 0.3, min = 0, max = 1000, help = "how fast the pull falls with distance" },
    random = number { 0.3, min = 0, max = 1, help = "random part of a flight at first, a share of each range" },
    cooling = number { 0.8, min = 0, max = 1, help = "what is left of the random part after a round" },
    rounds = integer { 10, min = 1, max = 100000, help = "of flights, before all but the brightest start elsewhere" },
  }, 16, 1),
  run = function(tune, space, opt)
    each_kernel(tune, space, function(search)
      local axes, flies = search:axes(), {}

      -- Squared, in shares of the ranges, a mean over the parameters.
      local function distance(a, b)
        local sum = 0
        for i, axis in ipairs(axes) do sum = sum + ((a[i] - b[i]) / (#axis.values - 1)) ^ 2 end
        return sum / math.max(1, #axes)
      end

      local function fly(fly, noise)
        local x = table.move(fly.x, 1, #fly.x, 1, {})
        for _, other in ipairs(flies) do
          if other.result:better_than(fly.result) then
            local share = opt.pull * math.exp(-opt.absorption * #axes * distance(x, other.x))
            for i = 1, #axes do x[i] = x[i] + share * (other.x[i] - x[i]) end
          end
        end
        for i, axis in ipairs(axes) do x[i] = x[i] + noise * (math.random() - 0.5) * (#axis.values - 1) end
        return search:clip(x)
      end

      -- Where they are, and what is there.
      local function settle(k, result, x) flies[k] = { x = x, result = result } end

      while true do
        local brightest = flies[1] and search:best()
        for k, result in ipairs(search:begin(opt.population)) do settle(k, result, search:vector(result.config)) end
        if brightest then settle(1, brightest, search:vector(brightest.config)) end
        for round = 0, opt.rounds - 1 do
          local noise = opt.random * opt.cooling ^ round
          search:move(#flies, opt.batch, function(k) return fly(flies[k], noise) end, settle)
        end
      end
    end, true)
  end,
}
