# csv.bats: --json and --csv of the commands that print tables.

load helper

# The commands that have both say so.
@test "who is asked for both refuses" {
    for command in "best" "show" "explain" "space tiny" "check tiny" "verify tiny --kernel plain" "import x" \
        "doctor" "recording x" "tune tiny" "tune-strategy local"; do
        fails 2 "--csv and --json exclude each other" lathe $command --csv --json
    done
}

@test "space --csv: the counts are those of --json" {
    lathe space tiny --target host --csv >counts.csv
    lathe space tiny --target host --json >counts
    [ "$(head -1 counts.csv)" = kernel,cartesian,valid,bytes,runs_here ]
    [ "$(sed -n 's/^plain,54,\([0-9]*\),.*/\1/p' counts.csv)" = "$(json counts "j -> 'kernels' -> 0 ->> 'valid'")" ]
    fails 2 "--explain is no table" lathe space tiny --explain BLOCK=32 --csv
}

@test "space --list --csv: a row a configuration, a column a parameter of any kernel, nothing where it is not active" {
    lathe space tiny --target host --list --csv >all.csv
    lathe space tiny --target host --list --json >all
    sqlite3 :memory: ".import --csv all.csv t" \
        "SELECT count(*), count(DISTINCT kernel || \"index\"), sum(\"ORDER\" = '') FROM t" >imported
    [ "$(cat imported)" = "$(json all "json_array_length(j) || '|' || json_array_length(j) || '|' ||
        (SELECT count(*) FROM json_each(j) WHERE value -> 'configuration' ->> 'ORDER' IS NULL)")" ]
    lathe space linear --target sm_90a --sample 3 --csv >some.csv
    [ "$(awk -F, '{ print NF }' some.csv | sort -u | wc -l)" = 1 ]
    [ "$(cut -d, -f1 some.csv | sort -u | grep -c .)" -gt 3 ]
}

