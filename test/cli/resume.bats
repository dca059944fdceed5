# resume.bats: campaigns that are cut off at any moment go on where they were: the same configurations in the same
# order.
# LATHE_KILLS (default 6) is how often each campaign is killed; `make kills` has it 50.
load helper
load hold

sql() { sqlite3 p.db "$1"; }
configurations() {
    sqlite3 "$1" "SELECT number, kernel, configuration FROM trial WHERE role = 'candidate' AND campaign_id = $2
                  ORDER BY number"
}
results() {
    sqlite3 "$1" "SELECT number, configuration, outcome, time_ms, total_seconds FROM trial WHERE campaign_id = $2
                  ORDER BY number"
}

# whole OPTION...: the campaign in one go, with nothing compiled yet, in a.db. $longest: what it took, in milliseconds,
# for two of the kills, so that on a machine of any speed most of them hit before the end.
whole() {
    local begun
    rm -rf a.db* cache
    begun=$(date +%s%3N)
    LATHE_CACHE=$PWD/cache lathe tune "$@" --db a.db --quiet >/dev/null
    longest=$((($(date +%s%3N) - begun) * 2 / ${LATHE_KILLS:-6}))
    rm -rf cache
    export LATHE_CACHE=$PWD/cache
}

# cut_off MILLISECONDS OPTION...: runs the campaign (its specification may be left out), kills it LATHE_KILLS times,
# each time within so many milliseconds, resumes it after each, and lets it end at last. $kills: those that hit.
cut_off() {
    local longest="$1" left="${LATHE_KILLS:-6}" code
    shift
    kills=0
    RANDOM=${LATHE_SEED:-7}
    until [ "$(sqlite3 p.db "SELECT state FROM campaign" 2>/dev/null)" = finished ]; do
        if [ "$(sqlite3 p.db "SELECT count(*) FROM campaign" 2>/dev/null)" = 1 ]; then
            "$LATHE_BIN" tune --resume 1 --db p.db --quiet >out 2>>log 3>&- &
        else
            "$LATHE_BIN" tune "$@" --db p.db --quiet >out 2>>log 3>&- &
        fi
        pid=$!
        if [ "$left" -gt 0 ]; then
            sleep "$(printf '%d.%03d' $((RANDOM % longest / 1000)) $((RANDOM % (longest < 1000 ? longest : 1000))))"
            kill -KILL "$pid" 2>/dev/null || true
        fi
        ends 2>/dev/null
        [ "$code" -eq 137 ] || break
        kills=$((kills + 1))
        left=$((left - 1))
        [ ! -s p.db ] || [ "$(sql "PRAGMA integrity_check")" = ok ]
    done
    # killed after its end was recorded: there is nothing left to resume
    [ "$(sql "SELECT state FROM campaign")" != finished ] || code=0
    [ "${LATHE_KILLS:-6}" -le 6 ] || echo "# killed $kills times" >&3
    [ "$code" -eq 0 ] || { cat log; return 1; }
}

# cut_off_often MILLISECONDS OPTION...: cut_off of a campaign that is not there yet, anew and sooner if fewer than two
# kills hit, as where the machine was busier while the whole one ran.
cut_off_often() {
    local longest="$1" try
    shift
    for try in 1 2 3; do
        rm -rf p.db* cache
        cut_off "$longest" "$@"
        [ "$kills" -lt 2 ] || return 0
        longest=$((longest / 3 + 1))
    done
    return 1
}

@test "a recorded device: killed again and again, the campaign is what it is when nobody kills it" {
    cp "$TREE/test/data/recorded/convolution_milo-A100.t4.json.gz" c.gz
    local trials=$((50 * ${LATHE_KILLS:-6}))
    local strategies="genetic"
    [ "${LATHE_KILLS:-6}" -le 6 ] || strategies="genetic local gp"
    for strategy in $strategies; do
        rm -f p.db*
        whole --device replay:c.gz --strategy $strategy --trials $trials --seed 3
        cut_off_often $longest --device replay:c.gz --strategy $strategy --trials $trials --seed 3
        diff <(results a.db 1) <(results p.db 1)
        [ "$(sql "SELECT state FROM campaign")" = finished ]
    done
}

