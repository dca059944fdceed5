# delays.bats: the verification with warps that pause at random. What the pauses find is a GPU's to show
# (scripts/check_mutants); here, what becomes of what they find.

load helper

@test "a finalist that is wrong with delays is refused, one that cannot be run with them stays, with a note" {
    lathe tune "$TREE/test/specs/delayed.lua" --device host --strategy exhaustive --delays yes --db d.db >out 2>notes
    grep -q "final: trial [0-9]* is out: wrong: with warps that pause at random (a race?): .*y\[70\]" notes
    grep -q "final: trial [0-9]* was not verified with delays: .*this does not compile with delays" notes
    grep -q "final: trial [0-9]* was not verified with delays: the image has no kernel 'scale'" notes
    run lathe query --db d.db --csv "SELECT configuration, coalesce(final_rank > 0, 0) AS placed,
        reason LIKE 'refused by the final: wrong: with warps that pause at random%' AS said
        FROM trial_report WHERE number > 0 ORDER BY configuration"
    [ "${lines[1]}" = "KIND=race,0,1" ]
    [[ "${lines[2]}" = "KIND=refused,1,"* ]]
    [[ "${lines[3]}" = "KIND=right,1,"* ]]
    [[ "${lines[4]}" = "KIND=unlaunched,1,"* ]]
    lathe best --db d.db >best
    [ "$(grep -c KIND=race best)" = 0 ]
}

@test "where the quickest is refused, the next best takes its place in the final" {
    lathe tune "$TREE/test/specs/delayed.lua" --device host --strategy exhaustive --delays yes --top 1 \
        --db d.db >out 2>notes
    grep -q "final: the next 1 take the place of those that are out" notes
    run lathe query --db d.db --csv "SELECT configuration FROM trial_report WHERE final_rank = 1"
    [[ "${lines[1]}" =~ ^KIND=(right|refused|unlaunched)$ ]]
}

@test "without delays it stays: the host device does not ask for them by itself" {
    lathe tune "$TREE/test/specs/delayed.lua" --device host --strategy exhaustive --db d.db -q >out
    grep -q "KIND=race" out
    fails 2 "expected auto, yes or no, not 'maybe'" lathe tune "$TREE/test/specs/delayed.lua" --device host \
        --delays maybe
    fails 2 "--delays: nothing is run where a recording is replayed" lathe tune --delays yes --db none \
        --device "replay:$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz"
}

@test "a campaign that goes on does as it was begun, unless it is told otherwise" {
    for campaign in 1 2; do
        lathe tune "$TREE/test/specs/delayed.lua" --device host --strategy exhaustive --delays yes --top 0 \
            --db d.db -q >out
    done
    "$LATHE_BIN" tune --resume 1 --top 5 --db d.db -q >out
    "$LATHE_BIN" tune --resume 2 --top 5 --delays no --db d.db -q >out
    run lathe query --db d.db --csv "SELECT campaign_id, final_rank IS NULL FROM trial
        WHERE configuration = 'KIND=race'"
    [ "${lines[1]} ${lines[2]}" = "1,1 2,0" ]
}

@test "verify tries the first class again with delays" {
    run lathe verify "$TREE/test/specs/delayed.lua" --kernel scale --device host --delays yes --config KIND=race \
        --inputs default -q
    [ "$status" = 1 ]
    [[ "$output" = *"default, warps delayed "*"1   0 "* ]]
    lathe verify "$TREE/test/specs/delayed.lua" --kernel scale --device host --delays yes --config KIND=right \
        --json -q >j
    [ "$(json j "json_extract(j, '\$[0].delays') || json_extract(j, '\$[1].delays')
        || json_extract(j, '\$[2].delays')")" = 010 ]
    for kind in refused unlaunched; do      # that says nothing of the kernel without delays
        lathe verify "$TREE/test/specs/delayed.lua" --kernel scale --device host --delays yes --config KIND=$kind \
            --inputs default >out 2>notes
        grep -q "^KIND=$kind was not verified with delays: " notes
        [ "$(grep -c "warps delayed" out)" = 0 ]
    done
}

@test "lathe's kernels compile with delays, and the text that compiles is another one" {
    "$LATHE_BIN" check linear --kernel simt --target sm_90a --sample 1 -q || skip "no NVRTC"
    export LATHE_CACHE=$PWD/cache
    for kernel in simt epilogue mma wgmma wgmma_shared; do
        lathe check linear --kernel $kernel --target sm_90a --sample 1 -q
        lathe check linear --kernel $kernel --target sm_90a --sample 1 --delays -q
    done
    [ "$(ls cache/*.image | wc -l)" = 10 ]
}
