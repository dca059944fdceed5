# helper.bash: what every command-line test shares.
#
# LATHE_BIN is the program under test (default: build/lathe of this tree). Each test runs in an empty folder of its own.
# `run` mixes stdout and stderr; where the difference matters, `split` keeps them apart.

bats_require_minimum_version 1.5.0

TREE="$(cd "${BATS_TEST_DIRNAME}/../.." && pwd)"
LATHE_BIN="$(realpath "${LATHE_BIN:-$TREE/build/lathe}")"
export LATHE_KERNELS="$TREE/test/cli/kernels:$TREE/kernels"
unset NO_COLOR

# LATHE_SANITIZE=1 (make sanitize): a sanitized program, whose campaigns build their kernels with the sanitizers too. A
# test whose kernels are broken on purpose calls "$LATHE_BIN" itself.
lathe() {
    # a campaign that is resumed goes on with what it was begun with, and a replay runs nothing
    if [ -n "${LATHE_SANITIZE:-}" ] && [ "${1:-}" = tune ] && [[ " $* " != *" --resume "* && "$*" != *replay:* ]]; then
        "$LATHE_BIN" tune --sanitize "${@:2}"
    else
        "$LATHE_BIN" "$@"
    fi
}

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# split COMMAND...: $status, $out, $errors
split() {
    status=0
    "$@" >"$BATS_TEST_TMPDIR/.out" 2>"$BATS_TEST_TMPDIR/.errors" || status=$?
    out="$(cat "$BATS_TEST_TMPDIR/.out")"
    errors="$(cat "$BATS_TEST_TMPDIR/.errors")"
}

# not COMMAND...: it fails. (A plain `! command` fails no test, unless it is the last.)
not() { ! "$@"; }

# fails STATUS TEXT COMMAND...: that exit code, nothing on stdout, TEXT somewhere on stderr, "lathe: " before it
fails() {
    local want="$1" text="$2"
    shift 2
    split "$@"
    if [ "$status" -ne "$want" ]; then
        echo "exit code $status, not $want: $*"; echo "$out"; echo "$errors"
        return 1
    fi
    if [ -n "$out" ]; then echo "stdout is not empty: $out"; return 1; fi
    if [[ "$errors" != "lathe: "* ]]; then echo "no message: $errors"; return 1; fi
    if [[ "$errors" != *"$text"* ]]; then echo "message lacks '$text': $errors"; return 1; fi
}

# until_true SECONDS COMMAND...: as soon as it succeeds; fails if it never does
until_true() {
    local end=$((SECONDS + $1 + 1))
    shift
    until "$@"; do
        if [ $SECONDS -ge $end ]; then echo "never came true: $*"; return 1; fi
        sleep 0.05
    done
}

# json FILE EXPRESSION: an SQL expression over `j`, the JSON text of the file (sqlite3 reads it, so that no other tool
# is needed). Of a campaign's events, which are one object a line, the last one is read. Not valid JSON: fails.
json() {
    local valid
    if [[ "$(head -c 9 "$1")" == '{"event":' ]]; then
        tail -n 1 "$1" >"$BATS_TEST_TMPDIR/.last"
        set -- "$BATS_TEST_TMPDIR/.last" "$2"
    fi
    valid="$(sqlite3 :memory: "SELECT json_valid(CAST(readfile('$1') AS TEXT))")"
    if [ "$valid" != 1 ]; then echo "not JSON: $(head -c 300 "$1")" >&2; return 1; fi
    sqlite3 :memory: "WITH t(j) AS (SELECT CAST(readfile('$1') AS TEXT)) SELECT $2 FROM t"
}

# keys FILE PATH: the keys of the object there, sorted, with blanks between
keys() { json "$1" "(SELECT group_concat(key, ' ') FROM (SELECT key FROM json_each(j, '$2') ORDER BY key))"; }

# slow_lathe: slow/lathe, which says that it runs (started has its number) and takes its time
slow_lathe() {
    mkdir -p slow
    printf '#!/bin/bash\necho $$ >"%s"\nsleep 60\n' "$PWD/started" >slow/lathe
    chmod +x slow/lathe
}

# interrupted COMMAND...: Ctrl-C once the file `started` has the number of a process: that, too, ends, and no temporary
# file is left. (bats has jobs ignore the signal, so it is made what it is.)
interrupted() {
    local group
    mkdir -p temporary
    rm -f started
    TMPDIR=$PWD/temporary setsid env --default-signal=INT,QUIT "$@" >said 2>&1 3>&- &
    group=$!
    until_true 20 test -s started || { cat said; return 1; }
    kill -INT -- "-$group"
    until_true 10 not kill -0 "$(cat started)" 2>/dev/null
    wait "$group" && { echo "exit code 0"; return 1; }
    until_true 5 rmdir temporary 2>/dev/null || { ls temporary; return 1; }
}