@test "the host device: killed again and again, the same configurations in the same order" {
    local options="tiny --device host --kernel plain --size M=6 --trials 20 --top 1"
    whole $options --strategy random --seed 5
    cut_off_often $longest $options --strategy random --seed 5
    diff <(configurations a.db 1) <(configurations p.db 1)
    [ "$(sql "SELECT count(*) FROM trial WHERE outcome IN ('in_flight', 'skipped')")" = 0 ]
    [ "$(sql "SELECT count(*) FROM trial WHERE final_rank = 1")" = 1 ]
}

@test "the host device: what was measured before and after is one search, as its replay shows" {
    local options="tiny --kernel plain --size M=6 --trials 20 --strategy local --seed 2"
    whole $options --device host --top 1
    cut_off_often $longest $options --device host --top 1
    rm a.db*
    # the strategy in one go, told what the campaign was told
    lathe tune $options --device replay:p.db#1 --db a.db --quiet >/dev/null
    diff <(configurations a.db 1) <(configurations p.db 1)
}

@test "the host device: a strategy that proposes while trials are under way proposes the same again" {
    # resuming compares each proposal with what was recorded, and ends the campaign where they differ
    local options="tiny --device host --kernel plain --size M=6 --trials 30 --top 1 --compile-workers 10 --seed 4"
    local strategies="portfolio"
    [ "${LATHE_KILLS:-6}" -le 6 ] || strategies="portfolio local genetic bandit"
    for strategy in $strategies; do
        whole $options --strategy $strategy
        cut_off_often $longest $options --strategy $strategy
        [ "$(sql "SELECT count(*) FROM trial WHERE outcome IN ('in_flight', 'skipped')")" = 0 ]
        [ "$(sql "SELECT count(DISTINCT configuration) FROM trial WHERE role = 'candidate'")" = 30 ]
    done
}

@test "an interrupt, then more of it: nothing runs twice" {
    order never "device never never"
    begin
    until_true 60 test -e held
    until_true 60 ended 1
    kill -s INT "$pid"
    ends
    [ "$code" -eq 130 ]
    grep -q 'lathe tune --resume 1 --db p.db' log
    sql "SELECT id, number, time_ms, started FROM trial WHERE outcome = 'ok'" >before
    goes_on --time-limit 1
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "ok timeout ok ok" ]
    [ -z "$(sql "SELECT id, number, time_ms, started FROM trial" | sort | comm -13 - <(sort before))" ]
    [ "$(sql "SELECT state FROM campaign")" = finished ]
}

@test "killed, the search took what it took until then, and resumed both sittings together" {
    export LATHE_CACHE="$PWD/cache"
    compiler "sleep 1"
    order compile device
    begin
    until_true 60 test -e held
    kill -KILL "$pid"
    ends
    [ "$(sql "SELECT search_seconds > 0.9 FROM campaign")" = 1 ]
    goes_on --time-limit 1
    ends
    [ "$code" -eq 0 ]
    [ "$(sql "SELECT search_seconds > 1.9 FROM campaign")" = 1 ]
    [ "$(sql "SELECT device_share <= 1 FROM pace")" = 1 ]
}

@test "what was on the device when the power went is tried once more, at the end, alone, and then left" {
    order never "device never never" never
    begin
    until_true 60 test -e held
    kill -KILL "$pid"
    ends
    rm held
    [ "$(sql "SELECT group_concat(attempts, '') FROM (SELECT attempts FROM trial WHERE number > 0
              ORDER BY number)")" = 1100 ]
    goes_on
    until_true 60 test -e held
    grep -q "trial 2 was on the device when the campaign was cut off: it is tried once more" log
    [ "$(outcomes)" = "ok in_flight ok ok" ]    # all others of its batch have ended
    kill -KILL "$pid"
    ends
    rm held
    goes_on
    ends
    [ "$code" -eq 0 ]
    [ ! -e held ]                               # it was not met again
    [ "$(outcomes)" = "ok crash ok ok ok" ]
    [[ "$(sql "SELECT reason FROM trial WHERE number = 2")" == "it was on the device when the campaign was cut off, "* \
        ]]
}

@test "a campaign that runs is not resumed by another" {
    order device
    begin
    until_true 60 test -e held
    fails 2 "campaign 1 of p.db: it is running, by another process" "$LATHE_BIN" tune --resume 1 --db p.db
    sql "UPDATE campaign SET coordinator = 'elsewhere' || substr(coordinator, instr(coordinator, ' '))"
    fails 2 "whether that still runs cannot be told from here" "$LATHE_BIN" tune --resume 1 --db p.db
    kill -s INT "$pid"
    ends
    [ "$code" -eq 130 ]
}

