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

@test "the budget in seconds is recorded time, and no real time" {
    start=$SECONDS
    replay "$PNPOLY" --db none --strategy random --seconds 10m --json >report 2>/dev/null
    [ $((SECONDS - start)) -lt 20 ]
    [ "$(json report "j ->> 'seconds' BETWEEN 600 AND 700")" = 1 ]
}

@test "the same seed gives the same report, another seed another" {
    for seed in 5 5 6; do replay "$PNPOLY" --db none --trials 300 --seed $seed >>"report-$seed" 2>&1; done
    half=$(($(wc -l <report-5) / 2))
    [ "$(head -$half report-5)" = "$(tail -$half report-5)" ]
    [ "$(head -$half report-5)" != "$(cat report-6)" ]
}

@test "a stored replay is a campaign on a device of its own kind" {
    split replay "$PNPOLY" --strategy random --trials 20 --seed 3
    [ "$status" -eq 0 ]
    [[ "$out" == *"NVIDIA GeForce RTX 3090 (replay)"* ]]
    [[ "$out" == *"nothing was measured"* ]]
    [ "$(sqlite3 lathe.db "SELECT kind FROM device")" = replay ]
    [ "$(sqlite3 lathe.db "SELECT count(*), count(DISTINCT configuration) FROM trial WHERE outcome IN ('ok', 'launch')")" = "20|20" ]
    # samples, time and stages are the recording's
    gzip -dc "$PNPOLY" >recording.json
    [ "$(sqlite3 lathe.db "WITH r(j) AS (SELECT CAST(readfile('recording.json') AS TEXT)),
        e AS (SELECT value AS v FROM r, json_each(j, '\$.cache'))
        SELECT count(*) FROM trial t JOIN e ON t.configuration = 'between_method=' || (v ->> 'between_method') ||
            ' block_size_x=' || (v ->> 'block_size_x') || ' tile_size=' || (v ->> 'tile_size') || ' use_method=' || (v ->> 'use_method')
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
