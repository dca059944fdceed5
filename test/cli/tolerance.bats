# tolerance.bats: campaigns verified to another tolerance than the specification's: kept, said, and never mixed unasked.

load helper

setup_file() {
    TREE="$(cd "${BATS_TEST_DIRNAME}/../.." && pwd)"
    LATHE_BIN="$(realpath "${LATHE_BIN:-$TREE/build/lathe}")"
    export DB="$BATS_FILE_TMPDIR/t.db"
    local tune=("$LATHE_BIN" tune "$TREE/test/specs/near.lua" --device host --strategy exhaustive --trials 3 \
        --top 0 -q --db "$DB")
    "${tune[@]}" >"$BATS_FILE_TMPDIR/first"
    "${tune[@]}" --tolerance atol=1e-2,rtol=1e-2 --tolerance times_sgemm_error=0 >"$BATS_FILE_TMPDIR/second"
}

@test "a campaign says what its results are verified to, and what is right follows it" {
    grep -q "^tolerance atol=0.0001 rtol=0.0001 times_sgemm_error=2, inputs default" "$BATS_FILE_TMPDIR/first"
    grep -q "3 trials: 1 ok, 2 inaccurate" "$BATS_FILE_TMPDIR/first"
    grep -q "^tolerance atol=0.01 rtol=0.01, inputs default" "$BATS_FILE_TMPDIR/second"
    grep -q "3 trials: 3 ok" "$BATS_FILE_TMPDIR/second"
    lathe show 2 --db "$DB" --json >shown
    [ "$(json shown "json_extract(j, '\$.tolerance.atol') || ' '
        || json_extract(j, '\$.tolerance.times_sgemm_error')")" = "0.01 0.0" ]
}

@test "best shows results to different tolerances with their tolerance, and one kind if asked" {
    lathe best --db "$DB" >best
    [ "$(grep -c "atol=0.01 rtol=0.01 " best)" = 3 ]
    [ "$(grep -c "atol=0.0001 rtol=0.0001 times_sgemm_error=2 " best)" = 1 ]
    lathe best --db "$DB" --tolerance rtol=1e-4 --json >strict
    [ "$(json strict "json_array_length(j) || json_extract(j, '\$[0].campaign')")" = 11 ]
    lathe best --db "$DB" --tolerance rtol=0.01,times_sgemm_error=0 >loose
    grep -q "verified to atol=0.01 rtol=0.01$" loose
    fails 1 "no verified configuration for --tolerance rtol=3 in" lathe best --db "$DB" --tolerance rtol=3
    fails 1 "no verified configuration for --inputs wide in" lathe best --db "$DB" --inputs wide
    fails 2 "did you mean 'rtol'" lathe best --db "$DB" --tolerance rtl=3
    run lathe query --db "$DB" --csv "SELECT count(*) FROM best"
    [ "${lines[1]}" = 2 ]
}

@test "an export does not choose between tolerances, and names the one it has" {
    fails 2 "results to more than one tolerance" lathe export --db "$DB"
    [[ "$errors" == *"atol=0.01 rtol=0.01; "* || "$errors" == *"; atol=0.01 rtol=0.01"* ]]
    lathe export --db "$DB" --tolerance atol=0.01 -o loose.cu
    grep -q "verified to   |got - wanted| <= 0.01 + 0.01 |wanted|$" loose.cu
    grep -q "if (!(lathe_finite && lathe_diff <= 0.01 + 0.01 \* fabs(lathe_r)) &&" loose.cu
    lathe export --db "$DB" --campaign 1 -o strict.cu
    grep -q "verified to   |got - wanted| <= 0.0001 + 0.0001 |wanted|, relative Frobenius error <= 2 times SGEMM's" \
        strict.cu
    fails 2 "leave out" lathe export --db "$DB" --trial 2 --tolerance atol=1
}

@test "a tolerance that is none is refused by name" {
    fails 2 "--tolerance: a tolerance has no limit 'rtl'" lathe tune "$TREE/test/specs/near.lua" --tolerance rtl=1
    fails 2 "--tolerance: atol=0x1: expected a number, 0 or more" lathe tune "$TREE/test/specs/near.lua" \
        --tolerance atol=0x1
    fails 2 "--tolerance: atol=-1: expected a number, 0 or more" lathe tune "$TREE/test/specs/near.lua" \
        --tolerance atol=-1
    fails 2 "--tolerance: times_sgemm_error needs a gemm reference" lathe tune "$TREE/test/specs/faults.lua" \
        --tolerance times_sgemm_error=2
}
