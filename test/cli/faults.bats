# faults.bats: every way a kernel can fail ends as its own outcome with a reason, and the campaign goes on. One campaign
# over test/specs/faults.lua is run once and looked at from all sides.

load helper

setup_file() {
    TREE="$(cd "${BATS_TEST_DIRNAME}/../.." && pwd)"
    LATHE_BIN="$(realpath "${LATHE_BIN:-$TREE/build/lathe}")"
    export FAULTS_DB="$BATS_FILE_TMPDIR/faults.db"
    "$LATHE_BIN" tune "$TREE/test/specs/faults.lua" --device host --strategy exhaustive --time-limit 3 --give-up 0 \
        --db "$FAULTS_DB" \
        --json >"$BATS_FILE_TMPDIR/out.json" 2>"$BATS_FILE_TMPDIR/errors"
}

# value SQL: the one value it gives
value() { "$LATHE_BIN" query --db "$FAULTS_DB" --csv "$1" | tail -1 | tr -d '\r'; }

# outcome BUG: "outcome|reason"
outcome() {
    "$LATHE_BIN" query --db "$FAULTS_DB" --csv \
        "SELECT outcome || '|' || coalesce(reason, '') FROM trial JOIN parameter_value v ON v.trial_id = trial.id
         WHERE v.name = 'BUG' AND v.value = '$1'" | tail -n +2 | tr -d '\r'
}

# is BUG OUTCOME TEXT
is() {
    local got
    got="$(outcome "$1")"
    case "$got" in
        "$2|"*"$3"* | "\"$2|"*"$3"*) ;;
        *) echo "$1: got '$got', not $2 with '$3'"; return 1 ;;
    esac
}

@test "the campaign ran every configuration and named the right winner" {
    [ "$(value "SELECT count(*) FROM trial WHERE role = 'candidate'")" = 22 ]
    [ "$(value "SELECT state FROM campaign")" = finished ]
    run lathe best --db "$FAULTS_DB" --json
    [[ "$output" == *'"BUG": "none"'* || "$output" == *'"BUG":"none"'* ]]
}

@test "a right kernel is ok" { is none ok ""; }
@test "threads that leave early are right" { is huge_block ok ""; }
@test "a kernel that does not compile: compile, with the compiler's words" { is compile compile "planted"; }
@test "too much shared memory: resources, with both numbers" { is shared resources "1000000 bytes"; }
@test "a kernel that never returns: timeout" { is hang timeout "did not end within 3 s"; }
@test "a write past the end: wrong, naming the buffer" { is overrun wrong "y was written just past its end"; }
@test "a write before the start: wrong" { is underrun wrong "before its start"; }
@test "outputs left unwritten: wrong, with how many" { is unwritten wrong "100 of 1000 elements were never written"; }
@test "a NaN: wrong" { is nan wrong "y[5] got nan"; }
@test "one wrong element: wrong, with index, got and wanted" { is one_wrong wrong "1 of 1000 elements differ"; }
@test "an input overwritten: wrong" { is input wrong "changed its input x"; }
@test "right only at the first launch: wrong" { is second_launch wrong "wrong at the second"; }
@test "a kernel that gives up after some launches: wrong after a timed run" { is tired wrong "after a timed run"; }
@test "a kernel that skips what looks done: wrong where outputs are left from other inputs" {
    is lazy wrong "right at the first launch, wrong after a launch on other inputs"
}
@test "a kernel that keeps what it made of other inputs: wrong" { is stale wrong "wrong after a launch on other inputs"; }
@test "a kernel whose blocks must run in order: wrong" { is in_order wrong "of 1000 elements differ from the reference"; }
@test "a NaN is wrong whatever \$CXX lets the compiler assume" {
    local options
    for options in -ffast-math -ffinite-math-only; do
        CXX="c++ $options" "$LATHE_BIN" tune "$TREE/test/specs/faults.lua" --device host --strategy exhaustive \
            --where "BUG == 'nan'" --top 0 --db fast.db -q >/dev/null 2>&1 || true
        "$LATHE_BIN" query --db fast.db --csv "SELECT outcome, reason FROM trial WHERE role = 'candidate'
            ORDER BY id DESC LIMIT 1" | grep -q '^"\?wrong,.*got nan'
    done
}

@test "a kernel that is right where a NaN follows its input: wrong where a number does" { is heals wrong "wrong at the second"; }
@test "a read past the end that changes no result: crash" { is peeks crash "signal"; }
@test "workspace zeroed once and not left zero: wrong" { is not_zero wrong "does not leave it zero"; }
@test "a write far past the end: wrong" { is far wrong "y was written 12000 bytes past its end"; }
@test "an illegal address: crash, with the signal" { is segfault crash "signal"; }
@test "a trap: crash" { is abort crash "signal"; }

