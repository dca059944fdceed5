# export_torch.bats: exported Python files: what they look like, and what their code does with a stand-in for PyTorch
# and one for the CUDA driver (test/torch). With a real GPU and PyTorch: scripts/check_torch_export.

load helper

setup_file() {
    TREE="$(cd "${BATS_TEST_DIRNAME}/../.." && pwd)"
    LATHE_BIN="$(realpath "${LATHE_BIN:-$TREE/build/lathe}")"
    export LATHE_KERNELS="$TREE/kernels" LATHE_BIN
    cd "$BATS_FILE_TMPDIR"
    # an H200's results, whose problem is given a PyTorch model
    gunzip -c "$TREE/test/data/linear-h200.db.gz" >h200.db
    sqlite3 h200.db "UPDATE problem SET specification = json_insert(specification, '\$.torch', json('{
        \"init\": [[\"in_features\", \"K\"], [\"out_features\", \"N\"], [\"scaling_factor\", \"s\"]], \"forward\": [[\"x\", \"X\"]],
        \"parameters\": [{\"#\": [\"matmul\"], \"linear\": \"W\", \"bias\": \"b\"}]}'))"
    "$LATHE_BIN" tune "$TREE/test/specs/faults.lua" --device host --strategy exhaustive --trials 1 --db host.db -q
    "$LATHE_BIN" tune linear --device host --size M=8,N=16,K=32 --strategy random --trials 2 --db host.db -q
    for n in 68 76 81; do
        "$LATHE_BIN" tune kernelbench/$n --device host --size M=8,N=16,K=32 --kernel simt --strategy random --trials 1 \
            --db host.db -q
    done
    "$LATHE_BIN" export --db h200.db --kernel simt --format torch -o simt.py
    "$LATHE_BIN" export --db h200.db --kernel epilogue --format torch -o epilogue.py
    ${CC:-cc} -shared -fPIC -std=c11 -D_GNU_SOURCE -I"$TREE/tuner" -I"$TREE" -o libcuda.so.1 \
        "$TREE/test/torch/libcuda.c"
}

@test "torch: a name that cannot be is refused before anything is compiled or said" {
    split "$LATHE_BIN" export --db "$BATS_FILE_TMPDIR/h200.db" --kernel simt --format torch --name int -o w.py
    [ "$status" -eq 2 ]
    [[ "$errors" == "lathe: --name: 'int' is a word of C++"* ]]
    [ ! -e w.py ]
}

# export OPTION...: w.py, which Python reads
exported() {
    lathe export --format torch -o w.py "$@" 2>said
    python3 -m py_compile w.py
}

# scenario FILE NAME: from test/torch/scenarios.py
scenario() {
    command -v python3 >/dev/null || skip "no python3 here"
    : >driver.log
    FAKE_CUDA_LOG=$PWD/driver.log FAKE_CUDA_ARGS="linear_simt=pppppiii[pf]" PYTHONPATH="$TREE/test/torch" \
        PYTHONDONTWRITEBYTECODE=1 python3 "$TREE/test/torch/scenarios.py" "$BATS_FILE_TMPDIR/$1" "$2"
}

# A compiler seems to be there.
compiled() {
    mkdir -p cuda/bin
    touch cuda/bin/nvcc
    FAKE_CUDA_HOME=$PWD/cuda scenario "$@"
}

# Nothing but the cubin.
loaded() { LATHE_TORCH_CUBIN=1 LD_LIBRARY_PATH="$BATS_FILE_TMPDIR" compiled "$@"; }

# The image needs NVRTC.
needs_cubin() { grep -q '^LATHE_CUBIN = """' "$BATS_FILE_TMPDIR/simt.py" || skip "no NVRTC here"; }

@test "inputs are checked" { compiled simt.py inputs; }
@test "the compiled launcher gets every pointer, size and scalar" { compiled simt.py inline; }
@test "what is not aligned is copied first" { compiled simt.py unaligned; }
@test "a size that the launcher refuses is PyTorch's" { compiled simt.py refused; }
@test "a graph has a workspace of its own, and nothing is compiled in it" { compiled simt.py capture; }
@test "tensors of another device than the current one" { compiled simt.py devices; }
@test "another compute capability: PyTorch's operations, said once" { compiled simt.py capability; }

