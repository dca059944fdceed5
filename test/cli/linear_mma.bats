# linear_mma.bats: the mma kernel of kernels/linear in every format, at sizes that fit nothing, on the host device; and
# compiled for GPUs.
#
# LATHE_SAMPLE=N tries N configurations where a few are tried otherwise.
load helper

# with FORMAT ERROR LUA: spec/, a problem with that format alone, whose error may be ERROR. Sums are promoted early, so
# that a small K shows it, and LUA may change more.
with() {
    mkdir -p spec
    cp "$TREE"/kernels/linear/* spec
    cat >spec/spec.lua <<END
local mma = include "mma.lua" "f32"
for _, param in ipairs(mma.params) do
  if param[1] == "FORMAT" then param[2] = { "$1" } end
  if param[1] == "PROMOTE_K" then param[2] = { 0, 128 } end
end
$3
-- The family's own, with these parameters.
local problem = include "family.lua" {
  name = "linear", summary = "Y = s z sigmoid(z)", dims = { M = 128, N = 96, K = 64 }, scalars = { { "s", 2.0 } },
  epilogue = "s * z * sigmoid(z)", kernels = { "mma" }, tolerance = { atol = 0.05, rtol = 0.05, frobenius = $2 },
}
problem.kernels = { mma }
return problem
END
}

# The guard stays down, or it would not be zero at the end: the tensor cores' result is what is compared.
no_fallback="mma.steps[#mma.steps] = nil"

# campaign FEW SIZE SEED: random configurations, every one of which must come out right
campaign() {
    local trials="${LATHE_SAMPLE:-$1}"
    rm -f mma.db*
    if ! lathe tune spec --device host --strategy random --trials "$trials" --top 0 --compile-workers 2 --db mma.db \
        --json \
        --size "$2" --seed "$3" >tune.json 2>log; then
        cat log
        return 1
    fi
    if [ "$(json tune.json "j ->> 'outcomes' ->> 'ok'")" != "$trials" ]; then
        lathe query --db mma.db "SELECT outcome, configuration, reason FROM trial WHERE outcome <> 'ok'"
        return 1
    fi
}

# sizes FORMAT ERROR
sizes() {
    with "$1" "$2" "$no_fallback"
    campaign 1 M=1,N=1,K=1 1
    campaign 3 M=33,N=257,K=31 2
    campaign 3 M=70,N=132,K=300 3
    campaign 2 M=17,N=66,K=258 4
}

@test "bf16x3" { sizes bf16x3 1.5e-5; }
@test "fp16x3" { sizes fp16x3 2e-6; }
@test "tf32x3" { sizes tf32x3 2e-6; }
@test "bf16x1" { sizes bf16x1 8e-3; }
@test "tf32x1" { sizes tf32x1 1e-3; }

@test "sums that are promoted are as good as those that are not" {
    for to in registers shared workspace; do
        with bf16x3 1.5e-5 "$no_fallback
            mma.constraints[#mma.constraints + 1] = \"PROMOTE_K == 128 and PROMOTE_TO == '$to'\""
        campaign 2 M=20,N=40,K=700 5
    done
}

@test "splits of k, added up by either" {
    for reduce in second_kernel last_block; do
        with fp16x3 2e-6 "$no_fallback
            mma.constraints[#mma.constraints + 1] = \"SPLIT_K > 1 and REDUCE == '$reduce'\""
        campaign 2 M=40,N=70,K=333 6
    done
}

@test "where numbers are split" {
    for at in pre_pass_x pre_pass; do
        with fp16x3 2e-6 "$no_fallback
            mma.constraints[#mma.constraints + 1] = \"SPLIT_AT == '$at'\""
        campaign 2 M=40,N=70,K=133 7
    done
}

# A column is a number each, of which some are too small for fp16 beside the largest: the fallback answers for all.
@test "the fallback, where a format does not reach" {
    with fp16x3 2e-6 ""
    campaign 2 M=3000,N=5,K=1 8
}

# Every class of inputs, of all magnitudes, with NaN and infinities: the guard raises where it must. limit: times
# SGEMM's error
@test "right on hard inputs" {
    for format in bf16x3 fp16x3 tf32x3; do
        with $format 0 ""
        limit=3
        [ $format != bf16x3 ] || limit=40
        if ! lathe verify spec --kernel mma --device host --size M=70,N=133,K=301 --sample "${LATHE_SAMPLE:-1}" \
            --tolerance atol=1e-4,rtol=1e-4,times_sgemm_error=$limit --json -q >verify.json; then
            lathe verify spec --kernel mma --device host --size M=70,N=133,K=301 --tolerance times_sgemm_error=$limit -q
            return 1
        fi
        [ "$(json verify.json "json_array_length(j)")" -ge 12 ]
    done
}

# narrow TYPE OUTPUT: spec/, a problem of that type
narrow() {
    mkdir -p spec
    cp "$TREE"/kernels/linear/* spec
    cat >spec/spec.lua <<END
return include "family.lua" {
  name = "linear", summary = "Y = s z sigmoid(z)", type = "$1", output = "$2", dims = { M = 128, N = 96, K = 64 },
  scalars = { { "s", 2.0 } }, epilogue = "s * z * sigmoid(z)", kernels = { "mma" },
}
END
}

@test "tensors of 16 bits" {
    narrow f16 f16
    campaign 3 M=33,N=257,K=300 9
    narrow bf16 bf16
    campaign 3 M=70,N=132,K=258 10
    narrow f16 f32
    campaign 2 M=20,N=41,K=1200 11
    split lathe space spec --kernel mma --size K=31 --target host
    [[ "$errors" == *"rows of X and W must begin at a multiple of VEC elements"* ]]
}

@test "space: not empty at any size, and what is known to be good is in it" {
    for target in host sm_80 sm_86 sm_90a; do
        for size in M=1,N=1,K=1 M=100000,N=1,K=3 M=3,N=100000,K=2 M=1024,N=8192,K=8192; do
            split lathe space linear --kernel mma --target $target --size $size --json
            [ "$status" -eq 0 ]
            [ "$(json .out "(SELECT min(value ->> 'valid') > 0 FROM json_each(j, '$.kernels'))")" = 1 ]
        done
    done
    common="TRANSPOSED=false,BM=128,BN=128,BK=32,SPLIT_K=1,VEC=4,MIN_BLOCKS=1,GROUP=1"
    for rest in FORMAT=bf16x3,WM=64,WN=32,STAGES=4,FRAGMENTS=1,SPLIT_AT=registers,PROMOTE_K=1024,PROMOTE_TO=shared \
        FORMAT=bf16x3,WM=64,WN=64,STAGES=4,FRAGMENTS=1,SPLIT_AT=pre_pass,PROMOTE_K=1024,PROMOTE_TO=shared \
        FORMAT=fp16x3,WM=64,WN=32,STAGES=4,FRAGMENTS=2,SPLIT_AT=pre_pass_x,PROMOTE_K=0 \
        FORMAT=tf32x1,WM=64,WN=64,STAGES=4,FRAGMENTS=1,SPLIT_AT=registers; do
        split lathe space linear --kernel mma --target sm_90a --explain "$common,$rest"
        echo "$out"
        [ "$status" -eq 0 ]
    done
}

# LATHE_SAMPLE=100 tries a good part of the space; a few configurations of a target take some seconds.
@test "check: a sample compiles for every GPU from sm_80 on" {
    split lathe check linear --kernel mma --sample "${LATHE_SAMPLE:-2}" --json --quiet \
        --target sm_80 --target sm_86 --target sm_89 --target sm_90a --target sm_100
    [ "$status" -ne 5 ] || skip "no NVRTC here: $errors"
    [ "$status" -eq 0 ] || lathe check linear --kernel mma --sample "${LATHE_SAMPLE:-2}" --quiet
    [ "$status" -eq 0 ]
    [ "$(json .out "(SELECT sum(value ->> 'tried' <> value ->> 'compiled') FROM json_each(j))")" = 0 ]
    [ "$(json .out "(SELECT sum(value ->> 'tried') FROM json_each(j))")" -ge 10 ]
}
