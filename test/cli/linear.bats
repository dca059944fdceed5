# linear.bats: the kernels that come with lathe, at sizes that fit nothing, on the host device; and compiled for GPUs.
#
# LATHE_SAMPLE=N tries N configurations where a few are tried otherwise.
load helper

# campaign FEW SPEC OPTION...: random configurations, every one of which must come out right
campaign() {
    local trials="${LATHE_SAMPLE:-$1}" spec="$2"
    shift 2
    rm -f linear.db*
    if ! lathe tune "$spec" --device host --strategy random --trials "$trials" --top 0 --compile-workers 2 \
        --db linear.db \
        --json "$@" >tune.json 2>log; then
        cat log
        return 1
    fi
    if [ "$(json tune.json "j ->> 'outcomes' ->> 'ok'")" != "$trials" ]; then
        lathe query --db linear.db "SELECT outcome, kernel, configuration, reason FROM trial WHERE outcome <> 'ok'"
        return 1
    fi
    [ "$(json tune.json "(SELECT value ->> 'outcome' FROM json_each(j, '$.baselines')
                          WHERE value ->> 'kernel' = 'sgemm')")" = ok ]
}

# with EPILOGUE: spec/, the specification with another epilogue
with() {
    mkdir -p spec
    cp "$TREE"/kernels/linear/* spec
    sed "s|^  epilogue = .*|  epilogue = \"$1\",|" "$TREE/kernels/linear/spec.lua" >spec/spec.lua
    [ "$(diff "$TREE/kernels/linear/spec.lua" spec/spec.lua | grep -c '^>')" = 1 ]
}

@test "simt: one element" { campaign 4 linear --kernel simt --size M=1,N=1,K=1; }
@test "simt: odd sizes, K odd" { campaign 8 linear --kernel simt --size M=33,N=257,K=31 --seed 2; }
@test "simt: odd sizes, K even" { campaign 6 linear --kernel simt --size M=17,N=65,K=130 --seed 3; }
@test "simt: round sizes" { campaign 6 linear --kernel simt --size M=128,N=96,K=64 --seed 4; }
@test "epilogue: one element" { campaign 3 linear --kernel epilogue --size M=1,N=1,K=1 --seed 5; }
@test "epilogue: odd sizes" { campaign 6 linear --kernel epilogue --size M=5,N=300,K=129 --seed 6; }
@test "epilogue: round sizes, so the transposed product too" { campaign 8 linear --kernel epilogue --size M=68,N=132,K=9 --seed 7; }

@test "another activation is one line: a rectifier" {
    with "s * max(z, 0)"
    campaign 4 spec --kernel simt --kernel epilogue --size M=19,N=70,K=40 --seed 8
}

@test "another activation is one line: GELU, and a column's own scale" {
    with "0.5 * z * (1 + tanh(0.7978845608 * (z + 0.044715 * z * z * z))) * (1 + 0.5 * b[n])"
    campaign 4 spec --kernel simt --kernel epilogue --size M=19,N=70,K=40 --seed 9
}

@test "space: not empty at any size, here and on GPUs" {
    for target in host sm_80 sm_90a; do
        for size in M=1,N=1,K=1 M=100000,N=1,K=3 M=3,N=100000,K=2; do
            split lathe space linear --target $target --size $size --json
            [ "$status" -eq 0 ]
            [ "$(json .out "(SELECT min(value ->> 'valid') > 0 FROM json_each(j, '$.kernels') WHERE
                value ->> 'kernel' NOT LIKE 'wgmma%')")" = 1 ]
        done
    done
}

@test "space: what is known to be fast is in it" {
    common="TRANSPOSED=false,BM=128,LANES_M=8,BK=8,UNROLL=8,FRAGMENTS=2,LAYOUT=transposed,FILL=register,VEC=4,SPLIT_K=1,STORE=direct"
    for rest in BN=256,TM=16,TN=8,STAGES=2,MIN_BLOCKS=1,SCHEDULE={tiles,stream} \
        BN=128,TM=16,TN=8,STAGES=2,MIN_BLOCKS=1,SCHEDULE=tiles BN=128,TM=16,TN=8,STAGES=2,MIN_BLOCKS=2,SCHEDULE=stream \
        BN=128,TM=8,TN=8,STAGES=1,MIN_BLOCKS=2,SCHEDULE=tiles; do
        split lathe space linear --kernel simt --target sm_90a --explain "$common,$rest"
        echo "$out"
        [ "$status" -eq 0 ]
    done
}

@test "check: a sample compiles for every GPU" {
    split lathe check linear --sample "${LATHE_SAMPLE:-1}" --json --quiet
    [ "$status" -ne 5 ] || skip "no NVRTC here: $errors"
    [ "$status" -eq 0 ] || lathe check linear --sample "${LATHE_SAMPLE:-1}" --quiet
    [ "$status" -eq 0 ]
    [ "$(json .out "json_array_length(j) % 3")" -eq 0 ]
    [ "$(json .out "(SELECT sum(value ->> 'tried' <> value ->> 'compiled') FROM json_each(j))")" = 0 ]
    [ "$(json .out "(SELECT sum(value ->> 'tried') FROM json_each(j))")" -ge 16 ]
}

@test "wgmma: only Hopper has it, and a size that it cannot serve is refused with the reason" {
    for target in sm_80 sm_100 host; do
        split lathe space linear --kernel wgmma --target $target
        [ "$status" -eq 1 ]
        grep -q "wgmma is an instruction of Hopper GPUs" <<<"$out$errors"
    done
    split lathe space linear --kernel wgmma --target sm_90a --size K=129
    [ "$status" -eq 1 ]
    grep -q "rows of X and W must begin at a multiple of 16 bytes" <<<"$out$errors"
    split lathe space linear --kernel wgmma --target sm_90a --size M=7,N=33,K=128
    [ "$status" -eq 0 ]
}

@test "space: wgmma's configurations that were measured to be fast are in it" {
    common="FORMAT=bf16x3,STREAM=W,WARPGROUPS=2,SPLIT_K=1,VEC=4,EVICT_FIRST=true,EVICT_LAST=false,PROGRAMMATIC=true"
    split lathe space linear --kernel wgmma --target sm_90a --explain \
        "$common,TILES=2,COLUMNS=128,STAGES_LESS=0,CLUSTER=2,MULTICAST=shared,PROMOTE_K=1024,PROMOTE=workspace"
    [ "$status" -eq 0 ]
    split lathe space kernelbench/9 --kernel wgmma --target sm_90a --explain \
        "${common/bf16/fp16},TILES=1,COLUMNS=176,STAGES_LESS=0,CLUSTER=1,PROMOTE_K=512,PROMOTE=registers,GROUP=4"
    [ "$status" -eq 0 ]
}

@test "check: on the host, where one does not compile" {
    fails 2 "unknown target 'sm_12'" lathe check tiny --target sm_12
    fails 2 "has no kernel 'nosuch'" lathe check tiny --kernel nosuch --target host
    split lathe check tiny --kernel plain --target host --sample 4 --seed 2
    [ "$status" -eq 2 ]
    grep -Eq "^plain +host +39 +4 +[123] " .out
    [[ "$out" == *"plain, host: BLOCK="*" FLAW=compile: "*"this flaw does not compile"* ]]
    [[ "$errors" == "plain host: "[123]" of 4 compiled in "*" s" ]]
    split lathe check tiny --kernel later --target host --json --quiet
    [ "$status" -eq 0 ]
    [ "$(keys .out '$[0]')" = "compiled drawn failure kernel seconds skipped target tried valid" ]
    [[ "$(json .out "j ->> 0 ->> 'skipped'")" == *"requires sm >= 90"* ]]
}

@test "export: under one name, another epilogue is another problem, and another kernel is not" {
    for epilogue in "s * max(z, 0)" "s * z" "s * z"; do
        with "$epilogue"
        lathe tune spec --kernel simt --device host --size M=9,N=7,K=8 --trials 1 --top 0 --db two.db -q
        [ "$epilogue" = "s * z" ] || lathe export --db two.db -o first.cu
    done
    [ "$(sqlite3 two.db "SELECT count(*) FROM device")" = 1 ]
    split lathe export --db two.db
    [ "$status" -eq 2 ]
    grep -q "results of 2 different problems called linear" <<<"$errors"
    lathe export --db two.db --campaign 2 -o second.cu
    split lathe best --db two.db
    [[ "$out" == *" operator "*"warning: one name stands for several problems"* ]]
    [ "$(lathe best --db two.db --json | python3 -c 'import json, sys
print(sorted((t["campaign"] > 1, t["operator"]) for t in json.load(sys.stdin)))')" = "[(False, 1), (True, 2)]" ]
    split lathe best --db two.db --campaign 3
    [[ "$out" != *operator* ]]
    rm two.db*
    for kernel in simt epilogue; do
        lathe tune linear --kernel $kernel --device host --size M=9,N=7,K=8 --trials 1 --top 0 --db two.db -q
    done
    lathe export --db two.db -o third.cu
    [ "$(lathe best --db two.db --json | python3 -c 'import json, sys
print({t["operator"] for t in json.load(sys.stdin)})')" = "{1}" ]
}
