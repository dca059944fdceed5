# processes.bats: processes that die, are killed or interrupted in the middle of something: what a campaign makes of it,
# and that none is left behind. test/specs/hold.lua has kernels that wait in a known place.
load helper
load hold

@test "a device worker that is killed in the middle of a trial: crash, and the campaign goes on" {
    order never "device never never"
    begin
    until_true 60 test -e held
    kill -KILL $(worker device)
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "ok crash ok ok" ]
    [[ "$(sql "SELECT reason FROM trial WHERE outcome = 'crash'")" == "killed by signal 9 "* ]]
    [ "$(sql "SELECT state FROM campaign")" = finished ]
    grep -q "ID=2: crash: killed by signal 9" log
}

# finds_compiling: sets $compiling to the compile worker whose compiler waits, and $all to what is below it
finds_compiling() {
    local p
    for compiling in $(worker compile); do
        all="$(descendants "$compiling")"
        for p in $all; do
            if grep -q '^sleep$' "/proc/$p/comm" 2>/dev/null; then return; fi
        done
    done
    return 1
}

kill_compiling() {
    until_true 10 finds_compiling
    kill -KILL "$compiling"
}

@test "a compile worker that is killed: its job is compiled again" {
    compiler "[ -e compiling ] || { touch compiling; sleep 1000; }"
    order "compile never"
    LATHE_CACHE="$PWD/cache" begin          # what is made here is not for other tests
    until_true 60 test -e compiling
    kill_compiling
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "ok ok" ]
    leaves_nothing
}

@test "a compiler below a worker that is killed: the same" {
    for victim in driver part; do
        rm -rf compiling p.db* cache
        if [ $victim = driver ]; then
            compiler '[ -e compiling ] || { touch compiling; kill -KILL $$; }'
        else    # as GCC tells of cc1plus
            compiler '[ -e compiling ] || { touch compiling; echo "c++: fatal error: Killed signal terminated program cc1plus" >&2; exit 1; }'
        fi
        order "compile never"
        LATHE_CACHE="$PWD/cache" begin
        ends
        [ "$code" -eq 0 ]
        [ -e compiling ]
        [ "$(outcomes)" = "ok ok" ]
    done
}

@test "all compile workers are killed while the problem is set up: it goes on" {
    compiler '[ -e compiling ] || { touch compiling; sleep 1000; }'
    sed -i "s|-DLATHE_HOLD=2|-E|" c++
    order never
    LATHE_CACHE="$PWD/cache" begin
    until_true 60 test -e compiling
    kill -KILL $(worker compile)
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = ok ]
}

@test "a compile worker that is killed twice: that trial's outcome, and the campaign goes on" {
    order never "compile never never"
    begin
    until_true 60 test -e compiling
    until_true 60 ended 3
    rm compiling
    kill_compiling
    until_true 60 test -e compiling
    kill_compiling
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "ok compile ok ok" ]
    [[ "$(sql "SELECT reason FROM trial WHERE outcome = 'compile'")" == "the compiler died: killed by signal 9 "* ]]
    leaves_nothing
}

# own_cache: a cache with the images that every campaign of hold.lua needs; drop_images: those of kernels go
own_cache() {
    export LATHE_CACHE="$PWD/cache"
    order final
    begin
    ends
    ls cache >before                        # the verifier's and the reference's among them
    rm p.db*
}
drop_images() { (cd cache && ls | grep -vxF -f ../before | xargs rm); }
images() { [ "$(ls cache/*.image | wc -l)" -ge "$1" ]; }

@test "another lathe makes room in the cache: what a campaign goes on needing is not the first to go" {
    export LATHE_CACHE="$PWD/cache"
    order never device never
    begin
    until_true 60 test -e held
    truncate -s 1M cache/0.image            # used after the first trial, and before the one on the device
    touch -d "$(sql "SELECT ended FROM trial WHERE number = 1")" cache/0.image
    LATHE_CACHE_SIZE=1 lathe check "$TREE/test/specs/hold.lua" --target host --kernel hold --sample 1 -q
    [ ! -e cache/0.image ]
    kill -KILL $(worker device)
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "ok crash ok" ]
}

@test "an image that is gone when its trial's turn comes is made again" {
    own_cache
    compiler "until [ -e go ]; do sleep 0.05; done"
    order "device compile"
    begin
    until_true 60 test -e held
    touch go
    until_true 60 images $(($(wc -l <before) + 2))
    drop_images
    kill -KILL $(worker device)
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "crash ok" ]
}