# mine TRIALS DATABASE: a campaign over a copy of tiny
mine() {
    lathe tune mine --device host --kernel plain --size M=6 --strategy exhaustive --trials $1 --top 1 --db $2 \
        --quiet >out
}

# small: one of four trials
small() {
    cp -r "$TREE/test/cli/kernels/tiny" mine
    mine 4 p.db
}

@test "seconds of a replay are recorded ones, of which a resumed one has at least as many" {
    lathe tune --device "replay:$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" --strategy random --seconds 5 \
        --db p.db --quiet >out
    local before
    before=$(sql "SELECT count(*) FROM trial")
    fails 2 "--seconds 4: campaign 1 took 5." lathe tune --resume 1 --db p.db --seconds 4
    fails 2 "--trials 500: the 5 s of campaign 1 are over" lathe tune --resume 1 --db p.db --trials 500
    lathe tune --resume 1 --db p.db --seconds 10 --quiet >out
    [ "$(sql "SELECT count(*) FROM trial")" -gt "$before" ]
}

@test "more trials, another final; what cannot be changed, and campaigns that are done or are not there" {
    small
    fails 2 "campaign 1 is finished, with 4 trials" lathe tune --resume 1 --db p.db
    fails 2 "--trials 3: campaign 1 has 4 already" lathe tune --resume 1 --db p.db --trials 3
    fails 1 "there is no campaign 2" lathe tune --resume 2 --db p.db
    fails 6 "there is no such database" lathe tune --resume 1 --db none.db
    [ ! -e none.db ]
    fails 2 "--seed: a campaign that is resumed" lathe tune --resume 1 --db p.db --seed 1
    fails 2 "SPEC: a campaign that is resumed" lathe tune mine --resume 1 --db p.db
    fails 2 "add --resume CAMPAIGN, or leave --force out" lathe tune mine --force --db p.db
    lathe tune --resume 1 --db p.db --trials 6 --top 2 --quiet >out
    [ "$(sql "SELECT budget_trials || ' ' || state || ' ' || resumed FROM campaign")" = "6 finished 1" ]
    [ "$(sql "SELECT count(*) || ' ' || count(DISTINCT name) FROM source")" = "2 2" ]   # as before
    # cold times are those of this final alone, and so are its places
    [ "$(sql "SELECT group_concat(final_rank, ' ') FROM (SELECT final_rank FROM trial WHERE final_rank > 0
        ORDER BY final_rank)")" = "1 2" ]
    [ "$(sql "SELECT count(DISTINCT t.id) || ' ' || count(*) FROM measurement m JOIN trial t ON t.id = m.trial_id
        WHERE regime = 'cold' AND role = 'candidate' AND final_rank IS NOT NULL")" = "2 2" ]
    [ "$(sql "SELECT count(*) FROM measurement m JOIN trial t ON t.id = m.trial_id
        WHERE regime = 'cold' AND role = 'candidate' AND final_rank IS NULL")" = 0 ]
    lathe show 1 --db p.db >shown
    grep -q "in the final, cold: timed 3 times," shown          # of this final's three rounds
    [ "$(sql "SELECT group_concat(number, ' ') FROM (SELECT number FROM trial ORDER BY number)")" = "0 1 2 3 4 5 6" ]
    mine 6 a.db
    diff <(configurations a.db 1) <(configurations p.db 1)
}

