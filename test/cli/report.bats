# report.bats: `lathe report`: the file, its errors, and what a browser makes of it (headless Chromium, where there is
# one).
load helper

BROWSER="$TREE/test/browser/check_report.py"

# recorded: the H200's campaigns as h200.db
recorded() { gzip -dc "$TREE/test/data/linear-h200.db.gz" >h200.db; }

needs_charts() {
    "$LATHE_BIN" report --db none -o x 2>&1 | grep -q "without the chart library" &&
        skip "built without the chart library (npm)"
    return 0
}
needs_browser() {
    needs_charts
    python3 -c "import sys; sys.path.insert(0, '$TREE/test/browser'); import chromium; sys.exit(not chromium.find())" ||
        skip "there is no Chromium (apt-get install chromium)"
}

@test "report: one file, that asks for nothing else" {
    needs_charts
    recorded
    run lathe report --db h200.db -o page.html
    [ "$status" -eq 0 ]
    [[ "$output" == "wrote page.html: "*" MB; open it in a browser" ]]
    not grep -Eq '<(script|link|img)[^>]* (src|href)="?(http|//)' page.html
    grep -q "<title>lathe: linear on NVIDIA H200</title>" page.html
    [ "$(lathe report --db h200.db -o - | head -c 15)" = "<!DOCTYPE html>" ]
}

@test "report --json: campaigns in the order asked, the newest without" {
    recorded
    lathe report 2 1 2 --db h200.db --json >two.json
    [ "$(json two.json "json_array_length(j, '$.campaigns')")" = 2 ]
    [ "$(json two.json "json_extract(j, '$.campaigns[0].id')")" = 2 ]
    lathe report --db h200.db --json >newest.json
    [ "$(json newest.json "json_extract(j, '$.campaigns[0].id')")" = 3 ]
    # all 900 candidates and 3 baselines, the winner's code, and an estimate of importance that adds up to no more than
    # 1
    [ "$(json newest.json "json_array_length(j, '$.campaigns[0].columns.time_ms')")" = 903 ]
    [ "$(json newest.json "json_extract(j, '$.campaigns[0].winner.trial')")" = 737 ]
    [ "$(json newest.json "json_extract(j, '$.campaigns[0].winner.text') LIKE '%extern \"C\"%'")" = 1 ]
    sum="(SELECT sum(json_extract(value, '$.share')) FROM json_each(j, '$.campaigns[0].importance[0].alone'))"
    [ "$(json newest.json "$sum > 0.2 AND $sum <= 1")" = 1 ]
    [ "$(json newest.json "json_extract(j, '$.campaigns[0].importance[0].fit') > 0.5")" = 1 ]
}

@test "report: each trial has the ceiling of the units that it computes with" {
    recorded
    lathe report 3 --db h200.db --json >r.json
    in="j -> 'campaigns' -> 0"
    at() { # TRIAL: unit, products and who says it
        json r.json "(SELECT (c ->> 'unit') || ' ' || (c ->> 'products') || ' ' || (c ->> 'from') || ' ' || round(c ->> 'peak_tflops')
            FROM (SELECT $in -> 'ceilings' -> ($in -> 'columns' -> 'ceiling' ->> i.key) AS c
                  FROM json_each(j, '$.campaigns[0].columns.id') i WHERE i.value = $1))"
    }
    tf32="$(sqlite3 h200.db "SELECT id FROM trial WHERE campaign_id = 3 AND kernel = 'sgemm_tf32'")"
    [ "$(at 737)" = "f32 1 assumed 67.0" ]
    [ "$(at "$tf32")" = "tf32 1 gemm 535.0" ]
    # by each trial's own parameters: what the specification says is evaluated
    sqlite3 h200.db "UPDATE problem SET specification = json_set(specification, '$.kernels[0].computes',
        json('[{\"#\": [\"bf16\"], \"products\": \"UNROLL\", \"when\": \"FILL == ''async''\"}, [\"f16\"]]'))"
    lathe report 3 --db h200.db --json >r.json
    for id in $(sqlite3 h200.db "SELECT id FROM trial WHERE campaign_id = 3 AND kernel = 'simt' AND id % 97 = 0"); do
        want="$(sqlite3 h200.db "SELECT CASE WHEN (SELECT value FROM parameter_value WHERE trial_id = $id AND name = 'FILL') = 'async'
            THEN 'bf16 ' || (SELECT value FROM parameter_value WHERE trial_id = $id AND name = 'UNROLL')
            ELSE 'f16 1' END")"
        [ "${want:+$want specification}" = "$(at "$id" | sed 's/ [^ ]*$//')" ]
    done
    needs_browser
    lathe report 3 --db h200.db -o page.html
    python3 "$BROWSER" summary page.html "Of the roofline17.5 %memory bound: 4,814 GB/s"
    sqlite3 h200.db "UPDATE problem SET specification = json_set(specification, '$.kernels[0].computes',
        json('[{\"#\": [\"f32\"], \"products\": 2}]'))"
    lathe report 3 --db h200.db -o page.html
    python3 "$BROWSER" summary page.html \
        "159.9 %compute bound: 33.45 TFLOP/s, float32 units, 2 products each; above it, others compute, or less is computed"
    # as the databases of before: what is faster than the float32 units
    recorded
    sqlite3 h200.db "UPDATE device SET target = json_set(target, '$.peak_tflops_f32', 20)"
    lathe report 3 --db h200.db -o page.html
    python3 "$BROWSER" summary page.html "Of memory’s bandwidth17.5" \
        "it does not compute with the float32 units, so their 20 TFLOP/s are no ceiling"
    python3 "$BROWSER" opens page.html
}

