# import.bats: results of other tuners become campaigns, and campaigns files that other tuners read.

load helper

DATA="$TREE/test/data/recorded"
PNPOLY="$DATA/pnpoly-RTX_3090.json.gz"
T4="$DATA/convolution_milo-A100.t4.json.gz"

# value DB SQL: the one value it gives
value() { sqlite3 "$1" "$2"; }

# rows DB CAMPAIGN: all that every format holds of a campaign's candidates, in the order tried
rows() {
    sqlite3 "$1" "SELECT t.number, t.outcome, t.reason, t.time_ms, t.compile_seconds, t.verify_seconds,
        t.strategy_seconds, t.energy_mj,
        (SELECT group_concat(v.name || v.type || v.value, ' ') FROM (SELECT * FROM parameter_value WHERE trial_id = t.id
            ORDER BY position) v),
        (SELECT group_concat(s.ms, ' ') FROM (SELECT s.ms FROM measurement m JOIN sample s ON s.measurement_id = m.id
         WHERE m.trial_id = t.id AND m.regime = 'trial' ORDER BY s.number) s)
        FROM trial t WHERE t.campaign_id = $2 AND t.role = 'candidate' ORDER BY t.number"
}

@test "a cache of Kernel Tuner and T4 results become campaigns" {
    split lathe import "$PNPOLY" "$T4"
    [ "$status" -eq 0 ]
    [[ "$out" == *"campaign 1: cn_pnpoly on NVIDIA GeForce RTX 3090, size 20000000, 4092 configurations: ok 3774, launch 318; best 8.71424 ms (Kernel Tuner cache, "* ]]
    [[ "$out" == *"campaign 2: a kernel on an unknown device, 4362 configurations: ok 4201, compile 6, launch 155; best 0.5536 ms (T4, "* ]]
    [[ "$out" == *"next: lathe show 2" ]]
    [ "$(value lathe.db "SELECT group_concat(kind) FROM device")" = imported,imported ]
    [ "$(value lathe.db "SELECT started FROM trial WHERE campaign_id = 1 AND number = 1")" = \
        2023-01-26T01:05:09.730633Z ]
    lathe show --json >campaigns
    [ "$(json campaigns "j -> 0 ->> 'device_kind'")" = imported ]
    [ "$(json campaigns "j -> 0 ->> 'device'")" = "NVIDIA GeForce RTX 3090 (imported)" ]
    [ "$(json campaigns "j -> 0 -> 'size' ->> 'x'")" = 20000000 ]
}

@test "a campaign without a size: one blank where it would stand" {
    printf 'a,time_ms\n1,2\n2,3\n' >small.csv
    lathe import small.csv
    split lathe best --campaign 1
    [[ "$out" == "small on unknown device (imported), campaign 1"* ]]
    fails 1 "campaigns there: 1: small on unknown device" lathe best --kernel other --campaign 1
}

@test "an imported campaign answers what others do" {
    lathe import "$PNPOLY"
    split lathe best --campaign 1 --top 1
    [[ "$out" == *"recorded, not verified here"*" 8.7142 "* || "$out" == *"recorded, not verified here"*" 8.714 "* ]]
    [[ "$out" != *warning* ]]
    split lathe show 1
    [[ "$out" == *"4092 trials: 3774 ok, 318 launch"*"warning: imported from "*"(Kernel Tuner cache): nothing was measured here"* ]]
    lathe report 1 --json >report
    split lathe query --csv "SELECT count(*) FROM trial_report WHERE device LIKE '%(imported)'"
    [[ "$out" == *4092* ]]
    split lathe tune --device replay:lathe.db#1 --db none --strategy random --trials 100000
    [[ "$out" == *"best 8.71424 ms"* ]]
    split lathe compare --spaces lathe.db#1 --strategies random,local --seeds 2
    [ "$status" -eq 0 ]
    lathe recording lathe.db#1 >one
    lathe recording "$PNPOLY" >two
    diff <(tail -n +2 one) <(tail -n +2 two)
}

@test "what needs the kernel's source is refused, in words" {
    lathe import "$PNPOLY"
    fails 2 "it was imported from another tuner, so its kernel's source is not known, and an export needs it" \
        lathe export
    [[ "$errors" == *"lathe export --campaign 1 --format t4"* ]]
    fails 2 "it was imported" lathe export --format c -o out
    fails 2 "it was imported" lathe export --campaign 1 --format torch
    fails 2 "it was imported: the tuner that it comes from would have to go on with it" lathe tune --resume 1 \
        --trials 5000
}

