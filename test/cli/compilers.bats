# compilers.bats: what strategies ask for at once follows from how many compilers a campaign has, where the user says
# nothing of it.
load helper

RUN="--device host --top 0 --quiet --db c.db"

# many: own/, a tiny of two thousand configurations
many() {
    local text
    cp -r "$TREE/test/cli/kernels/tiny" own
    text="$(sed 's/"none", "wrong", "compile"/"none"/' own/spec.lua)"
    printf '%s\n' "${text/'{ 32, 64, 128 }'/'(function() local t = {} for i = 1, 256 do t[i] = i end return t end)()'}" \
        >own/spec.lua
}
options() { sqlite3 c.db "SELECT strategy_options FROM campaign WHERE id = $1"; }
option() { options "$1" | tr ' ' '\n' | grep "^$2="; }

# begin NAME OPTION...: a campaign of one trial by 12 compilers; its options are those of campaign $id
begin() {
    lathe tune own $RUN --kernel plain --compile-workers 12 --trials 1 --strategy "$@" >out
    id=$(sqlite3 c.db "SELECT max(id) FROM campaign")
}

@test "12 compilers: each strategy asks for 12 at once, or for what its population has" {
    many
    for strategy in local tabu ils basin_hopping dual_annealing pso firefly; do
        begin $strategy
        [ "$(option $id batch)" = batch=12 ]
    done
    begin differential_evolution
    [ "$(option $id batch)" = batch=8 ]
    begin differential_evolution --option population=40
    [ "$(option $id batch)" = batch=12 ]
    begin random                    # as it has it, which is more
    [ "$(option $id batch)" = batch=256 ]
    begin local --option batch=3    # as it was told
    [ "$(option $id batch)" = batch=3 ]
    lathe tune own $RUN --kernel plain --compile-workers 100 --trials 1 --strategy tabu >out
    [ "$(option $((id + 1)) batch)" = batch=16 ]
    lathe tune own $RUN --kernel plain --compile-workers 1 --trials 1 --strategy local >out
    [ "$(option $((id + 2)) batch)" = batch=8 ]
}

# at_once OPTION...: how many of the default strategy's trials are under way at the same time, at most
at_once() {
    local open=0 kind
    most=0
    lathe tune own $RUN --kernel plain --trials 90 --json "$@" >e
    while read -r kind; do
        case $kind in trial_proposed) open=$((open + 1)) ;; trial_ended) open=$((open - 1)) ;; esac
        [ $open -le $most ] || most=$open
    done < <(grep -o '^{"event": *"[a-z_]*"' e | cut -d'"' -f4)
    echo "$*: $most"
}

@test "the default keeps a pipeline of compilers full; of few it asks for one each, and a fourth for steps" {
    many
    at_once --compile-workers 10 --option patience=0
    [ $most -ge 15 ] && [ $most -le 21 ]        # half as many again, and steps
    at_once --compile-workers 10 --option patience=1000 --option batch=12
    [ $most = 12 ]
    at_once --compile-workers 5 --option patience=0
    [ $most -ge 6 ] && [ $most -le 7 ]
    at_once --compile-workers 1 --option patience=0
    [ $most -ge 4 ] && [ $most -le 6 ]
}

@test "a strategy inside another one too" {
    many
    # how many are begun before the first has ended: a batch is begun whole
    arm="--option local=true"
    for other in basin_hopping differential_evolution dual_annealing genetic tabu; do
        arm="$arm --option $other=false"
    done
    for strategy in transfer "bandit $arm"; do
        lathe tune own $RUN --kernel plain --compile-workers 12 --trials 40 --strategy $strategy --json >e
        most=0 open=0
        while read -r kind; do
            case $kind in trial_proposed) open=$((open + 1)) ;; trial_ended) open=$((open - 1)) ;; esac
            [ $open -le $most ] || most=$open
        done < <(grep -o '^{"event": *"[a-z_]*"' e | cut -d'"' -f4)
        echo "$strategy: $most"
        [ $most -ge 12 ]
    done
}

@test "a campaign goes on with the compilers that it began with" {
    many
    for strategy in "gp" "bandit" "local --option starts=2"; do
        rm -f c.db*
        lathe tune own $RUN --kernel plain --compile-workers 12 --trials 30 --seed 3 --strategy $strategy >out
        lathe tune --resume 1 --quiet --db c.db --compile-workers 2 --trials 45 >out
        lathe tune own $RUN --kernel plain --compile-workers 12 --trials 45 --seed 3 --strategy $strategy >out
        [ "$(sqlite3 c.db "SELECT json_extract(request, '$.compilers') FROM campaign WHERE id = 1")" = 12 ]
        [ "$(options 1)" = "$(options 2)" ]
        [ "$(sqlite3 c.db "SELECT count(*) FROM trial WHERE campaign_id = 1 AND role = 'candidate'")" = 45 ]
    done
}

@test "what is recorded is replayed as the options are declared" {
    recording="$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz"
    lathe tune --device "replay:$recording" --compile-workers 12 --db c.db --strategy tabu --trials 5 --quiet >out
    [ "$(option 1 batch)" = batch=8 ]
    lathe tune --device "replay:$recording" --compile-workers 12 --db c.db --strategy local --trials 5 --quiet >out
    [ "$(option 2 batch)" = batch=8 ]
}
