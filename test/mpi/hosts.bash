# hosts.bash: three network and UTS namespaces as three hosts, h0, h1, h2, joined by a bridge in the first. Needs root.
# Nothing of this machine's own network is touched. load mpi first.

NET=lathe-$$

# hosts_up: skips the test where there cannot be namespaces
hosts_up() {
    command -v ip >/dev/null || skip "needs ip (package iproute2)"
    { ip netns add $NET-h0 && unshare --uts true; } 2>/dev/null ||
        skip "needs root, and a system with network namespaces"
    local h
    ip -n $NET-h0 link set lo up
    ip -n $NET-h0 link add br0 type bridge || { hosts_down; skip "needs bridges"; }
    ip -n $NET-h0 addr add 10.77.77.10/24 dev br0
    ip -n $NET-h0 link set br0 up
    for h in 1 2; do
        ip netns add $NET-h$h
        ip -n $NET-h$h link set lo up
        ip -n $NET-h$h link add eth0 type veth peer name to-h$h netns $NET-h0
        ip -n $NET-h$h addr add 10.77.77.1$h/24 dev eth0
        ip -n $NET-h$h link set eth0 up
        ip -n $NET-h0 link set to-h$h master br0 up
    done
    # what mpirun takes for ssh: agent HOST COMMAND...; every host has a cache of its own
    cat >agent <<END
#!/bin/sh
host=\$1; shift
LATHE_CACHE=$PWD/cache-\$host exec ip netns exec $NET-\$host unshare --uts sh -c "hostname \$host; cd '$PWD'; \$*"
END
    chmod +x agent
}

hosts_down() {
    local h
    for h in 0 1 2; do
        ip netns pids $NET-h$h 2>/dev/null | xargs -r kill -KILL 2>/dev/null
        ip netns del $NET-h$h 2>/dev/null
    done
    return 0
}

# on_hosts OPTION... -- ARGUMENT...: mpirun on h0, a process on each host, in the background; sets $pid
on_hosts() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    env --default-signal=INT LATHE_CACHE="$PWD/cache-h0" ip netns exec $NET-h0 unshare \
        --uts sh -c 'hostname h0; exec "$@"' sh \
        mpirun --host h0:1,h1:1,h2:1 --mca plm_rsh_agent "$PWD/agent" --mca plm_rsh_no_tree_spawn 1 \
        --mca btl_tcp_if_include 10.77.77.0/24 --mca oob_tcp_if_include 10.77.77.0/24 -x LATHE_KERNELS -x \
            LATHE_MPI_DEVICE \
        -x LATHE_MPI_SILENCE "${options[@]}" "$LATHE_MPI_BIN" "$@" >out 2>log 3>&- &
    pid=$!
}
