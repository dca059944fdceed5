# signature.bats: a launch whose arguments do not fit its kernel's parameters: a mistake in the specification, told
# before anything runs, wherever it is compiled. Which arguments fit which parameters:
# test/unit/device/test_signature.c.
load helper

WRONG="kernels.mine.steps[2].args[3]: the launch of twice passes \`n\`, an i32, which fits int and unsigned; the kernel's parameter 3 is long long"

# A problem of two steps; the kernel's, the baseline's and the reference's own last arguments are the three given.
specification() {
    cat >twice.cu <<'CU'
extern "C" __global__ void blank(float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 0; }
extern "C" __global__ void twice(const float *x, float *y, long long n)
{
    long long i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
CU
    cat >twice.lua <<LUA
local function steps(block, n)
  return { launch { "blank", grid = 1, block = 32, args = { "y", "n" } },
           launch { "twice", grid = "ceil_div(n, " .. block .. ")", block = block, args = { "x", "y", n } } }
end
return problem {
  name = "twice", dims = { { "n", 1000 } },
  tensors = { { "x", "f32", { "n" } }, { "y", "f32", { "n" }, output = true } },
  reference = kernel { source = "twice.cu", steps = steps("64", $3) },
  tolerance = { atol = 0, rtol = 1e-6 },
  kernels = { { "mine", source = "twice.cu", params = { { "B", { 32, 64, 128, 256 } } }, steps = steps("B", $1) } },
  baselines = { { "plain", source = "twice.cu", steps = steps("32", $2) } },
}
LUA
}

@test "a launch that fits: nothing is said" {
    specification 'i64("n")' 'i64("n")' 'i64("n")'
    lathe tune twice.lua --device host --trials 4 --quiet
    lathe check twice.lua --target host --quiet
    lathe verify twice.lua --device host --kernel mine --quiet
}

@test "an int for a long long ends the campaign at its first trial, with the launch and the argument" {
    specification '"n"' 'i64("n")' 'i64("n")'
    fails 2 "lathe: twice.lua: $WRONG" lathe tune twice.lua --device host --trials 4 --db d.db --quiet
    [ "$(sqlite3 d.db "SELECT count(*) FROM trial WHERE outcome = 'compile' AND reason LIKE '%steps[2].args[3]%'")" \
        -ge 1 ]
    [ "$(sqlite3 d.db "SELECT state FROM campaign")" = failed ]
    [ "$(sqlite3 d.db "SELECT count(*) FROM trial WHERE kernel = 'mine' AND outcome = 'ok'")" -eq 0 ]
}

@test "the same of a baseline, and of the reference" {
    specification 'i64("n")' '"n"' 'i64("n")'
    fails 2 "${WRONG/kernels.mine/baselines.plain}" lathe tune twice.lua --device host --trials 4 --quiet
    specification 'i64("n")' 'i64("n")' '"n"'
    fails 2 "twice.lua: ${WRONG/kernels.mine/reference}" lathe tune twice.lua --device host --trials 4 --quiet
    fails 2 "twice.lua: ${WRONG/kernels.mine/reference}" lathe verify twice.lua --device host --kernel mine --quiet
}

@test "verify and check find it too, check for the reference as well" {
    specification '"n"' 'i64("n")' '"n"'
    fails 2 "twice.lua: $WRONG" lathe verify twice.lua --device host --kernel mine --quiet
    split lathe check twice.lua --target host --sample 2 --quiet
    [ "$status" -eq 2 ]
    grep -Eq "^mine +host +4 +2 +0 " .out
    grep -Eq "^plain +host +1 +1 +1 " .out
    grep -Eq "^reference +host +1 +1 +0 " .out
    [[ "$out" == *"mine, host: B="*": twice.lua: $WRONG"* ]]
    [[ "$out" == *"reference, host: "*"twice.lua: ${WRONG/kernels.mine/reference}"* ]]
}

@test "check: for GPUs that are not here" {
    lathe doctor | grep -q "ok *NVRTC" || skip "no NVRTC"
    specification '"n"' 'i64("n")' 'i64("n")'
    split lathe check twice.lua --target sm_80 --target sm_90a --sample 1 --quiet
    [ "$status" -eq 2 ]
    [[ "$out" == *"mine, sm_80: B="*": twice.lua: $WRONG"*"mine, sm_90a: B="*": twice.lua: $WRONG"* ]]
}