kernels_children() { cat /proc/[0-9]*/comm 2>/dev/null | grep -qx kernels-child; }

@test "what a kernel starts on the host is ended with its worker, whether that crashes, hangs or is done" {
    mkdir forks
    cat >forks/spec.lua <<'END'
local args = { "x", "y" }
return problem { name = "forks", dims = { { "N", 8 } }, tolerance = { atol = 0, rtol = 0 },
  tensors = { { "x", "f32", { "N" } }, { "y", "f32", { "N" }, output = true } },
  reference = kernel { source = "copy.cu", steps = { launch { "copy", grid = 1, block = 8, args = args } } },
  kernels = { { "k", source = "forks.cu", params = { { "THEN", { "crash", "hang", "end" } }, { "APART", { 0, 1, 2 } } },
                steps = { launch { "forks", grid = 1, block = 8, args = args } } } } }
END
    echo 'extern "C" __global__ void copy(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }' \
        >forks/copy.cu
    cat >forks/forks.cu <<'END'
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
extern "C" __global__ void forks(const float *x, float *y) {
    y[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x == 0 && fork() == 0) {  // it holds the worker's pipes
        if (LATHE_APART > 0) setsid();
        if (LATHE_APART > 1 && fork()) _exit(0);    // its parent has ended
        prctl(PR_SET_NAME, "kernels-child");
        for (;;) pause();
    }
    if (LATHE_THEN == LATHE_THEN_crash) abort();
    if (LATHE_THEN == LATHE_THEN_hang) for (;;) pause();
}
END
    "$LATHE_BIN" tune forks --device host --strategy exhaustive --time-limit 3 --top 0 --db p.db -q >out 2>log 3>&-
    [ "$(sql "SELECT group_concat(outcome, ' ') FROM (SELECT outcome FROM trial ORDER BY number)")" \
        = "crash crash crash timeout timeout timeout ok ok ok" ]
    until_true 10 not kernels_children
}

@test "what a kernel writes where its worker answers is that trial's crash, and no other trial's result" {
    cp "$TREE"/test/specs/sleep.* .
    sed -i 's|{ "ID", ids }|{ "SAYS", { "nothing", "object", "ok", "result", "flaw" } }|
        s|"nap", source = "sleep.cu"|"nap", source = "says.cu"|' sleep.lua
    cat >says.cu <<'END'
extern "C" long write(int, const void *, unsigned long);
extern "C" int usleep(unsigned);

static void say(const char *text)       /* and the worker's own answer comes later */
{
    write(4, text, __builtin_strlen(text));
    usleep(300000);
}

extern "C" __global__ void nap(const float *x, float *y, int n)
{
    static bool said;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0 && !said) {
        if (LATHE_SAYS == LATHE_SAYS_object) say("{}\n");
        if (LATHE_SAYS == LATHE_SAYS_ok) say("{\"ok\": true}\n");
        if (LATHE_SAYS == LATHE_SAYS_result) say("{\"ok\": true, \"result\": {}}\n");
        said = true;
    }
    if (i < n) y[i] = (LATHE_SAYS == LATHE_SAYS_flaw ? 3 : 2) * x[i];
}
END
    lathe tune sleep.lua --device host --strategy exhaustive --top 0 --db p.db -q >out 2>log
    [ "$(outcomes)" = "ok crash crash crash wrong" ]
}

@test "a time limit ends a kernel that waits, and what compiles goes on meanwhile" {
    order "device never"
    begin --time-limit 1
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "timeout ok" ]
}

@test "what takes far longer than the best so far is given up, long before the time limit" {
    order never "device never" never
    begin --give-up 20
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "ok timeout ok ok" ]
    [[ "$(sql "SELECT reason FROM trial WHERE outcome = 'timeout'")" == \
       "did not end within 2 s, and 1.8 s that measuring may take; the worker was killed (--give-up 20: far longer than the best so far took)" ]]
    [ "$(sql "SELECT seconds < 30 FROM campaign")" = 1 ]

    # nothing was right yet; or it is not wanted
    rm p.db
    order "device never"
    begin --time-limit 3 --give-up 20
    ends
    [[ "$(sql "SELECT reason FROM trial WHERE outcome = 'timeout'")" == "did not end within 3 s, and 1.8 s that measuring may take; the worker was killed" ]]
    rm p.db
    order never device
    begin --time-limit 3
    ends
    [[ "$(sql "SELECT reason FROM trial WHERE outcome = 'timeout'")" == "did not end within 3 s, and 1.8 s that measuring may take; the worker was killed" ]]
}

