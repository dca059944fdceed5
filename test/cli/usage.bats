# usage.bats: wrong command lines, help, version, and how results are written.
load helper

@test "no command: the help on stderr, exit 2" {
    split lathe
    [ "$status" -eq 2 ]
    [ -z "$out" ]
    [[ "$errors" == "usage: lathe COMMAND"* ]]
}

@test "help of all and of each command" {
    for how in "--help" "-h" "help"; do
        split lathe $how
        [ "$status" -eq 0 ]
        [[ "$out" == "usage: lathe COMMAND"* ]]
        [ -z "$errors" ]
    done
    for command in $(lathe help --list); do
        split lathe help $command
        [ "$status" -eq 0 ]
        [[ "$out" == "usage: lathe $command "* ]]
        first="$out"
        split lathe $command --help
        [ "$status" -eq 0 ]
        [ "$out" = "$first" ]
    done
}

@test "help of tune names the strategies and their options" {
    split lathe help tune
    for word in exhaustive random local kind=; do
        [[ "$out" == *"$word"* ]]
    done
}

@test "help says where a number is a whole one" {
    fails 2 "--give-up: '1.5' is not a whole number" lathe tune linear --give-up 1.5
    [[ "$(lathe help tune | tr -s ' \n' ' ')" == *"--give-up N and not longer than N (a whole number) times "* ]]
    not grep -E "^ +--[a-z-]+ X( |$)" <(lathe help tune)
}

@test "help of something that is no command" {
    fails 2 "did you mean 'tune'?" lathe help tuen
}

@test "version" {
    split lathe --version
    [ "$status" -eq 0 ]
    [[ "$out" =~ ^lathe\ [^\ ]+$ ]]
    first="$out"
    split lathe version
    [ "$out" = "$first" ]
}

@test "unknown command, with the nearest" {
    fails 2 "unknown command 'tuna'" lathe tuna linear
    [[ "$errors" == *"did you mean 'tune'?"* ]]
    fails 2 "unknown command 'frobnicate'" lathe frobnicate
    fails 2 "unknown option --db before the command" lathe --db x best
    fails 2 "unknown command 'worker'" lathe worker
}

@test "unknown option, with the nearest" {
    fails 2 "best: unknown option --tpo" lathe best --tpo 3
    [[ "$errors" == *"did you mean --top?"* ]]
    fails 2 "query: unknown option -x" lathe query -x
}

@test "values: missing, empty, not numbers, out of range" {
    fails 2 "--db: needs a value" lathe best --db
    fails 2 "--db: needs a value, but is followed by the option --json" lathe best --db --json
    fails 2 "--db: the value is empty" lathe best --db=
    fails 2 "--json: takes no value" lathe best --json=yes
    fails 2 "--top: 0 is too small" lathe best --top 0
    fails 2 "--trials: 0 is too small" lathe tune linear --trials 0
    fails 2 "--trials: -3 is too small" lathe tune linear --trials -3
    fails 2 "--trials: '10k' is not a whole number" lathe tune linear --trials 10k
    fails 2 "--trials: 99999999999999999999 is too large" lathe tune linear --trials 99999999999999999999
    fails 2 "--seconds: 'soon' is not a duration" lathe tune linear --seconds soon
    fails 2 "--seconds: 0 is too short" lathe tune linear --seconds 0
    fails 2 "--seed: -1 is too small" lathe tune linear --seed -1
    fails 2 "--size M: 0 is too small" lathe tune linear --size M=0
    fails 2 "--size M: -4 is too small" lathe tune linear --size M=-4
    fails 2 "--size K: 9223372036854775808 is too large" lathe tune linear --size M=1,K=9223372036854775808
    fails 2 "--size: 'M' is not a dimension and its size" lathe tune linear --size M
    fails 2 "--option: 'kind' is not a name and a value" lathe tune linear --option kind
    fails 2 "CAMPAIGN: 'last' is not a whole number" lathe show last
}

@test "a name and a value: a name that is given twice is refused, not overwritten" {
    fails 2 "--size: M is given twice: M=4, and M=5" lathe space linear --size M=4,M=5
    fails 2 "--set: type is given twice: type=f16, and type=f32" lathe space linear --set type=f16 --set type=f32
    fails 2 "--tolerance: rtol is given twice" lathe best --tolerance rtol=1 --tolerance rtol=2
    fails 2 "--option: batch is given twice" lathe tune tiny --strategy random --option batch=1 --option batch=2
    fails 2 "--values: batch is given twice" lathe tune-strategy random --values batch=1 --values batch=2 --spaces x
    fails 2 "option batch of strategy random is given twice: batch=1, and batch=2" \
        lathe compare --spaces "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" --strategies random:batch=1,batch=2 \
            --seeds 1 --quiet
    fails 2 "BLOCK is given twice" lathe verify tiny --kernel plain --config BLOCK=32,BLOCK=64,UNROLL=1,FLAW=none
    fails 2 "BLOCK is given twice" lathe space tiny --kernel plain --explain BLOCK=32,BLOCK=64
}

