# hard.bats: `lathe verify`, and campaigns on inputs of other kinds: kernels that ordinary inputs do not show to be
# wrong (test/specs/hard.lua), and the product's own, which must be right on all.

load helper

# failing FILE KERNEL-CONFIG: the classes on which it was not ok, in order
failing() {
    json "$1" "(SELECT coalesce(group_concat(json_extract(value, '\$.inputs'), ' '), '') FROM json_each(j)
        WHERE json_extract(value, '\$.text') = '$2' AND json_extract(value, '\$.outcome') <> 'ok')"
}

@test "each planted fault shows on the classes that it is about, and on no others" {
    split "$LATHE_BIN" verify "$TREE/test/specs/hard.lua" --kernel hard --device host --sample 10 -q --json
    [ "$status" = 1 ]
    [ -z "$errors" ]
    printf '%s\n' "$out" >all
    [ "$(json all "json_array_length(j)")" = 98 ]
    [ "$(failing all FAULT=none)" = "" ]
    [ "$(failing all FAULT=flush)" = "tiny" ]
    [ "$(failing all FAULT=drop_nan)" = "special" ]
    [ "$(failing all FAULT=skip_zero)" = "special" ]        # zero times infinity is NaN
    [ "$(failing all FAULT=bf16_pair)" = "tiny special overflow" ]
    [ "$(failing all FAULT=f16_pair)" = "wide large tiny outliers rows faint columns special overflow" ]
    [ "$(failing all FAULT=one_wrong)" = \
        "default normal ones integers wide large tiny outliers rows faint columns overflow" ]
}

@test "the tables: errors beside the float32 GEMM's, then each failure with its first element" {
    split "$LATHE_BIN" verify "$TREE/test/specs/hard.lua" --kernel hard --config FAULT=bf16_pair --inputs wide,special \
        --device host
    [ "$status" = 1 ]
    [[ "$out" == "inputs   tried  ok  worst error  SGEMM's   limit  measured"* ]]
    [[ "$out" =~ wide\ +1\ +1\ +[0-9.e-]+\ +[0-9.e-]+\ +0.0001\ +each\ element ]]
    [[ "$out" == *"special  wrong    FAULT=bf16_pair  "*"got nan, wanted "*"inf"* ]]
    [[ "$errors" == *"special: hard FAULT=bf16_pair: wrong"* ]]
    [[ "$out" =~ special\ +1\ +0\ +[0-9.e-]+\  ]]
    split "$LATHE_BIN" verify "$TREE/test/specs/hard.lua" --kernel hard --inputs overflow --device host -q
    [[ "$out" =~ overflow\ +7\ +4\ +inf\  ]]
    split "$LATHE_BIN" verify "$TREE/test/specs/hard.lua" --kernel sgemm --inputs integers --device host
    [ "$status" = 0 ]
    [[ "$out" =~ integers\ +1\ +1\ +0\ +0\  ]]
}

@test "the fused float32 kernel and the one behind a GEMM are right on every class, at sizes that no tile divides" {
    lathe verify linear --kernel simt --device host --size M=65,N=130,K=201 --sample 4 -q >simt
    [ "$(grep -c ' 4   4 ' simt)" = 15 ]
    lathe verify linear --kernel epilogue --device host --size M=33,N=97,K=64 --sample 3 -q >epilogue
    [ "$(grep -c ' 3   3 ' epilogue)" = 15 ]
}

@test "a TF32 product is beyond the limit, unless the tolerance allows it" {
    split lathe verify linear --kernel sgemm_tf32 --device host --size M=64,N=64,K=128 -q --json
    [ "$status" = 1 ]
    printf '%s\n' "$out" >tf32
    [ "$(failing tf32 "")" = "default check normal wide large tiny outliers rows faint columns special overflow" ]
    [ "$(json tf32 "json_extract(j, '\$[0].outcome') || ' ' || json_extract(j, '\$[6].outcome')")" = \
        "inaccurate wrong" ]
    lathe verify linear --kernel sgemm_tf32 --device host --size M=64,N=64,K=128 -q \
        --inputs wide,large,tiny,outliers,rows,special \
        --tolerance times_sgemm_error=200
}

