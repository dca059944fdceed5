# compare.bats: `lathe compare`.
load helper

DATA="$TREE/test/data/recorded"
PNPOLY="$DATA/pnpoly-RTX_3090.json.gz"
MILO="$DATA/convolution_milo-A100.t4.json.gz"

compare() { "$LATHE_BIN" compare "$@"; }

@test "on a terminal scores have bars, of # where the locale is not UTF-8" {
    command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null ||
        skip "no pseudo-terminals here"
    local command="$LATHE_BIN compare --spaces $PNPOLY --strategies random,gp --seeds 2 --quiet"
    LC_ALL=C TERM=xterm script -qec "$command" /dev/null >screen </dev/null
    grep -q '^gp .*##' screen
    LC_ALL=C.UTF-8 TERM=xterm script -qec "$command" /dev/null >screen </dev/null
    grep -q $'^gp .*\xe2\x96\x88' screen
    not grep -q '0 to 1' <($command)
}

@test "what reading a recording had to settle is told, quiet or not" {
    gzip -dc "$PNPOLY" | head -c 1000000 >cut.json
    for form in "" --json --quiet; do
        split compare --spaces cut.json --strategies random --seeds 1 $form
        [[ "$status" = 0 && "$errors" == *"note: cut.json: "*"without its closing braces"* ]]
    done
    split "$LATHE_BIN" tune-strategy random --spaces cut.json --seeds 1 --trials 1 --db none --quiet
    [[ "$errors" == *"note: cut.json: "*"without its closing braces"* ]]
    split "$LATHE_BIN" tune --device replay:cut.json --strategy random --trials 5 --db none --quiet
    [[ "$status" = 0 && "$errors" == *"note: cut.json: "*"without its closing braces"* ]]
    split compare --spaces "$PNPOLY" --strategies random --seeds 1 --quiet
    [ -z "$errors" ]
}

@test "numbers are campaigns: what each found, in a row" {
    local tune="$LATHE_BIN tune tiny --device host --kernel plain --trials 8 --quiet --db c.db"
    $tune --strategy random >/dev/null
    $tune --strategy ils --seed 4 >/dev/null
    $tune --strategy random --size M=6 >/dev/null
    split compare 2 1 --db c.db
    [ "$status" = 0 ]
    [[ "$(sed -n 1p <<<"$out")" == "tiny M=5 N=7 K=9 on "* ]]
    grep -Eq '^campaign +strategy +seed +trials +ok +seconds +best ms +baseline ms +speed-up +of the first +configuration$' <<<"$out"
    grep -Eq '^ +2  ils +4 +8 .* 1\.000x  BLOCK=' <<<"$out"
    grep -Eq '^ +1  random +1 +8 .*x  BLOCK=' <<<"$out"
    [[ "$out" != *"not compared"* ]]
    compare 2 1 3 --db c.db --json >rows
    [ "$(json rows "(SELECT group_concat(value ->> 'id') FROM json_each(j))")" = 2,1,3 ]
    [ "$(json rows "round(j ->> '\$[1].ratio' - (j ->> '\$[0].best.cold_ms') / (j ->> '\$[1].best.cold_ms'), 9)")" = \
        0.0 ]
    [ "$(json rows "j ->> '\$[0].ratio'")" = 1.0 ]
    [ -z "$(json rows "j ->> '\$[2].ratio'")" ] # of another size
    split compare 2 1 3 --db c.db
    [[ "$out" == *"not compared with the first: 3 ("* ]]
    [ "$(sqlite3 :memory: ".import --csv '|$LATHE_BIN compare 1 3 --db c.db --csv' t" \
        "SELECT group_concat(id || best_outcome) FROM t")" = 1ok,3ok ]
    fails 1 "there is no campaign 9 in c.db" compare 1 9 --db c.db
    fails 2 "campaign 1 is there twice" compare 1 01 --db c.db
    fails 2 "the numbers of two campaigns" compare 1 --db c.db
    fails 2 "--spaces is for strategies, and 1 is a campaign" compare 1 2 --spaces "$PNPOLY"
    for option in --seeds --seed --cutoff --jobs; do
        fails 2 "$option is for strategies, and 1 is a campaign" compare 1 2 $option 1 --db c.db
    done
    fails 2 "1 is a campaign's number, and 'random' is none" compare random 1 --db c.db
    # one without a final: the ratio is of the trials' times, which is said, for cold times stand beside it
    $tune --strategy ils --seed 4 --top 0 >/dev/null
    split compare 2 4 1 --db c.db
    [[ "$out" == *"by the trials' times, since one of the two is without a final: 4" ]]
    compare 2 4 --db c.db --json >rows
    [ "$(json rows "round(j ->> '\$[1].ratio' - (j ->> '\$[0].best.time_ms') / (j ->> '\$[1].best.time_ms'), 9)")" = 0.0 ]
    # words are strategies, as in a list
    compare random local --spaces "$PNPOLY" --seeds 2 --quiet >a
    compare --strategies random,local --spaces "$PNPOLY" --seeds 2 --quiet >b
    [ "$(cut -c1-40 a)" = "$(cut -c1-40 b)" ]
}