@test "arguments: missing, too many" {
    fails 2 "tune: SPEC is missing" lathe tune
    fails 2 "usage: lathe tune [options] [SPEC]" lathe tune
    fails 2 "query: SQL is missing" lathe query
    fails 2 "best: unexpected argument 'linear'" lathe best linear
    fails 2 "tune: unexpected argument 'two'" lathe tune one two
}

@test "-- ends the options" {
    fails 2 "there is no specification '--json'" lathe tune -- --json
}

@test "choices that exclude each other" {
    fails 2 "--table, --csv and --json exclude each other" lathe query --csv --json "SELECT 1"
    fails 2 "--count, --list, --sample and --explain exclude each other" lathe space linear --count --list
}

@test "an option that would do nothing is refused" {
    local recorded="$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz"
    fails 2 "--device: only --selftest" lathe doctor --device host
    fails 2 "--time-limit: only --selftest" lathe doctor --time-limit 3
    fails 2 "recording: --format is of the file that -o writes" lathe recording "$recorded" --format csv
    cp "$recorded" own.gz
    ln own.gz other.gz
    fails 2 "recording: -o other.gz: that is the recording itself" lathe recording own.gz -o other.gz
    cmp own.gz "$recorded"
    rm own.gz other.gz
    fails 2 "recording: -o -: standard output has" lathe recording "$recorded" -o -
    fails 2 "report: --json writes to standard output, and -o x.html is for the page" lathe report --json -o x.html
    fails 2 "import: --db none" lathe import "$recorded" --db none
    fails 2 "--pareto: 'time,energy,'" lathe best --pareto time,energy,
    [ "$(ls)" = "" ]
}

@test "specifications that are not there" {
    fails 2 "there is no specification 'lineer'" lathe tune lineer
    [[ "$errors" == *"did you mean 'linear'?"* ]]
    fails 2 "gone.lua: no such specification file" lathe tune gone.lua
    mkdir empty
    fails 2 "empty: the folder has no spec.lua" lathe space empty
    touch k.cu lathe.db r.json.gz
    fails 2 "k.cu: a kernel's source, and no specification" lathe tune k.cu
    fails 2 "lathe.db: a database, and no specification" lathe tune lathe.db
    fails 2 "r.json.gz: compressed, and no specification" lathe tune r.json.gz
    rm lathe.db
}

@test "kernels and dimensions that are not there" {
    fails 2 "has no kernel 'plian'" lathe tune tiny --kernel plian
    [[ "$errors" == *"did you mean 'plain'?"* ]]
    fails 2 "'gemm_then_scale' is a baseline" lathe tune tiny --kernel gemm_then_scale
    fails 2 "--size Q=3: " lathe tune tiny --size Q=3
    fails 2 "has no kernel 'plian'" lathe space tiny --kernel plian
    [ ! -e lathe.db ]
}

@test "a size beyond all memory is refused before anything is made" {
    fails 2 "--size M=4611686018427387904: " lathe tune tiny --size M=4611686018427387904
    [ ! -e lathe.db ]
}

@test "no database" {
    fails 6 "lathe.db: there is no such database" lathe best
    fails 6 "lathe.db: there is no such database" lathe show
    fails 6 "lathe.db: there is no such database" lathe show 1
    fails 6 "lathe.db: there is no such database" lathe export
    fails 6 "other.db: there is no such database" lathe query --db other.db "SELECT 1"
}

@test "a database that is none" {
    echo "hello" >text.db
    fails 6 "text.db" lathe best --db text.db
    mkdir folder
    fails 6 "folder" lathe best --db folder
}

@test "a full or closed standard output is an error" {
    status=0
    lathe --help >/dev/full 2>errors || status=$?
    [ "$status" -eq 7 ]
    grep -q "^lathe: cannot write the result to standard output: No space left on device$" errors
    status=0
    lathe --help >&- 2>errors || status=$?
    [ "$status" -eq 7 ]
}

@test "a reader that goes away is none" {
    { sleep 0.3; code=0; lathe help tune 2>errors || code=$?; echo $code >code; } | true
    [ "$(cat code)" -eq 0 ]
    [ ! -s errors ]
}

@test "nothing is written to the terminal but text" {
    split lathe help tune
    not grep -qP '[\x00-\x08\x0b-\x1f\x7f]' .out
}

@test "best and export know the classes of inputs" {
    db="$BATS_TEST_TMPDIR/inputs.db"
    lathe tune linear --kernel simt --size M=8,N=8,K=8 --device host --trials 1 --top 0 --db "$db" -q
    for command in best export; do
        split lathe $command --inputs nope --db "$db"
        [ "$status" -eq 2 ]
        grep -q "nope" <<<"$errors"
        grep -q "wide" <<<"$errors"
    done
}
