# terminal.bats: tables and texts fit the terminal that they are printed on (terminal.py refuses a line that does not),
# and nothing is lost for it.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export LC_ALL=C.UTF-8 TERM=xterm
    script -qec true /dev/null >/dev/null 2>&1 </dev/null || skip "no pseudo-terminals here"
}

# on COLUMNS COMMAND...: what lathe prints on such a terminal, in file `screen`; $status. Its note of lines too wide is
# the only thing that terminal.py says
on() {
    status=0
    "$TREE/test/cli/terminal.py" --columns "$1" "$LATHE_BIN" "${@:2}" >screen 2>refused || status=$?
    if [ -s refused ]; then cat refused; return 1; fi
    [ -s screen ]
}

# The pairs NAME=VALUE of a file, each once.
pairs() { grep -oE '[A-Za-z_]+=[^ ,)]+' "$1" | sort -u; }

# fit COMMAND...: on terminals of 80 and 120 columns; whatever pairs it prints into a file are there
fit() {
    local columns
    "$LATHE_BIN" "$@" >wide 2>&1 || true
    for columns in 80 120; do
        on "$columns" "$@"
        if [ "$(pairs screen)" != "$(pairs wide)" ]; then
            echo "$* at $columns columns:"
            cat screen
            return 1
        fi
    done
}

h200() { gzip -dc "$TREE/test/data/linear-h200.db.gz" >h.db; }

@test "terminal: show, best, compare and explain fit it" {
    h200
    fit show --db h.db
    fit show 1 --all --db h.db
    fit best --db h.db
    fit best --front --db h.db
    fit compare 1 3 --db h.db
    fit compare 1 2 3 --db h.db
    fit explain --db h.db
    fit query --db h.db "SELECT * FROM trial LIMIT 5"
    for columns in 30 60; do on $columns best --front --db h.db; done
}

@test "terminal: show and help fit narrow ones too" {
    h200
    on 30 show 3 --db h.db
    for columns in 40 60; do
        on $columns show 3 --db h.db
        on $columns show --db h.db
        on $columns help
        for command in $("$LATHE_BIN" help --list); do
            on $columns help $command
            [ "$status" -eq 0 ]
        done
    done
    # nothing is lost: the words are those of a wide one, whose lines are of 80 columns
    for command in tune compare; do
        "$LATHE_BIN" help $command >wide
        on 200 help $command
        diff wide <(sed '$d' screen)
        on 40 help $command
        diff <(tr -d ' \n' <wide) <(tr -d ' \n' <screen)
    done
    # bars are as many as there is room for
    on 40 show 3 --db h.db
    grep -q "^best so far  .\{27\}$" screen
}

@test "terminal: space and doctor fit it" {
    fit space linear --target sm_90a
    fit space linear --kernel simt --target sm_90a --explain BM=128,BN=256
    fit space linear --kernel epilogue --target sm_90a --explain IN_PLACE=true,VEC=4
    on 80 doctor
    on 120 doctor
}

@test "terminal: verify fits it" {
    for columns in 80 120; do
        on $columns verify "$TREE/test/specs/hard.lua" --kernel hard --config FAULT=bf16_pair --inputs wide,special \
            --device host
        [ "$status" -eq 1 ]
    done
    grep -q "^inputs .*  reason$" screen
}

@test "terminal: what tune says on its way and its result fit it" {
    for columns in 80 120; do
        on $columns tune tiny --device host --trials 8 --strategy random --db t.db
        [ "$status" -eq 0 ]
    done
    on 80 show 1 --db t.db
    on 80 tune --device "replay:$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" --trials 40 --db r.db
    on 80 compare --spaces "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" --strategies random latin --seeds 2
    not grep -q '0 to 1$' screen        # a bar tells no more than its number
    on 120 compare --spaces "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" --strategies random latin --seeds 2
    grep -q '0 to 1$' screen
}

@test "terminal: what all rows share is told once, a configuration goes on under its row" {
    h200
    on 80 best --top 2 --db h.db
    diff screen - <<'END'
linear M=128 N=32768 K=32768 on NVIDIA H200, campaign 3, verified to atol=0.0001
  rtol=0.0001 times_sgemm_error=2

in all rows: kernel simt
in every configuration: TRANSPOSED=false BM=128 BN=256 TM=16 TN=8 BK=8 UNROLL=8
  FRAGMENTS=1 LAYOUT=transposed FILL=register STAGES=2 VEC=4 SPLIT_K=1
  SCHEDULE=stream MIN_BLOCKS=1 STORE=direct

rank  trial  time ms  cold ms  sustained ms  speed-up  TFLOP/s    error
      configuration
   1    737    5.178    5.140         5.300     1.02x    53.48  2.8e-06
      LANES_M=2
   2    778    5.161    5.147         5.315     1.02x    53.40  2.8e-06
      LANES_M=8

END
}

@test "terminal: in a file, and on a terminal that knows nothing, lines are as long as they come" {
    h200
    lathe best --db h.db >piped
    TERM=dumb on 300 best --db h.db
    diff <(cat piped; echo) screen
    [ "$(wc -L <piped)" -gt 200 ]
}

@test "terminal: a message is broken between words, a command in it never" {
    h200
    on 40 show 99 --db h.db
    [ "$status" -eq 1 ]
    diff screen - <<'END'
lathe: there is no campaign 99 in h.db
`lathe show --db h.db` lists those that
  there are

END
}
