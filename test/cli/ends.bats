# ends.bats: what may happen to a campaign from outside: each has a defined end, and nothing that was measured is lost.
load helper
load hold

# goes on to its end, and every trial has an outcome of its own
completes() {
    goes_on "$@"
    ends
    [ "$code" -eq 0 ]
    [ "$(sql "SELECT state FROM campaign")" = finished ]
    [ "$(sql "SELECT count(*) FROM trial WHERE outcome IN ('in_flight', 'skipped')")" = 0 ]
}

# full COMMAND...: a campaign whose database meets its limit under COMMAND, and what is left of it
full() {
    local options="mine --device host --kernel plain --size M=6 --strategy exhaustive --trials 30 --top 0 --quiet"
    cp -r "$TREE/test/cli/kernels/tiny" mine
    lathe tune $options --db warm.db >out       # images are made: only the database grows now
    code=0
    "$@" "$LATHE_BIN" tune $options --db p.db >out 2>log 3>&- || code=$?
    cat log
    [ "$code" -eq 6 ]
    [ "$(sql "PRAGMA integrity_check")" = ok ]
    local before="$(sql "SELECT count(*) FROM trial WHERE outcome NOT IN ('in_flight', 'skipped')")"
    [ "$before" -gt 2 ]
    [ "$before" -lt 30 ]
    sql "SELECT id, outcome, time_ms, ended FROM trial WHERE outcome NOT IN ('in_flight', 'skipped')" | sort >before
    "$LATHE_BIN" tune --resume 1 --db p.db --quiet >out
    [ "$(sql "SELECT state || ' ' || (SELECT count(*) FROM trial WHERE number > 0) FROM campaign")" = "finished 30" ]
    [ -z "$(sql "SELECT id, outcome, time_ms, ended FROM trial" | sort | comm -13 - before)" ]
}

@test "the disk is full: said, what was recorded is kept, and it goes on when there is room" {
    unshare -rm mount -t tmpfs none "$PWD" 2>/dev/null || skip "no file system can be mounted here"
    cat >small <<'END'
mkdir disk && mount -t tmpfs -o size=600k none disk
code=0
"$1" "${@:2:$#-2}" disk/p.db || code=$?
cp disk/p.db* .         # as it was left
exit $code
END
    full unshare -rm bash ./small
    grep -q "p.db: the disk is full (.*everything recorded before it is kept" log
}

@test "the database may not grow any more: said, what was recorded is kept, and it goes on when it may" {
    limited() { ( ulimit -f 800; exec "$@" ) }
    full limited
    grep -q "p.db: .* (recording .*what was measured is kept: campaign 1" <(tr '\n' ' ' <log)
}

# locked SECONDS: another process holds the database so long, in the background
locked() {
    printf 'BEGIN IMMEDIATE;\n.shell touch locked; sleep %s\nCOMMIT;\n' "$1" | sqlite3 -cmd ".timeout 5000" p.db 3>&- &
    locker=$!
    until_true 10 test -e locked
}

@test "a database that somebody else locks for a while is waited for" {
    order never never never never
    begin
    until_true 60 ended 1
    locked 3
    ends
    wait "$locker"
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "ok ok ok ok" ]
}

@test "an interrupt ends the wait for a locked database too, and what was recorded goes on later" {
    order never "device never"
    begin
    until_true 60 test -e held
    locked 20
    kill -s INT "$pid"
    all="$pid"
    until_true 10 gone $all
    ends
    kill "$locker" $(pgrep -P "$locker") 2>/dev/null || true
    wait "$locker" || true
    [ "$code" -eq 6 ]
    grep -q "another process holds the database locked" log
    [ "$(sql "SELECT state FROM campaign")" = running ]
    [[ "$(lathe show --db p.db)" == *interrupted* ]]
    completes --time-limit 1
    [ "$(outcomes)" = "ok timeout ok" ]
}

@test "the program's file is deleted while a campaign runs: its workers are still that program" {
    order never device never
    cp "$LATHE_BIN" ./program
    LATHE_BIN="$PWD/program"
    begin
    until_true 60 test -e held
    rm program
    kill -KILL $(worker device)
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "ok crash ok" ]
}

@test "workers cannot be started any more: said, and it goes on when they can" {
    order never device never
    begin
    until_true 60 test -e held
    # no process more for this user's campaign: its limit on open files is used up
    prlimit --pid "$pid" --nofile=4:1024
    kill -KILL $(worker device)
    ends
    cat log
    [ "$code" -eq 4 ]
    grep -q "cannot start a worker" log
    [ "$(sql "SELECT state FROM campaign")" = failed ]
    [ "$(sql "SELECT outcome FROM trial WHERE number = 1")" = ok ]
    completes --time-limit 1
}

