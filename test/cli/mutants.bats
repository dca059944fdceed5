# mutants.bats: planted mistakes are refused, a few of test/mutants (all of them: make mutants); correct configurations
# are not, a few of them (2000 of them: scripts/check_right --sample 2000); and the script that says so can fail.
load helper

@test "a wrong kernel never wins" {
    LATHE_MUTANT_TRIALS=1 "$TREE/scripts/check_mutants" quick >out || { cat out; return 1; }
    grep -Eq "^1[0-9] refused, 0 survived, 0 stale, 0 left out$" out
}

@test "a correct one is not refused" {
    "$TREE/scripts/check_right" >out || { cat out; return 1; }
    [ "$(cat out)" = "60 right, 0 refused" ]
}

# corpus TEXT-TAKEN-OUT TEXT-PUT-IN: what is said of that mistake
corpus() {
    mkdir -p corpus
    printf '%s\n' "mutant one" "file plain.cu" "kernel sgemm" "size M=4,N=4,K=4" "by verify" "options --inputs ones" \
        "why -" "$1" "$2" >corpus/own.txt
    run "$TREE/scripts/check_mutants" --folder corpus
    [ "$status" = 1 ]
}

@test "one that survives, or is not to be had, fails" {
    corpus "-#include \"lathe.cuh\"" "+#include \"lathe.cuh\" // no mistake"
    [[ "$output" == *"survived  own/one"*"0 refused, 1 survived, 0 stale, 0 left out" ]]
    corpus "-#include \"no such.cuh\"" "+"
    [[ "$output" == *"stale "*"does not stand in plain.cu once"*"0 refused, 0 survived, 1 stale, 0 left out" ]]
    corpus "-#include \"lathe.cuh\"" "+#error"
    [[ "$output" == *"stale "*"0 refused, 0 survived, 1 stale, 0 left out" ]]
    run "$TREE/scripts/check_mutants" nosuch
    [ "$status" = 2 ]
    [[ "$output" == *"no mutant is called so: nosuch"* ]]
}

@test "Ctrl-C leaves no copy of the kernels" {
    slow_lathe
    LATHE_BIN=$PWD/slow/lathe interrupted "$TREE/scripts/check_mutants" simt/no_barrier_between_stages
}