@test "on a terminal the tests of the pairs are seen going; --quiet says nothing" {
    command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null ||
        skip "no pseudo-terminals here"
    local command="$LATHE_BIN compare --spaces $PNPOLY --seeds 20 --jobs 1 --strategies random,random:batch=1,latin,latin:samples=4"
    command+=",local,local:kind=adjacent,local:batch=4,local:batch=2,tabu,ils,ils:kick=2,pso,genetic,annealing"
    TERM=xterm script -qec "$command" /dev/null >screen </dev/null
    grep -Eaq '[0-9]+/91 pairs of strategies tested  [0-9]' screen
    TERM=xterm script -qec "$command --quiet" /dev/null >screen </dev/null
    not grep -aq tested screen
}

@test "Ctrl-C while pairs are tested leaves the scores, and the tests that are done" {
    command -v python3 >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null ||
        skip "no python3 or no pseudo-terminals here"
    TERM=xterm LC_ALL=C run "$TREE/test/cli/terminal.py" --columns 300 --interrupt "pairs of strategies tested" \
        "$LATHE_BIN" compare --spaces "$PNPOLY" --seeds 60 --jobs 1 -o out --strategies random,random:batch=1,latin,latin:samples=4 \
        --strategies local,local:kind=adjacent,local:batch=4,local:batch=2,tabu,ils,ils:kick=2,pso,genetic,annealing
    [ "$status" -eq 130 ]
    [[ "$output" == *"840 runs of 840, "*"lathe: interrupted: what was done until then counts alone"* ]]
    tested="$(sed -n 's/^interrupted: \([0-9]*\) of 91 pairs of strategies are tested$/\1/p' <<<"$output")"
    [ "$tested" -lt 91 ]
    sqlite3 t.db ".import --csv out/pairs.csv p" ".import --csv out/scores.csv s"
    # the best one's come first
    best="$(sqlite3 t.db "SELECT strategy FROM s WHERE space = 'mean' ORDER BY score + 0 DESC LIMIT 1")"
    [ "$(sqlite3 t.db "SELECT sum(p <> '') FROM p WHERE '$best' IN (a, b)")" = $((tested < 13 ? tested : 13)) ]
    [ "$(sqlite3 t.db "SELECT count(*), sum(p <> ''), sum(adjusted_p <> ''), sum(difference <> '') FROM p")" = \
        "91|$tested|$tested|91" ]
    [ "$(sqlite3 t.db "SELECT count(*) FROM s WHERE space = 'mean' AND score <> '' AND low <> ''")" = 14 ]
}

@test "random search scores about 0, local search more, and the difference is told from chance" {
    split compare --spaces "$PNPOLY" "$MILO" --strategies random,local --seeds 40 --json
    [ "$status" -eq 0 ]
    echo "$out" >report
    [ "$(json report "j ->> '\$.strategies[0].strategy'")" = local ]
    [ "$(json report "abs(j ->> '\$.strategies[1].score') < 0.15")" = 1 ]
    [ "$(json report "(j ->> '\$.strategies[0].score') > (j ->> '\$.strategies[1].score') + 0.2")" = 1 ]
    [ "$(json report "(j ->> '\$.strategies[1].low') < (j ->> '\$.strategies[1].score') AND
                      (j ->> '\$.strategies[1].score') < (j ->> '\$.strategies[1].high')")" = 1 ]
    [ "$(json report "(j ->> '\$.pairs[0].a') || (j ->> '\$.pairs[0].b')")" = randomlocal ]
    [ "$(json report "(j ->> '\$.pairs[0].difference') < -0.2 AND (j ->> '\$.pairs[0].adjusted_p') < 0.01")" = 1 ]
    [ "$(json report "j ->> '\$.spaces[1].space'")" = convolution_milo-A100 ]
    [ "$(json report "j ->> '\$.spaces[1].last_evaluation'")" = 1050 ]
    [ "$(json report "round(j ->> '\$.spaces[0].to_s', 1)")" = 51.9 ]
    [ "$(json report "round((j ->> '\$.strategies[0].spaces[0].score') / 2 + (j ->> '\$.strategies[0].spaces[1].score')
        / 2
                      - (j ->> '\$.strategies[0].score'), 9)")" = 0.0 ]
}

