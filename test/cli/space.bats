# space.bats: sizes, members and refusals of the spaces of kernels/tiny.
load helper

@test "count: a table and an object" {
    split lathe space tiny --target sm_90a
    [ "$status" -eq 0 ]
    [[ "$out" == "tiny M=5 N=7 K=9 on "*"sm_90a"* ]]
    grep -Eq "^kernel +parameters +combinations +valid +share$" .out
    grep -Eq "^plain +4 +[0-9]+ +39 " .out
    grep -Eq "^later +4 +2 +2 " .out
    [[ "$out" == *"work <= 256"* ]]
    split lathe space tiny --target sm_90a --json --size M=6,K=1
    [ "$(keys .out '$')" = "arch kernels problem size target" ]
    [ "$(json .out "j ->> 'arch'")" = sm_90a ]
    [ "$(json .out "json(j ->> 'size')")" = '{"M":6,"N":7,"K":1}' ]
    [ "$(keys .out '$.kernels[0]')" = "bytes cartesian kernel refusals runs_here valid" ]
    [ "$(json .out "j ->> 'kernels' ->> 0 ->> 'valid'")" = 39 ]
    first="$out"
    split lathe space tiny --target sm_90a --count --json --size M=6 --size K=1
    [ "$out" = "$first" ]
}

@test "count: a kernel that the target cannot run" {
    split lathe space tiny --target sm_80
    [ "$status" -eq 0 ]
    grep -Eq "^later +4 +- +not here +-$" .out
    [[ "$out" == *"requires sm >= 90"* ]]
    split lathe space tiny --target sm_80 --json
    [ "$(json .out "j ->> 'kernels' ->> 1 ->> 'runs_here'")" = 0 ]
    fails 1 "has no valid configuration on " lathe space tiny --target sm_80 --kernel later
    [[ "$errors" == *"requires sm >= 90"* ]]
}

@test "count: without --target, for a device that is here" {
    split lathe space tiny
    [ "$status" -eq 0 ]
    [[ "$out" == "tiny M=5 N=7 K=9 on "* ]]
}

@test "list: as many as were counted, in order, each of them valid" {
    lathe space tiny --kernel plain --target host --list >list
    [ "$(wc -l <list)" -eq 39 ]
    [ "$(sort -u list | wc -l)" -eq 39 ]
    [ "$(sed -n 1p list)" = "plain BLOCK=32 UNROLL=1 FLAW=none" ]
    [ "$(sed -n 4p list)" = "plain BLOCK=32 UNROLL=2 ORDER=up FLAW=none" ]
    [ "$(sed -n 39p list)" = "plain BLOCK=128 UNROLL=2 ORDER=down FLAW=compile" ]
    for line in 1 20 39; do
        text="$(sed -n "${line}p" list)"
        split lathe space tiny --kernel plain --target host --explain "${text#plain }"
        [ "$status" -eq 0 ]
        [[ "$out" == "$text"$'\n'"valid on "* ]]
    done
    [ "$(lathe space tiny --target sm_90a --list | wc -l)" -eq 41 ]
    [ "$(lathe space tiny --target host --list | wc -l)" -eq 39 ]
}

@test "list as JSON" {
    lathe space tiny --target sm_90a --list --json >list
    [ "$(json list "json_array_length(j)")" -eq 41 ]
    [ "$(keys list '$[0]')" = "configuration index kernel" ]
    fourth='{"kernel":"plain","index":3,"configuration":{"BLOCK":32,"UNROLL":2,"ORDER":"up","FLAW":"none"}}'
    [ "$(json list "json(j ->> 3)")" = "$fourth" ]
    [ "$(json list "j ->> 39 ->> 'kernel'")" = later ]
}

@test "explain: which constraint refuses, with the values" {
    split lathe space tiny --kernel plain --target host --explain BLOCK=128,UNROLL=4,FLAW=none,ORDER=up
    [ "$status" -eq 1 ]
    [ -z "$errors" ]
    [[ "$out" == "plain BLOCK=128 UNROLL=4 ORDER=up FLAW=none"$'\n'"refused on "* ]]
    [[ "$out" == *"work <= 256: 512 <= 256 (more would be too much for a test)"* ]]
    [[ "$out" == *"work = BLOCK * UNROLL = 512"* ]]
    split lathe space tiny --kernel plain --target host --explain "BLOCK=128 UNROLL=4 FLAW=none ORDER=up" --json
    [ "$status" -eq 1 ]
    [ "$(json .out "j ->> 'valid'")" = 0 ]
    [[ "$(json .out "j ->> 'reason'")" == *"512 <= 256"* ]]
    split lathe space tiny --kernel plain --target host --explain BLOCK=64,UNROLL=1,FLAW=none --json
    [ "$status" -eq 0 ]
    [ "$(json .out "json(j ->> 'configuration')")" = '{"BLOCK":64,"UNROLL":1,"FLAW":"none"}' ]
    split lathe space tiny --kernel later --target sm_80 --explain BLOCK=32,UNROLL=1,ORDER=up,FLAW=none
    [ "$status" -eq 1 ]
    [[ "$out" == *"requires sm >= 90: 80 >= 90"* ]]
}

