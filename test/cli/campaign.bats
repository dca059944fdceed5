# campaign.bats: one small campaign on the host device, and every question that can be asked of what it left.
load helper

# Small and quick. Of the first nine configurations three are right, three are wrong, three do not compile.
TUNE="tune tiny --device host --kernel plain --strategy exhaustive --trials 9 --top 2"

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    lathe $TUNE --size M=6 --json >tune.json 2>tune.log || { cat tune.log; return 1; }
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cp "$BATS_FILE_TMPDIR"/lathe.db* .
}

sql() { sqlite3 lathe.db "$1"; }

@test "tune: one JSON object on stdout, plain text on stderr" {
    f="$BATS_FILE_TMPDIR/tune.json"
    [ "$(json "$f" "j ->> 'id'")" = 1 ]
    [ "$(json "$f" "j ->> 'trials'")" = 9 ]
    [ "$(json "$f" "j ->> 'state'")" = finished ]
    [ "$(json "$f" "j ->> 'size' ->> 'N'")" = 7 ]
    [ "$(json "$f" "json_array_length(j, '$.best')")" = 2 ]
    [ "$(json "$f" "json_array_length(j, '$.baselines')")" = 1 ]
    [ "$(json "$f" "(SELECT sum(value) FROM json_each(j, '$.outcomes'))")" = 9 ]
    for outcome in ok wrong compile; do
        [ "$(json "$f" "j ->> 'outcomes' ->> '$outcome'")" = 3 ]
    done
    [ -s "$BATS_FILE_TMPDIR/tune.log" ]
    not grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$BATS_FILE_TMPDIR/tune.log"
    grep -q "best so far" "$BATS_FILE_TMPDIR/tune.log"
    grep -q "FLAW=compile: compile: .*this flaw does not compile" "$BATS_FILE_TMPDIR/tune.log"
    [ "$(grep -c ": wrong: " "$BATS_FILE_TMPDIR/tune.log")" = 1 ]
}

@test "tune: a trial goes by the number that show, explain and export know it by" {
    local line id
    line="$(grep "best so far" "$BATS_FILE_TMPDIR/tune.log" | tail -1)"
    id="${line#trial }"
    id="${id%%:*}"
    [[ "$line" == *": plain $(sql "SELECT configuration FROM trial WHERE id = $id")" ]] || { echo "$line"; return 1; }
    id="$(sed -n 's/^trial \([0-9]*\): .* wrong: .*/\1/p' "$BATS_FILE_TMPDIR/tune.log")"
    [ "$(sql "SELECT outcome FROM trial WHERE id = $id")" = wrong ]
}

@test "tune: a table, the database, and the command that comes next" {
    split lathe $TUNE --size M=6 --quiet --db o.db
    [ "$status" -eq 0 ]
    [ -z "$errors" ]
    [[ "$out" == "campaign 1: tiny M=6 N=7 K=9 on "*"strategy exhaustive"* ]]
    [[ "$out" == *"rank"*"trial"*"kernel"*"time ms"*"error"*"configuration"* ]]
    [[ "$out" == *$'\nbase'* ]]
    [[ "$out" == *"next: lathe export --campaign 1 --db o.db -o winner.cu" ]]
    next="$(tail -1 .out)"
    split eval "${next#next: }"
    [ "$status" -eq 0 ]
    [ -s winner.cu ]
}

@test "tune: another campaign goes into the same database" {
    split lathe $TUNE --trials 1 --top 0 --quiet --json
    [ "$status" -eq 0 ]
    [ "$(json .out "j ->> 'id'")" = 2 ]
    [ "$(lathe query --csv "SELECT count(*) FROM campaign" | tr -d '\r' | tail -1)" = 2 ]
}

