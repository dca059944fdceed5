# hides.bats: an epilogue that hides a kernel's errors on the specification's fills (test/specs/hides_problem.lua):
# check values show them, and without them the campaign says that it cannot tell.

load helper

setup_file() {
    TREE="$(cd "${BATS_TEST_DIRNAME}/../.." && pwd)"
    LATHE_BIN="$(realpath "${LATHE_BIN:-$TREE/build/lathe}")"
    local spec
    for spec in hides blind; do
        "$LATHE_BIN" tune "$TREE/test/specs/$spec.lua" --device host --strategy exhaustive \
            --db "$BATS_FILE_TMPDIR/$spec.db" >"$BATS_FILE_TMPDIR/$spec.out" 2>"$BATS_FILE_TMPDIR/$spec.errors"
    done
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    db="$BATS_FILE_TMPDIR/hides.db"
    blind="$BATS_FILE_TMPDIR/blind.db"
}

# value DB SQL: the one value it gives
value() { "$LATHE_BIN" query --db "$1" --csv "$2" | tail -1 | tr -d '\r'; }

# is DB BUG OUTCOME [REASON]
is() {
    local got
    got="$(value "$1" "SELECT outcome || ':' || substr(reason, 1, 20) FROM trial WHERE configuration = 'BUG=$2'")"
    case "$got" in
        "$3:${4:-}"* | "\"$3:${4:-}"*) ;;
        *) echo "$2: $got"; return 1 ;;
    esac
}

@test "what the epilogue hides on the fills is wrong on the check inputs" {
    is "$db" none ok
    is "$db" clipped wrong "on the check inputs:"
    is "$db" nothing wrong "on the check inputs:"
}

@test "rounding that the fills hide is inaccurate, timed, and not in the final" {
    is "$db" f16 inaccurate "on the check inputs:"
    [ "$(value "$db" "SELECT outcome || (time_ms > 0) FROM trial WHERE role = 'baseline'")" = inaccurate1 ]
    [ "$(value "$db" "SELECT time_ms > 0 AND score_ms IS NULL AND final_rank IS NULL FROM trial
        WHERE configuration = 'BUG=f16'")" = 1 ]
    [ "$(value "$db" "SELECT passed FROM verification v JOIN trial t ON t.id = v.trial_id
        WHERE configuration = 'BUG=f16'")" = 0 ]
    lathe best --db "$db" --json >best
    [ "$(json best "(SELECT group_concat(value ->> 'text', ' ') FROM (SELECT value FROM json_each(j)
        ORDER BY value ->> 'id'))")" = \
        "BUG=none BUG=f16_on_fills" ]
}

@test "the fills are verified on too, and timed" {
    is "$db" on_fills wrong "32768 of 32768 eleme"
    is "$db" stray wrong "out-of-bounds write"
}

@test "rounding on the fills alone is inaccurate too, and then that is the error" {
    sed 's/max((z - 2) \* 1.5, 0)/z/' "$TREE/test/specs/hides_problem.lua" >hides_problem.lua
    cp "$TREE"/test/specs/hides.lua "$TREE"/test/specs/hides.cu .
    "$LATHE_BIN" tune hides.lua --device host --strategy exhaustive --top 1 -q --db f.db >out
    is f.db f16_on_fills inaccurate "rounds more"
    is f.db f16 inaccurate "on the check inputs:"
    [ "$(value f.db \
        "SELECT error BETWEEN 1e-4 AND 1e-3 FROM trial_report WHERE configuration = 'BUG=f16_on_fills'")" = 1 ]
    # elsewhere it is that of the check inputs, on which numbers are larger
    [ "$(value f.db "SELECT min(x.max_abs / y.max_abs) > 3 FROM trial_report x, trial_report y
        WHERE x.configuration = 'BUG=f16' AND y.configuration = 'BUG=f16_on_fills'")" = 1 ]
}

