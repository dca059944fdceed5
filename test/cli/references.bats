# references.bats: a specification's own reference kernel that crashes, does not end, or is waited for:
# test/specs/hold.lua's.
load helper
load hold

WHOSE="hold: the specification's reference kernel (launch hold_reference, grid 2 x 1 x 1, block 64 x 1 x 1)"

@test "a reference that crashes is the specification's fault, by name" {
    [ -z "${LATHE_SANITIZE:-}" ] || skip "the sanitizer ends it by an exit code"
    touch crash-reference
    order never
    begin
    ends
    [ "$code" -eq 2 ]
    grep -qF "lathe: $WHOSE crashes: killed by signal 11 (Segmentation fault)" log
    grep -qF "the device works: it ran lathe's own kernels before" log
    fails 2 "$WHOSE crashes" lathe verify "$TREE/test/specs/hold.lua" --device host --kernel hold \
        --where "HOLD == 'never'"              # another waits in the compiler
    rm crash-reference
    begin
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = ok ]
}

@test "a reference that cannot be launched: the same" {
    for f in lua cu; do cp "$TREE/test/specs/hold.$f" .; done
    sed -i '/hold_reference/s/block = 64/block = 64, cluster = 2/' hold.lua
    fails 2 "the specification's reference kernel (launch hold_reference, grid 2 x 1 x 1, block 64 x 1 x 1) fails: " \
        lathe tune ./hold.lua --device host --trials 1 --quiet
    [[ "$errors" == *"invalid cluster size"* ]]
}

@test "a reference that does not end: told, and ended after ten times --time-limit" {
    touch hold-reference
    order never
    local start=$SECONDS
    begin --time-limit 0.6
    ends
    [ "$code" -eq 2 ]
    [ $((SECONDS - start)) -ge 6 ]
    [ $((SECONDS - start)) -lt 20 ]         # and not tried again
    grep -qF "computing the reference takes longer than 5 s (up to 6 s are waited; Ctrl-C ends it)" log
    grep -qF "lathe: $WHOSE did not end within 6 s" log
    grep -q "ten times --time-limit" log
}

@test "the first interrupt ends the wait for a reference, and the campaign goes on later" {
    touch hold-reference
    order never
    begin
    until_true 60 test -e held
    all="$(descendants "$pid")"
    kill -s INT "$pid"
    leaves_nothing
    ends
    [ "$code" -eq 130 ]
    [ "$(sql "SELECT state FROM campaign")" = interrupted ]
    rm hold-reference
    goes_on
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = ok ]
}

@test "the first interrupt ends the wait for a reference on fresh inputs: what the search found is kept" {
    order never device
    begin --top 2
    until_true 60 test -e held
    touch hold-reference
    kill -KILL $(worker device)             # its successor computes the reference on the final's inputs
    rm held
    until_true 60 test -e held
    all="$(descendants "$pid")"
    kill -s INT "$pid"
    leaves_nothing
    ends
    [ "$code" -eq 130 ]
    [ "$(sql "SELECT state FROM campaign")" = interrupted ]
    [ "$(lathe best --db p.db --json | grep -c '"outcome": "ok"')" -eq 1 ]
}

@test "an interrupt while the reference is compiled" {
    order never
    sed -i "s|-DLATHE_HOLD=2|-E|" c++
    LATHE_CACHE="$PWD/cache" begin
    until_true 60 test -e compiling
    kill -s INT "$pid"
    until_true 5 gone "$pid"
    ends
    [ "$code" -eq 130 ]
    [ "$(sql "SELECT state FROM campaign")" = interrupted ]
}

@test "a worker that is killed while it computes the reference is replaced" {
    touch hold-reference
    order never
    begin
    until_true 60 test -e held
    rm hold-reference
    kill -KILL $(worker device)
    ends
    [ "$code" -eq 0 ]
    [ "$(outcomes)" = ok ]
}

# unfit BUG TEXT: tune and verify end with exit code 2, name the reference, and say TEXT
unfit() {
    local whose="unfit: the specification's reference kernel (launch unfit_${3:-reference}, grid 16 x 1 x 1, block 64 x 1 x 1)"
    fails 2 "$whose $2" lathe tune "$TREE/test/specs/unfit.lua" --size BUG=$1 --device host --trials 1 --db p.db --quiet
    fails 2 "$whose $2" lathe verify "$TREE/test/specs/unfit.lua" --size BUG=$1 --device host --kernel unfit
}

@test "a reference that writes what it should not, or leaves out what it should, is told, not the candidates" {
    unfit 1 "writes out of bounds: y was written 40 bytes past its end"
    unfit 2 "writes out of bounds: w was written 4 bytes before its start"
    unfit 3 "changes its input x"
    unfit 4 "leaves 11 of 1000 elements of y unwritten, the first y[3]" partly
}

@test "a reference that gives something else when it runs again" {
    unfit 5 "does not give the same twice: by more than the tolerance its second run differs from the first in 1 of 1000 elements of y"
}

@test "a reference that reads what it did not write, or what lies beside its buffers" {
    unfit 6 "reads an output or workspace that it did not write: by more than the tolerance its second run differs"
    unfit 13 "reads an output or workspace that it did not write: "
    unfit 14 "reads an output or workspace that it did not write: "
    unfit 10 "reads out of bounds, what lies beside its buffers: by more than the tolerance its second run differs"
    unfit 11 "reads out of bounds, what lies beside its buffers: "
    # what the sanitizers guard holds no garbage (host_shim.h)
    [ -n "${LATHE_SANITIZE:-}" ] ||
        unfit 12 "reads shared memory that it did not write, or counts on an order of threads or blocks: "
}

@test "a reference that rounds otherwise when it runs again, or gives a NaN: it may" {
    for bug in 9 7; do
        lathe tune "$TREE/test/specs/unfit.lua" --size BUG=$bug --device host --trials 1 --db p.db --quiet >out
    done
    run lathe tune "$TREE/test/specs/unfit.lua" --size BUG=8 --device host --trials 1 --db p.db --quiet
    [ "$status" -eq 1 ]                             # the candidate is not right then, the reference is
    [[ "$(lathe query --db p.db "SELECT reason FROM trial WHERE campaign_id = 3")" == *"y[3] got "*"wanted nan"* ]]
}
