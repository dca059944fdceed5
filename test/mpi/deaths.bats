# deaths.bats: ranks, workers, rank 0 or mpirun that die, stop or are interrupted in the middle of something.
load ../cli/helper
load ../cli/hold
load mpi

@test "a kernel that breaks, or is killed, costs its worker: a typed trial, and the rank goes on" {
    order never "device never never never" never
    hold
    until_true 60 test -e held
    until_true 60 ended 4
    kill -KILL $(workers "$(holder device)")
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "ok crash ok ok ok ok" ]
    [[ "$(sql "SELECT reason FROM trial WHERE outcome = 'crash'")" == *"killed by signal 9 "* ]]
    [ "$(sql "SELECT count(*) FROM campaign_worker WHERE taken_out IS NOT NULL")" = 0 ]
}

@test "a time limit ends a kernel that waits on a rank, and the rank has a fresh worker" {
    order "device device" "never never never"
    launch -- tune "$TREE/test/specs/hold.lua" --strategy order.lua --db p.db --compile-workers 2 --top 0 --time-limit 1
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "timeout timeout ok ok ok" ]
}

@test "a rank dies, with mpirun --enable-recovery: its trial goes to another, and nothing else is lost" {
    export LATHE_MPI_SILENCE=2
    one_waits --enable-recovery
    kill -KILL "$(rank "$waits")"
    ends
    [ "$(outcomes)" = "ok ok ok ok ok" ]
    [ "$(sql "SELECT state FROM campaign")" = finished ]
    [ "$(sql "SELECT device_position + 1 <> $waits FROM trial WHERE configuration LIKE '%final%'")" = 1 ]
    [ "$(sql "SELECT taken_out FROM campaign_worker WHERE taken_out NOT NULL")" = \
      "rank $waits on $(hostname) has been silent for 2 s" ]
    grep -q "mpi:$waits ($(hostname) host) is taken out: rank $waits on $(hostname) has been silent for 2 s; the campaign goes on" log
    grep -q "^devices: " out
    not grep -q "ends this job" log
    leaves_nothing
}

@test "the same over TCP, as between machines" {
    export LATHE_MPI_SILENCE=2 OMPI_MCA_btl=tcp,self
    one_waits --enable-recovery
    kill -KILL "$(rank "$waits")"
    ends
    [ "$(outcomes)" = "ok ok ok ok ok" ]
    [ "$(sql "SELECT count(*) FROM campaign_worker WHERE taken_out NOT NULL")" = 1 ]
    leaves_nothing
}

@test "a rank falls silent: its trial goes to another, and it does not hold up the end of the job" {
    export LATHE_MPI_SILENCE=2
    one_waits
    kill -STOP "$(rank "$waits")"
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "ok ok ok ok ok" ]
    [ "$(sql "SELECT count(*) FROM campaign_worker WHERE taken_out LIKE 'rank $waits on % has been silent%'")" = 1 ]
    leaves_nothing
}

@test "the last rank is lost: the campaign ends, says so, and can be resumed" {
    export LATHE_MPI_SILENCE=2
    one_waits
    kill -STOP "$(rank 1)" "$(rank 2)"
    ends
    [ "$code" -eq 4 ]
    grep -q "has been silent for 2 s" log
    [ "$(sql "SELECT state FROM campaign")" = failed ]
    leaves_nothing
    mpi 3 tune --resume 1 --db p.db --quiet >out 2>log
    [ "$(outcomes)" = "ok ok ok ok ok" ]
}

@test "a rank dies without recovery: mpirun ends the job, the database is whole, and the campaign goes on" {
    one_waits
    kill -KILL "$(rank "$waits")"
    ends
    [ "$code" -ne 0 ]
    leaves_nothing
    grep -q "a rank that dies ends this job: with mpirun --enable-recovery it would cost its trial alone" log
    [ "$(sql "PRAGMA integrity_check")" = ok ]
    [ "$(sql "SELECT count(*) FROM trial WHERE number > 0 AND outcome = 'ok'")" = 4 ]
    mpi 3 tune --resume 1 --db p.db --quiet >out 2>log
    [ "$(outcomes)" = "ok ok ok ok ok" ]
}