@test "report: what is wrong with the command line" {
    recorded
    fails 1 "there is no campaign 99" lathe report 99 --db h200.db --json
    fails 2 "CAMPAIGN" lathe report x --db h200.db --json
    fails 6 "there is no such database" lathe report --db absent.db --json
    needs_charts
    fails 7 "no/such" lathe report --db h200.db -o no/such/page.html
}

@test "report: a campaign of the host device, also one that found nothing" {
    lathe tune linear --size M=48,N=80,K=96 --kernel simt --strategy random --trials 4 --seed 1 --db host.db
    lathe report --db host.db --json >host.json
    [ "$(json host.json "json_extract(j, '$.campaigns[0].handle')")" = host ]
    [ "$(json host.json "json_array_length(j, '$.campaigns[0].importance')")" = 0 ] # too few trials
    cp host.db whole.db
    sqlite3 host.db "UPDATE trial SET outcome = 'wrong', reason = 'r', time_ms = NULL, score_ms = NULL, final_rank =
        NULL"
    lathe report --db host.db --json >none.json
    [ "$(json none.json "json_type(j, '$.campaigns[0].winner')")" = null ]
    needs_browser
    lathe report --db host.db -o host.html
    python3 "$BROWSER" opens host.html
    lathe report --db whole.db -o whole.html
    python3 "$BROWSER" numbers whole.html whole.db 1
}

@test "browser: one trial, and equal times" {
    needs_browser
    lathe tune "$TREE/test/specs/scalars.lua" --device host --trials 1 --top 0 --db one.db --quiet >out
    lathe report --db one.db -o one.html
    python3 "$BROWSER" numbers one.html one.db 1
    python3 "$BROWSER" opens one.html
    lathe tune "$TREE/test/specs/scalars.lua" --device host --trials 2 --top 0 --db two.db --quiet >out
    sqlite3 two.db "UPDATE trial SET time_ms = 2.5, score_ms = 2.5 WHERE outcome = 'ok'"
    lathe report --db two.db -o two.html
    python3 "$BROWSER" numbers two.html two.db 1
    python3 "$BROWSER" opens two.html
}

@test "browser: errors of 0, all and some" {
    needs_browser
    lathe tune "$TREE/test/specs/scalars.lua" --device host --trials 2 --top 0 --db zero.db --quiet >out
    sqlite3 zero.db "UPDATE verification SET frobenius = 0"
    lathe report --db zero.db -o zero.html
    python3 "$BROWSER" opens zero.html
    python3 "$BROWSER" has zero.html "#fronts" "the errors of all 2 timed trials are 0"
    # one of them is drawn where 0 is
    recorded
    sqlite3 h200.db "UPDATE verification SET frobenius = 0 WHERE trial_id = 737"
    lathe report 3 --db h200.db -o some.html
    python3 "$BROWSER" opens some.html
    python3 "$BROWSER" zero some.html 737
}