@test "tune: a live block on a terminal, and colour only if it is wanted" {
    command -v script >/dev/null || skip "no script(1) to make a terminal with"
    command="$LATHE_BIN $TUNE --db t.db"
    script -qec true /dev/null >/dev/null 2>&1 </dev/null || skip "no pseudo-terminals here"
    TERM=xterm script -qec "$command" /dev/null >screen </dev/null
    grep -q $'\r[^\r]*trials.*\033\[K' screen
    grep -q $'\033\[3[23]m' screen
    NO_COLOR=1 TERM=xterm script -qec "$command" /dev/null >screen </dev/null
    not grep -q $'\033\[3[23]m' screen
    # the block is drawn over itself, has its lines, and is gone in the end; without UTF-8 nothing is beyond ASCII
    LC_ALL=C TERM=xterm script -qec "$command --trials 8" /dev/null >screen </dev/null
    grep -q $'\033\[2A' screen
    grep -q 'trials  #*\.*  [0-9.]* a minute  .* left' screen
    grep -q 'best .* ms.* plain BLOCK=' screen
    grep -q 'ok [0-9]*  wrong [0-9]' screen || grep -q 'ok [0-9]*  compile [0-9]' screen
    not grep -q '[^[:print:][:space:][:cntrl:]]' screen
    [[ "$(tail -c 200 screen)" == *"next: lathe "* ]]
    LC_ALL=C.UTF-8 TERM=xterm script -qec "$command --trials 8" /dev/null >screen </dev/null
    grep -q $'\xe2\x96\x88' screen
    TERM=dumb script -qec "$command" /dev/null >screen </dev/null
    not grep -q $'\033' screen
}

@test "tune: nothing of the live block is left on the screen; an interruption's message stands below it" {
    command -v python3 >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null ||
        skip "no python3 or no pseudo-terminals here"
    TERM=xterm "$TREE/test/cli/terminal.py" --columns 300 "$LATHE_BIN" $TUNE --trials 8 --db s.db >screen
    not grep -q ' a minute  \|compiling, ' screen
    [ "$(sed -n 1p screen | cut -d' ' -f1-2)" = "campaign 1" ]
    [ "$(grep -c '^trial .*: best so far' screen)" -ge 1 ]
    grep -q '^next: lathe export' screen
    # without --top the report is the last of it; the block stood above the message and is left there, whole
    TERM=xterm run "$TREE/test/cli/terminal.py" --columns 300 --interrupt "best so far" "$LATHE_BIN" tune tiny \
        --device host \
        --size M=6,N=7,K=9 --strategy random --trials 4000 --db "i i.db"
    [ "$status" -eq 130 ]
    [ "$(grep -c '^ending: what is running' <<<"$output")" -eq 1 ]
    [ "$(grep -c ' a minute  ' <<<"$output")" -le 1 ]
    [[ "$output" == *"lathe: interrupted; what was measured is campaign 1 of i i.db"* ]]
    [[ "$output" == *"\`lathe tune --resume 1 --db 'i i.db'\` goes on with it"* ]]
}

@test "best, show: --csv; bars only on a terminal" {
    split lathe best --csv
    [ "$status" -eq 0 ]
    [[ "$out" == id,campaign,number,kernel,configuration,* ]]
    [ "$(wc -l <<<"$out")" -eq 4 ]
    [ "$(lathe show 1 --csv | python3 -c 'import csv, sys; print(len(list(csv.reader(sys.stdin))))')" -eq \
        $(($(lathe query --csv "SELECT count(*) FROM trial WHERE campaign_id = 1 AND number > 0" | tail -1) + 1)) ]
    [[ "$(lathe show --csv)" == id,problem,size,* ]]
    fails 2 "--csv and --json exclude each other" lathe best --csv --json
    fails 2 "--csv and --json exclude each other" lathe show --csv --json
    command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null ||
        skip "no pseudo-terminals here"
    gunzip -c "$TREE/test/data/linear-h200.db.gz" >h200.db
    LC_ALL=C.UTF-8 TERM=xterm script -qec "$LATHE_BIN show 3 --db h200.db" /dev/null >screen </dev/null
    grep -q $'^best so far  \xe2\x96\x88' screen
    LC_ALL=C TERM=xterm script -qec "$LATHE_BIN show 3 --db h200.db" /dev/null >screen </dev/null
    grep -q '^best so far  9.586 to 5.161 ms, found after 169 of 900 trials' screen
    [ "$(lathe show 3 --db h200.db | grep '^best so far')" = \
        "best so far  9.586 to 5.161 ms, found after 169 of 900 trials" ]
}

