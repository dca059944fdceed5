# ranks.bats: campaigns on the devices of MPI ranks: who has which trial, what travels, and what is said.
load ../cli/helper
load ../cli/hold
load mpi

@test "ranks share the trials; each has its baselines and its final" {
    export TMPDIR="$(mktemp -d /tmp/lathe.XXXXXX)"
    mpi 3 tune tiny --size M=5 --kernel plain --strategy exhaustive --trials 32 --top 3 --db p.db --quiet >out
    host="$(hostname)"
    grep -q "^devices: mpi:1 ($host host) [0-9]* trials, mpi:2 ($host host) [0-9]* trials$" out
    grep -q "^cold ms on each device:" out
    [ "$(sql "SELECT count(DISTINCT device_position) FROM trial WHERE number > 0 AND outcome = 'ok'")" = 2 ]
    [ "$(sql "SELECT group_concat(name, ', ') FROM (SELECT name FROM campaign_worker ORDER BY position)")" = \
      "mpi:1 ($host host), mpi:2 ($host host)" ]
    [ "$(sql "SELECT group_concat(number || ' ' || substr(ran_on, 1, 5), ', ') FROM
              (SELECT * FROM trial_report WHERE number <= 0 ORDER BY number DESC)")" = "0 mpi:1, -1 mpi:2" ]
    [ "$(sql "SELECT json_extract(request, '$.device') FROM campaign")" = mpi:1,mpi:2 ]
    [ -z "$(ls "$TMPDIR" | grep lathe-mpi)" ]
    rm -r "$TMPDIR"
}

@test "the same seed proposes the same as on devices of this machine, and it can be resumed" {
    local run="--size M=5 --kernel plain --strategy random --seed 5 --top 0 --quiet"
    local same="SELECT group_concat(configuration, ';') FROM (SELECT configuration FROM trial WHERE number > 0
        ORDER BY number)"
    lathe tune tiny $run --device host,host --trials 30 --db whole.db >/dev/null
    mpi 3 tune tiny $run --trials 12 --db p.db >/dev/null
    mpi 3 tune --resume 1 --trials 30 --db p.db --quiet >/dev/null
    [ "$(sqlite3 whole.db "$same")" = "$(sqlite3 p.db "$same")" ]
    fails 2 "mpi:1: only where mpirun or srun starts" lathe tune --resume 1 --trials 31 --db p.db
    run mpi 2 tune --resume 1 --trials 31 --db p.db
    [[ "$output" == *"mpi:2: the last rank is 1; start 3 processes: mpirun -n 3"* ]]
}

