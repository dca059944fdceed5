return include "narrow_family.lua" ("narrow_mixed", "bf16", "f32", "f16")