@test "an import is never the winner that is exported beside a measured one" {
    lathe tune tiny --device host --trials 12 --strategy exhaustive --top 0
    printf 'A,time_ms,kernel\n1,1e-9,tiny\n' >fast.csv
    lathe import fast.csv
    lathe export -o winner.cu
    lathe export --campaign 1 -o named.cu
    cmp winner.cu named.cu
}

@test "what was imported or replayed stands among measured times nowhere, unless it is asked for" {
    lathe tune tiny --device host --trials 12 --strategy exhaustive --top 0
    printf 'A,time_ms,energy_mj,kernel\n1,1e-9,1e-9,plain\n2,2e-9,1e-9,plain\n' >fast.csv
    lathe import fast.csv
    lathe tune --device replay:fast.csv --strategy random --trials 5
    sqlite3 lathe.db "UPDATE trial SET energy_mj = 3 WHERE campaign_id = 1"
    [ "$(value lathe.db "SELECT group_concat(kind) FROM device")" = host,imported,replay ]
    for asked in "" --front "--pareto time,energy" "--objective energy" "--device host"; do
        lathe best $asked --json >best
        [ "$(json best "(SELECT group_concat(DISTINCT value ->> 'device_kind') FROM json_each(j))")" = host ]
    done
    for asked in "--campaign 2" "--device imported" "--campaign 2 --objective energy" \
        "--campaign 2 --pareto time,energy" "--campaign 3" "--device replay"; do
        split lathe best $asked
        [ "$status" -eq 0 ]
        [[ "$out" == *"recorded, not verified here"* ]]
    done
    split lathe explain
    [[ "$out" == "trial "*" of campaign 1: plain, tiny on "* ]]
    split lathe explain "$(value lathe.db "SELECT min(id) FROM trial WHERE campaign_id = 2")"
    [[ "$out" == *" of campaign 2: "* ]]
    # strategies are told of what was verified
    lathe tune tiny --device host --trials 2 --strategy transfer --top 0
    [ "$(value lathe.db "SELECT group_concat(DISTINCT value ->> 'campaign')
        FROM campaign, json_each(request, '$.earlier') WHERE campaign.id = 4")" = 1 ]
}

@test "suggested commands name the database that is not the usual one" {
    split lathe import "$DATA/small/t4.json" --db "o o.db"
    [[ "$out" == *"next: lathe show 1 --db 'o o.db'" ]]
    fails 1 "\`lathe best --campaign 1 --db 'o o.db'\` lists it" lathe best --db "o o.db"
}

@test "where there is nothing else, it is said how to see what was imported" {
    lathe import "$DATA/small/t4.json"
    for asked in "" --front "--kernel t4"; do
        fails 1 "was measured here: what there is was imported or replayed, not verified" lathe best $asked
        [[ "$errors" == *"\`lathe best --campaign 1\` lists it"* ]]
    done
    fails 1 "was measured here: what there is was imported or replayed" lathe explain
    split lathe best --campaign 1
    [[ "$out" == *"recorded, not verified here"* ]]
}

@test "import, export, import: every row is the same, by each format" {
    lathe import "$PNPOLY" "$T4" "$DATA/small/t4.json" "$DATA/small/ktt.json" "$DATA/small/table.csv"
    for campaign in 1 2 3 4 5; do
        rows lathe.db $campaign >expected
        for format in t4 kernel-tuner csv; do
            lathe export --campaign $campaign --format $format -o $format.gz
            rm -f again.db
            lathe import $format.gz --db again.db
            rows again.db 1 >rows
            diff expected rows
            lathe export --db again.db --format $format -o again.gz
            cmp $format.gz again.gz
        done
    done
}

