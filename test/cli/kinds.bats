# kinds.bats: one command on devices of unlike kinds: a campaign of each, at the same time. Two host workers whose
# compilers tell unlike versions stand for two kinds of GPUs.
load helper

# A compiler that tells another version where the second host worker of a campaign asks; and, where a lathe has started
# a lathe for each kind, everywhere in the first of them that asks.
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >c++ <<'END'
#!/bin/sh
PATH=${PATH#*:}
# the process's words, with blanks between, and its parent
look() {
    words=$(tr '\0' ' ' <"/proc/$1/cmdline")
    parent=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status")
}
if [ "$*" = --version ]; then
    look $PPID
    asks=$words campaign=$PPID
    while case "$words" in *" worker "*) ;; *) false ;; esac do
        campaign=$parent
        look "$campaign"
    done
    command=$parent
    if [ "$(readlink "/proc/$command/exe")" = "$(readlink "/proc/$campaign/exe")" ]; then
        ln -s "$campaign" "other.$command" 2>/dev/null
        [ "$(readlink "other.$command")" != "$campaign" ] || { echo "other (compiler) 99"; exit; }
    else
        case "$asks" in *" (2) "*) echo "other (compiler) 99"; exit ;; esac
    fi
fi
exec ${LATHE_TEST_CXX:-c++} "$@"
END
    chmod +x c++
    export LATHE_TEST_CXX="${CXX:-}"
    unset CXX
    PATH="$PWD:$PATH"
}

teardown() {
    cat log || true
    [ -z "${pid:-}" ] || { kill -KILL "$pid" && wait "$pid"; } 2>/dev/null || true
}

sql() { sqlite3 p.db "$1"; }

# begin OPTION...: both kinds over test/specs/hold.lua, as order.lua says, in the background; sets $pid
begin() {
    env --default-signal=INT "$LATHE_BIN" tune "$TREE/test/specs/hold.lua" --device host,host --strategy order.lua \
        --top 0 --time-limit 600 --give-up 0 --db p.db "$@" >out 2>log 3>&- &
    pid=$!
}

order() {
    cat >order.lua <<END
return strategy { name = "order", summary = "", run = function(tune)
  for i, hold in ipairs { $1 } do tune.evaluate { HOLD = hold, ID = i } end
end }
END
}

# both campaigns have a trial whose kernel waits
both_wait() {
    [ "$(sql "SELECT count(DISTINCT campaign_id) FROM trial WHERE outcome = 'in_flight' AND attempts = 1" \
        2>/dev/null)" = 2 ]
}

# of_each WHERE: how many such trials each campaign has, with commas
of_each() { sql "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM trial WHERE $1 GROUP BY campaign_id)"; }

# the process of campaign $1
process_of() { sql "SELECT json_extract(environment, '\$.pid') FROM campaign WHERE id = $1"; }

ends() {
    code=0
    wait "$pid" || code=$?
    pid=
}

@test "each kind has its campaign, its baselines and its final; the winners stand side by side" {
    lathe tune tiny --size M=5 --kernel plain --device host,host --strategy exhaustive --trials 10 --top 2 --db p.db \
        >out 2>log
    grep -qx "kind 1 of 2: --device host" log
    grep -qx "kind 2 of 2: --device host" log
    # whose line it is
    grep -qE "^host: campaign [12] on " log
    grep -qE "^host [(]2[)]: campaign [12] on " log
    grep -qx "host: ended" log
    grep -qx "host (2): ended" log
    [ "$(sql "SELECT count(*) FROM campaign WHERE state = 'finished'")" = 2 ]
    [ "$(sql "SELECT count(DISTINCT driver) FROM campaign JOIN device ON device.id = device_id")" = 2 ]
    # the budget is of each, and nothing is shared: proposals are those of a campaign by itself
    [ "$(of_each "number > 0")" = 10,10 ]
    [ "$(of_each "number <= 0")" = 1,1 ]
    [ "$(of_each final_rank)" = 2,2 ]
    # a report of each, whole, in the order of the kinds
    [ "$(grep -c '^finished after' out)" = 2 ]
    sed -n '/^each kind of device by itself/,$p' out >beside
    cat beside
    grep -qE "^device +host +host$" beside
    first=$(sed -nE 's/^campaign +([0-9]+) +([0-9]+)$/\1/p' beside)
    second=$(sed -nE 's/^campaign +([0-9]+) +([0-9]+)$/\2/p' beside)
    [ "$first $second" = "1 2" ] || [ "$first $second" = "2 1" ]
    [ "$(sed -nE 's/^database p.db, campaign ([0-9]+)$/\1/p' out | tr '\n' ' ')" = "$first $second " ]
    grep -qE "^winner +[0-9]+ +[0-9]+$" beside
    grep -qE "^kernel +plain +plain$" beside
    grep -qE "^configuration +BLOCK=.* BLOCK=" beside
    grep -qE "^time ms +[0-9.]+ +[0-9.]+$" beside
    grep -qE "^speed-up +[0-9]+[.][0-9][0-9]x +[0-9]+[.][0-9][0-9]x$" beside
    grep -qE "^gemm_then_scale ms +[0-9.]+ +[0-9.]+$" beside
    [ "$(sed -nE 's/^winner +//p' beside | tr -s ' ')" = \
      "$(sql "SELECT group_concat(id, ' ') FROM
        (SELECT id FROM trial WHERE final_rank = 1 ORDER BY campaign_id = $second)")" ]
}

