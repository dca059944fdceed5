return include "narrow_family.lua" ("narrow_bf16", "bf16", "bf16", "bf16")