@test "an export of a failed trial is refused" {
    id="$(value "SELECT trial_id FROM parameter_value WHERE value = 'nan'")"
    fails 1 "wrong" lathe export --db "$FAULTS_DB" --trial "$id"
}

@test "results kept from the first launch, or from the last, are wrong, in a campaign and when verified" {
    split lathe tune "$TREE/test/specs/kept.lua" --device host --strategy exhaustive --db kept.db
    [ "$status" -eq 1 ]
    [ "$(lathe query --db kept.db --csv "SELECT group_concat(outcome) FROM trial WHERE number > 0" |
        tail -1)" = '"wrong,wrong"' ]
    for kernel in first last; do
        split lathe verify "$TREE/test/specs/kept.lua" --kernel $kernel --device host --sample 1 --inputs default
        [ "$status" -ne 0 ]
    done
}

@test "where the reference is infinite or NaN, so must the result be, and nothing else is right" {
    "$LATHE_BIN" tune "$TREE/test/specs/infinite.lua" --device host --strategy exhaustive --top 1 --db i.db -q >out
    lathe query --db i.db --csv "SELECT configuration, outcome, reason FROM trial WHERE number > 0
        ORDER BY configuration" >got
    grep -q '^BUG=0,ok,$' got
    grep -q '^BUG=7,ok,$' got
    [ "$(grep -c ',wrong,' got)" = 6 ]
    grep -q '^BUG=1,.*got 0, wanted -inf' got
    grep -q '^BUG=2,.*got inf, wanted -inf' got
    grep -q '^BUG=3,.*got 1, wanted nan' got
    grep -q '^BUG=4,.*elements were never written' got
    grep -q '^BUG=5,.*got -inf, wanted nan' got
    grep -q '^BUG=6,.*y\[2,7\] got nan, wanted ' got
    [ "$(lathe query --db i.db --csv "SELECT error < 1e-6 FROM best" | tail -1)" = 1 ]   # of what is finite
}

@test "where the reference is zeros, atol judges, and no relative error is told" {
    spec="$TREE/test/specs/nothing.lua"
    "$LATHE_BIN" tune "$spec" --device host --strategy exhaustive --db n.db -q >out
    [ "$(lathe query --db n.db --csv "SELECT group_concat(configuration || ' ' || outcome || ' ' ||
        ifnull(error, 'none')) FROM (SELECT t.configuration, t.outcome, (SELECT v.frobenius FROM verification v WHERE
        v.trial_id = t.id ORDER BY v.id LIMIT 1) AS error FROM trial t WHERE t.number > 0 ORDER BY t.configuration)" |
        tail -1)" = '"GIVES=0.0 ok 0.0,GIVES=0.001 wrong none,GIVES=1e-12 ok none"' ]
    "$LATHE_BIN" tune "$spec" --size N=60 --device host --strategy exhaustive --tolerance atol=0 --db z.db -q >out
    [ "$(lathe query --db z.db --csv "SELECT group_concat(outcome) FROM (SELECT outcome FROM trial WHERE number > 0
        ORDER BY configuration)" | tail -1)" = '"ok,wrong,wrong"' ]
    lathe verify "$spec" --kernel nothing --config GIVES=1e-12 --inputs default,normal --device host -q >out
    ! grep -q inf out
}

@test "results kept for inputs of which a part is as before are wrong, whatever the part and the seed" {
    for seed in 1 2 3; do
        split lathe tune "$TREE/test/specs/memo.lua" --device host --strategy exhaustive --top 0 --seed $seed --db memo.db
        [ "$status" -eq 0 ]
    done
    [ "$(lathe query --db memo.db --csv "SELECT group_concat(DISTINCT configuration || ' ' || outcome) FROM (SELECT *
        FROM trial ORDER BY number, campaign_id)" | tail -1 | tr -d '"')" = "MEMO=none ok,MEMO=element wrong,$(:
        )MEMO=middle wrong,MEMO=row wrong,MEMO=workspace wrong,MEMO=one wrong" ]
    split lathe verify "$TREE/test/specs/memo.lua" --kernel memo --device host --inputs default,rows,integers --json
    [ "$status" -eq 1 ]
    printf '%s\n' "$out" >v
    [ "$(json v "(SELECT group_concat(DISTINCT value ->> 'text') FROM json_each(j)
        WHERE value ->> 'outcome' = 'ok')")" = "MEMO=none" ]
}

@test "only kernels that may not win are right: that is said" {
    sed 's/source = "fresh.cu",/eligible = false, &/' "$TREE/test/specs/fresh.lua" >shown.lua
    cp "$TREE"/test/specs/fresh.cu "$TREE"/test/specs/faults_reference.cu .
    split lathe tune shown.lua --device host --strategy exhaustive --seed 2 --db shown.db -q
    [ "$status" = 1 ]
    [[ "$errors" == *"nothing can win: what is right is of kernels with \`eligible = false\`"* ]]
}

