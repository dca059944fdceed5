# check.bats: `lathe check`: what it finds beside what does not compile.
load helper

# spec KERNELS: kernels of y = 2 x
spec() {
    cat >twice.cu <<'CU'
#include "lathe.cuh"
extern "C" __global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * LATHE_BLOCK + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
CU
    sed 's/LATHE_BLOCK/64/; s/ twice(/ reference(/' twice.cu >reference.cu
    echo 'extern "C" __global__ void twice(const float *x, float *y, int n) { nonsense; }' >wrong.cu
    cat >twice.lua <<LUA
local function one(name, source, fields)
  local k = { name, source = source, params = { { "BLOCK", { 32, 64 } } },
    steps = { launch { "twice", grid = "ceil_div(N, BLOCK)", block = "BLOCK", args = { "x", "y", "N" } } } }
  for key, value in pairs(fields or {}) do k[key] = value end
  return k
end
return problem {
  name = "twice", dims = { { "N", 1000 } },
  tensors = { { "x", "f32", { "N" } }, { "y", "f32", { "N" }, output = true } },
  reference = kernel { source = "reference.cu",
    steps = { launch { "reference", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N" } } } },
  tolerance = { atol = 0, rtol = 0 },
  kernels = { $1 },
}
LUA
}

check() { "$LATHE_BIN" check twice.lua --target host "$@"; }

@test "a space that is empty: what refuses, and the exit code of a failed check" {
    spec 'one("mine", "twice.cu", { constraints = { "BLOCK > N" } })'
    split check --quiet
    [ "$status" -eq 2 ]
    grep -Eq '^mine +host +0 +0 +0 ' <<<"$out"
    [[ "$out" == *"mine, host: kernel mine has no valid configuration among 2 combinations; refused by"*"BLOCK > N"* ]]
    [[ "$out" != *"not here"* ]]
    [ -z "$errors" ]
    split check
    [[ "$errors" == *"mine host: no configuration is valid"* ]]
    check --json --quiet >rows || [ $? -eq 2 ]
    [ "$(json rows "(j ->> '\$[0].valid') || (j ->> '\$[0].skipped') || (j ->> '\$[0].tried')")" = 00 ]
    [[ "$(json rows "j ->> '\$[0].failure'")" == *"refused by"*"BLOCK > N"* ]]
    split check --where "BLOCK == 32" --size N=16 --quiet # another size has one
    [ "$status" -eq 0 ]
}

@test "one of several kernels may have an empty space: tune leaves it out; asked for, it fails" {
    spec 'one("mine", "twice.cu"), one("other", "twice.cu", { constraints = { "BLOCK > N" } })'
    split check --quiet
    [ "$status" -eq 0 ]
    grep -Eq '^mine +host +2 +2 +2 ' <<<"$out"
    grep -Eq '^other +host +0 +0 +0 ' <<<"$out"
    [[ "$out" == *"other, host: kernel other has no valid configuration"* ]]
    split check --kernel other --quiet
    [ "$status" -eq 2 ]
}

@test "a kernel that the target cannot run is not here, and no failure" {
    spec 'one("mine", "twice.cu", { requires = { "sm >= 90" } })'
    split check --quiet
    [ "$status" -eq 0 ]
    grep -Eq '^mine +host +not here +0 +0 ' <<<"$out"
    [[ "$out" == *"mine, host: kernel mine cannot run on host: it requires sm >= 90"* ]]
}

@test "a mistake in one kernel's space is told though another kernel does not compile" {
    spec 'one("broken", "wrong.cu"), one("mine", "twice.cu", { let = { { "q", "N / (BLOCK - 32)" } } })'
    fails 2 "kernel mine: let q: N / (BLOCK - 32): 1000 / (32 - 32): division by zero" check --quiet
}

@test "a space that is too large to build: check and verify draw from it, as tune does, and say so" {
    spec 'one("mine", "twice.cu")'
    sed -i 's/params = { { "BLOCK", { 32, 64 } } }/params = params/; 1i local params = { { "BLOCK", { 32 } } }\
for i = 1, 3 do\
  local values = {}\
  for k = 1, 900 do values[k] = k * 0.731 * i end\
  params[i + 1] = { "P" .. i, values }\
end' twice.lua
    sed -i 's/one("mine", "twice.cu")/one("mine", "twice.cu", { constraints = {\
    "(P1 * 1.37 + P2 * 2.11 + P3 * P1 * 0.713 + P3 * P2 * 0.0171) % 1.0 < 0.9" } })/' twice.lua
    split check --sample 2 --quiet
    [ "$status" -eq 0 ]
    grep -Eq '^mine +host +65[0-9]+ +2 +2 ' <<<"$out"
    local why='kernel mine: the space is too large to build: *configurations drawn by rejection stand for it (90* %'
    [[ "$out" == *"mine, host: "$why* ]]
    split "$LATHE_BIN" verify twice.lua --device host --kernel mine --sample 2
    [ "$status" -eq 0 ]
    [[ "$errors" == *$why* ]]
}
