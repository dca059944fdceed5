# faults.bats: a small campaign on the host device in which the Nth call of a kind fails, for N = 1, 2, ... until none
# does (test/faults/wrap.c). Each run has a defined end: an exit code of the manual and a message, a whole database; and
# the campaign, resumed, is what it would have been. `make faults`; FAULTS_STEP: by how many per cent N grows beyond 20,
# 0: by one.
load ../cli/helper

CAMPAIGN="tiny --device host --kernel plain --size M=6 --strategy exhaustive --trials 5 --top 1 --compile-workers 1 --quiet"

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    export LATHE_CACHE="$BATS_FILE_TMPDIR/cache"
    "$LATHE_BIN" tune $CAMPAIGN --db whole.db >out
    configurations whole.db >whole
}

configurations() { sqlite3 "$1" "SELECT number, configuration FROM trial WHERE number > 0 ORDER BY number"; }

# one KIND N PROCESS: a run with that fault. False: it did not come to it.
one() {
    rm -f p.db* mark out log
    code=0
    # one image is compiled anew: else there is little for a compiler to do
    [ "$3" != compile ] || rm -f "$(ls -t own/*.image 2>/dev/null | head -1)"
    LATHE_FAULT="$1:$2:$3" LATHE_FAULT_MARK="$PWD/mark" timeout 60 "$LATHE_BIN" tune $CAMPAIGN --db p.db >out 2>log ||
        code=$?
    [ -e mark ] || { [ $code -eq 0 ]; return 1; }
    case $code in
        0 | 3 | 4 | 5 | 6 | 7 | 8 | 130) ;;
        2) [ ! -s p.db ] || [ "$(sqlite3 p.db "SELECT count(*) FROM campaign")" = 0 ] || bad "$@" ;;
        *) bad "$@" ;;
    esac
    [ $code -eq 0 ] || grep -q '^lathe: ' log || bad "$@"
    [ -s p.db ] || return 0
    [ "$(sqlite3 p.db "PRAGMA integrity_check")" = ok ] || bad "$@"
    [ "$(sqlite3 p.db "SELECT count(*) FROM sqlite_schema WHERE name = 'campaign'")" = 1 ] || return 0
    case "$(sqlite3 p.db "SELECT state FROM campaign")" in
        "") [ $code -ne 0 ] || bad "$@" ;;
        finished) diff <(configurations p.db) "$BATS_FILE_TMPDIR/whole" || bad "$@" ;;
        *)
            timeout 60 "$LATHE_BIN" tune --resume 1 --db p.db --quiet >out 2>>log || bad "$@, and resumed"
            diff <(configurations p.db) "$BATS_FILE_TMPDIR/whole" || bad "$@, and resumed"
            ;;
    esac
}

bad() {
    echo "$*: exit code $code"
    cat log
    sqlite3 p.db "SELECT number, outcome, reason FROM trial" || true
    failures=$((failures + 1))
}

# walk KIND PROCESS
walk() {
    local n=1 step="${FAULTS_STEP:-25}"
    failures=0
    cp -r "$BATS_FILE_TMPDIR/cache" own
    export LATHE_CACHE="$PWD/own"
    while one "$1" $n "$2"; do
        [ $failures -lt 5 ] || break
        n=$((n < 20 || step == 0 ? n + 1 : n + n * step / 100))
    done
    echo "# $1 in $2: N up to $n, $failures failures" >&3
    [ $n -gt 1 ]
    [ $failures -eq 0 ]
}

@test "the start of a worker" { walk spawn coordinator; }
@test "an SQLite step" { walk sqlite coordinator; }
@test "a device's operation" { walk device device; }
@test "a file operation of the coordinator" { walk file coordinator; }
@test "a file operation of the device's worker" { walk file device; }
@test "a file operation of a compile worker" { walk file compile; }
@test "an allocation of the coordinator" { walk alloc coordinator; }
@test "an allocation of the device's worker" { walk alloc device; }
@test "an allocation of a compile worker" { walk alloc compile; }