@test "a lathe campaign, export, import: every row is the same in what the formats hold" {
    gunzip -c "$TREE/test/data/linear-h200.db.gz" >old.db
    lathe tune tiny --device host --trials 6 --strategy exhaustive --top 0 --db new.db
    for db in old new; do
        for kernel in $(value $db.db \
            "SELECT DISTINCT kernel FROM trial WHERE campaign_id = 1 AND role = 'candidate'"); do
            for format in t4 kernel-tuner csv; do
                rm -f again.db
                lathe export --db $db.db --campaign 1 --kernel $kernel --format $format -o $format
                lathe import $format --db again.db
                [ "$(value again.db "SELECT count(*) FROM trial")" -gt 0 ]
                # costs go through milliseconds; the rest is equal to the last bit
                [ "$(sqlite3 $db.db "ATTACH 'again.db' AS again;
                    WITH was AS (SELECT row_number() OVER (ORDER BY number) AS n, * FROM trial WHERE campaign_id = 1
                                 AND role = 'candidate' AND kernel = '$kernel' AND outcome <> 'skipped')
                    SELECT count(*) FROM was t LEFT JOIN again.trial u ON u.number = t.n WHERE NOT (u.outcome = t.outcome
                      AND u.reason = substr(t.reason, 1, 400) AND u.time_ms IS t.time_ms AND abs(u.compile_seconds - t.compile_seconds) <= 1e-12
                      AND abs(u.verify_seconds - t.verify_seconds) <= 1e-12 AND julianday(u.started) = julianday(t.started)
                      AND (SELECT group_concat(s.ms) FROM measurement m JOIN sample s ON s.measurement_id = m.id WHERE m.trial_id = t.id AND m.regime = 'trial')
                       IS (SELECT group_concat(s.ms) FROM again.measurement m JOIN again.sample s ON s.measurement_id = m.id WHERE m.trial_id = u.id)
                      AND NOT EXISTS (SELECT 1 FROM parameter_value v WHERE v.trial_id = t.id AND NOT EXISTS
                        (SELECT 1 FROM again.parameter_value w WHERE w.trial_id = u.id AND w.name = v.name AND w.type = v.type AND w.value = v.value)))")" = 0 ]
            done
        done
    done
}

@test "T4 has the unit, the whole enumeration's words and one object a result; either spelling of compilation is read" {
    lathe import "$DATA/small/cache.json"
    lathe export --format t4 >t4.json
    [ "$(json t4.json "j -> 'metadata' ->> 'timeunit'")" = milliseconds ]
    [ "$(json t4.json "j ->> 'schema_version'")" = 1.0.0 ]
    [ "$(json t4.json "(SELECT group_concat(DISTINCT value ->> 'invalidity') FROM json_each(j, '\$.results'))")" = \
        correct,compile,runtime ]
    sed 's/"compilation"/"compilation_time"/' t4.json >other.json
    lathe import other.json --db other.db
    [ "$(rows lathe.db 1)" = "$(rows other.db 1)" ]
}

@test "a cache that a crash cut off is imported as far as it is whole" {
    gunzip -c "$PNPOLY" | head -c 100000 >cut.json
    split lathe import cut.json
    [ "$status" -eq 0 ]
    [[ "$errors" == *"note: cut.json: the cache ends without its closing braces"* ]]
    [ "$(value lathe.db "SELECT count(*) > 100 FROM trial")" = 1 ]
    [[ "$(value lathe.db "SELECT note FROM campaign")" == *"; the cache ends without"* ]]
    lathe export --format kernel-tuner -o whole.json
    [ "$(json whole.json "(SELECT count(*) FROM json_each(j, '\$.cache'))")" = "$(value lathe.db \
        "SELECT count(*) FROM trial")" ]
}

@test "bad files: nothing is imported, not even the good ones beside them" {
    gunzip -c "$T4" | head -c 100000 >cut.json
    printf 'a,time_ms\n1,2\n3\n' >short.csv
    printf '{"metadata": {"timeunit": "parsecs"}, "results": [{"configuration": {"a": 1}, "invalidity": "correct"}]}' \
        >unit.json
    printf '{"metadata": {}, "results": [{"configuration": {"a": 1}, "invalidity": "correct"}, {"configuration": {"b": 1}, "invalidity": "correct"}]}' >lacks.json
    printf '{"metadata": {}, "results": [{"configuration": {"a": [1]}, "invalidity": "correct"}]}' >type.json
    printf '{"metadata": {}, "results": []}' >empty.json
    printf '{"metadata": {}, "results": [{"configuration": {"block size": 1}, "invalidity": "correct", "measurements": [{"name": "time", "value": 1}]}]}' >name.json
    : >nothing
    fails 7 "cut.json:" lathe import "$PNPOLY" cut.json
    fails 7 "short.csv:3: 1 fields, where the first line has 2" lathe import "$PNPOLY" short.csv
    fails 7 "parsecs" lathe import unit.json
    fails 7 "which the first result lacks" lathe import lacks.json
    fails 7 "is a list" lathe import type.json
    fails 1 "the recording is empty" lathe import empty.json
    fails 2 "block size" lathe import name.json
    fails 7 "nothing" lathe import nothing
    fails 7 "No such file" lathe import absent.json
    fails 2 "block size" lathe import "$PNPOLY" name.json
    [ ! -e lathe.db ]
    fails 2 "FILE is missing" lathe import
}