@test "the files: every evaluation, the curves, and scores that follow from them" {
    split compare --spaces "$PNPOLY" --strategies random:batch=1,local --seeds 3 -o out --csv
    [ "$status" -eq 0 ]
    [ "$(echo "$out" | wc -l)" -eq 5 ]
    [ "$(head -1 out/traces.csv)" = space,strategy,seed,feval,objective,best,cum_s ]
    sqlite3 t.db ".import --csv out/traces.csv t" ".import --csv out/curves.csv c" ".import --csv out/scores.csv s" \
        ".import --csv out/pairs.csv p"
    [ "$(sqlite3 t.db "SELECT count(DISTINCT strategy || seed), count(DISTINCT space) FROM t")" = "6|1" ]
    # runs go on until 10 % beyond the range, in time and in evaluations
    [ "$(sqlite3 t.db "SELECT min(n) >= 217 AND min(e) >= 51.89 * 1.1 FROM
        (SELECT count(*) AS n, max(cum_s + 0) AS e FROM t GROUP BY strategy, seed)")" = 1 ]
    # best is the running minimum, the clock the sum of costs
    [ "$(sqlite3 t.db "SELECT count(*) FROM (SELECT best + 0 AS best, min(CASE objective WHEN '' THEN 1e9 ELSE objective
        + 0 END)
        OVER (PARTITION BY strategy, seed ORDER BY feval + 0) AS m FROM t WHERE best <> '') WHERE best <> m")" = 0 ]
    [ "$(sqlite3 t.db "SELECT count(*) > 0 FROM t WHERE objective = ''")" = 1 ]
    [ "$(sqlite3 t.db "SELECT count(*) FROM c WHERE space = 'mean' AND strategy = 'local'")" = 1000 ]
    [ "$(sqlite3 t.db "SELECT count(*) FROM s JOIN (SELECT strategy, space, avg(score + 0) AS m FROM c GROUP BY 1, 2) x
        ON x.strategy = s.strategy AND x.space = s.space WHERE abs(s.score - x.m) < 1e-9")" = 4 ]
    [ "$(sqlite3 t.db "SELECT count(*), min(a), min(b) FROM p")" = "1|random:batch=1|local" ]
    grep -q '^<svg xmlns="http://www.w3.org/2000/svg"' out/curves.svg
    [ "$(grep -c '<polyline' out/curves.svg)" -eq 2 ]
    grep -q 'random:batch=1' out/curves.svg
}

@test "the same seeds give the same files, whatever --jobs is; other seeds others" {
    compare --spaces "$PNPOLY" --strategies random,local,gp --seeds 3 -o a --jobs 1 >/dev/null
    compare --spaces "$PNPOLY" --strategies random,local,gp --seeds 3 -o b --jobs 4 >/dev/null
    diff -r a b
    compare --spaces "$PNPOLY" --strategies random --seeds 1 --seed 2 -o c >/dev/null
    [ "$(grep -c ',random,2,' c/traces.csv)" -gt 200 ]
    [ "$(grep ',random,2,' a/traces.csv)" = "$(grep ',random,2,' c/traces.csv)" ]
    not cmp -s a/scores.csv c/scores.csv
}

@test "options of strategies, strategies in files, and names that are not told apart" {
    cp "$PNPOLY" pnpoly-RTX_3090.json.gz
    cat >first.lua <<'L'
return strategy { name = "first", summary = "the first ones", options = { step = integer { 1, min = 1 } },
  run = function(tune, space, opt) for i = 1, space:size(), opt.step do tune.evaluate(space:at(i)) end end }
L
    split compare --spaces "$PNPOLY" pnpoly-RTX_3090.json.gz --strategies ./first.lua:step=9,random \
        --strategies local:batch=4,starts=8 \
        --seeds 2 --json
    [ "$status" -eq 0 ]
    echo "$out" >report
    [ "$(json report "(SELECT group_concat(value ->> 'strategy', ' ') FROM (SELECT value
        FROM json_each(j, '\$.strategies')
        ORDER BY value ->> 'strategy'))")" = "./first.lua:step=9 local:batch=4,starts=8 random" ]
    [ "$(json report "j ->> '\$.spaces[0].space'")" = "$PNPOLY" ]
    [ "$(json report "j ->> '\$.spaces[1].space'")" = pnpoly-RTX_3090.json.gz ]
}