@test "right for longer than a trial lasts: refused by the final, which runs it on and on" {
    split lathe tune "$TREE/test/specs/late.lua" --device host --strategy exhaustive --db late.db
    [ "$status" = 0 ]
    grep -Eq "^final: trial [0-9]+ is out: wrong: right when verified, wrong [3-9][0-9] runs later: 64 of 64 elements" \
        <<<"$errors"
    lathe show 1 --db late.db >shown
    [ "$(grep -Ec "^ +[0-9]+ .* ok .* AFTER=[48]0 +refused by the final: wrong: right when verified" shown)" = 2 ]
    [ "$(lathe best --db late.db --json >best; json best "(j ->> '\$[0].configuration.AFTER')")" = 0 ]
}

@test "refused only while the final measures it: the next best takes its place, and all are measured in the same rounds" {
    split "$LATHE_BIN" tune "$TREE/test/specs/measured.lua" --device host --strategy exhaustive --top 3 --db m.db
    [ "$status" = 0 ]
    grep -Eq "^final: trial [0-9]+ is out: wrong: .*after a timed run" <<<"$errors"
    grep -Eq "^final: trial [0-9]+ is out: crash: " <<<"$errors"
    [ "$(lathe query --db m.db --csv "SELECT group_concat(configuration, ' ') FROM (SELECT configuration FROM trial
        WHERE final_rank IS NOT NULL ORDER BY final_rank)" | tail -1)" = "ID=2 ID=3 ID=4" ]
    # three rounds of five launches each, whoever came when
    [ "$(lathe query --db m.db --csv "SELECT group_concat(count, ' ') FROM measurement m JOIN trial t
        ON t.id = m.trial_id AND t.final_rank IS NOT NULL WHERE regime = 'cold'" | tail -1)" = "15 15 15" ]
    # nobody is left for the last places: those that stand are placed
    rm loads.*
    split "$LATHE_BIN" tune "$TREE/test/specs/measured.lua" --device host --strategy exhaustive --top 7 --db n.db
    [ "$status" = 0 ]
    [ "$(lathe query --db n.db --csv "SELECT count(final_rank) || ' ' || max(final_rank) FROM trial" | tail -1)" = "5 5" ]
}

@test "images that are gone from the cache are made again, in the search and in the final" {
    export LATHE_CACHE="$PWD/cache"
    "$LATHE_BIN" tune "$TREE/test/specs/gone.lua" --device host --strategy exhaustive --db g.db
    [ "$(lathe query --db g.db --csv "SELECT group_concat(configuration, ' ') FROM (SELECT configuration FROM trial
        WHERE final_rank IS NOT NULL ORDER BY final_rank)" | tail -1)" = "ID=0 ID=1 ID=2 ID=3" ]
}

@test "right on the search's inputs, wrong on the final's fresh ones: nothing wins, exit 1" {
    # with seed 2 the search's x[0] is negative and the final's is positive
    split lathe tune "$TREE/test/specs/fresh.lua" --device host --strategy exhaustive --seed 2 --db fresh.db
    [ "$status" = 1 ]
    [[ "$errors" == *"is out: wrong"* ]]
    [[ "$errors" == *"nothing won: the final verified the best again, on fresh inputs, and refused all of them: trial "*" is wrong: "* ]]
    # so do the last lines on stdout, and nothing is recommended
    grep -q "^ok  *6  refused by the final: y\[0\] got" <<<"$out"
    not grep -q "^rank" <<<"$out"
    [ "$(tail -1 <<<"$out")" = "next: lathe show 1 --db fresh.db" ]
    lathe show 1 --db fresh.db --json >shown
    [ "$(json shown "(j ->> '$.reasons[0].outcome') || (j ->> '$.reasons[0].count')")" = ok6 ]
    # and of what an earlier final has refused, resuming says that, and not that nothing was valid
    split lathe tune --resume 1 --db fresh.db --top 3 -q
    [ "$status" = 1 ]
    [[ "$errors" == *"nothing won: all that may win was refused by an earlier final"* ]]
    # the next best took the places of those refused, three times; what was in no final is shown as that, and not recommended either
    split lathe tune "$TREE/test/specs/fresh.lua" --device host --strategy exhaustive --seed 2 --db one.db --top 1
    [ "$status" = 1 ]
    [ "$(grep -c "final: the next 1 take the place of those that are out" <<<"$errors")" = 3 ]
    [[ "$errors" == *"verified the best again, on fresh inputs, and refused all of them: trial "* ]]
    [[ "$out" == *"no winner; these are right in their trials, and were in no final:"* ]]
    [ "$(tail -1 <<<"$out")" = "next: lathe show 1 --db one.db" ]
    fails 1 "no verified configuration" lathe best --db fresh.db
}
