# hosts.bats: ranks on several hosts, which are network namespaces here: over TCP, with host names and caches of their
# own, and no shared memory. Skipped where they cannot be had.
load ../cli/helper
load ../cli/hold
load mpi
load hosts

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export LATHE_MPI_SILENCE=3
    hosts_up
}

teardown() {
    cat log || true
    hosts_down
    [ -z "${pid:-}" ] || kill -KILL $(descendants "$pid") 2>/dev/null || true
}

@test "three hosts: who has what, and images travel to caches of their own" {
    on_hosts -- tune tiny --size M=5 --kernel plain --strategy exhaustive --trials 20 --top 2 --db p.db --quiet
    ends
    cat log
    [ "$code" -eq 0 ]
    grep -q "^devices: mpi:1 (h1 host) [0-9]* trials, mpi:2 (h2 host) [0-9]* trials$" out
    # both have timed the baseline, and the final's two
    [ "$(sql "SELECT group_concat(device_position) FROM trial WHERE number <= 0 AND outcome = 'ok'")" = 0,1 ]
    [ "$(sql "SELECT count(*) FROM measurement WHERE regime = 'cold'")" = 6 ]
    [ "$(ls cache-h1 | wc -l)" -ge 2 ]
    [ "$(ls cache-h2 | wc -l)" -ge 2 ]
    for image in cache-h1/*; do cmp "$image" "cache-h0/${image#*/}"; done
}

# the rank's process on the host where a kernel waits: its daemon's child
rank_on_host() {
    local p
    for p in $(ip netns pids $NET-h$waits); do
        case "$(tr '\0' ' ' <"/proc/$p/cmdline" 2>/dev/null)" in *lathe-mpi\ tune*) echo "$p" ;; esac
    done
}

# a kernel waits on one host, `waits`, the other has done the rest
one_host_waits() {
    touch hold-final
    order never "final never never never"
    on_hosts "$@" -- tune "$TREE/test/specs/hold.lua" --strategy order.lua --db p.db --compile-workers 2 --top 0 \
        --time-limit 600
    until_true 60 test -e held
    until_true 60 ended 4
    rm hold-final
    waits="$(holder)"
}

@test "a rank on another host dies, with --enable-recovery: its trial goes to the other host" {
    one_host_waits --enable-recovery
    kill -KILL $(rank_on_host)
    ends
    [ "$(outcomes)" = "ok ok ok ok ok" ]
    [ "$(sql "SELECT taken_out FROM campaign_worker WHERE taken_out NOT NULL")" = \
      "rank $waits on h$waits has been silent for 3 s" ]
}

@test "a host is cut off: its trial goes to the other, and the campaign ends with all there is" {
    one_host_waits
    ip -n $NET-h$waits link set eth0 down
    until_true 60 eval '[ "$(sql "SELECT state FROM campaign")" = finished ]'
    [ "$(outcomes)" = "ok ok ok ok ok" ]
    [ "$(sql "SELECT taken_out FROM campaign_worker WHERE taken_out NOT NULL")" = \
      "rank $waits on h$waits has been silent for 3 s" ]
    grep -q "^campaign 1: hold" out
    # mpirun itself waits for its daemon there: until it is reached again, or mpirun is killed
    sleep 2
    not gone $pid
    ip -n $NET-h$waits link set eth0 up
    until_true 60 gone $pid
}
