# portfolio.bats: the default strategy: that it is the default, what it begins with, and what its seed promises.
load helper

RECORDED="$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz"
TUNE="--device host --kernel plain --top 0 --quiet"

sql() { sqlite3 "${2:-lathe.db}" "$1"; }

# proposed DB: what its newest campaign proposed, in order
proposed() { sql "SELECT configuration FROM trial WHERE campaign_id = (SELECT max(id) FROM campaign) AND number > 0
                  ORDER BY number" "$1"; }

@test "where no strategy is named" {
    lathe tune --help >help
    tr -s '\n ' ' ' <help | grep -q "or a FILE.lua (default portfolio)"
    lathe tune --device "replay:$RECORDED" --trials 30 --quiet >/dev/null
    lathe tune tiny $TUNE --trials 9 >/dev/null
    [ "$(sql "SELECT name FROM strategy JOIN campaign ON strategy.id = strategy_id ORDER BY campaign.id" | uniq -c |
        tr -s ' ')" = " 2 portfolio" ]
}

@test "another size begins with the winners of the first" {
    lathe tune tiny $TUNE --strategy exhaustive --trials 9 --size M=6 >/dev/null
    lathe tune tiny $TUNE --trials 4 --size M=9 >/dev/null
    best="$(sql "SELECT configuration FROM trial WHERE campaign_id = 1 AND score_ms IS NOT NULL
                 ORDER BY score_ms, time_ms, id LIMIT 3")"
    [ "$(wc -l <<<"$best")" -eq 3 ]
    [ "$(proposed lathe.db | head -3)" = "$best" ]
}

# Nothing is right, so no measured time decides anything: what is proposed depends on the seed alone.
@test "the same seed proposes the same, twice and with other numbers of compile workers" {
    cp -r "$TREE/test/cli/kernels/tiny" own
    sed -i 's/"none", "wrong", "compile"/"wrong"/' own/spec.lua
    for n in 1 4 4; do
        split lathe tune own $TUNE --seed 3 --compile-workers $n --db $n.db
        proposed $n.db >>proposed-$n
    done
    [ "$(wc -l <proposed-1)" -eq 13 ]
    [ "$(cat proposed-1 proposed-1)" = "$(cat proposed-4)" ]
    split lathe tune own $TUNE --seed 4 --db other.db
    [ "$(proposed other.db)" != "$(cat proposed-1)" ]
}

@test "the same seed gives the same replay" {
    for n in 1 4; do
        lathe tune --device "replay:$RECORDED" --trials 150 --seed 5 --compile-workers $n --db r$n.db --quiet >/dev/null
    done
    [ "$(proposed r1.db | wc -l)" -eq 150 ]
    [ "$(proposed r1.db)" = "$(proposed r4.db)" ]
    lathe tune --device "replay:$RECORDED" --trials 150 --seed 6 --db other.db --quiet >/dev/null
    [ "$(proposed r1.db)" != "$(proposed other.db)" ]
}

@test "scripts/bench_strategies: a table of a folder of recordings, and what is left out" {
    python3 -c 'import json' || skip "no python3 here"
    mkdir folder
    cp "$RECORDED" "$TREE/test/data/recorded/small/t4.json" folder
    split "$TREE/scripts/bench_strategies" --lathe "$LATHE_BIN" --strategies random,ils --seeds 2 --jobs 1 folder
    [ "$status" -eq 0 ]
    [[ "$out" == "2 seeds from 1, to 0.95:"*"| strategy | pnpoly-RTX_3090 | mean | 95 % |"*'| `random` | '* ]]
    [[ "$errors" == *"left out: folder/t4.json: lathe: "*"only one of its configurations is valid"* ]]
    "$LATHE_BIN" compare --spaces "$RECORDED" --strategies ils --seeds 2 --json -q >report
    [[ "$out" == *"| \`ils\` | $(json report "printf('%.3f', j ->> 'strategies' ->> 0 ->> 'score')") | "* ]]
    rm folder/pnpoly*
    split "$TREE/scripts/bench_strategies" --lathe "$LATHE_BIN" folder
    [ "$status" -eq 1 ]
    [[ "$errors" == *"no recording that can be scored"* ]]
}
