# devices.bats: one campaign on several devices of one kind. Two host workers stand for two GPUs.
load helper
load hold

@test "two devices share the trials where these take longer than to compile them" {
    local run="$TREE/test/specs/sleep.lua --where ID<=16 --strategy exhaustive --top 0 --quiet"
    lathe tune $run --device host --db first.db >out                # compiles
    lathe tune $run --device host,host --db p.db >out
    [ "$(sql "SELECT min(n) >= 4 AND sum(n) = 16 FROM (SELECT count(*) AS n FROM trial WHERE number > 0
        AND outcome = 'ok'
              GROUP BY device_position UNION ALL SELECT 0 WHERE (SELECT count(DISTINCT device_position)
                  FROM trial) < 2)")" = 1 ]
}

@test "each of two devices has its baselines and its final" {
    local run="--size M=5 --kernel plain --device host,host --strategy exhaustive --trials 32 --top 3"
    lathe tune tiny $run --db p.db --quiet >out
    grep -q "^devices: host [0-9]* trials, host (2) [0-9]* trials$" out
    grep -q "^cold ms on each device:" out
    lathe show 1 --db p.db | grep -q "^cold ms on each device:"
    lathe show 1 --db p.db --json >shown
    [ "$(json shown "json_extract(j, '$.devices[0].name') || json_extract(j, '$.devices[1].name')")" = "hosthost (2)" ]
    [ "$(json shown "json_extract(j, '$.devices[0].trials') + json_extract(j, '$.devices[1].trials')")" -gt 8 ]
    # a baseline on each, under numbers of their own, and speed-ups over one's own device
    [ "$(sql "SELECT group_concat(number || ' ' || ran_on, ', ') FROM
              (SELECT * FROM trial_report WHERE number <= 0 ORDER BY number DESC)")" = "0 host, -1 host (2)" ]
    [ "$(sql "SELECT count(*) FROM trial_report t JOIN trial_report b ON b.ran_on = t.ran_on AND b.number <= 0
              WHERE t.number > 0 AND t.cold_ms IS NULL AND abs(t.speedup - b.time_ms / t.time_ms) > 1e-9")" = 0 ]
    # the three leaders and the baseline were measured by both; places follow from the first
    [ "$(sql "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM measurement WHERE regime = 'cold'
        AND device_position = 0
              UNION ALL SELECT count(*) FROM measurement WHERE regime = 'cold' AND device_position = 1)")" = 4,4 ]
    # (medians within 0.5 % are not told apart: then a score is the next number above that of the place before)
    [ "$(sql "SELECT count(*) FROM trial t WHERE t.final_rank IS NOT NULL AND abs(t.score_ms / (SELECT max(m.median_ms)
              FROM trial o JOIN measurement m ON m.trial_id = o.id AND m.regime = 'cold' AND m.device_position = 0
              WHERE o.final_rank <= t.final_rank) - 1) < 1e-9")" = 3 ]
    [ "$(sql "SELECT group_concat(final_rank) FROM (SELECT final_rank FROM trial WHERE final_rank
        ORDER BY score_ms)")" = 1,2,3 ]
}

@test "the same seed proposes the same, however the devices share it, and it can be resumed" {
    local run="--size M=5 --kernel plain --device host,host --strategy random --seed 5 --top 0"
    lathe tune tiny $run --trials 30 --db whole.db --quiet >/dev/null
    lathe tune tiny $run --trials 12 --db p.db --quiet >/dev/null
    lathe tune --resume 1 --trials 30 --db p.db --quiet >/dev/null
    local same="SELECT group_concat(configuration, ';') FROM (SELECT configuration FROM trial WHERE number > 0
        ORDER BY number)"
    [ "$(sqlite3 whole.db "$same")" = "$(sqlite3 p.db "$same")" ]
    [ "$(sql "SELECT json_extract(request, '$.device') || resumed FROM campaign")" = host,host1 ]
    fails 2 "--device: a campaign that is resumed" lathe tune --resume 1 --device host --trials 31 --db p.db
}

