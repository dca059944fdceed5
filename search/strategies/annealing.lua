-- annealing: a random walk that takes steps for the worse, ever more rarely.
--
-- A step that is better is taken; one that is slower by a share d of the time is taken with probability exp(-d / T).
-- The temperature T falls with every trial from `hot` to `cold`; then the walk starts anew, from the best of a few.
-- Nothing that ran is ever left for a failure. Steps to what is known already cost nothing; after a hundred of them in
-- a row the walk is tried out and tries something fresh. (Kirkpatrick, Gelatt, Vecchi: "Optimization by Simulated
-- Annealing", Science 220 (1983) 671-680; the acceptance is Metropolis', J. Chem. Phys. 21 (1953) 1087-1092.)

return strategy {
  name = "annealing",
  summary = "simulated annealing: steps for the worse are taken, ever more rarely",
  options = {
    kind = choice { "adjacent", "hamming", help = "steps: one step of a parameter, or any other value of it" },
    starts = integer { 16, min = 1, max = 1000, help = "configurations of which a walk starts at the best" },
    hot = number { 0.05, min = 1e-6, max = 1000, help = "temperature at first: the share of time that is slower" },
    cold = number { 0.001, min = 1e-9, max = 1000, help = "temperature at the end of a walk" },
    trials = integer { 100, min = 1, max = 1000000, help = "trials of a walk" },
  },
  run = function(tune, space, opt)
    each_kernel(tune, space, function(search)
      while true do
        local here, trials, idle = best_result(search:begin(opt.starts)), 0, 0
        while trials < opt.trials do
          local temperature = opt.hot * (opt.cold / opt.hot) ^ (trials / opt.trials)
          local step = search:aside(here.config, opt.kind)
          if search.known[step] then idle = idle + 1 else trials, idle = trials + 1, 0 end
          local there = search:try(step)
          if metropolis(here, there, temperature) then here = there end
          if idle == 100 then here, trials, idle = search:try(search:fresh()), trials + 1, 0 end
        end
      end
    end)
  end,
}