@test "of many files one at a time is in memory" {
    [ -z "${LATHE_SANITIZE:-}" ] || skip "a sanitized program takes all addresses"
    local files=() i
    for i in {1..12}; do
        ln -s "$T4" "$i.t4.json.gz"
        files+=("$i.t4.json.gz")
    done
    split bash -c 'ulimit -v 100000; "$@"' - "$LATHE_BIN" import "${files[@]}" # all at once are more than that
    echo "$errors"
    [ "$status" -eq 0 ]
    [ "$(value lathe.db "SELECT count(*) FROM campaign WHERE state = 'finished'")" = 12 ]
}

@test "a file whose name is no UTF-8 is imported, and its name made so" {
    local name=$'bad\xff.csv'
    printf 'A,time_ms\n1,2\n2,1\n' >"$name"
    split lathe import "$name"
    [[ "$out" == "campaign 1: a kernel on an unknown device, 2 configurations: ok 2; best 1 ms (CSV, bad"$'\xef\xbf\xbd'".csv)"*"next: lathe show 1" ]]
    lathe import --json "$name" >imported
    [ "$(json imported "j -> 0 ->> 'campaign'")" = 2 ]
    [ "$(json imported "j -> 0 ->> 'file'")" = $'bad\xef\xbf\xbd.csv' ]
    [ "$(value lathe.db "SELECT request ->> '\$.imported.file' FROM campaign WHERE id = 2")" = $'bad\xef\xbf\xbd.csv' ]
    lathe recording "$name" --json >facts
    [ "$(json facts "j ->> 'configurations'")" = 2 ]
    lathe tune --device "replay:$name" --strategy random --trials 2 --db none --json >report
    [ "$(json report "j ->> 'best' ->> 'text'")" = A=2 ]
}

@test "a column of numbers and words is of texts; a configuration of them is found again by its text" {
    printf 'A,B,time_ms\nauto,true,1\n1,True,2\n1.5,no,3\n' >mixed.csv
    printf '{"metadata": {}, "results": [{"configuration": {"A": "1"}, "invalidity": "correct", "measurements": [{"name": "time", "value": 1}]},
        {"configuration": {"A": "2"}, "invalidity": "correct", "measurements": [{"name": "time", "value": 2}]}]}' \
            >texts.json
    lathe import mixed.csv texts.json
    [ "$(value lathe.db "SELECT group_concat(name || '=' || value || ':' || type, ' ') FROM parameter_value
        WHERE trial_id <= 3")" = \
        "A=auto:string B=true:string A=1:string B=True:string A=1.5:string B=no:string" ]
    for format in t4 kernel-tuner csv; do
        lathe export --campaign 1 --format $format -o again
        rm -f again.db
        lathe import again --db again.db
        diff <(rows lathe.db 1) <(rows again.db 1)
    done
    lathe export --campaign 2 --format t4 -o again
    fails 2 "the values of A are texts that CSV cannot tell from numbers" lathe export --campaign 2 \
        --format csv -o out.csv
    lathe tune --device replay:mixed.csv --strategy random --trials 3 --db replayed.db
    [ "$(value replayed.db "SELECT configuration FROM trial ORDER BY time_ms LIMIT 1 OFFSET 1")" = "A=1 B=True" ]
    lathe tune --device replay:mixed.csv --strategy random --trials 1 --db resumed.db
    split lathe tune --resume 1 --trials 3 --db resumed.db
    [[ "$out" == *"next: lathe show 1 --db resumed.db" ]] # no code can be exported of a replay, resumed or not
    [ "$(value resumed.db "SELECT count(DISTINCT configuration) FROM trial")" = 3 ]
    printf 'A,time_ms\na b,1\n' >blank.csv
    fails 2 "'a b' cannot be a value" lathe import blank.csv
}

@test "of a table that is none it is said what was expected" {
    refused() { # LINE TEXT
        printf "$1\n1,2\n" >table.csv
        fails 7 "table.csv:1: $2" lathe import table.csv
        [ ! -e lathe.db ]
    }
    refused 'A;time_ms' "no recording that is known: neither JSON "
    [[ "$errors" == *"nor CSV: its first line would have a column for each parameter, and time_ms, outcome or samples_ms; commas are to separate them, not ';'" ]]
    refused 'A\ttime_ms' "no recording that is known"
    [[ "$errors" == *"; commas are to separate them, not tabs" ]]
    refused 'A,Time_ms' "no recording that is known"
    [[ "$errors" == *"; 'Time_ms': did you mean time_ms?" ]]
    refused 'A,time (ms)' "no recording that is known"
    [[ "$errors" == *"; 'time (ms)': did you mean time_ms?" ]]
    refused 'hello world' "no recording that is known"
    [[ "$errors" == *"time_ms, outcome or samples_ms" ]]
    refused time_ms "no column is a parameter: expected one for each, beside time_ms"
    refused outcome,time_ms "no column is a parameter"
    refused 'A\xff,time_ms' "text that is no UTF-8"
    refused '[1, 2]' "not JSON"
}