@test "fields with commas, quotes and line ends are read back as they were" {
    cat >spec.json <<'J'
{"cache": {"1": {"a": 1, "time": "InvalidConfig", "lathe_failure": "resources: say \"no\", or\nyes"}, "2": {"a": 2, "time": 1.5}},
 "tune_params_keys": ["a"], "tune_params": {"a": [1, 2]}}
J
    lathe import spec.json --csv >imported.csv
    [ "$(sqlite3 :memory: ".import --csv imported.csv t" "SELECT configurations FROM t")" = 2 ]
    lathe show 1 --csv >trials.csv
    [ "$(sqlite3 :memory: ".import --csv trials.csv t" "SELECT reason FROM t WHERE number = 1")" = 'say "no", or
yes' ]
    lathe explain 2 --csv >neighbours.csv
    [ "$(head -1 neighbours.csv)" = trial,parameter,from,to,outcome,time_ms,ratio,eligible ]
    [ "$(sed -n 2p neighbours.csv)" = 1,a,2,1,resources,,,0 ]
}

@test "no rows: the header line alone, the same as with rows" {
    lathe tune tiny --device host --kernel plain --trials 8 --quiet --db e.db >/dev/null
    lathe show 1 --csv --db e.db | head -1 >with.csv
    [ "$(grep -c "^id,campaign,number," with.csv)" = 1 ]
    lathe explain 1 --csv --db e.db >none.csv       # of a baseline
    [ "$(cat none.csv)" = trial,parameter,from,to,outcome,time_ms,ratio,eligible ]
    for table in drift verification sample measurement parameter_value; do
        sqlite3 e.db "DELETE FROM $table"
    done
    sqlite3 e.db "DELETE FROM trial"
    lathe show 1 --csv --db e.db >none.csv
    cmp with.csv none.csv
}

@test "check --csv and verify --csv: the rows of --json" {
    lathe check tiny --target host --sample 2 --csv --quiet >checked.csv
    lathe check tiny --target host --sample 2 --json --quiet >checked
    [ "$(sqlite3 :memory: ".import --csv checked.csv t" "SELECT group_concat(kernel || tried || compiled) FROM t")" = \
        "$(json checked "(SELECT group_concat((value ->> 'kernel') || (value ->> 'tried') || (value ->> 'compiled'))
            FROM json_each(j))")" ]
    lathe verify tiny --kernel plain --config BLOCK=64,UNROLL=1,FLAW=none --device host --csv --quiet >verified.csv
    [[ "$(head -1 verified.csv)" == inputs,* ]]
    [ "$(sqlite3 :memory: ".import --csv verified.csv t" \
        "SELECT count(*) > 1 AND count(*) = sum(outcome = 'ok') FROM t")" = 1 ]
}

@test "doctor --csv: a row for each of what --json lists" {
    lathe doctor --csv >found.csv
    lathe doctor --json >found
    [ "$(sqlite3 :memory: ".import --csv found.csv t" "SELECT group_concat(what || found) FROM t")" = \
        "$(json found "(SELECT group_concat((value ->> 'what') || (value ->> 'found'))
            FROM json_each(j, '$.found'))")" ]
    lathe doctor --selftest --device host --time-limit 2 --csv >outcomes.csv
    [ "$(sqlite3 :memory: ".import --csv outcomes.csv t" \
        "SELECT count(*), sum(meant = outcome AND right = 1) FROM t")" = "8|8" ]
}

@test "recording --csv: one row, with the figures of --json" {
    lathe recording "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" --csv >figures.csv
    lathe recording "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" --json >figures
    [ "$(wc -l <figures.csv)" = 2 ]
    [ "$(sqlite3 :memory: ".import --csv figures.csv t" \
        "SELECT configurations, outcomes_launch, \"evaluations_to_0.95\" FROM t")" = \
        "$(json figures "(j ->> 'configurations') || '|' || (j ->> '\$.outcomes.launch') || '|'
            || (j ->> '\$.evaluations_to.\"0.95\"')")" ]
    [ "$(sqlite3 :memory: ".import --csv figures.csv t" "SELECT round(best_ms, 9) FROM t")" = "$(json figures \
        "round(j ->> 'best_ms', 9)")" ]
}

@test "tune-strategy --csv: every combination, best first, and the defaults" {
    lathe tune-strategy local --spaces "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" --trials 3 --seeds 2 \
        --db none --quiet --csv >tried.csv
    [ "$(head -1 tried.csv)" = "place,options,score,spaces_pnpoly-RTX_3090" ]
    [ "$(cut -d, -f1 tried.csv | tr '\n' ' ')" = "place 1 2 3 default " ]
    [ "$(sqlite3 :memory: ".import --csv tried.csv t" \
        "SELECT group_concat(score, ' ') FROM t WHERE place <> 'default'")" = \
        "$(sqlite3 :memory: ".import --csv tried.csv t" "SELECT group_concat(score, ' ') FROM
            (SELECT score FROM t WHERE place <> 'default' ORDER BY score + 0 DESC)")" ]
}

@test "tune --csv: the rows of best --csv, of all kinds of devices under one header; of a replay that is not stored its best" {
    split lathe tune tiny --device host --trials 4 --top 2 --csv
    [ "$status" = 0 ]
    [ "$out" = "$(lathe best --campaign 1 --top 2 --csv)" ]
    [[ "$errors" == *best* ]]
    lathe tune --device "replay:$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" --db none --trials 5 --quiet \
        --csv >replayed.csv
    [ "$(head -1 replayed.csv)" = number,kernel,configuration,time_ms ]
    [ "$(wc -l <replayed.csv)" = 2 ]
}

@test "a name that is no UTF-8, or a log that is cut in a letter, leaves no row out" {
    local recorded="$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" folder=$'k\xff'
    mkdir "$folder"
    cp "$recorded" "$folder/a.json.gz"
    cp "$recorded" $'b\xe9.json.gz'
    echo 'return strategy { name = "mine", summary = "", run = function(tune, space)
        while true do tune.evaluate(space:random()) end end }' >$'s\xe9.lua'
    lathe compare $'s\xe9.lua' random --spaces "$folder/a.json.gz" $'b\xe9.json.gz' --seeds 2 --quiet --json >scores
    [ "$(json scores "(SELECT group_concat(value ->> 'space') FROM json_each(j, '$.spaces'))")" = $'a,b\xef\xbf\xbd' ]
    [ "$(json scores "json_array_length(j, '$.strategies') || json_array_length(j, '$.pairs') ||
        json_array_length(j, '$.strategies[0].spaces')")" = 212 ]
    cp -r "$TREE/test/cli/kernels/tiny" "$folder"
    LATHE_KERNELS="$folder" lathe doctor --json >found
    [ "$(json found "(SELECT value ->> 'detail' FROM json_each(j, '$.found') WHERE value ->> 'what' = 'specifications')")" \
        = "$(LATHE_KERNELS="$folder" lathe doctor --csv | sed -n 's/^specifications,1,"\(.*\)",$/\1/p')" ]
    local before letters
    letters="$(printf 'é%.0s' {1..1000})"
    for before in "" x; do # in one of them the log is cut in the middle of a letter
        cp "$TREE/test/cli/kernels/tiny/tiny.cu" "$folder/tiny"
        sed -i "1i #error \"$before$letters\"" "$folder/tiny/tiny.cu"
        status=0
        lathe check "$folder/tiny" --kernel plain --target host --sample 1 --quiet --json >checked || status=$?
        [ "$status" = 2 ]
        [ "$(json checked "j -> 0 ->> 'compiled'")" = 0 ]
    done
}
