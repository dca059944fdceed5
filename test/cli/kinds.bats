# kinds.bats: one command on devices of unlike kinds: a campaign of each. Two host workers whose compilers tell unlike
# versions stand for two kinds of GPUs.
load helper

# A compiler that tells another version where the second host worker asks; and where the first kind's campaign is over,
# since the second kind's first worker is the first of its own campaign.
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >c++ <<'END'
#!/bin/sh
PATH=${PATH#*:}
if [ "$*" = --version ]; then
    tr '\0' ' ' </proc/$PPID/cmdline >.parent.$$
    read -r parent <.parent.$$
    rm .parent.$$
    over=$(sqlite3 p.db "SELECT count(*) FROM campaign WHERE state <> 'running'" 2>/dev/null)
    case "$parent ${over:-0}" in
        *" (2) "* | *" 1") echo "other (compiler) 99"; exit ;;
    esac
fi
exec ${LATHE_TEST_CXX:-c++} "$@"
END
    chmod +x c++
    export LATHE_TEST_CXX="${CXX:-}"
    unset CXX
    PATH="$PWD:$PATH"
}

sql() { sqlite3 p.db "$1"; }

@test "each kind has its campaign, its baselines and its final; the winners stand side by side" {
    lathe tune tiny --size M=5 --kernel plain --device host,host --strategy exhaustive --trials 10 --top 2 \
        --db p.db >out 2>log
    grep -qx "kind 1 of 2: --device host" log
    grep -qx "kind 2 of 2: --device host" log
    [ "$(sql "SELECT count(*) FROM campaign WHERE state = 'finished'")" = 2 ]
    [ "$(sql "SELECT count(DISTINCT driver) FROM campaign JOIN device ON device.id = device_id")" = 2 ]
    # the budget is of each, and nothing is shared: proposals are those of a campaign by itself
    [ "$(sql "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM trial WHERE number > 0 GROUP BY campaign_id)")" = \
        10,10 ]
    [ "$(sql "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM trial WHERE number <= 0 GROUP BY campaign_id)")" \
        = 1,1 ]
    [ "$(sql "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM trial WHERE final_rank GROUP BY campaign_id)")" = \
        2,2 ]
    [ "$(grep -c '^finished after' out)" = 2 ]
    sed -n '/^each kind of device by itself/,$p' out >beside
    cat beside
    grep -qE "^device +host +host$" beside
    grep -qE "^campaign +1 +2$" beside
    grep -qE "^winner +[0-9]+ +[0-9]+$" beside
    grep -qE "^kernel +plain +plain$" beside
    grep -qE "^configuration +BLOCK=.* BLOCK=" beside
    grep -qE "^time ms +[0-9.]+ +[0-9.]+$" beside
    grep -qE "^speed-up +[0-9]+[.][0-9][0-9]x +[0-9]+[.][0-9][0-9]x$" beside
    grep -qE "^gemm_then_scale ms +[0-9.]+ +[0-9.]+$" beside
    [ "$(sed -nE 's/^winner +//p' beside | tr -s ' ')" = \
      "$(sql "SELECT group_concat(id, ' ') FROM (SELECT id FROM trial WHERE final_rank = 1 ORDER BY campaign_id)")" ]
}

@test "--json: the events of one campaign after another, then which is of which kind" {
    lathe tune tiny --size M=5 --kernel plain --device host,host --trials 3 --top 0 --db p.db --json >out
    [ "$(grep -c '^{"event": "campaign_ended"' out)" = 2 ]
    [ "$(tail -n 1 out)" = \
      '{"event": "kinds", "kinds": [{"device": "host", "campaign": 1}, {"device": "host", "campaign": 2}]}' ]
}

@test "--csv: the best of all kinds, under one header" {
    lathe tune tiny --size M=5 --kernel plain --device host,host --strategy exhaustive --trials 4 --top 1 --db p.db \
        --csv >out 2>log
    [ "$(sqlite3 :memory: ".import --csv out t" "SELECT group_concat(campaign) FROM t WHERE rank = 1")" = 1,2 ]
    [ "$(cut -d, -f1 out | grep -c '^id$')" = 1 ]
}

@test "an interruption ends the kind that runs, the others are not begun, and it can be resumed" {
    env --default-signal=INT "$LATHE_BIN" tune "$TREE/test/specs/hold.lua" --device host,host --strategy order.lua \
        --top 0 \
        --db p.db >out 2>log 3>&- &
    pid=$!
    cat >order.lua <<'END'
return strategy { name = "order", summary = "", run = function(tune)
  for i = 1, 3 do tune.evaluate { HOLD = i == 2 and "device" or "never", ID = i } end
end }
END
    until_true 60 test -e held
    kill -INT $pid
    code=0
    wait $pid || code=$?
    cat log
    [ "$code" -eq 130 ]
    grep -q "lathe: --device host: interrupted; what was measured is campaign 1 of p.db" log
    [ "$(sql "SELECT count(*) || ' ' || state FROM campaign")" = "1 interrupted" ]
    grep -qE "^campaign +1 +-$" out
    grep -qE "^winner +[0-9]+ +-$" out
}

@test "a kind on which nothing is valid: said, the other has its campaign, exit code 1" {
    run lathe tune tiny --size M=5 --kernel plain --device host,host --where "FLAW == 'wrong'" --trials 2 --db p.db
    [ "$status" -eq 1 ]
    [ "$(sql "SELECT count(*) FROM campaign")" = 2 ]
    [[ "$output" == *"lathe: --device host: no configuration was valid"* ]]
}

@test "a campaign that is resumed takes one kind, and lathe verify one device" {
    lathe tune tiny --size M=5 --kernel plain --device host,host --trials 3 --top 0 --db p.db --quiet >/dev/null
    sqlite3 p.db "UPDATE campaign SET request = json_set(request, '$.device', 'host,host') WHERE id = 1"
    mv p.db q.db                            # the compiler looks there
    fails 2 "are of unlike kinds (driver), and their times would not compare" lathe tune --resume 1 --trials 5 --db q.db
    fails 2 "are of unlike kinds" lathe verify tiny --kernel plain --size M=5 --device host,host
}