@test "times that are none, and duplicates, are told" {
    printf '{"metadata": {"timeunit": "us"}, "results": [%s, %s, %s]}' \
        '{"configuration": {"a": 1}, "invalidity": "correct", "measurements": [{"name": "time", "value": NaN, "unit": ""}]}' \
        '{"configuration": {"a": 2}, "invalidity": "correct", "measurements": [{"name": "time", "value": 1500, "unit": ""}]}' \
        '{"configuration": {"a": 2}, "invalidity": "correct", "measurements": [{"name": "time", "value": 2.5, "unit": "ms"}]}' >odd.json
    split lathe import odd.json
    [[ "$errors" == *"1 configurations are there more than once: the last entry counts"* ]]
    [[ "$errors" == *"their time is no positive number: unstable"* ]]
    [ "$(value lathe.db "SELECT group_concat(outcome || coalesce(time_ms, '')) FROM trial")" = unstable,ok2.5 ]
}

@test "databases are neither imported nor overwritten, and a full disk is said" {
    lathe import "$DATA/small/t4.json"
    fails 2 "is a database of lathe's, whose campaigns need no import" lathe import lathe.db --db other.db
    [ ! -e other.db ]
    fails 7 "is a database, which is not overwritten" lathe export --format t4 -o lathe.db
    fails 7 "No space left" lathe export --format csv -o /dev/full
    [ "$(value lathe.db "SELECT count(*) FROM trial")" = 2 ]
}

@test "options of an export that a campaign has no use for are refused; the nearest format is named" {
    lathe import "$DATA/small/t4.json"
    fails 2 "--trial: --format t4 writes all trials of a campaign" lathe export --format t4 --trial 1
    local -A given=([problem]=x [size]=M=1 [device]=host [tolerance]=rtol=1 [inputs]=wide [trial]=1 [name]=x)
    for format in t4 kernel-tuner csv; do
        for option in "${!given[@]}"; do
            fails 2 "--$option: --format $format writes all trials of a campaign" lathe export --format $format \
                --$option "${given[$option]}"
        done
        fails 2 "--into-database: --format $format writes" lathe export --format $format --into-database -o out
        [ ! -e out ]
    done
    fails 2 "did you mean 'kernel-tuner'?" lathe export --format kernel-tunr
    fails 2 "did you mean 'csv'?" lathe recording "$PNPOLY" --format cvs
    fails 1 "there is no campaign 7" lathe export --format t4 --campaign 7
}

@test "lathe recording writes any form" {
    lathe recording "$PNPOLY" -o a.csv --format csv >one
    lathe recording a.csv -o b.json --format kernel-tuner >two
    diff <(tail -n +2 one) <(tail -n +2 two)
    lathe import b.json
    [ "$(value lathe.db "SELECT count(*) FROM trial")" = 4092 ]
}

@test "of a recording of which nothing is valid no figures are made up" {
    printf 'A,outcome\n1,crash\n2,compile\n' >none.csv
    split lathe recording none.csv
    [[ "$out" == *$'\nnone is valid; a trial costs '* ]]
    not grep -qE "nan|evaluations" .out
    lathe recording none.csv --json >facts
    [ "$(json facts "j -> '\$.evaluations_to.\"0.5\"'")" = null ]
}

@test "import --json" {
    lathe import --json "$PNPOLY" >imported
    [ "$(json imported "j -> 0 ->> 'configurations'")" = 4092 ]
    [ "$(json imported "j -> 0 ->> 'campaign'")" = 1 ]
    [ "$(json imported "j -> 0 -> 'outcomes' ->> 'ok'")" = 3774 ]
    [ "$(json imported "round(j -> 0 ->> 'best_ms', 6)")" = 8.71424 ]
}

@test "the same file again is imported again, and said, in one call or in two" {
    cp "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" a.json.gz
    cp a.json.gz b.json.gz
    split lathe import a.json.gz b.json.gz
    [ "$status" -eq 0 ]
    [ "$errors" = "b.json.gz: campaign 1 is of the same file: campaign 2 is that again" ]
    split lathe import a.json.gz
    [ "$errors" = "a.json.gz: campaign 1 is of the same file: campaign 3 is that again" ]
    gunzip -c a.json.gz | sed 's/20000000/20000001/' >c.json
    split lathe import c.json
    [ -z "$errors" ]
}
