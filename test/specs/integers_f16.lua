return include "integers.lua" "f16"
