# run_tests.bats: scripts/run-tests counts every test, and loses none that failed.

load helper

# suite NAME TEXT: a program of a build in this folder that says TEXT
suite() {
    mkdir -p "build/test/$(dirname "$1")"
    printf '#!/bin/bash\n%s\n' "$2" >"build/test/$1"
    chmod +x "build/test/$1"
}

@test "suites of one name in two rooms, failures, skips, too few tests, a suite that is killed" {
    suite a/test_x 'echo ok 1; echo ok 2; echo 1..2'
    suite b/test_x 'echo ok 1; echo not ok 2; echo 1..2; exit 1'
    suite b/test_y 'echo ok 1; echo "ok 2 # SKIP no GPU"; echo 1..2'
    suite b/test_few 'echo ok 1; echo 1..2'
    suite b/test_killed 'kill -9 $(cut -d" " -f4 /proc/$PPID/stat)'
    export -n LATHE_TEST_RESULTS
    JOBS=2 run "$TREE/scripts/run-tests" "$PWD/build" a/test_x b/test_y
    echo "$output"
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = "3 passed, 0 failed" ]
    JOBS=2 LATHE_TEST_RESULTS= run "$TREE/scripts/run-tests" "$PWD/build" a/test_x b/test_x b/test_few
    echo "$output"
    [ "$status" -ne 0 ]
    [ "${lines[-1]}" = "4 passed, 2 failed" ]
    JOBS=1 run "$TREE/scripts/run-tests" "$PWD/build" a/test_x b/test_killed
    echo "$output"
    [ "$status" -ne 0 ]
    [[ "$output" == *"b/test_killed did not end"* ]]
    [ "${lines[-1]}" = "2 passed, 1 failed" ]
}

@test "Ctrl-C ends the suites that run, and leaves no file" {
    suite a/test_x "echo \$\$ >'$PWD/started'; sleep 60"
    interrupted "$TREE/scripts/run-tests" "$PWD/build" a/test_x
}

@test "scripts/check_static refuses options, which are no systems" {
    run "$TREE/scripts/check_static" --help
    [ "$status" -eq 2 ]
    [ "$output" = "check_static: unknown option --help" ]
    run "$TREE/scripts/check_static" "$LATHE_BIN" --bullseye
    [ "$status" -eq 2 ]
    [ "$output" = "check_static: unknown option --bullseye" ]
}
