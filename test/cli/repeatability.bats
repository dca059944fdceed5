# repeatability.bats: the script that says whether numbers hold: it runs, its figures are those of the databases, and
# each of its three verdicts can fail. What a host measures says nothing of a GPU, so its own verdict is not looked at.
load helper

WHERE="TRANSPOSED == false and VEC == 4 and FRAGMENTS == 2 and MIN_BLOCKS == 1 and LAYOUT == 'padded' and
 FILL == 'register' and STAGES == 2 and BK == 16 and UNROLL == 8 and LANES_M == 8 and SPLIT_K == 1 and
 SCHEDULE == 'stream' and STORE == 'direct'"

# judged STATUS LINE...: what is said of the databases in kept
judged() {
    local want="$1" line
    run "$TREE/scripts/check_repeatability" --judge kept
    [ "$status" = "$want" ] || { echo "$output"; return 1; }
    for line in "${@:2}"; do grep -Eq "$line" <<<"$output" || { echo "no '$line' in: $output"; return 1; }; done
}

cold() { sqlite3 "kept/$1.db" "UPDATE measurement SET median_ms = $2 WHERE regime = 'cold' AND trial_id IN (SELECT id
    FROM trial WHERE $3)"; }

@test "check_repeatability: campaigns, two finals and a null test, and what is said of them" {
    run "$TREE/scripts/check_repeatability" --device host --size M=24,N=64,K=32 --where "$WHERE" --trials 6 \
        --repeats 2 \
        --strategy random --keep kept
    [ "$status" -le 1 ] || { echo "$output"; return 1; }
    [ "$(grep -c '^seed[12]  ' <<<"$output")" = 2 ]
    grep -Eq "^winners +(holds|fails) +final times differ by [0-9.]+ .limit 0.01., ratios to sgemm by [0-9.]+$" \
        <<<"$output"
    grep -Eq "^ranking +(holds|fails) +Kendall's tau of two finals of the top 5 is -?[0-9.]+ .limit 0.8, 10 pairs.$" \
        <<<"$output"
    grep -Eq "^null test +(holds|fails) +one configuration .* differs by [0-9.]+ cold .limit 0.005., not sustained$" \
        <<<"$output"
    # one configuration each, the winner's
    [ "$(sqlite3 kept/twins.db "SELECT count(DISTINCT configuration) || count(DISTINCT kernel) FROM trial
        WHERE final_rank > 0")" = 12 ]
    [ "$(sqlite3 kept/twins.db "SELECT configuration FROM trial WHERE kernel = 'one'")" = \
        "$(sqlite3 kept/seed1.db "SELECT configuration FROM trial WHERE final_rank = 1")" ]

    # known figures: all hold
    cold seed1 2.0 "final_rank = 1"
    cold seed2 2.01 "final_rank = 1"
    cold twins 1.0 "kernel = 'one'"
    cold twins 1.004 "kernel = 'two'"
    printf '%s\n' "4 1" "5 2" "6 3" "7 4" "8 5" >kept/first
    printf '%s\n' "4 1" "5 2" "6 3" "7 5" "8 4" >kept/second        # two neighbours change places: 1 pair of 10
    judged 0 "^winners +holds .*by 0.005000 " "^ranking +holds .* is 0.8000 " "^null test +holds .*by 0.004000 cold" \
        "^holds$"
    # and each can fail
    cold seed2 2.03 "final_rank = 1"
    judged 1 "^winners +fails .*by 0.015000 " "^ranking +holds" "^null test +holds" "^does not hold$"
    cold seed2 2.0 "final_rank = 1"
    printf '%s\n' "4 2" "5 1" "6 3" "7 5" "8 4" >kept/second
    judged 1 "^winners +holds" "^ranking +fails .* is 0.6000 " "^null test +holds"
    cp kept/first kept/second
    cold twins 1.006 "kernel = 'two'"
    judged 1 "^winners +holds" "^ranking +holds .* is 1.0000 " "^null test +fails .*by 0.006000 "
    sqlite3 kept/twins.db "UPDATE trial SET final_rank = NULL WHERE kernel = 'two'"         # what is missing fails
    judged 1 "^null test +fails .*by none cold"
    run "$TREE/scripts/check_repeatability" --judge .
    [ "$status" = 2 ]
}
