return include "narrow_family.lua" ("narrow", "f16", "f16", "f16")
