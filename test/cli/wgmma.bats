# wgmma.bats: linear/wgmma, which runs on Hopper GPUs only, as far as the command line shows it: configurations compile,
# and those beside them are refused with the reason. Its static assertions: test/unit/campaign/test_linear.c; its
# pipeline: test/unit/kernels/test_wgmma_protocol.c.
#
# LATHE_SAMPLE=N compiles N configurations where a few are compiled otherwise.
load helper

# compiles SPEC: a sample for sm_90a does
compiles() {
    split lathe check "$1" --kernel wgmma --target sm_90a --sample "${LATHE_SAMPLE:-1}" --seed "$2" --json --quiet
    [ "$status" -ne 5 ] || skip "no NVRTC here: $errors"
    [ "$status" -eq 0 ] || { echo "$out$errors"; return 1; }
    [ "$(json .out "j ->> 0 ->> 'compiled'")" -eq "${LATHE_SAMPLE:-1}" ]
}

# A configuration that was measured to be fast; the last values given count.
like() {
    local text="FORMAT=bf16x3,STREAM=W,WARPGROUPS=2,TILES=2,COLUMNS=128,STAGES_LESS=0,SPLIT_K=1,CLUSTER=1,PROMOTE_K=1024,PROMOTE=workspace"
    local other
    text+=",VEC=4,EVICT_FIRST=true,EVICT_LAST=false,PROGRAMMATIC=true"
    for other in "$@"; do
        text="$(sed "s/\b${other%%=*}=[^,]*,*//" <<<"$text")"
        text="${text%,},$other"
    done
    echo "$text"
}

# explain SIZE CHANGE...
explain() { split lathe space linear --kernel wgmma --target sm_90a --size "$1" --explain "$(like "${@:2}")"; }

refused() {
    local reason="$1"
    shift
    explain "$@"
    [ "$status" -eq 1 ] && grep -qF "$reason" <<<"$out$errors" || { echo "not refused so: $* $out$errors"; return 1; }
}
allowed() {
    explain "$@"
    [ "$status" -eq 0 ] || { echo "refused: $* $out$errors"; return 1; }
}

@test "a sample compiles: as the folder's problem, and with epilogues that read other tensors" {
    compiles linear 3
    compiles kernelbench/40 4
}

@test "what is fast is allowed; beside it, each refusal has its reason" {
    local size=M=128,N=32768,K=32768
    allowed $size
    allowed $size CLUSTER=2 MULTICAST=shared
    refused "each tile of 64 rows hands over its sums at a time of its own" $size WARPGROUPS=3
    refused "too little is in flight" $size COLUMNS=160 STAGES_LESS=1
    refused "registers would spill to memory" $size PROMOTE=registers
    refused "one rounded product is less accurate" $size FORMAT=bf16x1
    refused "the tiles alone keep the GPU busy" $size SPLIT_K=2
    refused "a box of a tensor map has at most 256 rows" $size WARPGROUPS=3 COLUMNS=96 PROMOTE_K=768
    refused "each block of a split k finishes whole groups of 8 columns" $size COLUMNS=208 SPLIT_K=4 TILES=1
}

@test "sizes: what cannot be copied, split or handed over is refused" {
    refused "rows of X and W must begin at a multiple of 16 bytes" M=128,N=32768,K=32766
    refused "rows of Y must begin at a multiple of VEC floats" M=128,N=32766,K=32768
    refused "each tile of 64 rows would not have handed over once" M=128,N=32768,K=1024
    allowed M=128,N=32768,K=1028
    refused "each tile of 64 rows would not have handed over once" M=128,N=4096,K=2048 SPLIT_K=2
    allowed M=128,N=4096,K=2112 SPLIT_K=2
    refused "a cluster's blocks would have no columns" M=128,N=32768,K=32768 CLUSTER=2 MULTICAST=streamed
    refused "a cluster's blocks would have no rows" M=128,N=256,K=32768 CLUSTER=2 MULTICAST=shared
    allowed M=128,N=260,K=32768 CLUSTER=2 MULTICAST=shared
}
