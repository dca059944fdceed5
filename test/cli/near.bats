# near.bats: products that are off by little (test/specs/near.lua): what rounds more than the tolerance allows is
# inaccurate, timed and never the winner; what only looks like it is wrong. One campaign, looked at from all sides.

load helper

setup_file() {
    TREE="$(cd "${BATS_TEST_DIRNAME}/../.." && pwd)"
    LATHE_BIN="$(realpath "${LATHE_BIN:-$TREE/build/lathe}")"
    export NEAR_DB="$BATS_FILE_TMPDIR/near.db"
    "$LATHE_BIN" tune "$TREE/test/specs/near.lua" --device host --strategy exhaustive --db "$NEAR_DB" \
        >"$BATS_FILE_TMPDIR/out" 2>"$BATS_FILE_TMPDIR/errors"
}

# value SQL: the one value it gives
value() { "$LATHE_BIN" query --db "$NEAR_DB" --csv "$1" | tail -1 | tr -d '\r'; }

# are OUTCOME BUG...: that outcome, and timed just if it is ok or inaccurate
are() {
    local want="$1" bug got
    shift
    for bug in "$@"; do
        got="$(value "SELECT outcome || ' ' || (time_ms IS NOT NULL) FROM trial WHERE configuration = 'BUG=$bug'")"
        case "$got" in
            "ok 1" | "inaccurate 1" | "wrong 0") ;;
            *) echo "$bug: '$got'"; return 1 ;;
        esac
        if [ "${got% *}" != "$want" ]; then echo "$bug: $got, not $want"; return 1; fi
    done
}

@test "float32 products are ok" { are ok none; }
@test "products of TF32 and bf16, rounded or cut, are inaccurate" { are inaccurate tf32 bf16 bf16_cut; }
@test "a TF32 baseline is inaccurate and timed" {
    [ "$(value "SELECT outcome || (time_ms > 0) FROM trial WHERE role = 'baseline'")" = inaccurate1 ]
    grep -q "^baseline tf32: .* ms, error 2.*e-04 (inaccurate)$" "$BATS_FILE_TMPDIR/errors"
    grep -q "(inaccurate)" "$BATS_FILE_TMPDIR/out"
}
@test "one element off by 1e-3, unwritten or NaN: wrong" { are wrong one_off unwritten nan; }
@test "a bias in one column, a factor in one row or one tile: wrong" { are wrong column row tile; }
@test "a dropped tile of k, or far too few bits: wrong" { are wrong dropped_k fp4; }
@test "right once and inaccurate then: wrong, with both said" {
    are wrong unsteady tired
    [[ "$(value "SELECT reason FROM trial WHERE configuration = 'BUG=unsteady'")" == \
        *"right at the first launch, inaccurate at the second"* ]]
    [[ "$(value "SELECT reason FROM trial WHERE configuration = 'BUG=tired'")" == \
        *"right when verified, inaccurate after a timed run"* ]]
}
@test "inaccurate ones share a reason, have an error and may not win" {
    [ "$(value "SELECT count(DISTINCT reason) FROM trial WHERE outcome = 'inaccurate' AND role = 'candidate'")" = 1 ]
    [ "$(value "SELECT count(*) FROM trial_report WHERE outcome = 'inaccurate' AND error BETWEEN 1e-4 AND 0.01
        AND NOT may_win")" = 4 ]
    "$LATHE_BIN" best --db "$NEAR_DB" --json >best
    [ "$(json best "json_array_length(j)")" = 1 ]
    "$LATHE_BIN" show 1 --db "$NEAR_DB" >shown
    grep -q "1 ok, 10 wrong, 3 inaccurate" shown
    [ "$(grep -cE "^ +[0-9]+ .* inaccurate +[0-9.]+ +[0-9.e-]+ +BUG=" shown)" = 3 ]
}
@test "the front of error and time has them" {
    "$LATHE_BIN" best --front --db "$NEAR_DB" --json >front
    [ "$(json front "(SELECT count(*) FROM json_each(j) a JOIN json_each(j) b
        ON a.value ->> 'time_ms' <= b.value ->> 'time_ms'
                      AND a.value ->> 'error' <= b.value ->> 'error' AND a.key <> b.key)")" = 0 ]
    [ "$(json front "(SELECT count(*) FROM json_each(j) WHERE value ->> 'outcome' NOT IN ('ok', 'inaccurate'))")" = 0 ]
    # the most accurate is the right one
    [ "$(json front "(SELECT value ->> 'text' FROM json_each(j) ORDER BY value ->> 'error' LIMIT 1)")" = BUG=none ]
    "$LATHE_BIN" best --front --db "$NEAR_DB" >front
    grep -q "error  outcome *configuration" front
    grep -q " ok  *BUG=none$" front
    "$LATHE_BIN" best --front --db "$NEAR_DB" --top 1 --json >front
    [ "$(json front "json_array_length(j)")" = 1 ]
}
@test "an export of an inaccurate trial is refused, and says what allows it" {
    id="$(value "SELECT id FROM trial WHERE configuration = 'BUG=tf32'")"
    fails 1 "its outcome is inaccurate" lathe export --db "$NEAR_DB" --trial "$id"
    [[ "$errors" == *"lathe tune --tolerance"* ]]
}
@test "small outputs are not judged by how their errors are spread: wrong" {
    split lathe tune "$TREE/test/specs/near.lua" --device host --size M=32 --db small.db --trials 3 \
        --strategy exhaustive --top 0
    run lathe query --db small.db --csv "SELECT group_concat(outcome, ' ') FROM trial WHERE role = 'candidate'"
    [ "${lines[1]}" = "ok wrong wrong" ]
}