@test "browser: a campaign without trials, one whose trials are under way, and one that found nothing" {
    needs_browser
    lathe tune "$TREE/test/specs/scalars.lua" --device host --trials 2 --top 0 --db two.db --quiet >out
    sqlite3 two.db "UPDATE trial SET outcome = 'in_flight', time_ms = NULL, score_ms = NULL WHERE number = 2"
    lathe report --db two.db -o flying.html
    python3 "$BROWSER" opens flying.html
    python3 "$BROWSER" has flying.html "#outcomes" "No trial that ended was not ok; 1 is under way."
    sqlite3 two.db "UPDATE trial SET outcome = 'wrong', reason = 'r', time_ms = NULL, score_ms = NULL"
    lathe report --db two.db -o wrong.html
    python3 "$BROWSER" opens wrong.html
    python3 "$BROWSER" summary wrong.html "There is no winner: no trial was ok."
    sqlite3 two.db "PRAGMA foreign_keys = ON; DELETE FROM trial"
    lathe report --db two.db -o none.html
    python3 "$BROWSER" opens none.html
    python3 "$BROWSER" summary none.html "There is no winner: the campaign has no trials."
    python3 "$BROWSER" has none.html "#outcomes, #trials" "The campaign has no trials." "There are no trials"
}

@test "browser: a campaign that its final refused whole" {
    needs_browser
    cp "$TREE"/test/specs/{late.lua,late.cu,faults_reference.cu} .
    sed -i 's/{ 0, 40, 80 }/{ 40, 80, 120 }/' late.lua
    split "$LATHE_BIN" tune late.lua --device host --strategy exhaustive --db late.db -q
    [ "$status" -eq 1 ]
    lathe report --db late.db -o late.html
    python3 "$BROWSER" opens late.html
    python3 "$BROWSER" summary late.html "the final refused all 3 that were ok" "3 trials, 3 ok, 3 of them refused" \
        "wrong: right when verified"
    python3 "$BROWSER" has late.html "#outcomes" "✓ ok3refused by the final: wrong: right when verified"
    python3 "$BROWSER" has late.html "#trials" "refused by the final: wrong: right when verified"
    # what another campaign's final refused is refused too: of two campaigns neither has a best so far
    "$LATHE_BIN" tune late.lua --device host --strategy exhaustive --top 0 --db late.db -q >out 2>&1 || true
    lathe report 1 2 --db late.db -o both.html
    python3 "$BROWSER" opens both.html
    python3 "$BROWSER" has both.html "#campaigns" "none of them has a trial that may win"
    # of which the roofline would have no point
    recorded
    sqlite3 h200.db "UPDATE trial SET score_ms = NULL WHERE campaign_id = 3 AND role = 'candidate';
        PRAGMA foreign_keys = ON;
        DELETE FROM trial WHERE campaign_id = 3 AND role = 'baseline'"
    lathe report 3 --db h200.db -o roof.html
    python3 "$BROWSER" opens roof.html
    python3 "$BROWSER" has roof.html "#limits" "There is no roofline: there is no winner and no baseline"
}

@test "browser: opens without complaint, in both themes and on a phone" {
    needs_browser
    recorded
    lathe report 1 2 3 --db h200.db -o page.html
    python3 "$BROWSER" opens page.html
}

@test "browser: numbers are the database's" {
    needs_browser
    recorded
    lathe report 1 3 --db h200.db -o page.html
    python3 "$BROWSER" numbers page.html h200.db 3
    python3 "$BROWSER" numbers page.html h200.db 1
}

@test "browser: of a recording, no rates, and the recorded time" {
    needs_browser
    recording="$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz"
    lathe import "$recording" --db imported.db
    lathe report --db imported.db -o imported.html
    python3 "$BROWSER" numbers imported.html imported.db 1
    python3 "$BROWSER" lacks imported.html TFLOP/s GB/s Cold Sustained Energy Registers
    lathe tune --device "replay:$recording" --strategy random --trials 300 --seed 1 --db replayed.db -q >/dev/null
    lathe report --db replayed.db -o replayed.html
    seconds="$(sqlite3 replayed.db "SELECT printf('%.3g', sum(total_seconds)) FROM trial")"
    python3 "$BROWSER" summary replayed.html "finished after $seconds s of recorded time"
    lathe report --db replayed.db --json >replayed.json
    [ "$(json replayed.json "round(j ->> '$.campaigns[0].columns.at_seconds[299]', 9)")" = \
        "$(sqlite3 replayed.db "SELECT round(sum(total_seconds), 9) FROM trial")" ]
}

