-- portfolio: what is known first, then a model; steps from the best beside it while the model finds nothing better.
--
-- It begins with the best that earlier campaigns of the database found (transfer), and goes on with a model of each
-- kernel (gp), which gives trials to the kernel that promises most. A model errs where its points do not tell what is
-- fast from what is slow; there a step from the best is the better guess. So, while `patience` trials in a row brought
-- nothing better, every `share` trials of the model have one beside them that is a step away from the best result: one
-- parameter a place further, later to any other value; when all of those are known, from the second best, and so on.
-- The model learns from them too.
--
-- Where trials pass through a pipeline of compilers, as many are under way as that takes (pipeline_depth).

local TOP = 64                                          -- results that steps begin at

return strategy {
  name = "portfolio",
  summary = "what the database knows, then a model, and steps from the best where the model finds nothing better",
  options = {
    patience = integer { 40, min = 0, max = 1000000, help = "trials without a better one before steps join" },
    share = integer { 4, min = 1, max = 1000000, help = "trials of the model for each step" },
    batch = integer { 0, min = 0, max = 1000, help = "configurations of the model under way; 0: as gp has it" },
    count = integer { 15, min = 0, max = 1000, help = "earlier configurations to begin with at most, all at once" },
  },
  run = function(tune, space, opt)
    tune = remembering(tune, space)
    local batch = opt.batch > 0 and opt.batch or tune.parallel
    local overlaps = pipeline_depth(tune) > 1
    local model = companion("transfer", { ["then"] = "gp", count = opt.count, batch = opt.batch }, tune, space)
    local best, idle = nil, 0                           -- the best result, and the trials since
    local alone = 0                                     -- trials of the model since the last step, while steps join
    local top = {}                                      -- the best ones that steps may begin at, in order

    local function learn(results)
      for _, result in ipairs(results) do
        local place = #top + 1
        while place > 1 and result:better_than(top[place - 1]) do place = place - 1 end
        idle = idle + 1
        if result.ok then
          if result:better_than(best) then best, idle = result, 0 end
          table.insert(top, place, result)
          top[TOP + 1] = nil
        end
      end
    end

    -- A step from the best result that has one which is neither known nor taken; nil: none has.
    local function step(taken)
      while #top > 0 do
        for _, kind in ipairs { "adjacent", "hamming" } do
          local around = space:neighbours(top[1].config, kind)
          for i in shuffled(#around) do
            local config = around[i]
            if not tune.known[config] and not tune.pending[config] and not taken[config] then return config end
          end
        end
        table.remove(top, 1)
      end
    end

    while true do
      local list, taken = model:ask(), {}
      local ended = not list
      list = list or {}
      for _, config in ipairs(list) do taken[config] = true end
      alone = idle >= opt.patience and alone + #list or 0
      for _ = 1, ended and 1 + batch // opt.share or alone // opt.share do
        local config = step(taken)
        if not config then break end
        list[#list + 1], taken[config] = config, true
      end
      alone = alone % opt.share
      if #list > 0 then tune.submit(list) end
      if tune.outstanding == 0 then return end
      repeat learn(tune.collect(overlaps and 1 or nil)) until not model:waits() or tune.outstanding == 0
    end
  end,
}
