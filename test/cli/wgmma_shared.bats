# wgmma_shared.bats: linear/wgmma_shared, which runs on Hopper GPUs only, as far as the command line shows it:
# configurations compile, and those beside them are refused with the reason. Its static assertions:
# test/unit/campaign/test_linear.c; its results: test/unit/kernels/test_wgmma_shared_run.c.
#
# LATHE_SAMPLE=N compiles N configurations where a few are compiled otherwise.
load helper

# compiles SPEC SEED OPTION...: a sample for sm_90a does
compiles() {
    local n="${LATHE_SAMPLE:-2}"
    split lathe check "$1" --kernel wgmma_shared --target sm_90a --sample "$n" --seed "$2" --json --quiet "${@:3}"
    [ "$status" -ne 5 ] || skip "no NVRTC here: $errors"
    [ "$status" -eq 0 ] || { echo "$out$errors"; return 1; }
    [ "$(json .out "j ->> 0 ->> 'compiled'")" -eq "$n" ]
}

# explain SPEC SIZE CHANGE...: of a configuration that should be good; the last values given count
explain() {
    local text="SWAP=false,SCHEDULE=cooperative,WARPGROUPS=2,TILES=1,COLUMNS=256,STAGES=4,SPLIT_K=1,CLUSTER=1,GROUP=8,STORE=registers,VEC=2"
    local other
    [ "$1" != linear ] || text="FORMAT=tf32x1,$text"
    for other in "${@:3}"; do
        text="$(sed "s/\b${other%%=*}=[^,]*,*//" <<<"$text")"
        text="${text%,},$other"
    done
    split lathe space "$1" --kernel wgmma_shared --target sm_90a --size "$2" --explain "${text//,,/,}"
}

refused() {
    explain "${@:2}"
    [ "$status" -eq 1 ] && grep -qF "$1" <<<"$out$errors" || { echo "not refused so: $* $out$errors"; return 1; }
}
allowed() {
    explain "$@"
    [ "$status" -eq 0 ] || { echo "refused: $* $out$errors"; return 1; }
}

@test "a sample compiles: of each type, with sizes that fit nothing, and with an epilogue that reads other tensors" {
    compiles linear 3
    compiles linear_f16 4
    compiles linear_bf16 5 --size M=33 --size N=1001 --size K=72
    compiles kernelbench/40 6
}

@test "only Hopper has it" {
    for target in sm_80 sm_100 host; do
        split lathe space linear_f16 --kernel wgmma_shared --target $target
        [ "$status" -eq 1 ]
        grep -q "wgmma is an instruction of Hopper GPUs" <<<"$out$errors"
    done
}

@test "what should be fast is allowed; beside it, each refusal has its reason" {
    local size=M=1024,N=8192,K=8192
    allowed linear $size
    allowed linear_f16 $size STORE=shared VEC=8 CLUSTER=2 MULTICAST=W
    allowed linear_bf16 $size SCHEDULE=pingpong TILES=2 COLUMNS=128 CLUSTER=2 MULTICAST=X STAGES=5
    allowed linear $size WARPGROUPS=1 COLUMNS=128 TILES=2 STAGES=3 PER_SM=2
    allowed linear $size FORMAT=fp16x3 PROMOTE_K=512 PROGRAMMATIC=true COLUMNS=176 STAGES=5
    allowed linear M=128,N=16384,K=16384 SPLIT_K=2 L2=256 EVICT_FIRST=true EVICT_LAST=false
    refused "two warpgroups take turns" linear $size SCHEDULE=pingpong WARPGROUPS=3 COLUMNS=176
    refused "each block of a split k finishes whole slabs" linear M=128,N=4096,K=4096 COLUMNS=160 SPLIT_K=2
    refused "a box of a tensor map has at most 256 rows" linear $size WARPGROUPS=3 TILES=2 COLUMNS=96
    refused "each block of a cluster copies whole groups of 8 rows" linear $size COLUMNS=176 CLUSTER=4 MULTICAST=W
    refused "a thread has no more neighbours to store" linear_f16 $size VEC=4
    refused "a thread has no more neighbours to store" linear $size SWAP=true
    refused "a block has that much shared memory at most" linear $size STAGES=5
    refused "a block has that much shared memory at most" linear $size WARPGROUPS=1 COLUMNS=128 TILES=2 STAGES=4 \
        PER_SM=2
    refused "more registers than a thread has at first" linear $size WARPGROUPS=3 STAGES=3
    refused "registers would spill to memory" linear $size TILES=2 COLUMNS=192 STAGES=3
    refused "the tiles alone keep the GPU busy" linear $size SPLIT_K=2
    refused "wider stores are better where they are possible" linear $size VEC=1
    refused "registers would spill to memory" linear $size FORMAT=bf16x3 PROMOTE_K=512
    refused "for few products" linear M=128,N=8192,K=8192 FORMAT=bf16x1
    refused "no sums would be promoted" linear M=1024,N=8192,K=512 FORMAT=fp16x3 PROMOTE_K=512 COLUMNS=160 STAGES=5
    refused "there are not two tiles to take turns with" linear M=128,N=8192,K=8192 SCHEDULE=pingpong
}

@test "sizes: what cannot be copied or stored is refused, the rest is not" {
    refused "rows of X and W must begin at a multiple of 16 bytes" linear M=1024,N=8192,K=8190
    refused "rows of X and W must begin at a multiple of 16 bytes" linear_f16 M=1024,N=8192,K=8196
    allowed linear M=1024,N=8192,K=8196
    refused "rows of Y must begin at a multiple of VEC elements" linear M=1000,N=8191,K=8192
    allowed linear M=1000,N=8191,K=8192 VEC=1
    refused "a cluster's blocks would have no columns" linear M=1024,N=256,K=8192 CLUSTER=2 MULTICAST=X GROUP=1
    refused "a cluster's blocks would have no rows" linear M=128,N=8192,K=8192 CLUSTER=2 MULTICAST=W
}

@test "the mixed problem, 16 bits in and float32 out, has it too" {
    printf 'return include "kernels/linear/family.lua" { name = "mixed", type = "f16", output = "f32",
        dims = { M = 1024, N = 8192, K = 8192 }, epilogue = "max(z, 0)", kernels = { "wgmma_shared" } }' >mixed.lua
    ln -s "$TREE/kernels" kernels
    compiles mixed.lua 7
}