@test "a reference that is a kernel: any order of summation is right where sums cancel, and what is wrong stays so" {
    wrong="default normal ones integers wide large tiny outliers rows faint columns"
    split "$LATHE_BIN" verify "$TREE/test/specs/cancels.lua" --kernel cancels --device host --sample 8 -q --json
    [ "$status" = 1 ]
    printf '%s\n' "$out" >all
    [ "$(json all "json_array_length(j)")" = 112 ]
    for way in forward backward parts; do [ "$(failing all WAY=$way)" = "" ]; done
    [ "$(failing all WAY=flush)" = tiny ]
    [ "$(failing all WAY=bf16)" = "default normal wide large tiny outliers rows faint columns special overflow" ]
    [ "$(failing all WAY=missing)" = "$wrong special overflow" ]
    [ "$(failing all WAY=zeros)" = "$wrong special overflow" ]
    [ "$(failing all WAY=one_wrong)" = "$wrong" ]
    lathe verify "$TREE/test/specs/cancels.lua" --kernel cancels --config WAY=parts --device host -q --seed 2 >parts
    [ "$(grep -c "each element, by perturbed inputs$" parts)" = 9 ]
    [ "$(grep -c "over all$" parts)" = 5 ]
    for type in f16 bf16; do
        for way in backward parts; do
            lathe verify "$TREE/test/specs/cancels.lua" --set type=$type --kernel cancels --config WAY=$way \
                --device host -q >narrow
        done
        split lathe verify "$TREE/test/specs/cancels.lua" --set type=$type --kernel cancels --config WAY=zeros \
            --device host -q --json
        printf '%s\n' "$out" >zeros
        [[ "$(failing zeros WAY=zeros)" == "default normal ones integers wide large"*" outliers rows faint columns "* ]]
    done
}

@test "a problem without a GEMM is measured by the reference itself" {
    "$LATHE_BIN" verify "$TREE/test/specs/faults.lua" --kernel scale --config BUG=none --device host -q
    split "$LATHE_BIN" verify "$TREE/test/specs/faults.lua" --kernel scale --config BUG=segfault --device host -q \
        --inputs ones,special
    [ "$status" = 1 ]
    [ "$(grep -c "crash" <<<"$out")" = 2 ]
}

@test "what does not compile is so on every class" {
    split "$LATHE_BIN" verify "$TREE/test/specs/faults.lua" --kernel scale --config BUG=compile --device host -q \
        --inputs ones,wide --json
    [ "$status" = 1 ]
    printf '%s\n' "$out" >c
    [ "$(json c "json_extract(j, '\$[0].outcome') || json_extract(j, '\$[1].outcome')
        || (json_extract(j, '\$[1].error') IS NULL)")" = compilecompile1 ]
}

@test "refusals name what is wrong" {
    fails 2 "--kernel is missing" lathe verify linear
    fails 2 "there is no class 'wid'" lathe verify linear --kernel simt --inputs wid
    [[ "$errors" == *"did you mean 'wide'? there are: default, check, normal,"* ]]
    fails 2 "did you mean 'simt'" lathe verify linear --kernel smt
    fails 2 "alone does not give the problem's output" lathe verify "$TREE/test/specs/hard.lua" --kernel alone \
        --device host
    fails 2 "--config" lathe verify "$TREE/test/specs/hard.lua" --kernel hard --config FAULT=nothing --device host
    fails 2 "--tolerance: a tolerance has no limit" lathe verify linear --kernel simt --tolerance x=1
    fails 2 "there is no class 'odd'" lathe tune linear --inputs odd
    fails 2 "--inputs check: no tensor of hard has" lathe tune "$TREE/test/specs/hard.lua" --inputs check
    fails 2 "--inputs check: no tensor of hard has" lathe verify "$TREE/test/specs/hard.lua" --kernel hard \
        --inputs ones,check
    fails 1 "kernel epilogue refuses" lathe verify linear --kernel epilogue --device host --size N=3 \
        --config TRANSPOSED=false,IN_PLACE=false,VEC=2,ITEMS=1,BLOCK=64,GRID=one_shot
}

@test "a campaign on inputs of a class: recorded, shown, and not mixed with others" {
    tune() { "$LATHE_BIN" tune "$TREE/test/specs/hard.lua" --device host --strategy exhaustive --top 1 -q \
        --db t.db "$@" >out; }
    tune --inputs special
    grep -q "inputs special$" out
    run lathe query --db t.db --csv \
        "SELECT group_concat(replace(configuration, 'FAULT=', '') || ':' || outcome, ' ') FROM trial WHERE number > 0"
    [ "${lines[1]}" = "none:ok flush:ok bf16_pair:wrong f16_pair:wrong drop_nan:wrong skip_zero:wrong one_wrong:ok" ]
    run lathe query --db t.db --csv \
        "SELECT count(*) FROM verification WHERE passed = (scaled_limit > scaled AND mismatches = 0)"
    [ "${lines[1]}" = "$(sqlite3 t.db 'SELECT count(*) FROM verification')" ]
    tune
    fails 2 "on more than one kind of inputs" lathe export --db t.db
    [[ "$errors" == *"on inputs special"* ]]
    lathe export --db t.db --inputs special -o s.cu
    grep -q "verified to .*, on inputs 'special'$" s.cu
    lathe best --db t.db | grep -q " special "
}

@test "an infinity of f16 is a number that may be within the limit of the sum's error" {
    "$LATHE_BIN" verify linear_f16 --kernel mma --device host --size M=72,N=136,K=1048 --inputs large -q --config \
        TRANSPOSED=false,BM=128,BN=32,WM=32,WN=32,BK=64,STAGES=2,FRAGMENTS=1,VEC=8,PROMOTE_K=0,SPLIT_K=8,REDUCE=last_block,MIN_BLOCKS=1
}
