# replay.bats: `lathe tune --device replay:FILE`.
load helper

DATA="$TREE/test/data/recorded"
PNPOLY="$DATA/pnpoly-RTX_3090.json.gz"

replay() { "$LATHE_BIN" tune --device "replay:$1" "${@:2}"; }

@test "a whole recording needs no SPEC, and its best is found" {
    split replay "$PNPOLY" --db none --strategy random --trials 100000 --json
    [ "$status" -eq 0 ]
    echo "$out" >report
    [ "$(json report "j ->> 'trials'")" = 4092 ]
    [ "$(json report "j ->> 'space'")" = 4092 ]
    [ "$(json report "j ->> 'outcomes' ->> 'ok'")" = 3774 ]
    [ "$(json report "j ->> 'outcomes' ->> 'launch'")" = 318 ]
    [ "$(json report "round(j ->> 'best' ->> 'time_ms', 6)")" = 8.71424 ]
    [ "$(json report "j ->> 'device'")" = "NVIDIA GeForce RTX 3090" ]
    [ ! -e lathe.db ]
    [ ! -e none ]
}

@test "the other formats" {
    split replay "$DATA/convolution_milo-A100.t4.json.gz" --db none --strategy random --trials 100000
    [[ "$out" == *"4362 trials in "*": ok 4201, compile 6, launch 155"* ]]
    [[ "$out" == *"best 0.5536 ms"* ]]
    split replay "$DATA/convolution-RTX_3090.ktt.json.gz" --db none --strategy random --trials 100000
    [[ "$out" == *"6768 trials in "*": ok 5240, launch 1528"* ]]
}

@test "tune, show: a replay took the recorded time" {
    local recording="$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz"
    lathe tune --device "replay:$recording" --strategy random --trials 30 --db r.db -q >ended
    lathe show 1 --db r.db >shown
    seconds="$(sqlite3 r.db "SELECT printf('%.1f', sum(total_seconds)) FROM trial")"
    for file in ended shown; do
        grep -q "^finished after $seconds s of recorded time; 30 trials: " $file
    done
    lathe tune --device "replay:$recording" --strategy random --trials 2 --seed 2 --db r.db -q >ended
    lathe compare 1 2 --db r.db >compared
    grep -Eq "^ +1 .* $seconds .*" compared
    lathe show 1 --db r.db --json >one.json
    [ "$(json one.json "printf('%.1f', j ->> '$.recorded_seconds')")" = "$seconds" ]
    lathe import "$recording" --db i.db
    lathe show 1 --db i.db >shown
    grep -q "^finished after 1148.2 s of recorded time; 4092 trials: " shown
    lathe show 1 --db i.db --json >one.json
    [ "$(json one.json "(j ->> '$.objective') || json_type(j, '$.recorded_seconds')")" = timenull ]
}

@test "the budget in seconds is recorded time, and no real time" {
    start=$SECONDS
    replay "$PNPOLY" --db none --strategy random --seconds 10m --json >report 2>/dev/null
    [ $((SECONDS - start)) -lt 20 ]
    [ "$(json report "j ->> 'seconds' BETWEEN 600 AND 700")" = 1 ]
}

@test "the same seed gives the same report, another seed another" {
    replay "$PNPOLY" --db none --trials 300 --seed 5 --compile-workers 1 >>report-5 2>&1
    replay "$PNPOLY" --db none --trials 300 --seed 5 --compile-workers 4 >>report-5 2>&1
    replay "$PNPOLY" --db none --trials 300 --seed 6 >>report-6 2>&1
    half=$(($(wc -l <report-5) / 2))
    [ "$(head -$half report-5)" = "$(tail -$half report-5)" ]
    [ "$(head -$half report-5)" != "$(cat report-6)" ]
}

@test "a stored replay is a campaign on a device of its own kind" {
    split replay "$PNPOLY" --strategy random --trials 20 --seed 3
    [ "$status" -eq 0 ]
    [[ "$out" == *"NVIDIA GeForce RTX 3090 (replay)"* ]]
    [[ "$out" == *"nothing was measured"* ]]
    [[ "$out" == "campaign 1: cn_pnpoly on NVIDIA"* ]]
    [[ "$out" == *"next: lathe show 1" ]]
    [ "$(sqlite3 lathe.db "SELECT kind FROM device")" = replay ]
    [ "$(sqlite3 lathe.db "SELECT count(*), count(DISTINCT configuration) FROM trial
        WHERE outcome IN ('ok', 'launch')")" = "20|20" ]
    # samples, time and stages are the recording's
    gzip -dc "$PNPOLY" >recording.json
    [ "$(sqlite3 lathe.db "WITH r(j) AS (SELECT CAST(readfile('recording.json') AS TEXT)),
        e AS (SELECT value AS v FROM r, json_each(j, '\$.cache'))
        SELECT count(*) FROM trial t JOIN e ON t.configuration = 'between_method=' || (v ->> 'between_method') ||
            ' block_size_x=' || (v ->> 'block_size_x') || ' tile_size=' || (v ->> 'tile_size') || ' use_method='
                || (v ->> 'use_method')
        WHERE t.time_ms IS (CASE typeof(v ->> 'time') WHEN 'text' THEN NULL ELSE v ->> 'time' END)
          AND abs(t.compile_seconds - (v ->> 'compile_time') / 1000) < 1e-9
          AND (SELECT count(*) FROM sample s JOIN measurement m ON m.id = s.measurement_id WHERE m.trial_id = t.id)
              = coalesce(json_array_length(v -> 'times'), 0)")" = 20 ]
    fails 2 "a space alone" lathe export -o winner.cu
}