@test "images travel: ranks with a cache of their own, one of them damaged" {
    local run="tune tiny --size M=5 --kernel plain --strategy exhaustive --trials 12 --top 0 --db p.db --quiet"
    mkdir one two
    env LATHE_CACHE="$PWD/zero" mpirun -n 1 "$LATHE_MPI_BIN" $run : -n 1 env LATHE_CACHE="$PWD/one" "$LATHE_MPI_BIN" \
        $run \
        : -n 1 env LATHE_CACHE="$PWD/two" "$LATHE_MPI_BIN" $run >/dev/null
    [ "$(sql "SELECT count(*) FROM trial WHERE outcome NOT IN ('ok', 'wrong', 'compile')")" = 0 ]
    for cache in one two; do
        [ "$(ls $cache | wc -l)" -ge 2 ]
        for image in $cache/*; do cmp "$image" "zero/${image#*/}"; done
    done
    for image in one/*; do echo damaged >"$image"; done
    rm p.db
    env LATHE_CACHE="$PWD/zero" mpirun -n 1 "$LATHE_MPI_BIN" $run : -n 1 env LATHE_CACHE="$PWD/one" "$LATHE_MPI_BIN" \
        $run \
        >/dev/null
    [ "$(sql "SELECT count(*) FROM trial WHERE outcome NOT IN ('ok', 'wrong', 'compile')")" = 0 ]
    [ "$(sql "SELECT count(*) > 0 FROM trial WHERE number > 0 AND outcome = 'ok'")" = 1 ]
}

@test "images that are gone before they could travel are made again" {
    export LATHE_CACHE="$PWD/cache"
    mpi 2 tune "$TREE/test/specs/gone.lua" --strategy exhaustive --db p.db --quiet >out
    [ "$(sql "SELECT group_concat(configuration, ' ') FROM (SELECT configuration FROM trial
        WHERE final_rank IS NOT NULL ORDER BY final_rank)")" = "ID=0 ID=1 ID=2 ID=3" ]
    [ "$(sql "SELECT count(*) FROM trial WHERE outcome = 'ok' AND number > 0")" = 4 ]
}

@test "a rank that cannot write its cache, or has no such device: what is wrong, and where" {
    touch nofolder
    local run="tune tiny --size M=5 --kernel plain --trials 3 --db p.db"
    run mpirun -n 1 "$LATHE_MPI_BIN" $run : -n 1 env LATHE_CACHE="$PWD/nofolder/x" "$LATHE_MPI_BIN" $run
    [ "$status" -ne 0 ]
    [[ "$output" == *"lathe: cache directory (set LATHE_CACHE to another): "* ]]
    run env LATHE_MPI_DEVICE=cuda:0 mpirun -n 3 "$LATHE_MPI_BIN" $run
    [ "$status" -eq 4 ]
    [[ "$output" == *"lathe: mpi:1 ($(hostname) cuda:0): no CUDA driver"* ]]
    run env LATHE_MPI_DEVICE=tpu mpirun -n 2 "$LATHE_MPI_BIN" $run
    [[ "$output" == *"no device 'tpu'"* ]]
}

@test "both ranks are on work at the same time" {
    order "device device" never
    hold
    until_true 60 eval '[ "$(sql "SELECT count(DISTINCT device_position) FROM trial
        WHERE outcome = '"'in_flight'"' AND attempts = 1" 2>/dev/null)" = 2 ]'
}

@test "names of ranks that are none are refused" {
    local run="tune tiny --size M=5 --trials 1 --db p.db"
    run mpi 2 $run --device mpi:2
    [[ "$output" == *"mpi:2: the last rank is 1"* ]]
    run mpi 2 $run --device mpi:1,mpi:1
    [[ "$output" == *"mpi:1 is given twice"* ]]
}

@test "devices of rank 0's machine and those of ranks are one pool where they are alike" {
    mpi 2 tune tiny --size M=5 --kernel plain --device host,mpi:all --strategy exhaustive --trials 20 --top 0 \
        --db p.db \
        --quiet >out
    grep -q "^devices: host [0-9]* trials, mpi:1 ($(hostname) host) [0-9]* trials$" out
    mpi 2 tune tiny --size M=5 --kernel plain --device host --trials 3 --top 0 --db q.db >out 2>log
    grep -q "the devices of MPI ranks take no part: --device mpi:all" log
    [ "$(sqlite3 q.db "SELECT count(*) FROM campaign_worker")" = 1 ]
}

@test "ranks of unlike kinds: a campaign of each, at the same time" {
    printf '#!/bin/sh\necho "other (compiler) 99"\n' >other
    chmod +x other
    local run="tune tiny --size M=5 --kernel plain --strategy exhaustive --trials 6 --top 0 --db p.db --quiet"
    mpirun -n 2 "$LATHE_MPI_BIN" $run : -n 1 env CXX="$PWD/other" "$LATHE_MPI_BIN" $run : -n 1 "$LATHE_MPI_BIN" $run \
        >out
    grep -qE "^device +mpi:1,mpi:3 +mpi:2$" out
    grep -qE "^campaign +(1 +2|2 +1)$" out
    [ "$(sql "SELECT group_concat(n) FROM
        (SELECT count(*) AS n FROM campaign_worker GROUP BY campaign_id ORDER BY n)")" = 1,2 ]
    [ "$(sql "SELECT count(*) FROM campaign WHERE state = 'finished'")" = 2 ]
    # kernels that never end: both are in the middle of their searches; an interruption ends both
    order never device
    run="tune $TREE/test/specs/hold.lua --strategy order.lua --top 0 --time-limit 600 --db q.db --quiet"
    env --default-signal=INT mpirun -n 2 "$LATHE_MPI_BIN" $run : -n 1 env CXX="$PWD/other" "$LATHE_MPI_BIN" $run \
        >out 2>log 3>&- &
    pid=$!
    until_true 60 eval '[ "$(sqlite3 q.db "SELECT count(DISTINCT campaign_id) FROM trial
        WHERE outcome = '"'in_flight'"' AND attempts = 1" 2>/dev/null)" = 2 ]'
    kill -USR1 "$pid"
    ends
    [ "$(sqlite3 q.db "SELECT count(*) FROM campaign WHERE state = 'interrupted'")" = 2 ]
}

@test "one process is lathe as it is; other commands run once; exit codes come through" {
    mpi 1 tune tiny --size M=5 --kernel plain --trials 3 --top 0 --db p.db --quiet >/dev/null
    [ "$(sql "SELECT count(*) FROM campaign_worker")" = 1 ]
    "$LATHE_MPI_BIN" show --db p.db >alone
    mpi 3 show --db p.db >ranks
    cmp alone ranks
    run mpi 2 tune nothing-of-this-name
    [ "$status" -eq 2 ]
}

@test "a silence that is no number of seconds is refused" {
    LATHE_MPI_SILENCE=20s fails 2 "LATHE_MPI_SILENCE is '20s': " mpi 2 tune tiny --trials 1 --db p.db
}
