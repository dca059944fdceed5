return include "integers.lua" "f32"
