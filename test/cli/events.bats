# events.bats: `lathe tune --json`: what happens as one JSON object a line.
load helper
load hold

# ask FILE QUERY: SQL over `e`: n, the line's number; j, its object; event
ask() {
    { echo "["; paste -sd, "$1"; echo "]"; } >"$BATS_TEST_TMPDIR/.array"
    sqlite3 :memory: "WITH e AS (SELECT key AS n, value AS j, value ->> 'event' AS event
        FROM json_each(CAST(readfile('$BATS_TEST_TMPDIR/.array') AS TEXT))) $2"
}

@test "every line is an object; a trial is proposed, compiled, ended; the last line is the result" {
    local run="--size M=5 --kernel plain --device host,host --strategy exhaustive --trials 20 --top 2 --db p.db -q"
    lathe tune tiny $run --json >lines
    [ "$(ask lines "SELECT count(*) FROM e")" = "$(wc -l <lines)" ]
    [ "$(head -n 1 lines | cut -c1-28)" = '{"event": "campaign_started"' ]
    [ "$(ask lines "SELECT j ->> 'campaign' || ' ' || (j ->> 'workers') || ' ' || (j ->> 'strategy') || (j -> 'size')
        FROM e
        WHERE event = 'campaign_started'")" = '1 2 exhaustive{"M":5,"N":7,"K":9}' ]
    [ "$(ask lines "SELECT group_concat(event || n, ' ') FROM (SELECT event, count(*) AS n FROM e
        WHERE event <> 'incumbent'
        AND event NOT IN ('trial_compiled', 'note') GROUP BY event)")" = \
            "campaign_ended1 campaign_started1 final3 trial_ended22 trial_proposed22" ]
    # whose line it is: of the campaign, but for what is said before that has a number
    [ "$(ask lines "SELECT group_concat(DISTINCT j ->> 'campaign') FROM e WHERE event <> 'campaign_ended'")" = 1 ]
    [ "$(ask lines "SELECT count(*) FROM e WHERE j ->> 'campaign' IS NULL
        AND event NOT IN ('campaign_ended', 'note')")" = 0 ]
    # in order, and what did not compile says nothing of an image
    [ "$(ask lines "SELECT count(*) FROM e p JOIN e d ON d.event = 'trial_ended' AND d.j ->> 'number' = p.j ->> 'number'
        WHERE p.event = 'trial_proposed' AND p.n < d.n AND p.j ->> 'text' = d.j ->> 'text'")" = 22 ]
    [ "$(ask lines "SELECT count(*) FROM e c JOIN e d ON d.event = 'trial_ended' AND d.j ->> 'number' = c.j ->> 'number'
        WHERE c.event = 'trial_compiled' AND (c.n > d.n OR d.j ->> 'outcome' = 'compile')")" = 0 ]
    [ "$(ask lines "SELECT count(*) FROM e WHERE event = 'trial_compiled' AND j ->> 'number' > 0")" = \
      "$(ask lines "SELECT count(*) FROM e WHERE event = 'trial_ended' AND j ->> 'number' > 0
          AND j ->> 'outcome' <> 'compile'")" ]
    # the incumbents fall, and the last of them is the least time
    [ "$(ask lines "SELECT count(*) FROM (SELECT j ->> 'time_ms' AS ms, lag(j ->> 'time_ms') OVER (ORDER BY n) AS before
        FROM e
        WHERE event = 'incumbent') WHERE ms >= before")" = 0 ]
    [ "$(ask lines "SELECT min(CAST(j ->> 'time_ms' AS REAL)) FROM e WHERE event = 'incumbent'")" = \
      "$(ask lines "SELECT min(CAST(j ->> 'time_ms' AS REAL)) FROM e WHERE event = 'trial_ended'
          AND j ->> 'outcome' = 'ok'
         AND j ->> 'role' = 'candidate'")" ]
    [ "$(json lines "j ->> 'state' || (j ->> 'trials') || json_array_length(j, '\$.devices')")" = finished202 ]
    # resumed: what ended before is told as recorded
    lathe tune --resume 1 --trials 22 --db p.db -q --json >more
    [ "$(ask more "SELECT group_concat(n, ' ') FROM (SELECT count(*) AS n FROM e WHERE event = 'trial_ended' AND
        j ->> 'number' > 0 GROUP BY j ->> 'recorded' ORDER BY n)")" = "2 20" ]
}

# More lines than a pipe holds, whose reader stands still.
@test "one interrupt ends a campaign whose events nobody takes" {
    mkfifo pipe
    sleep 100 <pipe 3>&- &
    local reader=$!
    env --default-signal=INT "$LATHE_BIN" tune --device replay:"$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" \
        --strategy random --trials 2000 --db p.db --json -q >pipe 2>log 3>&- &
    pid=$!
    # it uses no processor time any more
    used() { cut -d' ' -f14,15 "/proc/$pid/stat"; }
    stuck() { local before; before=$(used); sleep 0.5; [ "$(used)" = "$before" ] && [ -e p.db ]; }
    until_true 60 stuck
    kill -s INT "$pid"
    until_true 20 gone "$pid"
    ends
    kill $reader
    [ "$code" -eq 130 ]
    [ "$(sql "SELECT state FROM campaign")" = interrupted ]
}

@test "a line is there when it happens, not at the end" {
    order "never device"
    begin --json --time-limit 600
    until_true 60 grep -q '"trial_ended".*"number": 1' out
    not grep -q campaign_ended out
    kill -s INT "$pid"
    sleep 0.2
    kill -s INT "$pid" 2>/dev/null || true
    ends
}

@test "a replay tells of every trial; nobody reads: the campaign goes on" {
    local file="$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz"
    lathe tune --device "replay:$file" --strategy random --trials 500 --db none -q --json >lines
    [ "$(grep -c '"trial_ended"' lines)" = 500 ]
    [ "$(json lines "j ->> 'trials'")" = 500 ]
    lathe tune --device "replay:$file" --strategy random --trials 500 --db p.db -q --json | head -n 1 >/dev/null
    [ "$(sql "SELECT count(*) FROM trial")" = 500 ]
}

@test "a campaign that fails says so in its last line" {
    order never breaks never never never
    begin --json
    ends
    [ "$code" -eq 4 ]
    [ "$(tail -n 1 out | cut -c1-27)" = '{"event": "campaign_failed"' ]
    [ "$(json out "(j ->> 'status') || (j ->> 'campaign')")" = DEVICE1 ]
    [[ "$(json out "j ->> 'error'")" == "host is taken out: it failed three times"* ]]
}