@test "the error is that of the check inputs, since the fills have none; in the final too" {
    [ "$(value "$db" "SELECT count(*) FROM verification v JOIN trial t ON t.id = v.trial_id
        WHERE configuration = 'BUG=none'
        AND frobenius BETWEEN 1e-8 AND frobenius_limit AND max_abs > 1e-7 AND passed AND deterministic")" = 2 ]
    [ "$(value "$db" "SELECT error BETWEEN 1e-4 AND 1e-3 FROM trial_report WHERE configuration = 'BUG=f16'")" = 1 ]
    [ "$(value "$db" "SELECT note IS NULL FROM campaign")" = 1 ]
    not grep -q warning "$BATS_FILE_TMPDIR/hides.errors" "$BATS_FILE_TMPDIR/hides.out"
}

@test "without check values the campaign says that outputs do not tell products apart" {
    local text="outputs do not tell products apart: all elements of Y are 0"
    is "$blind" clipped ok
    is "$blind" nothing ok
    is "$blind" on_fills wrong
    grep -q "^warning: $text" "$BATS_FILE_TMPDIR/blind.errors"
    grep -q "^warning: $text.*give a tensor .check = " "$BATS_FILE_TMPDIR/blind.out"
    not grep -q "error 0" "$BATS_FILE_TMPDIR/blind.errors"
    lathe show 1 --db "$blind" | grep -q "^warning: $text"
    lathe show 1 --db "$blind" --json >shown
    [[ "$(json shown "j ->> 'note'")" == "$text"* ]]
    [ "$(json shown "(SELECT count(*) FROM json_each(j, '\$.trials') WHERE value ->> 'outcome' = 'ok'
        AND value ->> 'error' IS NULL)")" = 5 ]
    lathe show --db "$blind" --json >all
    [[ "$(json all "j ->> '\$[0].note'")" == "$text"* ]]
}

@test "best, its front and an export say so of such trials" {
    lathe best --db "$blind" >best
    grep -q "^warning: no error where outputs do not tell products apart; .lathe show 1 --db .*. says more" best
    fails 1 "no error is known of what there is" lathe best --front --db "$blind"
    split lathe export --db "$blind" -o winner.cu
    [ "$status" = 0 ]
    [[ "$errors" == *"warning: how accurate trial "*"its outputs do not tell products apart"* ]]
    grep -q "^//   error  *not known: the outputs" winner.cu
    lathe best --db "$db" >best
    not grep -q warning best
    split lathe export --db "$db" -o winner.cu
    [[ "$errors" != *warning* ]]
    grep -q "^//   error  *relative Frobenius [0-9.e-]*, largest" winner.cu
}

@test "the check values are a class of inputs of their own" {
    split "$LATHE_BIN" verify "$TREE/test/specs/hides.lua" --kernel hides --device host --inputs default,check -q --json
    [ "$status" = 1 ]
    printf '%s\n' "$out" >v
    ok() {
        json v "(SELECT group_concat(replace(value ->> 'text', 'BUG=', ''), ' ') FROM json_each(j)
            WHERE value ->> 'inputs' = '$1' AND value ->> 'outcome' = 'ok')"
    }
    [ "$(ok default)" = "none f16 clipped nothing f16_on_fills" ]
    [ "$(ok check)" = "none on_fills f16_on_fills stray" ]
    [ "$(json v "(SELECT count(DISTINCT value ->> 'limit') FROM json_each(j))")" = 2 ]
    "$LATHE_BIN" tune "$TREE/test/specs/hides.lua" --device host --strategy exhaustive --inputs check --top 0 -q \
        --db c.db >out
    grep -q "inputs check$" out
    is c.db f16 inaccurate "rounds more"
    is c.db on_fills ok
}

@test "an output of which a hundredth is not 0 tells products apart" {
    cp "$TREE"/test/specs/hides_problem.lua "$TREE"/test/specs/hides.cu .
    tune() { "$LATHE_BIN" tune "$@" --device host --strategy exhaustive --trials 1 --top 0 --db n.db 2>&1; }
    echo 'return include "hides_problem.lua" ("some", normal(0, 1.7))' >some.lua
    echo 'return include "hides_problem.lua" ("few", normal(0, 1.4))' >few.lua
    tune some.lua >some
    not grep -q warning some
    tune few.lua >few
    grep -q "^warning: outputs do not tell products apart: all elements of Y are 0," few
    tune few.lua --inputs check >few
    grep -q "^warning: outputs do not tell products apart: 99[.][0-9]* % of the elements of Y are 0," few
    tune some.lua --size M=4,N=8 >small      # too few elements to say so
    not grep -q warning small
}