@test "its --seconds were over when it died: what was measured is recalled, nothing new begins, and there is a final" {
    cp -r "$TREE/test/cli/kernels/tiny" mine
    mine 5 whole.db                             # of which 1 and 4 are right
    # as if it had died in its final, or with a trial under way; the winner of a final is lost by neither
    for state in "" "UPDATE trial SET outcome = 'in_flight', total_seconds = NULL, time_ms = NULL WHERE number = 5;"; do
        cp whole.db p.db
        sql "UPDATE campaign SET budget_trials = NULL, budget_seconds = 0.001, state = 'interrupted';
             UPDATE trial SET final_rank = NULL; $state"
        lathe tune --resume 1 --db p.db --quiet >out
        [ "$(sql "SELECT state FROM campaign")" = finished ]
        [ "$(sql "SELECT count(*) FROM trial WHERE final_rank = 1 AND number > 0")" = 1 ]
        [ "$(sql "SELECT max(number) FROM trial")" = 5 ]
    done
    [ "$(sql "SELECT outcome FROM trial WHERE number = 5")" = skipped ]
    # it is finished, and another final is one of what was right
    lathe tune --resume 1 --db p.db --quiet --top 2 >out
    [ "$(sql "SELECT group_concat(final_rank, ' ') FROM (SELECT final_rank FROM trial
        WHERE number > 0 AND final_rank > 0 ORDER BY final_rank)")" = "1 2" ]
    [ "$(sql "SELECT max(number) || ' ' || sum(outcome = 'skipped') FROM trial")" = "5 1" ]
    # seconds are of all together, and no fewer than there were
    sql "SELECT * FROM trial" >before
    fails 2 "--seconds 0.01: campaign 1 took " lathe tune --resume 1 --db p.db --seconds 0.01
    sql "SELECT * FROM trial" | diff before -
}

@test "what other campaigns find meanwhile does not change what a resumed one proposes" {
    cat >shift.lua <<'END'
return strategy { name = "shift", summary = "", run = function(tune, space)
  for i = 1, 12 do tune.evaluate(space:at(i + #tune.earlier)) end
end }
END
    any() { lathe "$@" >out || [ $? -eq 1 ]; }     # there may be no right one among them
    local options="tiny --device host --kernel plain --size M=6 --quiet --top 0"
    any tune $options --strategy exhaustive --trials 3 --db p.db
    any tune $options --strategy shift.lua --trials 2 --db p.db
    cp p.db a.db
    any tune $options --strategy exhaustive --trials 12 --db p.db
    for db in a.db p.db; do any tune --resume 2 --trials 6 --top 0 --db $db --quiet; done
    [ "$(configurations a.db 2 | wc -l)" = 6 ]
    diff <(configurations a.db 2) <(configurations p.db 2)
    any tune $options --strategy shift.lua --trials 6 --db p.db      # one that begins now does know
    not diff -q <(configurations a.db 2) <(configurations p.db 4)
}

@test "another driver, compiler, lathe or specification: refused, and named, unless forced" {
    small
    fails_with() { fails 2 "$1" lathe tune --resume 1 --db p.db --trials 5; }
    cp p.db whole.db
    sql "UPDATE device SET target = json_set(target, '$.driver', '1.2')"
    fails_with "its driver is '"
    cp whole.db p.db
    sql "UPDATE device SET target = json_set(target, '$.toolchain', 'cc 3')"
    fails_with "what compiles is '"
    cp whole.db p.db
    sql "UPDATE device SET target = json_set(target, '$.limits.sm_count', 7)"
    fails_with "sm_count is '"
    cp whole.db p.db
    sql "UPDATE campaign SET tool_version = 'v0'"
    fails_with "lathe is '"
    cp mine/tiny.cu kept.cu
    echo "// edited" >>mine/tiny.cu
    fails_with "mine/spec.lua has changed since: plain has another source"
    [ "$(sql "SELECT resumed FROM campaign")" = 0 ]
    lathe tune --resume 1 --db p.db --trials 5 --force --quiet >out
    [[ "$(sql "SELECT note FROM campaign")" == "resumed after 4 trials though lathe is '"*"', and was 'v0'" ]]
    [ "$(sql "SELECT count(*) FROM source WHERE text LIKE '%edited%'")" = 0 ]
}

@test "a database of the first version is brought up to date, and loses no row" {
    gzip -dc "$TREE/test/data/linear-h200.db.gz" >p.db
    [ "$(sql "PRAGMA user_version")" = 1 ]
    lathe show 1 --db p.db >/dev/null           # it is read as it is
    [ "$(sql "PRAGMA user_version")" = 1 ]
    rows() { for t in campaign trial parameter_value measurement sample verification device problem source; do
        sql "SELECT '$t', count(*) FROM $t"; done; }
    rows >before
    not lathe tune --resume 1 --db p.db --trials 9999999 2>log >out     # there is no such GPU here
    [ "$(sql "PRAGMA user_version")" = 6 ]
    diff before <(rows)
    [ "$(sql "PRAGMA integrity_check")" = ok ]
}