@test "both are on work at the same time" {
    order "device device" never
    begin --device host,host --time-limit 600
    # two workers wait in their kernels, and neither is done: only a pool can come to that
    until_true 60 eval '[ "$(sql "SELECT count(DISTINCT device_position) FROM trial
        WHERE outcome = '"'in_flight'"' AND attempts = 1" 2>/dev/null)" = 2 ]'
    all="$(descendants "$pid")"
    kill -s INT "$pid"
    sleep 0.2
    kill -s INT "$pid" 2>/dev/null || true
    ends
    leaves_nothing
}

@test "a device whose worker is killed loses one trial; the other goes on meanwhile" {
    order "device never never never" never
    begin --device host,host --time-limit 600
    until_true 60 test -e held
    until_true 60 ended 3                   # by the other one
    kill -KILL $(worker device | head -n 1) $(worker device | tail -n 1)
    ends
    cat log
    [ "$code" -eq 0 ]
    [ "$(sql "SELECT count(*) FROM trial WHERE outcome = 'crash'")" = 1 ]
    [ "$(sql "SELECT count(*) FROM trial WHERE outcome = 'ok'")" = 4 ]
}

@test "a device that fails on what was right before is taken out, and the campaign goes on with the other" {
    touch second                            # the second worker alone is broken
    order never breaks "device never never never never" never
    # compiled before: the others come later, so that the first device is not through with them by then
    "$LATHE_BIN" verify "$TREE/test/specs/hold.lua" --device host --kernel hold --config "HOLD=device ID=3" \
        --time-limit 0.5 ${LATHE_SANITIZE:+--sanitize} -q || true
    rm held
    begin --device host,host --time-limit 600
    until_true 60 test -e held              # the first is occupied, so the second has the rest until it is taken out
    until_true 60 eval '[ "$(sql "SELECT count(*) FROM campaign_worker WHERE taken_out IS NOT NULL" 2>/dev/null)" = 1 ]'
    kill -KILL $(worker device)
    ends
    cat log
    [ "$code" -eq 0 ]
    grep -q "host (2) is taken out: it failed three times in a row on a configuration that was right before (trial 1; " log
    grep -q "the campaign goes on without it" log
    [ "$(sql "SELECT name FROM campaign_worker WHERE taken_out LIKE 'it failed three times in a row%'")" = "host (2)" ]
    [[ "$(sql "SELECT note FROM campaign")" == "host (2) is taken out: it failed three times"* ]]
    [ "$(sql "SELECT count(*) FROM trial WHERE device_position = 1 AND outcome = 'crash' AND number > 0")" = 3 ]
    [ "$(sql "SELECT count(*) FROM trial WHERE device_position = 0 AND outcome = 'ok' AND number > 0")" -ge 3 ]
    "$LATHE_BIN" show 1 --db p.db | grep -q "host (2) 3 trials (taken out)"
}

@test "devices that cannot be one pool are refused" {
    local run="tiny --size M=5 --trials 1 --db p.db"
    fails 4 "cuda:0: no CUDA driver" lathe tune $run --device host,cuda:0
    fails 2 "cuda:1 is given twice" lathe tune $run --device cuda:1,cuda:1
    fails 2 "mpi:1: only where mpirun or srun starts a lathe that is built with MPI" lathe tune $run --device mpi:1
    fails 2 "mpi:1: only where mpirun" lathe tune $run --device mpi:all
    fails 2 "no device 'mpi:x': expected mpi:N" lathe tune $run --device mpi:x
    fails 2 "'host,' lacks a name before or after a comma" lathe tune $run --device host,
    fails 2 "lacks a name" lathe tune $run --device host,,host
    fails 2 "expected cuda:N, cuda:all, host or mpi:N" lathe tune $run --device host:all
    fails 2 "no device 'gpu'" lathe tune $run --device gpu
    [[ "$errors" == *"cuda:all"*"mpi:all"*"replay:FILE"* ]]
    fails 2 "no device 'cda:all' (did you mean 'cuda:all'?)" lathe tune $run --device host,cda:all
    fails 2 "no device 'host:all': this machine's processor is host" lathe tune $run --device host:all
    fails 4 "cuda:all: there is no GPU here" lathe tune $run --device cuda:all
    fails 2 "verifying takes one device" lathe verify tiny --kernel plain --size M=5 --device host,host
}
