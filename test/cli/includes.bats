# includes.bats: scripts/check-includes finds a violation of each kind, planted in a copy of the sources. All are
# planted at once and looked for one by one, so the compiler runs twice and not twenty times.
load helper

setup_file() {
    export CHECK="$TREE/scripts/check-includes" COPY="$BATS_FILE_TMPDIR/copy" REPORT="$BATS_FILE_TMPDIR/report"
    mkdir "$COPY"
    cp -r "$TREE/tuner" "$TREE/search" "$TREE/db" "$COPY"
    cd "$COPY" || return 1

    plant tuner/base/hash.c '#include "campaign/campaign.h"'     # upwards
    plant tuner/trial/cache.c '#include "db/store.h"'            # two rooms that must not know each other
    plant search/spec/spec.c '#include "search/space/space.h"'   # two rooms of search/
    plant tuner/cli/space/space_view.c '#include "cli/cli.h"'     # a command's folder, the table of commands
    plant tuner/cli/output/report.c '#include "cli/args/select.h"' # two folders of cli/
    plant db/query.c '#include "../tuner/device/dev.h"'          # by another way of writing the path
    plant search/space/space.c '#include "./../db/query.h"'
    plant tuner/expr/value.h '#include "device/target_of.h"'    # in a header, which others include
    echo '#include "model/outcome.h"' >tuner/device/target_of.h
    plant tuner/model/plan/plan.c $'#ifdef NEVER\n#  include  "trial/bench.h"\n#endif'   # where the compiler does not look
    plant tuner/campaign/replay/memo.c $'#define IT "cli/cli.h"\n#include IT'              # where the text does not say it
    plant tuner/cli/args/stored.c '#include "device/../trial/../expr/value.h"'           # right, if oddly written
    plant tuner/export/export_cu.c '#include <lua.h>'            # foreign headers
    plant tuner/trial/verify.c '#include <sqlite3.h>'
    plant tuner/cli/args/select.c '#include <uv.h>'
    plant tuner/cli/progress/signals.c '#include "trial/child.h"'            # child.h includes uv.h
    plant db/store.c '#include "cuda.h"'
    plant tuner/trial/measure.c '#include <cublas_v2.h>'
    plant tuner/campaign/final/final.c '#include <dlfcn.h>'
    plant tuner/base/rng.h '#include <lua5.4/lauxlib.h>'
    mkdir tuner/attic                                            # a room that nobody has declared
    echo '#include "base/err.h"' >tuner/attic/old.c
    plant tuner/trial/worker.c '#include "attic/old.h"'
    echo '#include "expr/value.h"' >tuner/attic/old.h
    not "$CHECK" "$COPY" >"$REPORT"
}

# plant FILE TEXT: adds the lines at the end
plant() { printf '%s\n' "$2" >>"$1"; }

found() {
    grep -qx "# $1 includes $2, which is .*" "$REPORT" || { echo "$1 -> $2 is not in:"; cat "$REPORT"; return 1; }
}

@test "a room above" {
    found tuner/base/hash.c tuner/campaign/campaign.h
    found tuner/cli/space/space_view.c tuner/cli/cli.h
}
@test "a room beside" {
    found tuner/trial/cache.c db/store.h
    found search/spec/spec.c search/space/space.h
    found tuner/cli/output/report.c tuner/cli/args/select.h
}
@test "a path with .. in it" {
    found db/query.c tuner/device/dev.h
    found search/space/space.c db/query.h
    not grep -q tuner/cli/args/stored.c "$REPORT"
}
@test "through a header, whoever includes it" {
    found tuner/expr/value.h tuner/device/target_of.h
    found tuner/expr/value.c tuner/device/target_of.h
}
@test "behind a preprocessor condition" { found tuner/model/plan/plan.c tuner/trial/bench.h; }
@test "behind a macro" { found tuner/campaign/replay/memo.c tuner/cli/cli.h; }
@test "foreign headers outside of their rooms" {
    found tuner/export/export_cu.c lua.h
    found tuner/trial/verify.c sqlite3.h
    found tuner/cli/args/select.c uv.h
    found db/store.c cuda.h
    found tuner/trial/measure.c cublas_v2.h
    found tuner/campaign/final/final.c dlfcn.h
    found tuner/base/rng.h lua5.4/lauxlib.h
}
@test "a foreign header through a header of its owner" { found tuner/cli/progress/signals.c /usr/include/uv.h; }
@test "a room that is not declared" {
    found tuner/attic/old.c tuner/base/err.h
    found tuner/attic/old.h tuner/expr/value.h
    found tuner/trial/worker.c tuner/attic/old.h
}
@test "each room with a violation fails, and the check with it" {
    for room in base expr search/space search/spec db export trial campaign cli attic; do
        grep -q "^not ok [0-9]* - $room " "$REPORT"
    done
    not "$CHECK" "$COPY" >/dev/null
}
@test "a compiler that fails is no proof" {
    run env CC=false "$CHECK" "$COPY"
    [ "$status" -ne 0 ]
    [[ "$output" == "not ok 1 "* ]]
    plant "$COPY/db/query.c" '#error "no dependencies of this"'
    run "$CHECK" "$COPY"
    [ "$status" -ne 0 ]
    [[ "$output" == *"not ok 1 - the compiler"* ]]
}
@test "a tree without the sources is no proof" {
    mkdir -p "$BATS_TEST_TMPDIR/empty"
    run "$CHECK" "$BATS_TEST_TMPDIR/empty"
    [ "$status" -ne 0 ]
}