@test "what the extension is made of compiles" {
    command -v nvcc >/dev/null || skip "no nvcc here"
    compiled simt.py inline
    nvcc -std=c++17 -gencode=arch=compute_90a,code=sm_90a -Xcompiler -Wall,-Wextra,-Werror -c given.cu -o given.o
    "$LATHE_BIN" tune "$TREE/test/specs/scalars.lua" --device host --trials 1 --db host.db -q
    for from in "$BATS_FILE_TMPDIR/host.db --problem kernelbench_68" host.db; do    # no scalars; workspace by scalars
        exported --db $from
        python3 - >given.cu <<'END'
exec(open("w.py").read().partition("\n# How it runs")[0].replace("import torch\nimport torch.nn as nn\n", ""))
print(LATHE_SOURCE + LATHE_BINDING)
END
        nvcc -std=c++17 -arch=sm_80 -DLATHE_WORKSPACE_KEPT -Xcompiler -Wall,-Wextra,-Werror -c given.cu -o given.o
    done
    nm -C given.o | grep -q 'T lathe_torch_run(std::vector<long'
    grep -q '#include <torch/extension.h>' given.cpp
}

@test "the cubin is launched with the plan's numbers" { needs_cubin; loaded simt.py cubin; }
@test "a product by torch.mm, in full precision" { needs_cubin; loaded epilogue.py product; }

@test "a source that does not compile leaves the cubin" {
    needs_cubin
    LD_LIBRARY_PATH="$BATS_FILE_TMPDIR" compiled simt.py broken_compiler
}

@test "neither a compiler nor a driver: PyTorch's operations" { needs_cubin; LD_LIBRARY_PATH=/nowhere scenario simt.py no_driver; }

@test "tuned on the host: for any GPU, but without a cubin" {
    exported --db "$BATS_FILE_TMPDIR/host.db" --problem linear --kernel simt
    grep -q "^no cubin in the file: it was tuned on the host device$" said
    grep -q "^LATHE_CAPABILITY = None" w.py
    cp w.py "$BATS_FILE_TMPDIR/host.py"
    scenario host.py no_cubin
}

# has FILE LINE...: these lines, wherever
has() {
    local file=$1 line
    shift
    for line in "$@"; do
        grep -qF -- "$line" "$file" && continue
        echo "lacks: $line"
        sed -n '/^# What is computed/,$p' "$file"
        return 1
    done
}

@test "without a word of the specification: scalars in the constructor, all inputs in forward" {
    exported --db "$BATS_FILE_TMPDIR/host.db" --problem linear
    has w.py "def __init__(self, s=2.0):" "def forward(self, X, W, b):" "z = torch.nn.functional.linear(X, W, b)" \
        "return lathe_finish(s * z * torch.sigmoid(z), z, torch.float32)" "def reference(self, X, W, b):"
}

@test "the model of KernelBench's problems" {
    has "$BATS_FILE_TMPDIR/simt.py" "def __init__(self, in_features, out_features, scaling_factor):" \
        "self.matmul = nn.Linear(in_features, out_features)" "self.scaling_factor = scaling_factor" \
            "def forward(self, x):" \
        "return (x, self.matmul.weight, self.matmul.bias, ), (), (self.scaling_factor, )" "LATHE_CAPABILITY = (9, 0)"
    exported --db "$BATS_FILE_TMPDIR/host.db" --problem kernelbench_81
    has w.py "def __init__(self, in_features, out_features, bias=True):" \
        "nn.Linear(in_features, out_features, bias=bias)" \
        "self.lathe_zeros_gemm if self.gemm.bias is None else self.gemm.bias"
    exported --db "$BATS_FILE_TMPDIR/host.db" --problem kernelbench_76
    has w.py "def __init__(self, in_features, out_features, bias_shape):" \
        "nn.Linear(in_features, out_features, bias=False)" \
        "self.bias = nn.Parameter(torch.randn(bias_shape))" "bias = bias.reshape(N,)" "torch.clamp(z + bias, min=0)"
    exported --db "$BATS_FILE_TMPDIR/host.db" --problem kernelbench_68
    has w.py "self.constant = nn.Parameter(torch.tensor(float(constant)))" "torch.minimum(z, constant[0]) - constant[0]"
}

@test "a problem whose reference is a kernel has no formula" {
    exported --db "$BATS_FILE_TMPDIR/host.db" --problem faults
    has w.py "lathe_formula = None"
    not grep -q "def reference" w.py
}

@test "such a problem, whose specification says one: PyTorch's operation where the kernel cannot serve" {
    lathe tune "$TREE/examples/softmax" --device host --size M=2,N=8 --strategy random --trials 1 --db s.db -q
    exported --db s.db
    has w.py "def forward(self, x):" "    z = (torch.softmax(X, dim=1))" \
        "    return lathe_finish(z, z, torch.float32)" \
        "def reference(self, x):"
    cp w.py "$BATS_FILE_TMPDIR/softmax.py"
    scenario softmax.py said_formula
}