@test "a strategy that ends by itself is held at its last value, one that finds nothing at the worst" {
    cat >one.lua <<'L'
return strategy { name = "one", summary = "one", run = function(tune, space) tune.evaluate(space:at(1)) end }
L
    cat >none.lua <<'L'
return strategy { name = "none", summary = "none", run = function(tune, space) end }
L
    split compare --spaces "$PNPOLY" --strategies one.lua,none.lua,random --seeds 2 -o out --json
    [ "$status" -eq 0 ]
    echo "$out" >report
    [ "$(json report "j ->> '\$.strategies[2].spaces[0].evaluations' IN (0.0, 1.0)")" = 1 ]
    worst="$(sqlite3 :memory: ".import --csv out/curves.csv c" \
        "SELECT count(DISTINCT value_ms) FROM c WHERE strategy <> 'random' AND space <> 'mean'")"
    [ "$worst" = 2 ]
}

@test "the strategies' own time, where it counts" {
    cat >slow.lua <<'L'
return strategy { name = "slow", summary = "slow", options = { n = integer { 0, min = 0 } }, run = function(tune, space, opt)
  for i in shuffled(space:size()) do
    local x = 0
    for k = 1, opt.n do x = x + k % 7 end
    tune.evaluate(space:at(i))
  end
end }
L
    split compare --spaces "$PNPOLY" --strategies slow.lua:n=200000,slow.lua --seeds 2 --own-time -o out --csv
    [ "$status" -eq 0 ]
    # the same configurations, later
    [ "$(sqlite3 :memory: ".import --csv out/traces.csv t" \
        "SELECT count(*), min(a.objective = b.objective), min(a.cum_s + 0 > b.cum_s + 0) FROM t a
        JOIN t b ON a.seed = b.seed AND a.feval = b.feval AND a.strategy = 'slow.lua:n=200000'
            AND b.strategy = 'slow.lua'
        WHERE a.feval + 0 < 50")" = "98|1|1" ]
}

@test "runs as campaigns in a database" {
    split compare --spaces "$PNPOLY" --strategies random,local:batch=4 --seeds 2 --db x.db -o out
    [ "$status" -eq 0 ]
    sqlite3 x.db ".import --csv out/traces.csv trace"
    [ "$(sqlite3 x.db "SELECT group_concat(name || ' ' || seed || ' ' || state, ', ') FROM campaign c JOIN strategy s
        ON s.id = c.strategy_id")" = \
        "random 1 finished, local 1 finished, random 2 finished, local 2 finished" ]
    [ "$(sqlite3 x.db "SELECT count(*) FROM campaign WHERE strategy_options LIKE 'batch=4 %'")" = 2 ]
    [ "$(sqlite3 x.db "SELECT (SELECT count(*) FROM trial) = (SELECT count(*) FROM trace)")" = 1 ]
    [ "$(sqlite3 x.db "SELECT count(*) FROM trial t JOIN campaign c ON c.id = t.campaign_id JOIN strategy s
        ON s.id = c.strategy_id
        JOIN trace x ON x.strategy = CASE s.name WHEN 'local' THEN 'local:batch=4' ELSE s.name END AND x.seed = c.seed
            AND x.feval = t.number
        WHERE abs(coalesce(t.time_ms, 0) - x.objective) < 1e-9")" = "$(sqlite3 x.db "SELECT count(*) FROM trial")" ]
    lathe show --db x.db 2 | grep -q 'nothing was measured'
    fails 6 "x.txt" compare --spaces "$PNPOLY" --strategies random --seeds 1 --db /nonexistent/x.txt
}

@test "on a narrow terminal how far it is stays on its one line" {
    command -v python3 >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null ||
        skip "no python3 or no pseudo-terminals here"
    TERM=xterm "$TREE/test/cli/terminal.py" --columns 20 sh -c \
        "'$LATHE_BIN' compare gp --seeds 12 --jobs 1 --spaces '$PNPOLY' >scores" >screen
    [ -s scores ]
    [ -z "$(tr -d '[:space:]' <screen)" ]
}

