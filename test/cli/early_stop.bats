# early_stop.bats: the rule by which a trial ends after two samples has not been wrong on what was recorded, and the
# script that says so can say otherwise.
load helper

@test "check_early_stop: no wrong end in the recordings" {
    run "$TREE/scripts/check_early_stop" --orders 3
    [ "$status" = 0 ] || { echo "$output"; return 1; }
    [ "$(grep -c "  0 of [1-9][0-9]*  " <<<"$output")" = 3 ]
    grep -Eq "^linear-h200.db.gz  1348  10311  " <<<"$output"
}

@test "check_early_stop: figures of three trials, and a rule that is wrong" {
    # medians 1, 2 and 4; steady, so that each ends each slower one after two of its samples
    cat >steady.json <<'END'
{"cache": {"a": {"times": [1, 1, 1, 1, 1]}, "b": {"times": [2, 2, 2, 2, 2]}, "c": {"times": [4, 4, 4, 4, 4]},
 "short": {"times": [9, 9]}, "failed": {"time": "CompilationFailedConfig"}}}
END
    run "$TREE/scripts/check_early_stop" --factor 1.5 --orders 1000 steady.json
    [ "$status" = 0 ]
    # trials end unless they are the best so far: 1 + 1/2 + 1/3 of 3 are that, on average
    [[ "$output" == *"steady.json  3  15  "*"  0 of "*"  30  0  1.000" ]]
    acts="$(awk 'END { print $4 }' <<<"$output")" saves="$(awk 'END { print $6 }' <<<"$output")"
    awk -v a="$acts" -v s="$saves" 'BEGIN { exit !(a > 36 && a < 42 && s > 0.59 * a && s < 0.61 * a) }'
    # the best one begins with two disturbed samples
    echo '{"cache": {"a": {"times": [9, 8, 1, 1, 1]}, "b": {"times": [2, 2, 2, 2, 2]}}}' >disturbed.json
    run "$TREE/scripts/check_early_stop" --factor 1.5 --orders 100 disturbed.json
    [ "$status" = 1 ]
    [[ "$output" == *"disturbed.json  2  10  "*"  20  1  8.000" ]]
    run "$TREE/scripts/check_early_stop" nosuch.json
    [ "$status" = 2 ]
}
