# tune_strategy.bats: `lathe tune-strategy`.
load helper

DATA="$TREE/test/data/recorded"
PNPOLY="$DATA/pnpoly-RTX_3090.json.gz"
MILO="$DATA/convolution_milo-A100.t4.json.gz"

# Goes through the space from `from` on; begins with the best half of it if good.
setup_file() {
    cat >"$BATS_FILE_TMPDIR/walk.lua" <<'L'
return strategy { name = "walk", summary = "a walk",
  options = { from = number { 0.5, min = 0, max = 1 }, step = integer { 1, min = 1, max = 4 }, back = boolean { false },
              mode = choice { "plain", "bad" } },
  run = function(tune, space, opt)
    if opt.mode == "bad" then error("a bad mode") end
    local n = space:size()
    for k = 0, n - 1 do
      local i = (math.floor(opt.from * (n - 1)) + (opt.back and -k or k) * opt.step) % n
      tune.evaluate(space:at(i + 1))
    end
  end }
L
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    cp "$BATS_FILE_TMPDIR/walk.lua" .
}

@test "a campaign over a strategy's options, stored, with its report" {
    split lathe tune-strategy walk.lua --spaces "$PNPOLY" "$MILO" --strategy random --trials 1000 --seeds 1 \
        --values from=0.1,0.5 --values step=1,2 --json
    [ "$status" -eq 0 ]
    echo "$out" >report
    [ "$(json report "json_array_length(j, '\$.trials')")" = 16 ]
    [ "$(json report "j ->> 'space'")" = 16 ]
    [ "$(json report "(SELECT max(value ->> 'score') FROM json_each(j, '\$.trials')) = (j ->> '\$.best.score')")" = 1 ]
    [ "$(json report "(SELECT count(*) FROM json_each(j, '\$.trials') WHERE value ->> 'score' IS NULL)")" = 8 ]
    [ "$(json report "j ->> '\$.default.options'")" = walk.lua:back=false,from=0.5,mode=plain,step=1 ]
    # the default's score is that of the same combination among the trials: the same seeds
    [ "$(json report "(SELECT value ->> 'score' FROM json_each(j, '\$.trials')
        WHERE value ->> 'options' = (j ->> '\$.default.options'))
        = (j ->> '\$.default.score')")" = 1 ]
    # held out: the best on the other space
    [ "$(json report "(SELECT min((value ->> 'options') = (SELECT t.value ->> 'options' FROM json_each(j, '\$.trials') t
        ORDER BY t.value -> 'spaces' ->> '\$.\"convolution_milo-A100\"' DESC LIMIT 1)) FROM json_each(j, '\$.held_out')
        WHERE value ->> 'space' = 'pnpoly-RTX_3090')")" = 1 ]
    [ "$(sqlite3 lathe.db "SELECT count(*), sum(outcome = 'ok'), sum(outcome = 'crash') FROM trial")" = "16|8|8" ]
    [ "$(sqlite3 lathe.db "SELECT count(*) FROM trial WHERE outcome = 'crash' AND reason LIKE '%a bad mode%'")" = 8 ]
    best="$(json report "round(1 - (j ->> '\$.best.score'), 9)")"
    [ "$(sqlite3 lathe.db "SELECT round(min(time_ms), 9) FROM trial")" = "$best" ]
    [ "$(sqlite3 lathe.db "SELECT d.name, c.state, c.space_size, s.name FROM campaign c JOIN device d
        ON d.id = c.device_id
        JOIN strategy s ON s.id = c.strategy_id")" = "2 recordings (replay)|finished|16|random" ]
    sqlite3 lathe.db "SELECT specification FROM problem" | grep -q 'pnpoly-RTX_3090 convolution_milo-A100'
    lathe show 1 | grep -q 'times are 1 - score'
}

@test "the score of a trial is that of compare" {
    split lathe tune-strategy walk.lua --spaces "$PNPOLY" --strategy random --trials 1 --seeds 3 --seed 5 --db none \
        --values from=0.25 --values step=2 --values back=true --values mode=plain --json
    [ "$status" -eq 0 ]
    echo "$out" >report
    [ ! -e lathe.db ]
    lathe compare --spaces "$PNPOLY" --strategies walk.lua:back=true,from=0.25,mode=plain,step=2 --seeds 3 --seed 5 \
        --json >compared
    [ "$(json report "j ->> '\$.best.score'")" = "$(json compared "j ->> '\$.strategies[0].score'")" ]
    [ "$(json report "j ->> '\$.best.options'")" = "$(json compared "j ->> '\$.strategies[0].strategy'")" ]
    # and with other seeds: the ones after
    lathe compare --spaces "$PNPOLY" --strategies walk.lua:back=true,from=0.25,mode=plain,step=2 --seeds 3 --seed 8 \
        --json >after
    [ "$(json report "j ->> '\$.again.strategies[0].score'")" = "$(json after "j ->> '\$.strategies[0].score'")" ]
}