@test "best: a table, and an array best first" {
    split lathe best
    [ "$status" -eq 0 ]
    [[ "$out" == "tiny M=6 N=7 K=9 on "*", campaign 1"* ]]
    split lathe best --json
    [ "$(json .out "json_array_length(j)")" = 3 ]
    for key in id configuration kernel outcome time_ms error campaign size device rank speedup; do
        [[ " $(keys .out '$[0]') " == *" $key "* ]]
    done
    [ "$(json .out "(SELECT count(*) FROM json_each(j)
                     WHERE value ->> 'outcome' <> 'ok' OR value ->> 'time_ms' <= 0)")" = 0 ]
    [ "$(json .out "j ->> 0 ->> 'rank'")" = 1 ]
    split lathe best --top 1 --json
    [ "$(json .out "json_array_length(j)")" = 1 ]
}

@test "best: what the filters let through" {
    split lathe best --json --problem tiny --size M=6 --size N=7,K=9 --device host --kernel plain --campaign 1
    [ "$(json .out "json_array_length(j)")" = 3 ]
    fails 1 "no verified configuration for --size M=5 in lathe.db" lathe best --size M=5
    [[ "$errors" == *"tiny M=6 N=7 K=9 on "* ]]
    fails 1 "for --problem conv" lathe best --problem conv
    fails 1 "for --device cuda:0" lathe best --device cuda:0
    fails 1 "for --kernel nosuch" lathe best --kernel nosuch --json
    fails 1 "there is no campaign 99" lathe best --campaign 99
}

@test "show: the campaigns, and one with its trials in the order proposed" {
    split lathe show
    [ "$status" -eq 0 ]
    [[ "$out" == campaign*created*problem*strategy* ]]
    split lathe show --json
    [ "$(json .out "json_array_length(j)")" = 1 ]
    split lathe show 1
    [ "$status" -eq 0 ]
    [[ "$out" == "campaign 1: tiny M=6 N=7 K=9"* ]]
    [ "$(grep -c "^ *[0-9]* *[0-9]* *plain *ok" .out)" -gt 0 ]
    split lathe show 1 --json
    [ "$(json .out "json_array_length(j, '$.trials')")" = 9 ]
    [ "$(json .out "(SELECT group_concat(value ->> 'number') FROM json_each(j, '$.trials'))")" = 1,2,3,4,5,6,7,8,9 ]
    fails 1 "there is no campaign 9" lathe show 9
    fails 1 "there is no campaign 9" lathe show 9 --json
}

@test "show: how fast a campaign went, and where its time went" {
    lathe tune tiny $RUN --db pace.db --quiet >/dev/null
    lathe show 1 --db pace.db >shown
    grep -Eq '^search [0-9.]+ s: [0-9.]+ trials a minute, the device busy [0-9]+ % of the time, setting up ' shown
    for stage in strategy compile load verify measure store; do grep -Eq "^$stage +[0-9.]+ +[0-9.]+ % +[0-9.]+" shown
    done
    lathe show 1 --db pace.db --json >shown.json
    # every part of the campaign is there; the device had no more than the search; stages are within what had the device
    [ "$(json shown.json "min(j ->> '$.pace.phases.setup' > 0, j ->> '$.pace.phases.baselines' > 0,
        j ->> '$.pace.phases.search' > 0, j ->> '$.pace.phases.final' > 0)")" = 1 ]
    [ "$(json shown.json "j ->> '$.pace.device_share' BETWEEN 0 AND 1")" = 1 ]
    [ "$(json shown.json "j ->> '$.pace.stages.load' + (j ->> '$.pace.stages.verify') + (j ->> '$.pace.stages.measure')
        <= j ->> '$.pace.stages.device'")" = 1 ]
    [ "$(sqlite3 pace.db "SELECT baseline_seconds + search_seconds + final_seconds <= seconds
        FROM campaign")" = 1 ]
    [ "$(sqlite3 pace.db "SELECT min(store_seconds) > 0 AND min(strategy_seconds) >= 0 AND sum(strategy_seconds) > 0
        FROM trial WHERE role = 'candidate'")" = 1 ]
}

