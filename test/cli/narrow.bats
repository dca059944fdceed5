# narrow.bats: problems whose tensors are f16 and bf16, alone and mixed with f32: right kernels are right, planted bugs
# are found, also in the last element of a tensor whose bytes are no whole number of words; and exports of them build.

load helper

# faults SPEC: one campaign over every planted bug, at the specification's odd sizes, in faults.db
faults() {
    rm -f faults.db*
    "$LATHE_BIN" tune "$TREE/test/specs/$1.lua" --device host --kernel plain --strategy exhaustive --top 0 \
        --db faults.db -q
}

# is BUG OUTCOME TEXT
is() {
    local got
    got="$(lathe query --db faults.db --csv \
        "SELECT outcome || '|' || coalesce(reason, '') FROM trial JOIN parameter_value v ON v.trial_id = trial.id
         WHERE v.name = 'BUG' AND v.value = '$1'" | tail -n +2 | tr -d '\r"')"
    case "$got" in
        "$2|"*"$3"*) ;;
        *) echo "$1: got '$got', not $2 with '$3'"; return 1 ;;
    esac
}

finds_all() {
    is none ok ""
    is one_wrong wrong "1 of 35 elements differ from the reference: Y[2,3] got"
    is last wrong "Y[4,6] got nan"
    is last wrong "1 of 35 elements were never written"
    is past wrong "Y was written just past its end"
    is before wrong "before its start"
    is input wrong "changed its input X"
    [ "$(lathe query --db faults.db --csv "SELECT outcome FROM trial WHERE kernel = 'gemm'" | tail -1 |
        tr -d '\r')" = ok ]
}

@test "f16: planted bugs are found, the rest is right" { faults narrow; finds_all; }
@test "bf16: planted bugs are found, the rest is right" { faults narrow_bf16; finds_all; }
@test "bf16 to f32, with an f16 bias: planted bugs are found, the rest is right" { faults narrow_mixed; finds_all; }

@test "right at other sizes, on fresh inputs, by a gemm step of 16-bit matrices too" {
    for spec in narrow narrow_bf16; do
        rm -f n.db*
        split lathe tune "$TREE/test/specs/$spec.lua" --device host --size M=65,N=64,K=131 --strategy exhaustive \
            --db n.db -q
        [ "$status" -eq 0 ]
        [ "$(lathe query --db n.db --csv "SELECT group_concat(kernel, ' ') FROM
             (SELECT DISTINCT kernel FROM trial WHERE outcome = 'ok' ORDER BY kernel)" | tail -1 | tr -d '\r')" \
            = "gemm library plain" ]
    done
}

@test "the yardstick is the error of the types' own GEMM, output rounding included" {
    "$LATHE_BIN" tune "$TREE/test/specs/narrow.lua" --device host --size M=65,N=64,K=131 --kernel plain \
        --strategy exhaustive --top 0 --db n.db -q
    lathe query --db n.db --csv "SELECT frobenius, frobenius_limit FROM verification JOIN trial ON trial.id = trial_id
        WHERE kernel = 'gemm'" | tail -1 | tr -d '\r' >limits
    IFS=, read -r error limit <limits
    # f16 rounds by 2^-11 at most, by 0.4 of it as a mean: the limit is twice the error of the same pipeline
    awk -v e="$error" -v l="$limit" 'BEGIN { exit !(e > 1e-4 && e < 3e-4 && l > 1.9 * e && l < 2.1 * e) }'
}

# campaign FEW SPEC OPTION...: random configurations of what comes with lathe, all right, and right baselines
campaign() {
    local trials="${LATHE_SAMPLE:-$1}" spec="$2"
    shift 2
    rm -f linear.db*
    lathe tune "$spec" --device host --strategy random --trials "$trials" --top 0 --compile-workers 2 --db linear.db \
        --json "$@" >tune.json 2>log || { cat log; return 1; }
    if [ "$(json tune.json "j ->> 'outcomes' ->> 'ok'")" != "$trials" ] ||
        [ "$(json tune.json "(SELECT count(*) FROM json_each(j, '$.baselines') WHERE value ->> 'outcome' <> 'ok')")" \
            != 0 ]; then
        lathe query --db linear.db "SELECT outcome, kernel, configuration, reason FROM trial WHERE outcome <> 'ok'"
        return 1
    fi
}

