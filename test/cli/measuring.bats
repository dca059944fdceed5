# measuring.bats: the script that says whether a GPU answers as docs/method.md says: it runs, and each of its verdicts
# can hold and fail. The database of a host is made into a GPU's here by what is written into it.
load helper

# judged STATUS LINE...: what is said of the databases in kept
judged() {
    local want="$1" line
    run "$TREE/scripts/check_measuring" --judge kept
    [ "$status" = "$want" ] || { echo "$output"; return 1; }
    for line in "${@:2}"; do grep -Eq "$line" <<<"$output" || { echo "no '$line' in: $output"; return 1; }; done
}

change() { sqlite3 "kept/$1.db" "$2"; }

@test "check_measuring: runs, and says what is as expected" {
    export LATHE_POWERCAP="$PWD/powercap"
    mkdir -p "$LATHE_POWERCAP/intel-rapl:0"
    ln -s /proc/uptime "$LATHE_POWERCAP/intel-rapl:0/energy_uj"
    run "$TREE/scripts/check_measuring" --device host --keep kept
    [ "$status" -le 1 ] || { echo "$output"; return 1; }
    grep -q "^batches   left out$" <<<"$output"
    grep -q "^energy    holds  " <<<"$output"
    grep -Eq "^pace      holds +[0-9.]+ trials a minute, the device busy [0-9]+ %$" <<<"$output"

    # as a GPU's would be
    for db in short energy; do
        change $db "UPDATE device SET kind = 'cuda';
            UPDATE measurement SET batch = 50, graph = 1, count = 5, sm_mhz = 1980, sm_mhz_low = 1900, mem_mhz = 3201,
                power_w = 500, temperature_c = 40, throttle_reasons = 0, energy_mj = 2;
            UPDATE trial SET time_ms = 0.005, energy_mj = 2 WHERE outcome = 'ok';
            DELETE FROM drift;
            INSERT INTO drift (campaign_id, trial_id, phase, count, taken) SELECT 1, 1, value, 1, '' FROM
                json_each('[\"search\", \"cold\", \"cold\", \"sustained\", \"sustained\"]')"
    done
    judged 0 "^batches   holds  .* in batches" "^nvml      holds" "^stop      holds" "^energy    holds .*400 to 400 W" \
        "^repeated  holds" "^drift     holds +5 times" "^as expected$"
    # and each can fail
    change short "UPDATE measurement SET graph = 0 WHERE id = (SELECT max(id) FROM measurement WHERE regime = 'trial')"
    change energy "UPDATE measurement SET throttle_reasons = NULL WHERE id = 1; DELETE FROM drift
        WHERE phase = 'search'"
    judged 1 "^batches   fails" "^nvml      fails" "^drift     fails" "^energy    holds" "^not as expected$"
    change short "UPDATE measurement SET graph = 1; UPDATE measurement SET batch = 1 WHERE regime = 'cold'"
    change energy "UPDATE trial SET energy_mj = 9 WHERE number = 1; UPDATE trial SET outcome = 'ok' WHERE number = 1;
        UPDATE measurement SET energy_mj = 3 WHERE regime = 'sustained'; UPDATE trial SET store_seconds = NULL"
    judged 1 "^batches   fails" "^energy    fails" "^repeated  fails .*50.0 %" "^pace      fails"
    change short "UPDATE trial SET time_ms = CASE number WHEN 1 THEN 0.1 ELSE 0.2 END WHERE outcome = 'ok'"
    judged 1 "^stop      fails"
    run "$TREE/scripts/check_measuring" --judge .
    [ "$status" = 2 ]
}
