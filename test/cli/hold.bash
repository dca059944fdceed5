# hold.bash: campaigns over test/specs/hold.lua, whose kernels wait in a known place, and the processes that they are
# made of. For tests that kill, interrupt or cut off; load helper first.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    # a compiler that waits where HOLD is "compile", the third value, and says so by a file
    cat >c++ <<'END'
#!/bin/sh
case " $* " in *" -DLATHE_HOLD=2 "*) . ./does ;; esac
PATH=${PATH#*:}
exec ${LATHE_TEST_CXX:-c++} "$@"
END
    chmod +x c++
    compiler "touch compiling; sleep 1000"
    export LATHE_TEST_CXX="${CXX:-}"
    unset CXX
    PATH="$PWD:$PATH"
}

teardown() {
    cat log || true                         # bats shows it where the test failed
    [ -z "${pid:-}" ] || kill -KILL "$pid" 2>/dev/null || true
}

# order GROUP...: order.lua, a strategy that proposes each group's HOLDs at once, one group after another
order() {
    local groups="" id=0 group hold
    for group in "$@"; do
        groups+="{ "
        for hold in $group; do groups+="{ HOLD = \"$hold\", ID = $((++id)) }, "; done
        groups+="}, "
    done
    cat >order.lua <<END
return strategy { name = "order", summary = "", run = function(tune)
  for _, group in ipairs { $groups } do tune.evaluate_all(group) end
end }
END
}

# compiler COMMANDS: the compiler does that where HOLD is `compile`
compiler() { echo "$1" >does; }

# begin OPTION...: the campaign in the background; sets $pid
begin() {
    local sanitize=
    [ -z "${LATHE_SANITIZE:-}" ] || sanitize=--sanitize
    # a shell starts background jobs with SIGINT ignored, and lathe leaves an ignored signal alone
    env --default-signal=INT "$LATHE_BIN" tune "$TREE/test/specs/hold.lua" --device host --strategy order.lua \
        --db p.db --compile-workers 2 --top 0 --give-up 0 $sanitize "$@" >out 2>log 3>&- &
    pid=$!
}

# goes_on OPTION...: the same campaign, resumed, in the background
goes_on() {
    env --default-signal=INT "$LATHE_BIN" tune --resume 1 --db p.db "$@" >out 2>log 3>&- &
    pid=$!
}

# ends: waits for it; sets $code
ends() {
    code=0
    wait "$pid" || code=$?
    pid=
}

# descendants PID: it, its children, theirs, ...
descendants() {
    cat /proc/[0-9]*/stat 2>/dev/null | sed -E 's/^([0-9]+) \(.*\) [A-Za-z] ([0-9]+) .*/\1 \2/' | awk -v root="$1" '
        { parent[$1] = $2 }
        END { for (p in parent) { for (q = p; q in parent && q != root; q = parent[q]); if (q == root) print p } }'
}

# worker KIND: the process ids of the campaign's workers of this kind, its children
worker() {
    local p
    for p in $(descendants "$pid"); do
        grep -q "^PPid:[[:space:]]$pid$" "/proc/$p/status" 2>/dev/null || continue
        case "$(cat "/proc/$p/cmdline" 2>/dev/null | tr '\0' ' ')" in *" worker $1 "*) echo "$p" ;; esac
    done
}

# gone PID...: none of them runs any more (a dead one that nobody has waited for does not)
gone() {
    local p
    for p in "$@"; do [ ! -e "/proc/$p/exe" ] || return 1; done
}

# leaves_nothing: all that ran for the campaign ends within two seconds
leaves_nothing() { until_true 2 gone $all; }

sql() { sqlite3 p.db "$1"; }
outcomes() {
    sql "SELECT group_concat(outcome, ' ') FROM (SELECT outcome FROM trial WHERE role = 'candidate' ORDER BY number)"
}
ended() { [ "$(sql "SELECT count(*) FROM trial WHERE outcome <> 'in_flight'" 2>/dev/null)" -ge "$1" ]; }

# middle: a campaign with a trial on the device and another in the compiler, and one done
middle() {
    order never "device compile never"
    begin
    until_true 60 test -e held
    until_true 60 test -e compiling
    all="$(descendants "$pid")"
    [ "$(echo "$all" | wc -l)" -ge 6 ]      # itself, the device, two compile workers, a compiler with its keeper
}