@test "a clock that jumps changes no number" {
    cat >jump.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
/* each look at the time of day is years before or after the last one */
int clock_gettime(clockid_t id, struct timespec *t)
{
    static int (*real)(clockid_t, struct timespec *);
    static int calls;
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(id, t);
    if (id == CLOCK_REALTIME) t->tv_sec += (++calls % 2 ? -1 : 1) * 400000000L;
    return code;
}
END
    ${CC:-cc} -shared -fPIC -O1 -o jump.so jump.c -ldl
    order never never "never device" never
    [ -z "${LATHE_SANITIZE:-}" ] || skip "the sanitizer's library has to be the first"
    LD_PRELOAD="$PWD/jump.so" begin --time-limit 1
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "ok ok ok timeout ok" ]
    [ "$(sql "SELECT max(started) > '2030' AND min(started) < '2024' FROM trial")" = 1 ]    # it did jump
    [ "$(sql "SELECT seconds BETWEEN 1 AND 100 FROM campaign")" = 1 ]
    [ "$(sql "SELECT count(*) FROM trial WHERE total_seconds BETWEEN 0 AND 100
                AND campaign_seconds BETWEEN 0 AND 100")" = 5 ]
    [ "$(sql "SELECT min(time_ms > 0) FROM trial WHERE outcome = 'ok'")" = 1 ]
}

@test "too few files may be open: said, by tune and by check, however few" {
    cp "$TREE"/test/specs/sleep.* .
    local most answer last
    for most in 5 6 7 8 9 10 11 12 13; do
        for last in "tune --device host --trials 1 --db p.db -q" "check --target host --sample 1"; do
            code=0
            ( ulimit -n $most; exec "$LATHE_BIN" ${last%% *} sleep.lua ${last#* } ) >out 2>log 3>&- || code=$?
            echo "$most files: exit code $code: $last"; cat log
            [ "$code" -eq 6 ] || [ "$code" -eq 7 ]
            grep -iq "^lathe: .*too many open files" log
        done
    done
}

@test "a device that fails three times in a row on what was right before is taken out" {
    order never breaks never never never never
    begin
    ends
    cat log
    [ "$code" -eq 4 ]
    grep -q "host is taken out: .* on a configuration that was right before (trial 1; now crash" log
    grep -q "trials 2, 3 and 4 may have failed for the device's sake" log
    [ "$(outcomes)" = "ok crash crash crash skipped" ]      # the next was compiled while the device was tried
    [ "$(sql "SELECT state FROM campaign")" = failed ]
    [[ "$(sql "SELECT note FROM campaign")" == "host is taken out"* ]]
    rm broken
    completes
    [ "$(outcomes)" = "ok crash crash crash ok ok" ]
}

@test "a device that takes the time limit and a little for what was right before is not taken out" {
    cp "$TREE"/test/specs/hold.* .
    # once something has broken, those that are right take 0.15 s a launch, of which verifying has at least four
    sed -i 's|if (is_broken()) __builtin_trap();|if (LATHE_HOLD == LATHE_HOLD_breaks) __builtin_trap();\
        if (i == 0 \&\& is_broken()) usleep(150000);|
        s|^extern "C" int pause.*|&\nextern "C" int usleep(unsigned);|' hold.cu
    order never "breaks breaks breaks"
    "$LATHE_BIN" tune ./hold.lua --device host --strategy order.lua --db p.db --top 0 --give-up 0 --time-limit 0.4 -q \
        ${LATHE_SANITIZE:+--sanitize} >out 2>log
    [ "$(outcomes)" = "ok crash crash crash" ]
    [ "$(sql "SELECT state || ' ' || coalesce(note, '') FROM campaign")" = "finished " ]
}

@test "failures of candidates alone take no device out" {
    order never "device device device device" never
    begin --time-limit 0.5
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "ok timeout timeout timeout timeout ok" ]
}

@test "a compile that takes too long: timeout" {
    order "compile never"
    begin --compile-limit 1
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "timeout ok" ]
    [ "$(sql "SELECT reason FROM trial WHERE number = 1")" = "the compiler took longer than 1 s" ]
}

@test "a compiler that leaves a server running, with its output open, is not waited for beyond its own end" {
    cp "$TREE"/test/specs/sleep.* .
    printf '#!/bin/sh\nsetsid sleep 100 3>&- &\necho $! >>servers\nexec %s "$@"\n' "${CXX:-c++}" >cxx
    chmod +x cxx
    CXX="$PWD/cxx" LATHE_CACHE="$PWD/cache" lathe tune sleep.lua --device host --trials 2 --top 0 --db p.db -q >out 2>log ||
        code=$?
    kill $(cat servers) || true
    cat log
    [ -z "${code:-}" ]
    [ "$(outcomes)" = "ok ok" ]
    [ "$(sql "SELECT seconds < 20 FROM campaign")" = 1 ]
}

@test "a compile that needs too much memory costs one trial" {
    compiler "head -c 2000000000 /dev/zero | tail; exit 1"
    order "compile never"
    [ -z "${LATHE_SANITIZE:-}" ] || skip "no limit on memory under the sanitizer"
    begin --compile-memory 600
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "compile ok" ]
    [[ "$(sql "SELECT reason FROM trial WHERE number = 1")" == *"memory exhausted"* ]]
}

@test "a compiler that crashes costs one trial, and two tries" {
    compiler "echo x >>tries; kill -SEGV \$\$"
    order "compile never"
    begin
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "compile ok" ]
    [ "$(wc -l <tries)" -eq 2 ]
    [[ "$(sql "SELECT reason FROM trial WHERE number = 1")" == "the compiler died: "*"ended with code 139"* ]]
}