@test "explain: what is right, but kept from the search" {
    split lathe space "$TREE/test/specs/names.lua" --target sm_90a --size M=64 --explain TILE=8,EARLY=true
    [ "$status" -eq 1 ]
    [[ "$out" == *"M < 50: 64 < 50 (right, but kept from the search: more is not worth trying)"* ]]
    lathe space "$TREE/test/specs/names.lua" --target sm_90a --size M=49 --explain TILE=8,EARLY=true
    split lathe space "$TREE/test/specs/names.lua" --target sm_90a --size M=64
    [[ "$errors" == *"M < 50 (right, but kept from the search: more is not worth trying): 4 combinations"* ]]
}

@test "explain: a part of a configuration" {
    how="--target host --kernel plain"
    split lathe space tiny $how --explain BLOCK=128
    [ "$status" -eq 0 ]
    [[ "$out" == "plain BLOCK=128; open: UNROLL, ORDER, FLAW"$'\n'"9 of 18 combinations valid on "* ]]
    [[ "$out" == *"work <= 256 (more would be too much for a test): 6 combinations"* ]]
    members="$(lathe space tiny $how --list | grep -c 'BLOCK=128 ')"
    [ "$members" -eq 9 ]
    split lathe space tiny $how --explain BLOCK=128,UNROLL=4
    [ "$status" -eq 1 ]
    [ -z "$errors" ]
    [[ "$out" == "plain BLOCK=128 UNROLL=4; open: ORDER, FLAW"$'\n'"refused on "*"work <= 256"* ]]
    split lathe space tiny $how --explain ORDER=down --json   # where it is inactive it is not down
    [ "$(json .out "j ->> 'members'")" -eq "$(lathe space tiny $how --list | grep -c 'ORDER=down')" ]
    [ "$(json .out "j ->> 'configuration'")" = '{"ORDER":"down"}' ]
    split lathe space tiny $how --explain UNROLL=1,ORDER=up
    [ "$status" -eq 1 ]
    [[ "$out" == *"UNROLL > 1 (else a parameter given is not used)"* ]]
    split lathe space tiny --kernel later --target sm_80 --explain BLOCK=32 --json
    [ "$status" -eq 1 ]
    [[ "$(json .out "j ->> 'reason'")" == *"requires sm >= 90"* ]]
}

@test "explain: what is no configuration" {
    how="--target host --kernel plain"
    fails 2 "no kernel has a parameter 'BLOK' (did you mean 'BLOCK'?)" lathe space tiny --target host --explain BLOK=32
    fails 2 "several kernels have the parameters of 'BLOCK=32'" lathe space tiny --target host --explain BLOCK=32
    [[ "$errors" == *"give --kernel with one of: plain, later"* ]]
    fails 2 "--explain: kernel plain: " lathe space tiny $how --explain BLOCK=33,UNROLL=1,FLAW=none
    [[ "$errors" == *"32, 64, 128"* ]]
    fails 2 "--explain: kernel plain: " lathe space tiny $how --explain BLOK=32,UNROLL=1,FLAW=none
    [[ "$errors" == *BLOK* ]]
    fails 2 "--explain: kernel plain: " lathe space tiny $how --explain BLOCK=32,BLOCK=32
    [[ "$errors" == *"BLOCK is given twice"* ]]
    fails 2 "--explain: kernel plain: " lathe space tiny $how --explain BLOCK
}

@test "targets and devices that are not there" {
    fails 2 "sm_12" lathe space tiny --target sm_12
    fails 2 "no device 'cuda:x'" lathe space tiny --target cuda:x
    fails 4 "" lathe space tiny --target cuda:99
}

@test "sample: members at random, none twice, the same for a seed" {
    lathe space tiny --kernel plain --target host --list | sort >all
    lathe space tiny --kernel plain --target host --sample 20 >some
    [ "$(sort -u some | wc -l)" = 20 ]
    [ "$(sort some | comm -23 - all | wc -l)" = 0 ]
    lathe space tiny --kernel plain --target host --sample 20 --seed 1 | cmp - some
    not cmp -s some <(lathe space tiny --kernel plain --target host --sample 20 --seed 2)
    lathe space tiny --kernel plain --target host --sample 1000 | sort | cmp - all
    lathe space tiny --target sm_90a --sample 2 --json >some
    [ "$(json some "json_array_length(j)")" = 4 ]
    [ "$(keys some '$[0]')" = "configuration index kernel" ]
    fails 2 "--count, --list, --sample and --explain exclude each other" lathe space tiny --sample 1 --list
}