@test "tune: a baseline is timed again and again, and show says how far it drifted" {
    lathe tune tiny $RUN --db drift.db --drift 0.001 --quiet >told
    grep -q "^drift of gemm_then_scale in the final, cold: timed 3 times" told
    lathe show 1 --db drift.db >shown
    grep -Eq '^drift of gemm_then_scale in the search: timed [0-9]+ times, [-+][0-9.]+ to [-+][0-9.]+ % of its trial.s ' shown
    grep -Eq '^drift of gemm_then_scale in the final, cold: timed 3 times, ' shown
    [ "$(sqlite3 drift.db "SELECT count(*) > 0 AND min(median_ms) > 0 AND min(campaign_seconds) > 0 FROM drift
        WHERE phase = 'search'")" = 1 ]
    lathe show 1 --db drift.db --json >shown.json
    [ "$(json shown.json "j ->> '$.drift[0].kernel'")" = gemm_then_scale ]
    # the least, the most and the last are shares of the trial's own time
    [ "$(sqlite3 drift.db "SELECT abs(min(d.median_ms) / t.time_ms - 1 - $(json shown.json \
        "j ->> '$.drift[0].least'")) < 1e-9
        FROM drift d JOIN trial t ON t.id = d.trial_id WHERE phase = 'search'")" = 1 ]
    lathe tune tiny $RUN --db calm.db --drift 24h --quiet >/dev/null
    [ "$(sqlite3 calm.db "SELECT count(*) FROM drift WHERE phase = 'search'")" = 0 ]
}

@test "show: reasons of failures, whole in JSON" {
    long="$(printf 'kernel.cu(3): error: %0300d' 7)"
    sql "UPDATE trial SET reason = '$long' WHERE outcome = 'compile'"
    split lathe show 1
    grep -Eq "^outcome +count +reason$" .out
    grep -Eq "^compile +3  kernel.cu\(3\): error: 0*7$" .out
    split lathe show 1 --json
    [ "$(json .out "(SELECT value ->> 'reason' FROM json_each(j, '$.reasons')
                     WHERE value ->> 'outcome' = 'compile')")" = "$long" ]
}

@test "query: table, CSV, JSON" {
    split lathe query "SELECT 1 AS a, 'x,\"y' AS b, NULL AS c, 2.5 AS a"
    [ "$out" = $'a  b     c    a\n1  x,"y     2.5' ]
    lathe query --csv "SELECT 1 AS a, 'x,\"y' AS b, NULL AS c" >csv
    printf 'a,b,c\n1,"x,""y",\n' | cmp - csv
    split lathe query --json "SELECT 1 AS a, NULL AS b, 2.5 AS a, 0.1 AS d"
    [ "$(json .out "json(j)")" = '[{"a":1,"b":null,"a_2":2.5,"d":0.1}]' ]
    # infinity is no blank: that is NULL's; JSON has no word for it
    split lathe query "SELECT 9e999 AS a, -9e999 AS b, NULL AS c, 1 AS d UNION ALL SELECT 1.5, 2, 3, 4"
    [ "$out" = $'  a     b  c  d\ninf  -inf  -  1\n1.5     2  3  4' ]
    lathe query --csv "SELECT 9e999 AS a, -9e999 AS b, NULL AS c" >csv
    printf 'a,b,c\ninf,-inf,\n' | cmp - csv
    split lathe query --json "SELECT 9e999 AS a, -9e999 AS b"
    [ "$(json .out "json(j)")" = '[{"a":null,"b":null}]' ]
    split lathe query --json "SELECT 3 AS a_2, 1 AS a, 2 AS a, 4 AS a"
    [ "$(json .out "json(j)")" = '[{"a_2":3,"a":1,"a_3":2,"a_4":4}]' ] # no value is lost
    split lathe query $'SELECT 1 +\n2'
    [ "$out" = $'1 + 2\n    3' ]
    split lathe query --json "SELECT 1 WHERE 0"
    [ "$out" = "[]" ]
    split lathe query "SELECT count(*) AS n FROM trial"
    [ "$status" -eq 0 ]
}

@test "query: reads only, and says what is wrong" {
    before="$(lathe query --csv "SELECT count(*) FROM trial")"
    fails 2 "" lathe query "DELETE FROM trial"
    fails 2 "" lathe query "DROP TABLE trial"
    fails 2 "" lathe query "SELECT 1; SELECT 2"
    fails 2 "" lathe query "SELEC 1"
    fails 2 "nosuch" lathe query "SELECT * FROM nosuch"
    fails 2 "" lathe query "ATTACH 'x.db' AS x"
    [ ! -e x.db ]
    [ "$(lathe query --csv "SELECT count(*) FROM trial")" = "$before" ]
}

