# launches.bats: what a launch may say beside its extents, on the host device and for the compiler.

load helper

# spec LAUNCH-FIELDS [ARGUMENT]: y = 2 x in two steps, of which the second has these fields, and its first argument
spec() {
    cat >twice.cu <<CU
#include "lathe.cuh"
extern "C" __global__ void nothing() { lathe_grid_dependency_launch(); }
extern "C" __global__ void twice(${2:+LatheTensorMap map, }const float *x, float *y, int n)
{
    int i = blockIdx.x * LATHE_BLOCK + threadIdx.x;
    lathe_grid_dependency_wait();
    if (i < n) y[i] = 2.0f * x[i];
}
CU
    cat >reference.cu <<'CU'
extern "C" __global__ void reference(const float *x, float *y, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
CU
    cat >twice.lua <<LUA
return problem {
  name = "twice", dims = { { "N", 1000 } },
  tensors = { { "x", "f32", { "N" } }, { "y", "f32", { "N" }, output = true } },
  reference = kernel { source = "reference.cu",
    steps = { launch { "reference", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N" } } } },
  tolerance = { atol = 0, rtol = 0 },
  kernels = { { "twice", source = "twice.cu", params = { { "BLOCK", { 32, 64 } }, { "PREPARE", { true, false } } },
    steps = {
      launch { "nothing", when = "PREPARE", grid = 1, block = 1 },
      launch { "twice", grid = "ceil_div(N, BLOCK)", block = "BLOCK", $1, args = { ${2:-}"x", "y", "N" } },
    } } },
}
LUA
}

outcomes() { lathe query --db l.db --csv "SELECT outcome, configuration, reason FROM trial ORDER BY number" |
    tail -n +2; }

@test "the host runs programmatic launches one after another, and has no use for an L2 window" {
    spec 'programmatic = "PREPARE", l2_window = { "x", hit = "persisting", miss = "streaming", ratio = 0.5 }'
    lathe tune twice.lua --device host --strategy exhaustive --db l.db -q
    outcomes
    [ "$(outcomes | grep -c '^ok,')" -eq 4 ]
}

@test "a programmatic first step is refused, with the reason" {
    spec 'programmatic = true'
    lathe tune twice.lua --device host --strategy exhaustive --db l.db -q
    outcomes
    [ "$(outcomes | grep -c '^ok,.*PREPARE=true')" -eq 2 ]
    [ "$(outcomes | grep -c '^launch,.*PREPARE=false.*step 2 (twice): programmatic is true, but this is the first')" \
        -eq 2 ]
}

@test "the host has no tensor maps, and says what a specification should" {
    spec 'shared = 0' 'tensor_map { "x", box = { 32 } }, '
    split lathe tune twice.lua --device host --strategy exhaustive --db l.db -q
    outcomes
    [ "$(outcomes | grep -c '^launch,.*tensor_map x: the host device has no tensor memory accelerator.*needs TMA')" \
        -eq 4 ]
}

@test "a box that CUDA would refuse is told by its field" {
    spec 'shared = 0' 'tensor_map { "x", box = { "BLOCK // 16" } }, '
    split lathe tune twice.lua --device host --strategy exhaustive --db l.db -q
    outcomes
    [ "$(outcomes | grep -c 'step 2 (twice): args\[1\]: tensor_map x: the innermost axis of the box, box\[1\], is 8 bytes')" -eq 2 ]
    split lathe check twice.lua --target host -q
    [ "$status" -eq 2 ]
    [[ "$out" == *"step 2 (twice): args[1]: tensor_map x: the innermost axis of the box, box[1], is 8 bytes"* ]]
}

@test "the kernel that uses all of it compiles for sm_90a and sm_100, and is not for sm_80" {
    split lathe check "$TREE/test/specs/launch.lua" --sample 8 --quiet
    [ "$status" -ne 5 ] || skip "no NVRTC here: $errors"
    echo "$out"
    [ "$status" -eq 0 ]
    [[ "$out" == *"it requires sm >= 90"* ]]
}

@test "kernels that fault as only a GPU can compile for GPUs, and are for no host" {
    split lathe check "$TREE/test/specs/gpu_faults.lua" --quiet
    [ "$status" -ne 5 ] || skip "no NVRTC here: $errors"
    echo "$out"
    [ "$status" -eq 0 ]
    [ "$(grep -cE '^scale +sm_[0-9a]+ +13 +13 +13 ' <<<"$out")" -eq 3 ]
    split lathe check "$TREE/test/specs/gpu_faults.lua" --target host --quiet
    [[ "$out" == *"it requires sm >= 80: 0 >= 80 (a host has none of these faults)"* ]]
}