# Every name but y is Python's, nn.Module's or the file's.
@test "a formula whose names are Python's own: keywords, builtins, nn.Module's attributes, modules" {
    cat >k.cu <<'CU'
extern "C" __global__ void k(const float *a, const float *b, const float *c, float *y, int n, float f, float g)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] = (a[i] + b[i] + c[i]) * f + g;
}
CU
    cat >spec.lua <<'LUA'
local function steps()
  return { launch { "k", grid = "ceil_div(self, 64)", block = 64,
                    args = { "lambda", "type", "torch", "y", "self", f32 "training", f32 "in" } } }
end
return problem {
  name = "python", dims = { { "self", 1000 } }, scalars = { { "training", 2 }, { "in", 0.5 } },
  tensors = { { "lambda", "f32", { "self" } }, { "type", "f32", { "self" } }, { "torch", "f32", { "self" } },
              { "y", "f32", { "self" }, output = true } },
  reference = kernel { source = "k.cu", steps = steps() }, tolerance = { atol = 0, rtol = 1e-6 },
  torch = { init = { { "factor", "training" } },
            forward = { { "x", "lambda" }, { "b", "type" }, { "c", "torch" } },
            formula = "torch.given(lambda, type, torch, 'type in', type=type, in_=in if self == self else None)" ..
                      ".type(self, training=-training)" },
  kernels = { { "k", source = "k.cu", steps = steps() } },
}
LUA
    lathe tune spec.lua --device host --db p.db -q
    exported --db p.db
    has w.py "def lathe_formula(lambda_, type_, torch_, self_, training_, in_):" \
        "z = (torch.given(lambda_, type_, torch_, 'type in', type=type_, in_=in_ if self_ == self_ else None)\
.type(self_, training=-training_))"
    cp w.py "$BATS_FILE_TMPDIR/python.py"
    scenario python.py named_formula
}

@test "a formula that is no single expression is refused" {
    local text
    mkdir spec
    cp "$TREE"/examples/softmax/* spec
    for text in 'torch.softmax(X, dim=1' 'torch.softmax(X, dim=1))' 'X; import os' 'X # the same' "torch.f('X)" \
        'X\\\\'; do
        awk -v to="$text" '{ i = index($0, "torch.softmax(X, dim=1)")
            if (i) $0 = substr($0, 1, i - 1) to substr($0, i + 23) } 1' "$TREE/examples/softmax/spec.lua" >spec/spec.lua
        fails 2 "torch.formula: " lathe space ./spec
    done
}

@test "the source in the file is --format cu's, and nothing tells of this machine" {
    lathe export --db "$BATS_FILE_TMPDIR/h200.db" --kernel simt -o w.cu
    sed -n '/^#include <cuda_runtime.h>/,/^#ifdef LATHE_SELFTEST/p' w.cu | sed '$d' >of_cu
    sed -n '/^LATHE_SOURCE = r"""/,/^"""$/p' "$BATS_FILE_TMPDIR/simt.py" | sed -e '1s/.*"""//' -e '$d' >of_py
    diff <(cat of_py) <(sed '$d' of_cu)
    not grep -qF "$TREE" "$BATS_FILE_TMPDIR/simt.py"
    head -1 "$BATS_FILE_TMPDIR/simt.py" | grep -q "^# linear: Y = "
}

@test "formats: cu by default, and no others" {
    fails 2 "export: --format: expected cu, c, bundle, torch or json, or of a campaign t4, kernel-tuner or csv; got 'python'" lathe export --db "$BATS_FILE_TMPDIR/h200.db" --format python
    lathe export --db "$BATS_FILE_TMPDIR/h200.db" --kernel simt --format cu -o a.cu
    lathe export --db "$BATS_FILE_TMPDIR/h200.db" --kernel simt -o b.cu
    cmp a.cu b.cu
}

@test "inputs and arguments as KernelBench's files have them" {
    exported --db "$BATS_FILE_TMPDIR/host.db" --problem kernelbench_76
    has w.py "return [torch.rand(8, 32)]" "return [32, 16, (16,)]"
    exported --db "$BATS_FILE_TMPDIR/host.db" --problem kernelbench_81
    has w.py "return [32, 16, True]"
}

@test "the formula is right, where PyTorch is" {
    PYTHONPYCACHEPREFIX=$PWD python3 -m py_compile "$TREE/scripts/check_torch_export"
    python3 -c 'import torch' 2>/dev/null || skip "no PyTorch here"
    for n in 68 76 81; do
        exported --db "$BATS_FILE_TMPDIR/host.db" --problem kernelbench_$n
        "$TREE/scripts/check_torch_export" w.py --way formula >said
        grep -q '"ok": true' said
    done
}