@test "a definition named beside: its space, and what is missing" {
    cat >definition.json <<'J'
{"parameters": {"use_method": [0, 1, 2], "block_size_x": [32, 64, 1000], "tile_size": [1, 2], "between_method": [0, 1, 2, 3]},
 "constraints": ["block_size_x * tile_size < 2000"]}
J
    split "$LATHE_BIN" tune definition.json --device "replay:$PNPOLY" --db none --strategy random --trials 1000 --json
    [ "$status" -eq 0 ]
    echo "$out" >report
    [ "$(json report "j ->> 'space'")" = 60 ]
    [ "$(json report "j ->> 'outcomes' ->> 'ok'")" = 48 ]
    [ "$(json report "j ->> 'outcomes' ->> 'missing'")" = 12 ]
}

@test "constraints alone are over the recording's parameters" {
    echo '{"constraints": ["tile_size == 20", "block_size_x in [32, 64]"]}' >constraints.json
    split "$LATHE_BIN" tune constraints.json --device "replay:$PNPOLY" --db none --strategy random --trials 1000
    [[ "$out" == *"24 trials in "* ]]
}

@test "what is wrong, and what cannot be asked of a recording" {
    fails 2 "SPEC is missing" "$LATHE_BIN" tune --device host
    fails 2 "--db none" "$LATHE_BIN" tune tiny --device host --db none
    fails 2 "lacks its file" "$LATHE_BIN" tune --device replay:
    fails 7 "No such file" replay nothing.json
    fails 2 "--sanitize: nothing is run" "$LATHE_BIN" tune --device "replay:$PNPOLY" --sanitize
    fails 2 "--baseline: nothing is run" replay "$PNPOLY" --baseline cublas
    fails 2 "name one before the options" replay "$PNPOLY" --where "tile_size == 1"
    fails 2 "no kernel" replay "$PNPOLY" --kernel other
    echo '{"parameters": {"block_size_x": [32]}}' >few.json
    fails 2 "has a parameter between_method with 4 values, which" "$LATHE_BIN" tune few.json --device "replay:$PNPOLY"
    [ ! -e lathe.db ]
    gzip -dc "$PNPOLY" | head -c 1000000 >cut.json
    split replay cut.json --db none --trials 5
    [ "$status" -eq 0 ]
    [[ "$errors" == *"without its closing braces"* ]]
    head -c 200000 "$PNPOLY" >cut.json.gz
    fails 7 "the compressed data end in the middle" replay cut.json.gz --db none
    { head -c -8 "$PNPOLY"; printf 12345678; } >crc.json.gz
    fails 7 "lathe: crc.json.gz: incorrect data check" replay crc.json.gz --db none
}

# proposing BODY: a replay by a strategy whose run(tune, space) is this
proposing() {
    echo "return strategy { name = 's', summary = '', run = function(tune, space) $1 end }" >s.lua
    split replay "$PNPOLY" --db none --strategy s.lua --trials 50 --json
}

@test "what a strategy may propose: floats that are whole; and what it may not" {
    local rest="tile_size = 1, between_method = 0, use_method = 0 }"
    proposing "for _, x in ipairs { 32, 32.0 } do tune.evaluate { block_size_x = x, $rest end"
    [ "$status" -eq 0 ]
    [[ "$out" == *'"trials": 1,'* ]]
    local value
    for value in 32.5 0/0 math.huge 2^63 "'32'" "{}" true; do
        proposing "tune.evaluate { block_size_x = $value, $rest"
        echo "$value: $errors"
        [ "$status" -eq 3 ]
        [[ "$errors" == *"tune.evaluate: the table is no configuration: block_size_x="*" is not a value of the parameter"* ]]
    done
    proposing "while true do tune.evaluate(space:at(1)) end"
    [ "$status" -eq 0 ]
    [[ "$out" == *'"trials": 1,'* ]]
    [[ "$errors" == *"the strategy proposed nothing new for a long time: ended"* ]]
    echo '{"tune_params_keys": ["a", "b"], "cache": {"1": {"a": 1, "b": 1, "time": 1}, "2": {"a": 2, "b": 2, "time": 2}}}' >two.json
    echo "return strategy { name = 's', summary = '', run = function(tune, space)
        while true do tune.evaluate { a = 1, b = 2 } end end }" >s.lua
    split replay two.json --db none --strategy s.lua --trials 9
    [ "$status" -eq 1 ]
    [[ "$out" == *"9 trials in 0 s of recorded time: constraint 9"* ]]
    [[ "$errors" == *"none of the 9 configurations tried is valid in the recording"* ]]
}