@test "--output makes the folder and those that it is in; --db none stores nothing" {
    compare random --spaces "$PNPOLY" --seeds 1 --quiet --output a/b/c --db none >/dev/null
    [ "$(ls a/b/c | tr '\n' ' ')" = "curves.csv curves.svg pairs.csv scores.csv traces.csv " ]
    [ "$(ls)" = a ]
    touch file
    fails 7 "file: exists and is not a directory" compare random --spaces "$PNPOLY" --quiet --output file --db x.db
    [ ! -e x.db ]
}

@test "what cannot be scored" {
    fails 2 "--spaces is missing" compare --strategies random
    fails 7 "nothing.json" compare --spaces nothing.json --strategies random
    fails 2 "there twice" compare --spaces "$PNPOLY" "$PNPOLY" --strategies random
    fails 2 "there twice" compare --spaces "$PNPOLY" --strategies random,local,random
    fails 2 "name is empty" compare --spaces "$PNPOLY" --strategies random,,local
    fails 2 "there is no strategy 'randm'" compare --spaces "$PNPOLY" --strategies randm
    fails 2 "has no option 'x'" compare --spaces "$PNPOLY" --strategies random:x=3
    fails 2 "--cutoff: '0x1p-1'" compare --spaces "$PNPOLY" --cutoff 0x1p-1
    fails 2 "--cutoff: '1'" compare --spaces "$PNPOLY" --cutoff 1
    fails 2 "--cutoff: 'much'" compare --spaces "$PNPOLY" --cutoff much
    fails 2 "exclude each other" compare --spaces "$PNPOLY" --json --csv
    cat >one.json <<'J'
{"tune_params_keys": ["a"], "tune_params": {"a": [1, 2]}, "cache": {
"1": {"a": 1, "time": 3, "times": [3], "compile_time": 9}, "2": {"a": 2, "time": "InvalidConfig", "compile_time": 9}}}
J
    fails 2 "one.json: no score can be made of it: only one of its configurations is valid" compare --spaces one.json \
        --strategies random
    sed 's/"InvalidConfig"/4/' one.json >two.json
    fails 2 "two.json: no score can be made of it: random search is expected to find the best" compare --spaces two.json
    sed 's/"InvalidConfig"/3/' one.json >flat.json
    fails 2 "as good as the best" compare --spaces flat.json
    fails 2 "the last seed would be above" compare --spaces "$PNPOLY" --seed 9223372036854775807 --seeds 2
    head -c 100000 "$PNPOLY" >cut.json.gz
    fails 7 "cut.json.gz" compare --spaces cut.json.gz
    fails 7 "/dev/null/x" compare --spaces "$PNPOLY" --strategies random -o /dev/null/x
    cat >bad.lua <<'L'
return strategy { name = "bad", summary = "bad", run = function(tune, space) error("too bad") end }
L
    fails 3 "bad.lua on pnpoly-RTX_3090, seed 1: bad.lua:1: too bad" compare --spaces "$PNPOLY" \
        --strategies bad.lua,random --jobs 1
}

@test "a full disk is an error" {
    [ -e /dev/full ] || skip "no /dev/full"
    mkdir out
    ln -s /dev/full out/traces.csv
    fails 7 "out/traces.csv" compare --spaces "$PNPOLY" --strategies random --seeds 2 -o out
}

@test "Ctrl-C leaves what is done" {
    # a shell starts background jobs with SIGINT ignored
    env --default-signal=INT "$LATHE_BIN" compare --spaces "$PNPOLY" --strategies random \
        --seeds 100000 -j 2 -o out >text 2>errors &
    pid=$!
    until_true 30 grep -q '^pnpoly-RTX_3090,random,9,' out/traces.csv
    kill -INT $pid
    code=0
    wait $pid || code=$?
    [ "$code" -eq 130 ]
    grep -q '^random ' text
    grep -q 'runs of 100000, ' text
    [ -s out/scores.csv ]
    # whole runs only, all but one of the two that were in the middle, and each whole line
    [ "$(sqlite3 :memory: ".import --csv out/traces.csv t" \
        "SELECT min(n) >= 217, count(*) > 1, max(seed) - count(*) <= 1 FROM
        (SELECT seed + 0 AS seed, count(*) AS n, max(length(cum_s)) FROM t GROUP BY seed)")" = "1|1|1" ]
}