@test "export: to a file and to stdout, the best or one trial" {
    split lathe export -o winner.cu
    [ "$status" -eq 0 ]
    [ -z "$out" ]
    [[ "$errors" == "wrote winner.cu: trial "*" of campaign 1, kernel plain, "* ]]
    lathe export >stdout.cu
    cmp winner.cu stdout.cu
    lathe export -o - --campaign 1 --kernel plain --size M=6 | cmp - winner.cu
    id="$(lathe query --csv "SELECT id FROM trial WHERE number = 4" | tr -d '\r' | tail -1)"
    split lathe export --trial "$id" --output=fourth.cu
    [ "$status" -eq 0 ]
    grep -q 'extern "C"' fourth.cu
}

@test "export: what is not verified is refused" {
    wrong="$(sql "SELECT id FROM trial WHERE outcome = 'wrong' LIMIT 1")"
    baseline="$(sql "SELECT id FROM trial WHERE number = 0")"
    fails 1 "its outcome is wrong: " lathe export --trial "$wrong" -o w.cu
    fails 1 "is a baseline" lathe export --trial "$baseline" -o w.cu
    fails 1 "there is no trial 12345" lathe export --trial 12345 -o w.cu
    fails 1 "there is no campaign 7" lathe export --campaign 7 -o w.cu
    fails 2 "--trial already says which one" lathe export --trial "$wrong" --kernel plain
    [ ! -e w.cu ]
}

@test "export: a file that cannot be written" {
    mkdir folder
    fails 7 "folder" lathe export -o folder
    fails 7 "nowhere" lathe export -o nowhere/w.cu
}

@test "tune: nothing valid is exit 1, with the reasons" {
    sed 's/"none", "wrong", "compile"/"wrong", "compile"/' "$TREE/test/cli/kernels/tiny/spec.lua" >spec.lua
    cp "$TREE"/test/cli/kernels/tiny/*.cu .
    split lathe tune spec.lua --device host --kernel plain --strategy exhaustive --trials 4 --db n.db
    [ "$status" -eq 1 ]
    [[ "$out" == *"4 trials: 2 compile, 2 wrong"* ]]
    [[ "$out" == *"next: lathe show 1 --db n.db" ]]
    [[ "$errors" == *"lathe: "* ]]
    split lathe tune spec.lua --device host --kernel plain --strategy exhaustive --trials 2 --db n.db --json --quiet
    [ "$status" -eq 1 ]
    [ "$(json .out "json_array_length(j, '$.best')")" = 0 ]
    fails 1 "no verified configuration in n.db" lathe best --db n.db
}

@test "many processes of a job that knows nothing of MPI: said by the first" {
    for started in "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0" "SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0"; do
        env $started "$LATHE_BIN" tune "$TREE/test/specs/scalars.lua" --device host --trials 1 --top 0 --db j.db --quiet 2>log
        grep -q "^warning: this is one of 2 processes of a job, and this lathe was built without MPI" log
    done
    # more than an int holds: neither another number, nor another rank
    env OMPI_COMM_WORLD_SIZE=4294967298 "$LATHE_BIN" tune "$TREE/test/specs/scalars.lua" --device host --trials 1 --top 0 \
        --db j.db --quiet 2>log
    grep -q "^warning: this is one of 4294967298 processes of a job" log
    for started in "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1" "PMI_SIZE=1 PMI_RANK=0" "PMI_SIZE=two PMI_RANK=0" \
        "PMI_SIZE=99999999999999999999 PMI_RANK=4294967296"; do
        env $started "$LATHE_BIN" tune "$TREE/test/specs/scalars.lua" --device host --trials 1 --top 0 --db j.db --quiet 2>log
        [ ! -s log ] || ! grep warning log
    done
}

@test "a database through a link: what is read is what was written last" {
    ln -s real.db link.db
    lathe tune "$TREE/test/specs/scalars.lua" --device host --trials 1 --top 0 --db link.db --quiet
    # a writer that is killed leaves what it wrote last in the log beside the file
    cat >kill.py <<'END'
import os, sqlite3
c = sqlite3.connect("real.db", isolation_level=None)
c.execute("PRAGMA journal_mode = WAL")
c.execute("UPDATE campaign SET note = 'the latest'")
os._exit(0)
END
    python3 kill.py
    [ -s real.db-wal ]
    [ "$("$LATHE_BIN" query --db link.db --csv "SELECT note FROM campaign" | tail -1 | tr -d '\r')" = "the latest" ]
}