@test "the kinds' campaigns run at the same time; an interruption ends all, with results, and each can be resumed" {
    order '"never", "device", "never"'
    begin
    until_true 60 both_wait                 # neither kernel ever ends: each campaign is in the middle of its search
    kill -INT "$pid"
    ends
    cat log
    [ "$code" -eq 130 ]
    [ "$(sql "SELECT count(*) || ' ' || min(state) || ' ' || max(state) FROM campaign")" = "2 interrupted interrupted" ]
    [ "$(grep -c "^ending: " log)" = 1 ]
    for i in 1 2; do
        grep -qE -- "--device host: interrupted; what was measured is campaign $i of p.db" log
        grep -q "lathe tune --resume $i --db p.db" log
    done
    grep -qE "^campaign +[12] +[12]$" out
    grep -qE "^winner +[0-9]+ +[0-9]+$" out
    # the one whose compiler is the usual one goes on by its number
    mv p.db q.db
    id=$(sqlite3 q.db "SELECT campaign.id FROM campaign JOIN device ON device.id = device_id
        WHERE driver NOT LIKE 'other%'")
    order '"never", "device", "never"'
    "$LATHE_BIN" tune --resume "$id" --time-limit 1 --db q.db --quiet >out
    [ "$(sqlite3 q.db "SELECT state FROM campaign WHERE id = $id")" = finished ]
    [ "$(sqlite3 q.db "SELECT count(*) FROM trial WHERE campaign_id = $id AND number > 0")" = 3 ]
}

@test "a second signal ends all at once, and nothing of it is left" {
    order '"device"'
    begin
    until_true 60 both_wait
    one=$(process_of 1) two=$(process_of 2)
    # stopped, they do not hear the first
    kill -STOP "$one" "$two"
    kill -INT "$pid"
    until_true 60 grep -q "^ending: " log
    kill -INT "$pid"
    ends
    [ "$code" -eq 130 ]
    gone() { not kill -0 "$one" 2>/dev/null && not kill -0 "$two" 2>/dev/null; }
    until_true 60 gone
}

@test "a kind whose process is killed does not end the other" {
    order '"never", "final", "never"'
    touch hold-final
    begin
    until_true 60 both_wait
    kill -KILL "$(process_of 1)"
    rm hold-final
    # the other one's kernel waits until its worker is gone: that is its trial, and it goes on
    for p in /proc/[0-9]*; do
        p=${p#/proc/}
        if [ "$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$p/status" 2>/dev/null)" = "$(process_of 2)" ] &&
            tr '\0' ' ' <"/proc/$p/cmdline" | grep -q " worker device "; then kill -KILL "$p"; fi
    done
    ends
    cat log out
    [ "$code" -eq 130 ]
    grep -q -- "--device host: its process was killed by signal 9 (Killed)" log
    grep -q "what was measured is kept: campaign 1 of p.db" log
    [ "$(sql "SELECT state FROM campaign WHERE id = 2")" = finished ]
    [ "$(sql "SELECT count(*) FROM trial WHERE campaign_id = 2 AND number > 0 AND outcome <> 'in_flight'")" = 3 ]
    grep -qE "^campaign +[12] +[12]$" out
}

@test "killed itself, it leaves no process of a kind behind" {
    order '"device"'
    begin
    until_true 60 both_wait
    one=$(process_of 1) two=$(process_of 2)
    kill -KILL "$pid"
    wait "$pid" || true
    pid=
    gone() { not kill -0 "$one" 2>/dev/null && not kill -0 "$two" 2>/dev/null; }
    until_true 60 gone
}

@test "proposals of each are those of a campaign by itself, whatever the other has found by then" {
    lathe tune tiny --size M=4 --kernel plain --device host --trials 6 --top 0 --quiet --db p.db >/dev/null
    cp p.db alone.db
    lathe tune tiny --size M=5 --kernel plain --device host,host --strategy transfer --trials 12 --top 0 --quiet \
        --db p.db >out
    # what was told of is the campaign before alone
    [ "$(sql "SELECT group_concat(DISTINCT json_extract(value, '\$.campaign'))
        FROM campaign, json_each(request, '\$.earlier') WHERE campaign.id > 1")" = 1 ]
}

@test "--json: the events of all, each line whole and with its campaign, then which is of which kind" {
    lathe tune tiny --size M=5 --kernel plain --device host,host --trials 3 --top 0 --db p.db --json >out 2>log
    [ "$(grep -c '^{"event": "campaign_ended"' out)" = 2 ]
    { echo "["; paste -sd, out; echo "]"; } >all
    [ "$(sqlite3 :memory: "SELECT json_valid(CAST(readfile('all') AS TEXT))")" = 1 ]
    [ "$(sqlite3 :memory: "SELECT group_concat(c || ':' || n) FROM (SELECT value ->> 'campaign' AS c, count(*) AS n
        FROM json_each(CAST(readfile('all') AS TEXT)) WHERE value ->> 'event' = 'trial_ended' GROUP BY c)")" = 1:4,2:4 ]
    tail -n 1 out
    case "$(tail -n 1 out)" in
        '{"event": "kinds", "kinds": [{"device": "host", "campaign": 1}, {"device": "host", "campaign": 2}]}') ;;
        '{"event": "kinds", "kinds": [{"device": "host", "campaign": 2}, {"device": "host", "campaign": 1}]}') ;;
        *) false ;;
    esac
}