@test "a file that is much larger than the memory that it may take" {
    [ -z "${LATHE_SANITIZE:-}" ] || skip "a sanitized program takes all addresses"
    { printf '{"log": ['; yes '1, ' | head -c 96000000; echo '0], "tune_params_keys": ["a"],'
      echo '"cache": {"1": {"a": 1, "time": 4}}}'; } >large.json
    split bash -c "ulimit -v 64000; '$LATHE_BIN' recording large.json"
    echo "$errors"
    [ "$status" -eq 0 ]
    [[ "$out" == *"1 configurations: ok 1"* ]]
}

@test "nothing valid is exit code 1; one point is a space" {
    echo '{"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": "InvalidConfig"}}}' >failed.json
    split replay failed.json --db none
    [ "$status" -eq 1 ]
    [[ "$errors" == *"none of the 1 configurations tried is valid"* ]]
    echo '{"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 4}}}' >one.json
    split replay one.json --db none
    [ "$status" -eq 0 ]
    [[ "$out" == *"best 4 ms, trial 1: a=1"* ]]
}

@test "a campaign of lathe's own database, compressed too" {
    gzip -dc "$TREE/test/data/linear-h200.db.gz" >l.db
    for place in l.db#3 l.db "$TREE/test/data/linear-h200.db.gz#3"; do
        split replay "$place" --db none --strategy random --trials 10000 --json
        [ "$status" -eq 0 ]
        echo "$out" >report
        [ "$(json report "j ->> 'outcomes' ->> 'ok'")" = 900 ]
        [ "$(json report "j ->> 'device'")" = "NVIDIA H200" ]
        [ "$(json report "j ->> 'problem'")" = simt ]
        [ "$(json report "j ->> 'best' ->> 'time_ms'")" = "$(sqlite3 l.db \
            "SELECT min(time_ms) FROM trial WHERE campaign_id = 3 AND role = 'candidate'")" ]
        # a trial is charged its compile, verify and sampled times
        [ "$(sqlite3 l.db "SELECT abs($(json report \
            "j ->> 'seconds'") - (SELECT sum(compile_seconds + verify_seconds) FROM trial WHERE campaign_id = 3
            AND role = 'candidate')
            - (SELECT sum(ms) / 1000 FROM sample JOIN measurement m ON m.id = measurement_id JOIN trial t
                ON t.id = m.trial_id
               WHERE regime = 'trial' AND campaign_id = 3 AND role = 'candidate')) < 1e-6")" = 1 ]
    done
    fails 2 "is of the kernels epilogue, simt" replay l.db#1 --db none
    split replay l.db#1 --kernel epilogue --db none --strategy random --trials 1000
    [[ "$out" == *"126 trials"*": ok 126"* ]]
    fails 2 "has no trials of a kernel 'other'; it has epilogue, simt" replay l.db#1 --kernel other
    fails 1 "there is no campaign 9" replay l.db#9
    fails 2 "only a lathe database has campaigns" replay "$PNPOLY#1"
    fails 2 "was recorded at M=128 N=32768 K=32768, and the specification is at M=5" \
        "$LATHE_BIN" tune linear --size M=5 --device replay:l.db#3 --db none
    [ -z "$(ls | grep lathe-recording)" ]
}

@test "the specification beside a lathe campaign: its space, its kernel" {
    gzip -dc "$TREE/test/data/linear-h200.db.gz" >l.db
    split "$LATHE_BIN" tune linear --device replay:l.db#3 --db none --strategy random --trials 50 --json
    echo "$out" >report
    [ "$(json report "j ->> 'best' IS NULL OR j ->> 'best' ->> 'kernel' = 'simt'")" = 1 ]
    [ "$(json report "(j ->> 'space') > 900")" = 1 ]
    [ "$(json report "(j ->> 'outcomes' ->> 'missing') + (j ->> 'outcomes' ->> 'ok')")" = 50 ]
}

