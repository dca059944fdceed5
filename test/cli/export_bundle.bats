# export_bundle.bats: `lathe export --format bundle`: the file for liblathe. What the library does with it:
# test/unit/lib, test/unit/cli/test_lib_example.c.

load helper

setup_file() {
    TREE="$(cd "${BATS_TEST_DIRNAME}/../.." && pwd)"
    LATHE_BIN="$(realpath "${LATHE_BIN:-$TREE/build/lathe}")"
    export LATHE_KERNELS="$TREE/kernels" TREE LATHE_BIN
    cd "$BATS_FILE_TMPDIR"
    gunzip -c "$TREE/test/data/linear-h200.db.gz" >h200.db
    for size in 8 12; do
        "$LATHE_BIN" tune linear --device host --size M=$size,N=16,K=32 --kernel simt --strategy random --trials 3 \
            --db host.db -q
    done
    "$LATHE_BIN" tune "$TREE/test/specs/faults.lua" --device host --strategy exhaustive --trials 1 --db host.db -q
}

# exported OPTION...: skips where there is no NVRTC
exported() {
    run lathe export --format bundle "$@"
    if [[ "$output" == *"no NVRTC"* ]]; then
        [ "$status" -ne 0 ] && [[ "$output" == *"Install NVRTC"* ]] && skip "no NVRTC here"
    fi
    if [ "$status" -ne 0 ]; then echo "$output"; return 1; fi
}

# manifest FILE: its JSON text into w.json
manifest() { head -c "$((64 + $(od -An -tu8 -j16 -N8 "$1")))" "$1" | tail -c +65 >w.json; }

@test "bundle: the winner of a GPU, and a plain kernel" {
    exported --db "$BATS_FILE_TMPDIR/h200.db" -o w.lathe
    [[ "$output" == *"wrote w.lathe: 1 configuration, and a plain kernel"* ]]
    [ "$(head -c 6 w.lathe | tail -c 5)" = LATHE ]
    [ "$(od -An -tu8 -j24 -N8 w.lathe)" -eq "$(stat -c %s w.lathe)" ]
    manifest w.lathe
    [ "$(json w.json "j->>'problem' || ' ' || (j->>'variants[0].size.K') || ' ' || (j->>'variants[1].fallback')")" = \
        "linear 32768 1" ]
    [ "$(json w.json "j->>'variants[0].origin.trial.id'")" = 737 ]
    [ "$(json w.json "(j->>'variants[0].exact') || (j->>'variants[0].ptx') || (j->>'variants[0].ptx_sm')")" = 1190 ]
    [ "$(json w.json "json_array_length(j->'specifications[0].kernels')")" = 1 ]
    not grep -qF "$TREE" w.lathe
}

@test "bundle: the best of each size; to a pipe" {
    exported --db "$BATS_FILE_TMPDIR/host.db" --problem linear -o w.lathe
    [[ "$output" == *"2 configurations"* ]]
    lathe export --format bundle --db "$BATS_FILE_TMPDIR/host.db" --problem linear | cmp - w.lathe
}

@test "bundle: into the database, which an older lathe made, and again" {
    cp "$BATS_FILE_TMPDIR/h200.db" lathe.db
    local before="$(sqlite3 lathe.db "PRAGMA user_version")" trials="$(sqlite3 lathe.db "SELECT count(*) FROM trial")"
    [ "$before" -lt 4 ]
    exported --into-database
    [[ "$output" == *"wrote the bundle of linear into lathe.db: 1 configuration, and a plain kernel"* ]]
    [ "$(sqlite3 lathe.db "PRAGMA user_version") $(sqlite3 lathe.db "SELECT count(*) FROM trial")" = "6 $trials" ]
    exported --into-database
    exported -o w.lathe
    [ "$(sqlite3 lathe.db "SELECT problem || hex(data) FROM bundle")" = "linear$(od -An -v -tx1 w.lathe | tr -d ' \n' |
        tr a-f A-F)" ]
    [ "$(lathe query "SELECT length(data) AS n FROM bundle" --json | tr -dc 0-9)" = "$(stat -c %s w.lathe)" ]
    fails 2 "leave out -o" lathe export --format bundle --into-database -o w.lathe
    fails 2 "leave out --into-database" lathe export --into-database
    chmod -w lathe.db
    [ "$(id -u)" = 0 ] || fails 6 "read-only" lathe export --format bundle --into-database
}

@test "bundle: what cannot be exported is refused, and says why" {
    fails 2 "has no launcher" lathe export --db "$BATS_FILE_TMPDIR/h200.db" --format bundle --name gemm -o w.lathe
    fails 2 "there are results of several problems" lathe export --db "$BATS_FILE_TMPDIR/host.db" \
        --format bundle -o w.lathe
    exported --db "$BATS_FILE_TMPDIR/h200.db" -o w.lathe
    fails 7 "is a database" lathe export --db "$BATS_FILE_TMPDIR/h200.db" --format bundle -o "$BATS_FILE_TMPDIR/h200.db"
    fails 7 "cannot write" lathe export --db "$BATS_FILE_TMPDIR/h200.db" --format bundle -o /nowhere/w.lathe
}
