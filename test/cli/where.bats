# where.bats: --where, a constraint from the command line.
load helper

@test "only configurations for which it is true are counted, listed, explained and tuned" {
    lathe space tiny --target host --where "BLOCK == 64" --where "FLAW == 'none' and UNROLL > 1" --list >list
    [ "$(wc -l <list)" = 4 ]
    [ "$(grep -cE "^plain BLOCK=64 UNROLL=[24] ORDER=(up|down) FLAW=none$" list)" = 4 ]
    split lathe space tiny --target host --where "BLOCK == 64" --kernel plain --explain BLOCK=32,UNROLL=1,FLAW=none
    [ "$status" = 1 ]
    [[ "$out" == *"BLOCK == 64: 32 == 64 (right, but kept from the search: --where)"* ]]
    lathe tune tiny --device host --where "work == 64" --where "FLAW != 'compile'" --strategy exhaustive --top 1 -q \
        --db t.db >said
    grep -q "^only where work == 64$" said
    grep -q "^only where FLAW != 'compile'$" said
    grep -q "6 trials: 3 ok, 3 wrong" said
}

@test "a campaign keeps it; an export and other searches know nothing of it" {
    lathe tune tiny --device host --where "FLAW == 'none'" --strategy exhaustive --trials 3 --top 0 -q --db t.db \
        --json >tune
    lathe tune tiny --device host --strategy exhaustive --trials 3 --top 0 -q --db t.db >/dev/null
    [ "$(json tune "j ->> 'restrictions' ->> 0")" = "FLAW == 'none'" ]
    lathe show --db t.db --json >show
    [ "$(json show "json_array_length(j, '\$[0].restrictions') || json_array_length(j, '\$[1].restrictions')")" = 10 ]
    # one problem, whose results share their places
    run lathe query --db t.db --csv "SELECT count(*) FROM problem"
    [ "${lines[1]}" = 1 ]
    lathe export --db t.db --campaign 1 -o t.cu
    not grep -q -e "--where" t.cu
}

@test "kernels that lack a name are left out, with a note; baselines take part" {
    split lathe space linear --target sm_90a --where "SPLIT_AT == 'registers' and FORMAT == 'tf32x3'"
    [ "$status" = 0 ]
    grep -Eq "^mma +[0-9]+ +[0-9]+ +[0-9]+ " .out
    grep -Eq "^wgmma_shared +[0-9]+ +- +not here" .out
    [[ "$out" == *"--where names SPLIT_AT, which it does not have"* ]]
    lathe tune linear --size M=16,N=32,K=32 --device host --trials 1 --top 0 \
        --where "FORMAT == 'tf32x3' and SPLIT_AT == 'registers'" \
        --db t.db --json >tune 2>log
    grep -q "kernel simt is left out: --where names FORMAT" log
    [ "$(json tune "j ->> 'baselines' ->> 0 ->> 'kernel'")" = sgemm ]
    [ "$(lathe query --db t.db --csv "SELECT kernels FROM campaign" | tail -1)" = mma ]
    lathe check linear --size M=16,N=32,K=32 --target host --sample 1 --where "WM == 16 and FORMAT == 'tf32x3'" \
        --json -q >check
    [ "$(json check "(SELECT group_concat(value ->> 'kernel') FROM json_each(j) WHERE value ->> 'tried' > 0
        AND value ->> 'kernel' NOT LIKE 'sgemm%')")" = mma ]
    split lathe verify tiny --kernel plain --where "FLAW == 'none'" --sample 100 --inputs default --device host \
        --json -q
    [ "$status" = 0 ]
    [ "$(json .out "json_array_length(j)")" = 13 ]
}

@test "of several kernels named, one that cannot take part is left out; the only one is an error" {
    local two=(--kernel plain --kernel later --device host --trials 2 --top 0)
    split lathe tune tiny "${two[@]}" --where "FLAW == 'none'" --db t.db
    [ "$status" = 0 ]
    [[ "$errors" == *"kernel later is left out: "*"cannot run it: sm >= 90"* ]]
    [ "$(lathe query --db t.db --csv "SELECT DISTINCT kernel FROM trial WHERE role = 'candidate'" | tail -1)" = plain ]
    fails 1 "kernel later cannot run on " lathe tune tiny --kernel later --device host --db t.db -q
    sed 's/requires = .*//' "$TREE/test/cli/kernels/tiny/spec.lua" >spec.lua
    cp "$TREE"/test/cli/kernels/tiny/*.cu .
    split lathe tune spec.lua "${two[@]}" --where "FLAW == 'none' and BLOCK == 128" --db u.db
    [ "$status" = 0 ]
    [[ "$errors" == *"kernel later is left out: kernel later has no valid configuration among 2 combinations"* ]]
    fails 1 "kernel later has no valid configuration" lathe tune spec.lua --kernel later --where "BLOCK == 128" \
        --db u.db -q
    split lathe tune spec.lua "${two[@]}" --where "BLOCK == 256" --db u.db
    [ "$status" = 1 ]
    [[ "$errors" == *"lathe: tiny has no kernel with a valid configuration"* ]]
}

@test "what is no such formula is refused by name" {
    for command in tune space check verify; do
        fails 2 "--where: no kernel has every name of 'BLOK == 32'" lathe $command tiny --where "BLOK == 32" \
            --kernel plain
        [[ "$errors" == *"plain has no 'BLOK': did you mean 'BLOCK'?"* ]]
        fails 2 "--where: kernel plain: 'BLOCK' is no condition, but of type integer" lathe $command tiny \
            --where BLOCK \
            --kernel plain
    done
    fails 2 "--where: kernel plain: " lathe space tiny --where "BLOCK == 'x'"
    fails 2 "--where: expected a value, got the end" lathe space tiny --where "BLOCK =="
    fails 2 "no kernel has every name of 'SPLIT_K > GRAD'" lathe space linear --where "FORMAT != 'tf32x3'" \
        --where "SPLIT_K > GRAD"
    [[ "$errors" == *"simt is left out already"* ]]
    fails 2 "kernel simt: --where names FORMAT, which it does not have" lathe tune linear --kernel simt --kernel mma \
        --where "FORMAT == 'tf32x1'" --size M=8,N=16,K=32 --device host
    fails 1 "refused by" lathe space tiny --target host --kernel plain --where "BLOCK == 33"
    [ ! -e lathe.db ]
}
