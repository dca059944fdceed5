# transfer.bats: a campaign that begins with what the database knows of other sizes, problems and devices.
load helper

# Of the first nine configurations of tiny three are right.
TUNE="--device host --kernel plain --top 0 --quiet"
RECORDED="$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz"

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    lathe tune tiny $TUNE --strategy exhaustive --trials 9 --size M=6 >/dev/null
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cp "$BATS_FILE_TMPDIR"/lathe.db* .
}

sql() { sqlite3 "${2:-lathe.db}" "$1"; }

# first CAMPAIGN N [DB]: the first N configurations that a campaign proposed
first() { sql "SELECT configuration FROM trial WHERE campaign_id = $1 AND number BETWEEN 1 AND $2
               ORDER BY number" "${3:-lathe.db}"; }

# best CAMPAIGN N: the N best that it found
best() { sql "SELECT configuration FROM trial WHERE campaign_id = $1 AND score_ms IS NOT NULL
              ORDER BY score_ms, time_ms, id LIMIT $2"; }

@test "another size begins with the winners of the first" {
    split lathe tune tiny $TUNE --strategy transfer --trials 5 --size M=9
    [ "$status" -eq 0 ]
    [ "$(best 1 3 | wc -l)" -eq 3 ]
    [ "$(first 2 3)" = "$(best 1 3)" ]
    [ "$(sql "SELECT count(DISTINCT configuration) FROM trial WHERE campaign_id = 2 AND number > 0")" -eq 5 ]
    # both are known now: the newer one of the nearer size first, each configuration once
    lathe tune tiny $TUNE --strategy transfer --option each=1 --trials 2 --size M=9 >/dev/null
    [ "$(first 3 1)" = "$(best 2 1)" ]
}

@test "another problem with the kernel of that name, some of its parameters, and other values of them" {
    mkdir other
    cp "$TREE"/test/cli/kernels/tiny/*.cu other
    sed -e 's/name = "tiny"/name = "other"/' -e 's/"BLOCK", { 32, 64, 128 }/"BLOCK", { 48, 128 }/' \
        -e 's/{ "ORDER", /{ "EXTRA", { 1, 2 } }, &/' "$TREE/test/cli/kernels/tiny/spec.lua" >other/spec.lua
    split lathe tune other $TUNE --strategy transfer --option each=1 --trials 2
    [ "$status" -eq 0 ]
    [ "$(sql "SELECT value FROM parameter_value WHERE name = 'BLOCK'
              AND trial_id = (SELECT id FROM trial WHERE campaign_id = 2 AND number = 1)")" = 48 ]
    [ "$(sql "SELECT outcome FROM trial WHERE campaign_id = 2 AND number = 1")" = ok ]
}

@test "what it cannot use, it leaves out" {
    # so the first trial is that of the strategy that goes on, which is no longer the best known
    sql "UPDATE trial SET time_ms = 9, score_ms = 9 WHERE campaign_id = 1 AND number = 1"
    first="$(first 1 1)"
    [ "$first" != "$(best 1 1)" ]
    sql "UPDATE parameter_value SET name = name || '_'"
    split lathe tune tiny $TUNE --strategy transfer --option then=exhaustive --trials 1
    [ "$status" -eq 0 ]
    [ "$(first "$(sql "SELECT max(id) FROM campaign")" 1)" = "$first" ]
    sql "UPDATE campaign_dim SET name = name || '_'; DELETE FROM parameter_value WHERE trial_id % 2"
    split lathe tune tiny $TUNE --strategy transfer --option then=exhaustive --trials 1 --size M=8
    [ "$status" -eq 0 ]
    [ "$(first "$(sql "SELECT max(id) FROM campaign")" 1)" = "$first" ]
    sql "UPDATE trial SET kernel = 'gone' WHERE number > 0"
    split lathe tune tiny $TUNE --strategy transfer --option then=exhaustive --trials 1 --size M=8
    [ "$status" -eq 0 ]
    [ "$(first "$(sql "SELECT max(id) FROM campaign")" 1)" = "$first" ]
}

# replayed STRATEGY DB [OPTION...]: the configurations that a replay proposed, by name and value
replayed() {
    lathe tune --device "replay:$RECORDED" --strategy "$1" --trials 30 --seed 5 --quiet --db "$2" "${@:3}" >/dev/null &&
        first "$(sql "SELECT max(id) FROM campaign" "$2")" 30 "$2"
}

@test "with an empty database it is the other strategy" {
    [ "$(replayed transfer a.db)" = "$(replayed gp b.db)" ]
    [ "$(replayed transfer c.db --option then=random)" = "$(replayed random d.db)" ]
    lathe tune --device "replay:$RECORDED" --strategy transfer --trials 30 --seed 5 --db none --quiet --json >none.json
    [ "$(json none.json "j -> 'best' ->> 'text'")" = "$(sql "SELECT configuration FROM trial WHERE score_ms IS NOT NULL
        ORDER BY score_ms, id LIMIT 1" a.db)" ]
}

@test "the same database and seed: the same proposals; nothing of the campaign itself" {
    replayed random a.db >/dev/null
    cp a.db b.db
    one="$(replayed transfer a.db)"
    [ "$one" = "$(replayed transfer b.db)" ]
    [ "$(head -3 <<<"$one")" = "$(sql "SELECT configuration FROM trial WHERE campaign_id = 1 AND score_ms IS NOT NULL
                                       ORDER BY score_ms, time_ms, id LIMIT 3" a.db)" ]
    [ "$(sort -u <<<"$one" | wc -l)" -eq 30 ]
}
