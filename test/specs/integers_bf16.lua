return include "integers.lua" "bf16"