@test "Ctrl-C to mpirun: the campaign ends as one of this machine does, and can be resumed" {
    one_waits
    kill -INT "$pid"
    ends
    [ "$code" -ne 0 ]
    until_true 5 gone $all
    [ "$(sql "SELECT state FROM campaign")" = interrupted ]
    grep -q -- "--resume 1" log
    mpi 3 tune --resume 1 --db p.db --quiet >out 2>log
    [ "$(outcomes)" = "ok ok ok ok ok" ]
}

@test "SIGUSR1 to mpirun, which hands it on and ends nothing itself: an orderly end, exit code 130" {
    one_waits
    kill -USR1 "$pid"
    ends
    [ "$code" -eq 130 ]
    grep -q "^campaign 1: hold" out
    [ "$(sql "SELECT state FROM campaign")" = interrupted ]
    leaves_nothing
}

@test "rank 0 is killed: the coordinator ends by itself, what was measured is there" {
    export TMPDIR="$(mktemp -d /tmp/lathe.XXXXXX)"
    one_waits
    kill -KILL "$(rank 0)"
    ends
    until_true 10 gone $all
    [ -z "$(ls "$TMPDIR" | grep lathe-mpi)" ]
    rm -rf "$TMPDIR"
    unset TMPDIR
    [ "$(sql "PRAGMA integrity_check")" = ok ]
    [ "$(sql "SELECT count(*) FROM trial WHERE number > 0 AND outcome = 'ok'")" -ge 4 ]
    mpi 3 tune --resume 1 --db p.db --quiet >out 2>log
    [ "$(outcomes)" = "ok ok ok ok ok" ]
}

@test "rank 0 is killed, with --enable-recovery: the others end by themselves" {
    export LATHE_MPI_SILENCE=2
    one_waits --enable-recovery
    kill -KILL "$(rank 0)"
    until_true 15 gone $all
    ends
}

@test "the coordinator is killed: the job ends, the database is whole, and it can be resumed" {
    one_waits
    kill -KILL "$(coordinator)"
    ends
    [ "$code" -eq 137 ]
    leaves_nothing
    [ "$(sql "PRAGMA integrity_check")" = ok ]
    mpi 3 tune --resume 1 --db p.db --quiet >out 2>log
    [ "$(outcomes)" = "ok ok ok ok ok" ]
}

@test "mpirun is killed: no process is left" {
    one_waits
    kill -KILL "$pid"
    until_true 15 gone $all
    [ "$(sql "PRAGMA integrity_check")" = ok ]
}

@test "all of it is stopped for a while, and goes on: nobody is lost" {
    export LATHE_MPI_SILENCE=2
    order never "device never never never" never
    hold
    until_true 60 test -e held
    until_true 60 ended 4
    kill -STOP "$(rank 1)" "$(rank 2)" "$(rank 0)"
    sleep 4
    kill -CONT "$(rank 0)" "$(rank 1)" "$(rank 2)"
    sleep 1
    kill -KILL $(workers "$(holder device)")
    ends
    [ "$code" -eq 0 ]
    [ "$(sql "SELECT count(*) FROM campaign_worker WHERE taken_out NOT NULL")" = 0 ]
    [ "$(outcomes)" = "ok crash ok ok ok ok" ]
}

@test "too few files may be open in one of the processes: that ends all, and is said" {
    cp "$TREE"/test/specs/sleep.* .
    cat >few <<'END'
#!/bin/bash
[ "$OMPI_COMM_WORLD_RANK" != "$1" ] || ulimit -n "$2"
exec "$LATHE_MPI_BIN" "${@:3}"
END
    chmod +x few
    export LATHE_MPI_BIN
    local rank most
    for rank in 0 1; do
        # what MPI itself needs depends on its version; above that it is the event loop, then workers, then nothing
        for most in 16 20 24 28 32; do
            code=0
            timeout 60 mpirun -n 2 ./few $rank $most tune sleep.lua --trials 1 --top 0 --db p.db -q >out 2>log 3>&- ||
                code=$?
            echo "rank $rank, $most files: exit code $code"; cat log
            [ "$code" -ne 124 ]
            [ "$code" -eq 0 ] || grep -iq "too many open files" log
            not grep -Eiq "assertion|segmentation fault|signal:" log
            cat log >>logs
        done
        grep -q "^lathe: rank $rank.*: cannot start workers: too many open files" logs
    done
}