@test "a full disk under the compiler ends the campaign, and is no configuration's failure" {
    compiler 'echo "fatal error: error writing to /tmp/x.s: No space left on device" >&2; exit 1'
    order "compile never"
    LATHE_CACHE="$PWD/cache" begin
    ends
    [ "$code" -ge 5 ]
    grep -q "the compiler found no space left on the device" log
    [ "$(sql "SELECT count(*) FROM trial WHERE outcome = 'compile'")" = 0 ]
    [ "$(sql "SELECT state FROM campaign")" = failed ]
}

@test "the database is deleted, moved or replaced: the campaign ends, and what it recorded is beside it" {
    for what in "rm p.db" "mv p.db elsewhere.db" "sqlite3 other.db 'CREATE TABLE other (x)'; mv other.db p.db"; do
        rm -f ./*.db* p.db.rescued held
        order never never device never never never never
        begin --time-limit 1
        until_true 60 test -e held
        eval "$what"
        sleep 0.6
        ends
        [ "$code" -eq 6 ]
        grep -q "^lathe: p.db was deleted, moved or replaced while it was in use; what was recorded is in p.db.rescued" log
        ! grep -q "is kept: campaign" log
        [ ! -e p.db-wal ] && [ ! -e p.db-shm ]      # they would be taken for a part of what is in its place
        [ ! -e p.db ] || [ "$(sqlite3 p.db "SELECT group_concat(name) FROM sqlite_schema")" = other ]
        [ "$(sqlite3 p.db.rescued "PRAGMA integrity_check")" = ok ]
        [ "$(sqlite3 p.db.rescued "SELECT count(*) > 1 FROM trial WHERE outcome = 'ok'")" = 1 ]
        lathe tune --resume 1 --db p.db.rescued --quiet >out
        [ "$(sqlite3 p.db.rescued "SELECT count(*) FROM trial WHERE number > 0")" = 7 ]
    done
}

@test "a campaign in what takes the database's place, at once: it waits for the first, and neither loses a trial" {
    local other=(tune "$TREE/test/specs/scalars.lua" --device host --trials 1 --top 0 --quiet)
    lathe "${other[@]}" --db finished.db >out
    for what in "mv other.db p.db" "rm p.db"; do
        rm -f p.db* held
        cp finished.db other.db
        order never never device never
        begin --time-limit 20
        until_true 60 test -e held
        eval "$what"
        "$LATHE_BIN" "${other[@]}" --db p.db >second
        ends
        [ "$code" -eq 6 ]
        grep -q "what was recorded is in p.db.rescued$" log
        [ "$(sqlite3 p.db.rescued "PRAGMA integrity_check")" = ok ]
        [ "$(sqlite3 p.db.rescued "SELECT count(*) > 1 FROM trial WHERE outcome = 'ok'")" = 1 ]
        [ "$(sql "PRAGMA integrity_check")" = ok ]
        [ -z "$(sql "SELECT 1 FROM campaign WHERE state <> 'finished' OR id NOT IN (SELECT campaign_id FROM trial)")" ]
        grep -q "^database p.db, campaign $(sql "SELECT count(*) FROM campaign")$" second
    done
}

@test "a link to the database that is pointed elsewhere, or removed: the campaign goes on in the file it began in" {
    lathe tune "$TREE/test/specs/scalars.lua" --device host --trials 1 --top 0 --quiet --db another.db >out
    for what in "ln -sfn another.db p.db" "rm p.db" "ln -sfn nowhere folder"; do
        rm -rf p.db* held first* folder inside
        mkdir inside
        ln -s inside folder
        ln -s folder/first.db p.db          # which is not there yet
        order never device never
        begin --time-limit 20
        until_true 60 test -e held
        eval "$what"
        rm held
        kill -KILL "$(worker device)"       # the trial that hangs
        ends
        [ "$code" -eq 0 ]
        grep -q "^database inside/first.db, campaign 1$" out
        grep -q "^next: lathe [a-z]* .*--db inside/first.db" out
        [ "$(sqlite3 inside/first.db "SELECT state FROM campaign")" = finished ]
        [ "$(sqlite3 another.db "SELECT count(*) FROM campaign")" = 1 ]
    done
}

@test "a terminal that is closed: the exit code is that of an interrupt" {
    script -qec true /dev/null >/dev/null 2>&1 </dev/null || skip "no pseudo-terminals here"
    order never "device never"
    cat >closed.py <<'END'
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
os.set_blocking(fd, False)
while not os.path.exists("held"):
    time.sleep(0.05)
    try:
        os.read(fd, 65536)
    except BlockingIOError:
        pass
os.close(fd)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
    code=$(python3 closed.py "$LATHE_BIN" tune "$TREE/test/specs/hold.lua" --device host --strategy order.lua --db p.db \
        --compile-workers 1 --top 0 --give-up 0)
    [ "$code" -eq 130 ]
    [ "$(sql "SELECT state FROM campaign")" = interrupted ]
}