@test "browser: parameters of many values, of one name and two types, and integers that no double holds" {
    needs_browser
    python3 - >made.json <<'END'
import json
cache = {"%d,%s" % (a, b): {"a": 3 * a, "b": b, "time": 1 + a * 7919 % 101 / 50, "compile_time": 1.0}
         for a in range(100) for b in (-7, 0.5, 2.25)}
print(json.dumps({"device_name": "none", "kernel_name": "made", "problem_size": 1, "tune_params_keys": ["a", "b"],
                  "cache": cache}))
END
    lathe tune --device replay:made.json --seed 9007199254740993 --strategy random --trials 250 --db made.db -q
    # two kernels whose parameters have one name and two types, and one value that is beyond doubles
    sqlite3 made.db "UPDATE trial SET kernel = 'other', configuration = replace(configuration, 'b=0.5', 'b=true')
            WHERE configuration LIKE '% b=0.5';
        UPDATE parameter_value SET type = 'boolean', value = 1 WHERE name = 'b' AND value = 0.5;
        UPDATE trial SET configuration = replace(configuration, 'a=9 ', 'a=9007199254740995 ');
        UPDATE parameter_value SET value = 9007199254740995 WHERE name = 'a' AND value = 9"
    [ "$(sqlite3 made.db "SELECT count(*) > 0 FROM trial WHERE configuration LIKE 'a=9007199254740995 %'")" = 1 ]
    lathe report --db made.db -o made.html
    python3 "$BROWSER" numbers made.html made.db 1
    python3 "$BROWSER" summary made.html "seed 9007199254740993" "Seed9007199254740993"
}

@test "browser: the table sorts, filters, opens by keyboard; theme, copying" {
    needs_browser
    recorded
    lathe report 3 --db h200.db -o page.html
    python3 "$BROWSER" table page.html h200.db 3
}

@test "browser: it prints" {
    needs_browser
    recorded
    lathe report 3 --db h200.db -o page.html
    python3 "$BROWSER" print page.html page.pdf
}

@test "browser: reasons that differ in numbers alone are one" {
    needs_browser
    recorded
    sqlite3 h200.db "UPDATE trial SET outcome = 'wrong', reason = id || ' of 3840 differ: Y[0,' || (id % 7) || '] got ' ||
        (id * -1.5e-7) || ', wanted 2' WHERE campaign_id = 3 AND id % 90 = 0"
    count="$(sqlite3 h200.db "SELECT count(*) FROM trial WHERE campaign_id = 3 AND outcome = 'wrong' AND role = 'candidate'")"
    first="$(sqlite3 h200.db "SELECT reason FROM trial WHERE campaign_id = 3 AND reason LIKE '%3840 differ%' ORDER BY id")"
    [ "$count" -ge 10 ]
    lathe report 3 --db h200.db -o page.html
    python3 "$BROWSER" reasons page.html wrong "$count" "$(head -n 1 <<<"$first")"
}

@test "browser: text of the database stays text" {
    needs_browser
    recorded
    evil="</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    sqlite3 h200.db "UPDATE problem SET name = '$evil', summary = '$evil'; UPDATE device
        SET name = '$evil', toolchain = '$evil';
        UPDATE strategy SET name = '$evil'; UPDATE campaign SET note = '$evil', command_line = '$evil', tool_version =
            '$evil', kernels = '$evil';
        UPDATE parameter_value SET name = '$evil' WHERE name = 'STORE'; UPDATE parameter_value SET value = '$evil'
            WHERE name = 'LAYOUT';
        UPDATE trial SET kernel = '$evil'; UPDATE trial SET outcome = 'crash', reason = '$evil' WHERE id % 7 = 0"
    lathe report 3 --db h200.db -o page.html
    python3 "$BROWSER" hostile page.html
}

@test "browser: 100 000 trials" {
    needs_browser
    recorded
    sqlite3 h200.db <"$TREE/test/browser/large.sql"
    lathe report 1000 --db h200.db -o page.html
    python3 "$BROWSER" large page.html 100000
    python3 "$BROWSER" print page.html page.pdf
}