@test "a campaign that goes on gives up as it did, by the best that was recorded, or as it is told now" {
    order never device never
    begin --give-up 20 --time-limit 300
    until_true 60 test -e held
    kill -KILL "$pid"
    ends
    goes_on
    ends
    [[ "$(sql "SELECT reason FROM trial WHERE outcome = 'timeout'")" == "did not end within 2 s, "*"--give-up 20"* ]]
    rm p.db* held
    begin --give-up 20 --time-limit 300
    until_true 60 test -e held
    kill -KILL "$pid"
    ends
    goes_on --give-up 0 --time-limit 3
    ends
    [[ "$(sql "SELECT reason FROM trial WHERE outcome = 'timeout'")" == "did not end within 3 s, and 1.8 s that measuring may take; the worker was killed" ]]
}

@test "a time limit is the candidate's alone: what sampling takes is not counted" {
    cp "$TREE"/test/specs/sleep.* .
    sed -i 's|usleep(5000)|{ static int turn; usleep(20000 + 2500 * (turn++ % 9)); }|' sleep.cu
    lathe tune sleep.lua --device host --trials 2 --top 0 --time-limit 0.4 --db p.db --quiet >out
    [ "$(sql "SELECT group_concat(outcome, ' ') FROM trial")" = "ok ok" ]
    [ "$(sql "SELECT min(verify_seconds + measure_seconds) > 0.4 FROM trial")" = 1 ]
}

@test "a time limit that is shorter than verifying takes is each trial's timeout, not the final's; else all goes on" {
    cp "$TREE"/test/specs/sleep.* .
    local reason="took 0.* s to be loaded and verified, and may take 0.01 s"
    code=0
    lathe tune sleep.lua --device host --trials 3 --time-limit 0.01 --db p.db --quiet >out 2>log || code=$?
    [ "$code" -eq 1 ]
    [ "$(sql "SELECT group_concat(outcome, ' ') FROM trial")" = "timeout timeout timeout" ]
    [ "$(sql "SELECT count(*) FROM trial WHERE reason GLOB '$reason'")" = 3 ]
    not grep -q final out log
    rm p.db
    lathe tune sleep.lua --device host --trials 3 --time-limit 0.5 --db p.db --quiet >out
    [ "$(sql "SELECT group_concat(outcome, ' ') FROM trial")" = "ok ok ok" ]
    [ "$(sql "SELECT count(*) FROM measurement WHERE regime = 'cold'")" = 3 ]
}

@test "the coordinator is killed: the database is whole, and no process is left" {
    middle
    kill -KILL "$pid"
    leaves_nothing
    ends
    [ "$code" -eq 137 ]
    [ "$(sql "PRAGMA integrity_check")" = ok ]
    [ -z "$(sql "PRAGMA foreign_key_check")" ]
    [ "$(sql "SELECT group_concat(outcome, ' ') FROM (SELECT outcome FROM trial WHERE number > 0 ORDER BY number)")" = \
      "ok in_flight in_flight in_flight" ]
    [ "$(sql "SELECT count(*) > 0 FROM measurement m JOIN sample s ON s.measurement_id = m.id
                JOIN trial t ON t.id = m.trial_id WHERE t.number = 1")" = 1 ]
    grep -q "^trial 1: best so far" log
    lathe show --db p.db
    [ "$(sql "SELECT state FROM campaign")" = running ]
    lathe show --db p.db --json >list.json
    [ "$(json list.json "j ->> '\$[0].state'")" = interrupted ]
    [[ "$(lathe show 1 --db p.db)" == *"the process that ran it was killed"* ]]
    [ "$(lathe best --db p.db --json | grep -c '"outcome": "ok"')" -eq 1 ]
    order never
    begin                                   # and takes another campaign
    ends
    [ "$code" -eq 0 ]
}

@test "a first interrupt ends it with what it has" {
    for signal in INT TERM HUP; do
        rm -f p.db* held compiling
        middle
        kill -s $signal "$pid"
        ends
        [ "$code" -eq 130 ]
        leaves_nothing
        [ "$(outcomes)" = "ok skipped skipped skipped" ]
        [ "$(sql "SELECT state FROM campaign")" = interrupted ]
        [[ "$(cat out)" == "campaign 1: hold N=100 on "* ]]
        [[ "$(cat out)" == *"next: lathe export --campaign 1 --db p.db -o winner.cu" ]]
        grep -q "^lathe: interrupted; what was measured is campaign 1 of p.db$" log
    done
}