@test "--csv: the best of all kinds, under one header" {
    lathe tune tiny --size M=5 --kernel plain --device host,host --strategy exhaustive --trials 4 --top 1 --db p.db \
        --csv >out 2>log
    [ "$(sqlite3 :memory: ".import --csv out t" "SELECT group_concat(campaign) FROM
        (SELECT campaign FROM t WHERE rank = 1 ORDER BY campaign)")" = 1,2 ]
    [ "$(cut -d, -f1 out | grep -c '^id$')" = 1 ]
}

# compilers CAMPAIGN: how its compile workers are called, one a line
compilers() {
    local p process
    process=$(process_of "$1")
    for p in /proc/[0-9]*; do
        p=${p#/proc/}
        [ "$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$p/status" 2>/dev/null)" != "$process" ] ||
            tr '\0' ' ' <"/proc/$p/cmdline" | grep -o "worker compile [0-9]*" || true
    done
}

@test "the compilers of one campaign are shared out, and keep off the cores of all devices" {
    sed -i '2i case " $* " in *" -DLATHE_HOLD=2 "*) sleep 1000 ;; esac' c++
    cat >order.lua <<'END'
return strategy { name = "order", summary = "", run = function(tune)
  local all = {}
  for i = 1, 8 do all[i] = { HOLD = "compile", ID = i } end
  tune.evaluate_all(all)
end }
END
    begin --compile-workers 5
    shared() {
        [ "$({ compilers 1 | wc -l; compilers 2 | wc -l; } 2>/dev/null | sort | tr '\n' ' ')" = "2 3 " ]
    }
    until_true 60 shared
    [ "$({ compilers 1; compilers 2; } | sort -u)" = "worker compile 2" ]
}

@test "on a terminal: a live block with a line for each kind, and nothing of it is left" {
    command -v python3 >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null ||
        skip "no python3 or no pseudo-terminals here"
    local run="tune tiny --size M=5 --kernel plain --device host,host --strategy exhaustive --top 1"
    TERM=xterm script -qec "$LATHE_BIN $run --trials 39 --db p.db" /dev/null >raw </dev/null
    grep -qa $'\rhost      .*\rhost (2)  ' <(tr '\n' ' ' <raw)
    TERM=xterm "$TREE/test/cli/terminal.py" --columns 300 "$LATHE_BIN" $run --trials 8 --db s.db >screen
    cat screen
    not grep -q '^host      \|^host (2)  ' screen
    grep -q '^host: campaign [12] on ' screen
    grep -q '^host (2): campaign [12] on ' screen
    # Ctrl-C is the terminal's, to this command and to all that it started: it is told of once, and each ends once
    TERM=xterm run "$TREE/test/cli/terminal.py" --columns 300 --interrupt "best so far" "$LATHE_BIN" tune tiny \
        --device host,host --size M=6,N=7,K=9 --strategy random --trials 4000 --db i.db
    [ "$status" -eq 130 ]
    [ "$(grep -c '^ending: what is running' <<<"$output")" -eq 1 ]
    [[ "$output" == *"each kind of device by itself"* ]]
}

@test "a kind on which nothing is valid: said, the other has its campaign, exit code 1" {
    run lathe tune tiny --size M=5 --kernel plain --device host,host --where "FLAW == 'wrong'" --trials 2 --db p.db
    [ "$status" -eq 1 ]
    [ "$(sql "SELECT count(*) FROM campaign")" = 2 ]
    [[ "$output" == *"lathe: --device host: no configuration was valid"*"
--device host: no configuration was valid"* ]]
}

@test "a campaign that is resumed takes one kind, and lathe verify one device" {
    lathe tune tiny --size M=5 --kernel plain --device host,host --trials 3 --top 0 --db p.db --quiet >/dev/null
    sqlite3 p.db "UPDATE campaign SET request = json_set(request, '$.device', 'host,host') WHERE id = 1"
    fails 2 "are of unlike kinds (driver), and their times would not compare" lathe tune --resume 1 --trials 5 --db p.db
    fails 2 "are of unlike kinds" lathe verify tiny --kernel plain --size M=5 --device host,host
}
