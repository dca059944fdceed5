# mpi.bash: campaigns whose devices are MPI ranks of this machine, under mpirun. load ../cli/helper and ../cli/hold
# first. LATHE_MPI_BIN is the program under test (default: build/lathe-mpi of this tree).

LATHE_MPI_BIN="$(realpath "${LATHE_MPI_BIN:-$TREE/build/lathe-mpi}")"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe     # what Open MPI 5 calls it
export LATHE_MPI_DEVICE=host

# mpi N ARGUMENT...: lathe in N processes
mpi() { timeout 120 mpirun -n "$1" "$LATHE_MPI_BIN" "${@:2}"; }

# launch OPTION... -- ARGUMENT...: mpirun of three processes in the background, with these options of its own; sets $pid
launch() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    env --default-signal=INT mpirun -n 3 "${options[@]}" "$LATHE_MPI_BIN" "$@" >out 2>log 3>&- &
    pid=$!
}

# hold OPTION...: a campaign over test/specs/hold.lua that proposes what order.lua says
hold() {
    launch "$@" -- tune "$TREE/test/specs/hold.lua" --strategy order.lua --db p.db --compile-workers 2 --top 0 \
        --time-limit 600 --give-up 0
}

# rank K: the process id of rank K
rank() {
    local p
    for p in $(descendants "$pid"); do
        grep -q "^PPid:[[:space:]]$pid$" "/proc/$p/status" 2>/dev/null || continue
        tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$1" && echo "$p"
    done
}

# coordinator: the process id of rank 0's child
coordinator() {
    local p
    for p in $(descendants "$(rank 0)"); do
        grep -q "^PPid:[[:space:]]$(rank 0)$" "/proc/$p/status" 2>/dev/null && echo "$p"
    done
}

# workers K: the process ids of what rank K has started
workers() { descendants "$(rank "$1")" | grep -vx "$(rank "$1")"; }

# holder: the rank on which a kernel waits
holder() {
    sql "SELECT device_position + 1 FROM trial WHERE outcome = 'in_flight' AND attempts = 1 AND device_position NOT NULL
         AND configuration LIKE '%${1:-final}%'" 2>/dev/null
}

# a kernel waits on one rank, another has done what else there was
one_waits() {
    touch hold-final
    order never "final never never never"
    hold "$@"
    until_true 60 test -e held
    until_true 60 ended 4
    rm hold-final                           # whoever has it next does not wait
    waits="$(holder)"
    all="$(descendants "$pid")"
}

teardown() {
    cat log || true
    [ -z "${pid:-}" ] || kill -KILL $(descendants "$pid") 2>/dev/null || true
}
