# doctor.bats: what is found on this machine, whatever it has.
load helper

@test "doctor names each thing it looks for" {
    split lathe doctor
    [ "$status" -eq 0 ] || [ "$status" -eq 4 ]
    for word in "CUDA driver" NVRTC cuBLAS "host compiler" specifications strategies "chart library" libmicrohttpd \
        "host device:"; do
        [[ "$out" == *"$word"* ]]
    done
}

@test "doctor without a compiler or a GPU: exit 4, and what to do" {
    split lathe doctor --json
    [ "$(json .out "j ->> 'cuda_usable'")" = 0 ] || skip "this machine has a GPU"
    mkdir bin
    split env PATH="$PWD/bin" CXX= "$LATHE_BIN" doctor
    [ "$status" -eq 4 ]
    [[ "$out" == *"what to do:"* ]]
    [[ "$errors" == "lathe: no device is usable"* ]]
}

@test "doctor says what pages with charts lack, as report and serve do" {
    split lathe doctor
    if "$LATHE_BIN" report --db none 2>&1 | grep -q "without the chart library"; then
        [[ "$out" == *"missing  chart library "*"  chart library: "*"make charts"* ]]
    else
        [[ "$out" == *"ok       chart library "* ]]
    fi
    echo "no library" >libmicrohttpd.so.12
    split env LD_LIBRARY_PATH="$PWD" "$LATHE_BIN" doctor
    [[ "$out" == *"missing  libmicrohttpd "*"  libmicrohttpd: Needed for \`lathe serve\`: install it"* ]]
}

@test "doctor as JSON" {
    split lathe doctor --json
    [ "$(keys .out '$')" = "cuda_usable default_device found host_usable version" ]
    [ "$(keys .out '$.found[0]')" = "advice detail found what" ]
    [ "$(json .out "(SELECT count(*) FROM json_each(j, '$.found') WHERE value ->> 'what' = 'specifications' \
                     AND value ->> 'found' AND instr(value ->> 'detail', 'linear'))")" = 1 ]
}

@test "the self-test: each outcome is told as what it is" {
    split "$LATHE_BIN" doctor --selftest --device host --time-limit 2 --json
    [ "$status" -eq 0 ]
    [ "$(json .out "j ->> 'right'")" = 1 ]
    [ "$(json .out "(SELECT group_concat(o, ' ') FROM (SELECT value ->> 'outcome' AS o FROM json_each(j, '$.selftest')
        WHERE value ->> 'meant' = value ->> 'outcome' ORDER BY o))")" = \
        "compile crash inaccurate launch ok resources timeout wrong" ]
    [ -z "$(ls)" ]                          # nothing is left of it
}

@test "the self-test: an outcome that is another is named, exit 4" {
    cat >c++ <<'END2'
#!/bin/sh
case " $* " in *" -DLATHE_OUTCOME=0 "*) echo "out of order" >&2; exit 1 ;; esac
PATH=${PATH#*:}
exec ${LATHE_TEST_CXX:-c++} "$@"
END2
    chmod +x c++
    export LATHE_TEST_CXX="${CXX:-}" LATHE_CACHE="$PWD/cache"
    split env -u CXX PATH="$PWD:$PATH" "$LATHE_BIN" doctor --selftest --device host --time-limit 1
    [ "$status" -eq 4 ]
    [[ "$out" == *"NOT RIGHT  ok "*"compile "* ]]
    [[ "$errors" == "lathe: self-test: 7 of 8 outcomes were told as what they are"* ]]
    fails 2 "add --selftest, or leave --device out" lathe doctor --device host
    fails 2 "no device 'gpu'" lathe doctor --selftest --device gpu
}

@test "a self-test that is interrupted says nothing of the device" {
    mkdir tmp
    TMPDIR="$PWD/tmp" env --default-signal=INT "$LATHE_BIN" doctor --selftest --device host --time-limit 60 --json \
        >out 2>errors &
    pid=$!
    begun() { [ -n "$(sqlite3 tmp/lathe-selftest-*/selftest.db "SELECT 1 FROM trial LIMIT 1" 2>/dev/null)" ]; }
    until_true 30 begun
    kill -INT $pid
    code=0
    wait $pid || code=$?
    [ "$code" -eq 130 ]
    grep -q "^lathe: interrupted: the self-test did not come to its end" errors
    [ ! -s out ]
    [ -z "$(ls tmp)" ]
}

# begin_selftest: in the background, with ./tmp for temporary files, until it has begun
begin_selftest() {
    mkdir tmp
    TMPDIR="$PWD/tmp" "$LATHE_BIN" doctor --selftest --device host --time-limit 2 >out 2>errors 3>&- &
    pid=$!
    until_true 30 eval '[ "$(sqlite3 tmp/lathe-selftest-*/selftest.db "SELECT 1 FROM trial LIMIT 1" 2>/dev/null)" ]'
}

@test "what a killed self-test leaves is taken away by the next that makes a folder, what is another's is not" {
    begin_selftest
    kill -KILL $pid
    wait $pid || true
    [ -e tmp/lathe-selftest-*/selftest.db ]
    mkdir tmp/lathe-selftest-mine tmp/lathe-other-abcdef tmp/lathe-export-abcdef
    touch tmp/lathe-export-abcdef/image
    ln -s "$PWD" tmp/lathe-mpi-abcdef
    TMPDIR="$PWD/tmp" lathe recording "$TREE/test/data/linear-h200.db.gz" >/dev/null
    [ "$(ls tmp | tr '\n' ' ')" = "lathe-mpi-abcdef lathe-other-abcdef lathe-selftest-mine " ]
    [ -e out ]
}

@test "the folder of a self-test that runs is not taken away" {
    begin_selftest
    kill -STOP $pid
    folder=$(echo tmp/lathe-selftest-*)
    TMPDIR="$PWD/tmp" lathe recording "$TREE/test/data/linear-h200.db.gz" >/dev/null
    [ -e "$folder/selftest.db" ]
    kill -CONT $pid
    wait $pid
    [ -z "$(ls tmp)" ]
}