@test "what was replayed and stored can be replayed" {
    replay "$PNPOLY" --strategy random --trials 40 --seed 3 >/dev/null 2>&1
    replay "$PNPOLY" --strategy random --trials 40 --seed 3 --db none --json >first 2>/dev/null
    replay lathe.db --strategy random --trials 100 --db none --json >second 2>/dev/null
    [ "$(json second "j ->> 'device'")" = "NVIDIA GeForce RTX 3090 (replay)" ]
    replay lathe.db --trials 1 >/dev/null 2>&1
    [ "$(sqlite3 lathe.db "SELECT count(DISTINCT name) FROM device")" = 1 ]
    for key in outcomes problem; do
        [ "$(json first "j ->> '$key'")" = "$(json second "j ->> '$key'")" ]
    done
    [ "$(json first "j ->> 'best' ->> 'text'")" = "$(json second "j ->> 'best' ->> 'text'")" ]
    [ "$(sqlite3 :memory: "SELECT abs($(json first "j ->> 'seconds'") - $(json second "j ->> 'seconds'")) < 1e-9")" = \
        1 ]
}

@test "lathe recording tells the facts" {
    "$LATHE_BIN" recording "$PNPOLY" >told
    grep -q "4092 configurations: ok 3774, launch 318; 37740 samples" told
    grep -q "best 8.714240 ms, median 13.535019 ms; a trial costs 0.3034 s in the mean, 0.2621 s in the median" told
    grep -q "0.5: 6, 0.8: 31, 0.9: 96, 0.95: 198, 0.99: 539" told
    "$LATHE_BIN" recording "$PNPOLY" --json >facts
    [ "$(keys facts '$')" = "best_ms configurations device evaluations_to format kernel mean_cost median_cost median_ms notes outcomes parameters path random_search_ms samples size valid" ]
    [ "$(json facts "j ->> 'parameters' ->> 'tile_size'")" = "[1,2,4,6,8,10,12,14,16,18,20]" ]
    "$LATHE_BIN" recording "$TREE/test/data/recorded/small/cache.json" --json >facts
    [ "$(json facts "json_array_length(j, '\$.notes')")" = 1 ]
    fails 2 "FILE is missing" "$LATHE_BIN" recording
    "$LATHE_BIN" recording "$PNPOLY" -o written.t4.json.gz >told2
    [ "$(cat told)" = "$(cat told2)" ]
    "$LATHE_BIN" recording written.t4.json.gz >told3
    [ "$(sed 1d told | head -1)" = "$(sed 1d told3 | head -1)" ]
    [ "$(tail -2 told)" = "$(tail -2 told3)" ]
    fails 7 "No such file" "$LATHE_BIN" recording nothing.json
    mkdir some
    cp "$PNPOLY" some
    "$TREE/scripts/check_recordings" --lathe "$LATHE_BIN" some | grep -q "1 recordings, 0 differ"
    not "$TREE/scripts/check_recordings" --lathe "$LATHE_BIN" .
}

@test "a signal ends a replay with what it has" {
    awk 'BEGIN { printf "{\"tune_params_keys\": [\"a\", \"b\"], \"cache\": {"
        for (i = 0; i < 200000; i++) printf "%s\"%d\": {\"a\": %d, \"b\": %d, \"time\": 1}\n", i ? "," : "", i, i % 500, i / 500
        print "}}" }' >many.json
    "$LATHE_BIN" tune --device replay:many.json --strategy exhaustive --trials 1000000 >out 2>errors 3>&- &
    pid=$!
    begun() { [ "$(sqlite3 lathe.db "SELECT count(*) FROM trial" 2>/dev/null || echo 0)" -gt 10 ]; }
    until_true 60 begun
    kill -TERM $pid # a background job is deaf to SIGINT
    status=0
    wait $pid || status=$?
    [ "$status" -eq 130 ]
    [ "$(sqlite3 lathe.db "SELECT state FROM campaign")" = interrupted ]
    n=$(sqlite3 lathe.db "SELECT count(*) FROM trial WHERE outcome = 'ok'")
    [ "$n" -gt 0 ]
    [ "$n" -lt 200000 ]
    grep -q "interrupted; what was measured is campaign 1" errors
}

@test "every strategy without a model tries a recording to its end, each configuration once" {
    local name
    for name in "$TREE"/search/strategies/*.lua; do
        name="$(basename "$name" .lua)"
        case "$name" in forest | gp | portfolio | transfer) continue ;; esac
        split replay "$PNPOLY" --db none --strategy "$name" --trials 100000 --json
        echo "$name: $errors"
        [ "$status" -eq 0 ]
        [[ "$out" == *'"trials": 4092,'* ]]
        [[ "$out" == *'"ok": 3774,'* ]]
    done
}