@test "linear_f16: odd sizes" { campaign 6 linear_f16 --size M=5,N=300,K=129; }
@test "linear_f16: round sizes, wide accesses and the transposed product too" {
    campaign 10 linear_f16 --size M=72,N=136,K=9 --seed 2
    [ "$(lathe query --db linear.db --csv \
        "SELECT count(DISTINCT value) FROM parameter_value WHERE name = 'TRANSPOSED'" |
         tail -1 | tr -d '\r')" = 2 ]
}
@test "linear_bf16: one element" { campaign 3 linear_bf16 --size M=1,N=1,K=1; }
@test "linear_bf16: round sizes" { campaign 8 linear_bf16 --size M=64,N=128,K=77 --seed 3; }

@test "a family's problem of bf16 matrices and an f32 output" {
    printf 'return include "kernels/linear/family.lua" { name = "mixed", type = "bf16", output = "f32",
        dims = { M = 48, N = 52, K = 64 }, scalars = { { "s", 2.0 } }, epilogue = "s * z * sigmoid(z)" }' >mixed.lua
    ln -s "$TREE/kernels" kernels
    campaign 4 mixed.lua
    sed 's/"bf16", output = "f32"/"f32", output = "f16"/' mixed.lua >wrong.lua
    fails 2 "no kernel here is for the type 'f32' with an output of 'f16'" lathe space wrong.lua
}

@test "linear_f16, linear_bf16: right on hard inputs" {
    for spec in linear_f16 linear_bf16; do
        lathe verify $spec --kernel epilogue --device host --size M=72,N=80,K=65 --sample "${LATHE_SAMPLE:-2}" --quiet
    done
}

@test "the 16-bit kernels compile for every GPU" {
    for spec in linear_f16 linear_bf16; do
        split lathe check $spec --sample "${LATHE_SAMPLE:-1}" --quiet
        [ "$status" -ne 5 ] || skip "no NVRTC here: $errors"
        [ "$status" -eq 0 ]
    done
}

builds() { # FILE OPTION...
    command -v nvcc >/dev/null || skip "no nvcc here"
    run nvcc -std=c++17 -gencode arch=compute_80,code=sm_80 -Xcompiler -Wall,-Wextra -o out "$@"
    if [ "$status" -ne 0 ] || [[ "$output" == *warning* ]]; then echo "$output"; return 1; fi
}

@test "exports take CUDA's own types, and build with their self-test" {
    for spec in narrow narrow_bf16 narrow_mixed; do
        rm -f n.db*
        lathe tune "$TREE/test/specs/$spec.lua" --device host --strategy exhaustive --top 0 --db n.db -q || true
        lathe export --db n.db --kernel plain -o plain.cu
        builds plain.cu -c
        builds plain.cu -DLATHE_SELFTEST
        [ $spec = narrow_mixed ] && continue
        lathe export --db n.db --kernel library -o library.cu
        builds library.cu -DLATHE_SELFTEST -lcublas
    done
    grep -q 'const __nv_bfloat16 \*X, .*const __half \*b, .*float \*Y' plain.cu
}

@test "an export of linear_f16's epilogue kernel builds with its self-test" {
    lathe tune linear_f16 --device host --size M=8,N=16,K=32 --strategy random --trials 2 --top 0 --db n.db -q
    lathe export --db n.db --problem linear_f16 -o linear.cu
    grep -q 'lathe_linear_f16(const __half \*X, const __half \*W, const __half \*b, __half \*Y' linear.cu
    builds linear.cu -DLATHE_SELFTEST -lcublas
}

@test "tensors that are no f32, f16 or bf16 are refused by name" {
    sed 's/"narrow", "f16", "f16", "f16"/"narrow", "f64", "f64", "f64"/' "$TREE/test/specs/narrow.lua" >narrow.lua
    cp "$TREE"/test/specs/narrow*.cu .
    sed 's/f32 = 2.0 ^ -24/f64 = 2.0 ^ -53/; s/"Z", "f32"/"Z", IN/; s/, compute = "f32"//' \
        "$TREE/test/specs/narrow_family.lua" >narrow_family.lua
    fails 2 "tensor X is f64: problem tensors are f32, f16 or bf16" lathe tune narrow.lua --device host --db n.db -q
}