@test "the same seed gives the same report, whatever --jobs is; an embedded strategy, another one, recordings to test on" {
    for jobs in 1 3; do
        lathe tune-strategy local --spaces "$PNPOLY" --test "$MILO" --trials 6 --seeds 4 \
            --db none -j $jobs >report-$jobs 2>errors-$jobs
    done
    diff report-1 report-3
    diff errors-1 errors-3
    grep -q '^6 of ' report-1
    grep -q '^on other spaces .*convolution_milo-A100' report-1
    grep -q '^best: local:' report-1
    grep -q '^6/6  score ' errors-1
    not grep -q '^held out' report-1
}

@test "wrong command lines" {
    fails 2 "--test: $PNPOLY is among --spaces, too" lathe tune-strategy local --spaces "$MILO" "$PNPOLY" --test "$PNPOLY"
    fails 2 "--spaces is missing" lathe tune-strategy local
    fails 2 "NAME is missing" lathe tune-strategy --spaces "$PNPOLY"
    fails 2 "there is no strategy 'locl'" lathe tune-strategy locl --spaces "$PNPOLY"
    fails 2 "has no options" lathe tune-strategy exhaustive.lua --spaces "$PNPOLY" || {
        echo 'return strategy { name = "x", summary = "x", run = function() end }' >exhaustive.lua
        fails 2 "has no options" lathe tune-strategy exhaustive.lua --spaces "$PNPOLY"
    }
    fails 2 "walk.lua has the options back, from, mode, step" lathe tune-strategy walk.lua --spaces "$PNPOLY" \
        --values x=3
    fails 2 "step: '1.5' is no integer" lathe tune-strategy walk.lua --spaces "$PNPOLY" --values step=1.5
    fails 2 "option step of strategy walk" lathe tune-strategy walk.lua --spaces "$PNPOLY" --values step=9 --db none -q
    fails 2 "there is no strategy 'rndom'" lathe tune-strategy walk.lua --spaces "$PNPOLY" --strategy rndom --db none -q
    fails 1 "every combination of options that was tried failed" lathe tune-strategy walk.lua --spaces "$PNPOLY" \
        --values mode=bad --trials 3 --db none -q --seeds 1
}

@test "Ctrl-C leaves what was tried" {
    env --default-signal=INT "$LATHE_BIN" tune-strategy walk.lua --spaces "$PNPOLY" --trials 100000 --seeds 200 \
        --values mode=plain \
        --values from=0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1 >text 2>errors &
    pid=$!
    until_true 30 grep -q '^2/100000' errors
    kill -INT $pid
    code=0
    wait $pid || code=$?
    [ "$code" -eq 130 ]
    grep -q '^best: walk.lua:' text
    [ "$(sqlite3 lathe.db "SELECT state, (SELECT sum(outcome = 'ok') >= 2
        FROM trial), (SELECT sum(outcome = 'skipped') <= 1 FROM trial)
        FROM campaign")" = "interrupted|1|1" ]
}

@test "an end before a combination was tried is told as that, and not as a failure of all" {
    fails 1 "1e-06 s were over before a first combination of options was tried" lathe tune-strategy walk.lua \
        --spaces "$PNPOLY" --seconds 0.000001 --seeds 1 --db none -q
    sed 's/back = boolean/slow = boolean { false }, &/; s/local n = space:size()/if opt.slow then for i = 1, 3e7 do end end &/' \
        walk.lua >slow.lua
    interrupted() { # WHEN MESSAGE OPTION...
        env --default-signal=INT "$LATHE_BIN" tune-strategy slow.lua --spaces "$PNPOLY" --seeds 200 --values slow=true \
            --strategy exhaustive --db none "${@:3}" >text 2>errors &
        local pid=$! code=0
        until_true 30 grep -q "^$1 " errors
        kill -INT $pid
        wait $pid || code=$?
        [ "$code" -eq 130 ]
        grep -q "^lathe: interrupted: $2" errors
        [ ! -s text ]
    }
    interrupted default "no combination of options was tried to its end" --values mode=plain
    interrupted 1/50 "every combination of options that was tried until then failed" --values mode=bad,plain
}
