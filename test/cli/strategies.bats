# strategies.bats: how campaigns end, what strategies that behave oddly cost, and what a seed promises.
load helper

# A tiny of a few right configurations (five), or of many.
few() { own '{ 32, 64, 128 }' '{ 32 }'; }
many() { own '{ 32, 64, 128 }' '(function() local t = {} for i = 1, 256 do t[i] = i end return t end)()'; }

# own FROM TO: own/, a tiny whose configurations are all right, with TO in place of FROM
own() {
    cp -r "$TREE/test/cli/kernels/tiny" own
    local text
    text="$(cat own/spec.lua)"
    text="${text/"$1"/"$2"}"
    printf '%s\n' "${text/'"none", "wrong", "compile"'/'"none"'}" >own/spec.lua
}

# strategy BODY: s.lua, whose run(tune, space) is this
strategy() { echo "return strategy { name = 's', summary = '', run = function(tune, space) $1 end }" >s.lua; }

RUN="--device host --kernel plain --top 0"

sql() { sqlite3 lathe.db "$1"; }
counts() { sql "SELECT group_concat(outcome || ' ' || n, ', ') FROM (SELECT outcome, count(*) AS n FROM trial
                WHERE role = 'candidate' GROUP BY outcome ORDER BY outcome)"; }

@test "the same configuration for ever: tried once, and ended with a note" {
    strategy 'while true do tune.evaluate(space:at(1)) end'
    split lathe tune tiny $RUN --strategy s.lua
    [ "$status" -eq 0 ]
    [[ "$errors" == *"the strategy proposed nothing new 1"[0-9]*" times in a row: ended"* ]]
    [ "$(counts)" = "ok 1" ]
    [ "$(sql "SELECT state FROM campaign")" = finished ]
}

@test "only what a constraint refuses: each is a trial, and the budget ends it" {
    strategy 'while true do tune.evaluate { kernel = "plain", BLOCK = 128, UNROLL = 4, ORDER = "up", FLAW = "none" } end'
    split lathe tune tiny $RUN --strategy s.lua --trials 7
    [ "$status" -eq 1 ]
    [ "$(counts)" = "constraint 7" ]
    [ "$(sql "SELECT count(DISTINCT number) FROM trial WHERE reason LIKE 'work <= 256: 512 <= 256%'")" = 7 ]
    [[ "$out" == *"7 trials: 7 constraint"* ]]
    [[ "$out" == *"work <= 256: 512 <= 256"* ]]
    [ "$(sql "SELECT state FROM campaign")" = finished ]
}

@test "a strategy that returns ends the campaign" {
    strategy 'tune.evaluate(space:at(1)) tune.evaluate(space:at(1))'
    split lathe tune tiny $RUN --strategy s.lua
    [ "$status" -eq 0 ]
    [ "$(counts)" = "ok 1" ]
    strategy ''
    split lathe tune tiny $RUN --strategy s.lua
    [ "$status" -eq 1 ]
    [[ "$errors" == *"lathe: the strategy s ended without proposing a configuration"* ]]
}

@test "a strategy that never ends can be interrupted; one that never has enough is ended" {
    strategy 'tune.evaluate(space:at(1)) while true do end'
    env --default-signal=INT "$LATHE_BIN" tune tiny $RUN --strategy s.lua >out 2>log 3>&- &
    pid=$!
    until_true 60 grep -q "best so far" log
    kill -s INT $pid
    code=0
    wait $pid || code=$?
    [ "$code" -eq 130 ]
    [ "$(counts)" = "ok 1" ]
    [ "$(sql "SELECT state FROM campaign")" = interrupted ]
    strategy 'local t = {} while true do t[#t + 1] = ("x"):rep(1e6) .. #t end'
    fails 3 "s.lua" lathe tune tiny $RUN --strategy s.lua --quiet
}

@test "more trials than the space has: it ends when all are known" {
    few
    for name in exhaustive random local gp; do
        rm -f lathe.db*
        split lathe tune own $RUN --strategy $name --trials 1000 --json
        [ "$status" -eq 0 ]
        [ "$(counts)" = "ok 5" ]
        [ "$(json .out "j ->> 'trials'")" = 5 ]
        [ "$(json .out "j ->> 'state'")" = finished ]
    done
}

@test "seconds are a budget too" {
    many
    split lathe tune own $RUN --strategy random --seconds 0.001
    [ "$status" -eq 1 ]
    [[ "$errors" == *"lathe: 0.001 s were over before a first trial had ended: give --seconds more"* ]]
    before=$SECONDS
    lathe tune own $RUN --strategy random --trials 2 --quiet >/dev/null
    budget=$((SECONDS - before + 3))        # so that some trials fit, however busy the machine
    rm lathe.db
    before=$SECONDS
    split lathe tune own $RUN --strategy random --seconds $budget --json
    [ "$status" -eq 0 ]
    [ $((SECONDS - before)) -ge $((budget - 1)) ]
    [ $((SECONDS - before)) -lt $((2 * budget + 20)) ]
    [ "$(json .out "j ->> 'state'")" = finished ]
    [ "$(json .out "j ->> 'trials' > 0")" = 1 ]
    [ "$(sql "SELECT count(*) FROM trial WHERE outcome = 'in_flight'")" = 0 ]
}

@test "whichever budget is gone first" {
    many
    split lathe tune own $RUN --strategy random --seconds 600 --trials 2
    [ "$status" -eq 0 ]
    [ "$(counts)" = "ok 2" ]
}

# proposed STRATEGY SEED: the configurations in the order proposed
proposed() {
    lathe tune own $RUN --strategy "$1" --seed "$2" --trials 4 --db seed.db --quiet >/dev/null || return 1
    lathe show "$(sqlite3 seed.db "SELECT max(id) FROM campaign")" --db seed.db --json >shown
    json shown "(SELECT group_concat(value ->> 'configuration', char(10)) FROM json_each(j, '$.trials'))"
}

@test "the same seed proposes the same, in the same order" {
    many
    first="$(proposed random 7)"
    [ "$(wc -l <<<"$first")" -eq 4 ]
    [ "$(proposed random 7)" = "$first" ]
    [ "$(proposed random 8)" != "$first" ]
    first="$(proposed exhaustive 7)"
    [ "$(proposed exhaustive 8)" = "$first" ]
    [ "$(head -1 <<<"$(proposed local 7)")" = "$(head -1 <<<"$(proposed local 7)")" ]
}

@test "two campaigns at once in one database" {
    many
    lathe tune own $RUN --strategy random --seed 1 --trials 8 --json >a 2>a.log 3>&- &
    a=$!
    lathe tune own $RUN --strategy random --seed 2 --trials 8 --json >b 2>b.log 3>&- &
    b=$!
    code=0
    wait $a || code=$?
    wait $b || code=$?
    cat a.log b.log
    [ "$code" -eq 0 ]
    [ "$(json a "j ->> 'outcomes' ->> 'ok'")" = 8 ]
    [ "$(json b "j ->> 'outcomes' ->> 'ok'")" = 8 ]
    [ "$(sql "SELECT count(*) FROM campaign WHERE state = 'finished'")" = 2 ]
    [ "$(sql "PRAGMA integrity_check")" = ok ]
    [ "$(sql "SELECT count(*) FROM trial WHERE number > 0")" = 16 ]
    [ "$(sql "SELECT count(DISTINCT campaign_id || '.' || number) FROM trial WHERE number > 0")" = 16 ]
}
