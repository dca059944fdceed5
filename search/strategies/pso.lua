-- pso: a swarm of particles, each drawn to the best that it saw and to the best of all.
--
-- A particle is a point, a place on every parameter, with a velocity. Its velocity keeps `inertia` of itself and turns,
-- by random shares, toward the particle's own best point and toward the swarm's; the nearest valid configuration to
-- where it flies is tried, or one beside it that is not known yet. Where nothing better comes for long, a new swarm
-- begins. (Kennedy, Eberhart: "Particle swarm optimization", ICNN (1995) 1942-1948; inertia and pulls that converge:
-- Clerc, Kennedy, IEEE Trans. Evol. Comp. 6 (2002) 58-73.)

return strategy {
  name = "pso",
  summary = "particle swarm: particles fly toward their own best and the best of all",
  options = moving_points({
    inertia = number { 0.5, min = 0, max = 1, help = "share of the velocity that is kept" },
    own = number { 1.5, min = 0, max = 4, help = "pull of the particle's own best" },
    all = number { 1.5, min = 0, max = 4, help = "pull of the swarm's best" },
    patience = integer { 80, min = 1, max = 1000000, help = "trials without a new best before a new swarm" },
  }, 16, 1),
  run = function(tune, space, opt)
    each_kernel(tune, space, function(search)
      local axes, swarm, best, idle = search:axes(), {}, nil, 0

      local function fly(p)
        local x = {}
        for i = 1, #axes do
          p.v[i] = opt.inertia * p.v[i] + opt.own * math.random() * (p.best.x[i] - p.x[i])
                   + opt.all * math.random() * (best.x[i] - p.x[i])
          x[i] = p.x[i] + p.v[i]
        end
        return search:clip(x)
      end

      local function arrive(p, result, x)
        p.x = x
        if not p.best or result:better_than(p.best.result) then p.best = { x = x, result = result } end
        idle = idle + 1
        if not best or result:better_than(best.result) then best, idle = p.best, 0 end
      end

      while true do
        best, idle = nil, 0
        for k, result in ipairs(search:begin(opt.population)) do
          swarm[k] = { v = {} }
          for i, axis in ipairs(axes) do swarm[k].v[i] = (math.random() - 0.5) * 0.5 * #axis.values end
          arrive(swarm[k], result, search:vector(result.config))
        end
        while idle < opt.patience do
          search:move(#swarm, opt.batch, function(k) return fly(swarm[k]) end,
                      function(k, result, x) arrive(swarm[k], result, x) end)
        end
      end
    end, true)
  end,
}
