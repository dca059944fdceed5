# guard.bats: what kernels/linear promises for every float32 input where operands have 16 bits: kernels/linear/guard.cuh
# and wgmma_split.cuh, run on the host around a product without tensor cores (test/specs/guarded.lua).
#
# LATHE_SAMPLE=1 tries every format, stream and width where a few are tried otherwise.
load helper

# not_ok CONFIG SIZE: the classes of inputs on which it was not ok, in order
not_ok() {
    "$LATHE_BIN" verify "$TREE/test/specs/guarded.lua" --kernel guarded --config "$1" --size "$2" --device host -q \
        --json >all.json || true
    json all.json "(SELECT coalesce(group_concat(json_extract(value, '\$.inputs'), ' '), '') FROM json_each(j)
        WHERE json_extract(value, '\$.outcome') <> 'ok')"
}

@test "three products of two parts are right on every class of inputs" {
    local formats=(FORMAT=bf16x3,STREAM=W,COLUMNS=16 FORMAT=fp16x3,STREAM=X,COLUMNS=48 \
        FORMAT=fp16x3s,STREAM=W,COLUMNS=16)
    [ -z "${LATHE_SAMPLE:-}" ] || formats=(FORMAT={bf16x3,fp16x3,fp16x3s},STREAM={W,X},COLUMNS={16,48})
    for format in "${formats[@]}"; do
        for size in M=40,N=57,K=300 M=1,N=1,K=4 M=17,N=50,K=516; do
            [ "$(not_ok "$format,FAULT=none" $size)" = "" ] || { echo "$format $size"; cat all.json; return 1; }
        done
    done
}

@test "it is the guard that makes it so: each format without it fails where it has no range" {
    [ "$(not_ok FORMAT=bf16x3,STREAM=W,COLUMNS=48,FAULT=no_fallback M=40,N=57,K=300)" = "tiny special overflow" ]
    [ "$(not_ok FORMAT=fp16x3,STREAM=W,COLUMNS=48,FAULT=no_fallback M=40,N=57,K=300)" = \
        "tiny outliers rows faint columns special overflow" ]
    [ "$(not_ok FORMAT=fp16x3s,STREAM=X,COLUMNS=16,FAULT=no_fallback M=40,N=57,K=300)" = \
        "tiny outliers rows faint columns special overflow" ]
    [ "$(not_ok FORMAT=bf16x3,STREAM=X,COLUMNS=16,FAULT=sums_unseen M=40,N=57,K=300)" = "special overflow" ]
}

@test "one product: its rounding is all that is wrong with it" {
    for format in bf16x1 fp16x1; do
        "$LATHE_BIN" verify "$TREE/test/specs/guarded.lua" --kernel guarded --device host -q \
            --config FORMAT=$format,STREAM=W,COLUMNS=48,FAULT=none \
            --inputs default,wide,tiny,outliers,rows,faint,columns,special,overflow \
            --tolerance times_sgemm_error=100000,atol=0.1,rtol=0.1
    done
}