@test "an interrupt while a space is built, which may take a minute" {
    cat >large.lua <<'END'
local params, sum = {}, "0"
for i = 1, 24 do
  params[i] = { "A" .. i, { 0.11, 0.37, 0.58, 0.93, 1.7, 2.9, 3.3, 4.1 } }
  sum = sum .. " + A" .. i .. " * " .. 1 + i * i / 101
end
return problem { name = "large", dims = { { "N", 8 } }, tolerance = { atol = 0, rtol = 0 },
  tensors = { { "x", "f32", { "N" } }, { "y", "f32", { "N" }, output = true } },
  reference = kernel { source = "copy.cu", steps = { launch { "copy", grid = 1, block = 8, args = { "x", "y" } } } },
  kernels = { { "k", source = "copy.cu", params = params, constraints = { sum .. " == 0.5" },
                steps = { launch { "copy", grid = 1, block = 8, args = { "x", "y" } } } } } }
END
    echo 'extern "C" __global__ void copy(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }' >copy.cu
    env --default-signal=INT "$LATHE_BIN" tune large.lua --device host --db p.db >out 2>log 3>&- &
    pid=$!
    until_true 60 grep -q "^building the space of kernel k takes longer than 5 s (Ctrl-C ends it)$" log
    kill -s INT "$pid"
    SECONDS=0
    ends
    [ "$code" -eq 130 ]
    [ $SECONDS -lt 20 ]                         # it would be a minute
    grep -q "^lathe: interrupted while the space of kernel k was built$" log
    [ "$(sql "SELECT count(*) FROM campaign")" = 0 ]
}

@test "an interrupt before anything was measured" {
    order "device never"
    begin
    until_true 60 test -e held
    all="$(descendants "$pid")"
    kill -s INT "$pid"
    ends
    grep -q "^ending: what is running is finished or dropped; once more to end at once$" log
    [ "$code" -eq 130 ]
    leaves_nothing
    [ "$(sql "SELECT state FROM campaign")" = interrupted ]
    fails 1 "no verified configuration" lathe best --db p.db
}

# finals FINAL...: a campaign whose winner is being verified again, and waits there
finals() {
    order "$@" device
    begin --top 9
    until_true 60 test -e held
    touch hold-final
    rm held
    kill -KILL $(worker device)
    until_true 60 test -e held
    all="$(descendants "$pid")"
}

@test "an interrupt in the final keeps what the search found" {
    finals final final
    kill -s INT "$pid"
    ends
    [ "$code" -eq 130 ]
    leaves_nothing
    [ "$(outcomes)" = "ok ok crash" ]
    [ "$(sql "SELECT state FROM campaign")" = interrupted ]
    [ "$(lathe best --db p.db --json | grep -c '"outcome": "ok"')" -eq 2 ]
}

@test "an interrupt while a finalist is compiled again, whose image is not there any more" {
    own_cache
    order never device
    begin --top 1
    until_true 60 test -e held
    sed 's/ -DLATHE_HOLD=2 / -DLATHE_HOLD=0 /' c++ >waits
    chmod +x waits
    mv waits c++
    drop_images
    kill -KILL $(worker device)
    until_true 60 test -e compiling
    all="$(descendants "$pid")"
    kill -s INT "$pid"
    ends
    [ "$code" -eq 130 ]
    leaves_nothing
    [ "$(outcomes)" = "ok crash" ]
    [ "$(sql "SELECT state FROM campaign")" = interrupted ]
}

@test "a second interrupt ends it at once and loses nothing" {
    touch hold-reference
    order never
    begin
    until_true 60 test -e held
    all="$(descendants "$pid")"
    kill -s INT "$pid"
    kill -s INT "$pid" || true
    leaves_nothing
    ends
    [ "$code" -eq 130 ]
    [ "$(sql "PRAGMA integrity_check")" = ok ]
    lathe show 1 --db p.db
}

@test "a signal that the caller ignores is ignored" {
    order never device
    ( trap '' INT; exec "$LATHE_BIN" tune "$TREE/test/specs/hold.lua" --device host --strategy order.lua \
        --db p.db --top 0 --time-limit 2 >out 2>log 3>&- ) &
    pid=$!
    until_true 60 test -e held
    kill -s INT "$pid"
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = "ok timeout" ]
}
