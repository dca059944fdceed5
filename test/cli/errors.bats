# errors.bats: specifications, strategies, devices and databases that are not right: each has its exit code, and a
# message that names the file, the field or the value.
load helper

# spec NAME FROM TO: a copy of kernels/tiny in folder NAME whose specification has TO where FROM was
spec() {
    cp -r "$TREE/test/cli/kernels/tiny" "$1"
    local text
    text="$(cat "$1/spec.lua")"
    [[ "$text" == *"$2"* ]]
    printf '%s\n' "${text/"$2"/"$3"}" >"$1/spec.lua"
}

# the first configuration in the space's order is a right one
RUN="--device host --kernel plain --strategy exhaustive --trials 1 --top 0 --quiet"

@test "a specification with a syntax error" {
    spec a 'name = "tiny"' 'name = = "tiny"'
    fails 2 "a/spec.lua" lathe tune a $RUN
    [[ "$errors" == *":4:"* ]]
}

@test "a specification with an unknown key, a wrong type, an unknown name" {
    spec a 'summary = "one thread an element"' 'sumary = "one thread an element"'
    fails 2 "a/spec.lua: kernels[1]: unknown key 'sumary'" lathe tune a $RUN
    [[ "$errors" == *"summary"* ]]
    spec b '{ "M", 5 }' '{ "M", "five" }'
    fails 2 "b/spec.lua: dims" lathe tune b $RUN
    spec c 'work <= 256' 'wrok <= 256'
    fails 2 "c/spec.lua: kernels.plain.constraints[1]" lathe tune c $RUN
    [[ "$errors" == *"wrok"*"work"* ]]
    spec d 'source = "tiny.cu", summary = "one' 'source = "gone.cu", summary = "one'
    fails 2 "gone.cu" lathe tune d $RUN
    spec e 'summary = "one' 'summary = "\0one'
    fails 2 "kernels.plain.summary: expected a text, got a text with a zero byte" lathe tune e $RUN
    [ ! -e lathe.db ]
}

@test "a compile error names the user's file and line, also of what is included; an export has no #line" {
    spec a 'name = "tiny"' 'name = "tiny"'
    sed -i '5i this is no C++;' a/tiny.cu
    run -1 "$LATHE_BIN" tune a $RUN --db a.db
    [[ "$(lathe show 1 --db a.db)" == *" tiny.cu:5:1: error: "* ]]
    spec b 'name = "tiny"' 'name = "tiny"'
    printf '#pragma once\n\nint wrong = ;\n' >b/part.cuh
    sed -i '1i #include "part.cuh"' b/tiny.cu
    run -1 "$LATHE_BIN" tune b $RUN --db b.db
    [[ "$(lathe show 1 --db b.db)" == *" part.cuh:3:13: error: "* ]]
    sed -i '3s/.*/int right;/' b/part.cuh
    sed -i '10i this is no C++;' b/tiny.cu
    run -1 "$LATHE_BIN" tune b $RUN --db b.db
    [[ "$(lathe show 2 --db b.db)" == *" tiny.cu:10:1: error: "* ]]
    sed -i '10d' b/tiny.cu
    lathe tune b $RUN --db b.db
    lathe export --db b.db -o b.cu
    grep -q "int right;" b.cu
    not grep -q "^#line" b.cu
}

@test "a specification that is no specification" {
    echo 'return 42' >n.lua
    fails 2 "n.lua" lathe tune n.lua
    : >e.lua
    fails 2 "e.lua" lathe space e.lua
    echo 'return os.getenv("HOME")' >o.lua
    fails 2 "o.lua" lathe space o.lua
    mkdir folder.lua
    fails 2 "folder.lua" lathe space folder.lua
    head -c 100000 /dev/urandom >r.lua
    fails 2 "r.lua" lathe space r.lua
}

@test "a specification that never ends" {
    echo 'while true do end' >loop.lua
    fails 2 "loop.lua" lathe space loop.lua
    echo 'local t = {} while true do t[#t + 1] = ("x"):rep(1e6) .. #t end' >memory.lua
    fails 2 "memory.lua" lathe space memory.lua
}

@test "an empty space" {
    spec a 'work <= 256' 'work <= 16'
    fails 1 "work <= 16" lathe space a --target host --kernel plain
    fails 1 "work <= 16" lathe tune a $RUN
}

@test "a strategy, an option, a value that there is not" {
    fails 2 "lokal" lathe tune tiny $RUN --strategy lokal
    [[ "$errors" == *"local"* ]]
    fails 2 "kin" lathe tune tiny $RUN --strategy local --option kin=hamming
    [[ "$errors" == *"kind"* ]]
    fails 2 "hammer" lathe tune tiny $RUN --strategy local --option kind=hammer
    [[ "$errors" == *"hamming"* ]]
    fails 2 "batch" lathe tune tiny $RUN --strategy random --option batch=0
    split lathe tune tiny $RUN --strategy gone.lua
    [ "$status" -eq 7 ] || [ "$status" -eq 2 ]
    [[ "$errors" == *"gone.lua"* ]]
}

@test "near misses of parameters, dimensions, devices, targets, options of a strategy, names of a recording" {
    fails 2 "no kernel has a parameter 'BLOK' (did you mean 'BLOCK'?)" lathe space tiny --explain UNROLL=1,BLOK=32
    fails 2 "(did you mean 'M'?)" lathe space tiny --size m=3
    fails 2 "(did you mean 'sm_90'?)" lathe space tiny --target sm_9
    fails 2 "did you mean batch?" lathe tune-strategy random --values bach=1 \
        --spaces "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz"
    split lathe compare --strategies rndom --spaces "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" --quiet
    [[ "$errors" == "lathe: there is no strategy 'rndom' (did you mean 'random'?)"* ]]
    fails 2 "give it as --device replay:x.json" lathe tune replay:x.json
    lathe tune tiny $RUN --db near.db >/dev/null
    fails 1 "did you mean --device host?" lathe best --device hots --db near.db
    fails 1 "\`lathe show --db near.db\` lists" lathe show 9 --db near.db
    fails 1 "\`lathe show N --db near.db\` lists" lathe explain 99 --db near.db
    fails 1 "\`lathe best --db near.db\` lists" lathe export --trial 99 --db near.db
}

@test "a strategy that fails, or asks for what is no configuration" {
    echo 'return strategy { name = "bad", summary = "", run = function(tune, space) error("planted") end }' >bad.lua
    fails 3 "planted" lathe tune tiny $RUN --strategy bad.lua
    [[ "$errors" == *"bad.lua:1:"* ]]
    echo 'return strategy { name = "odd", summary = "", run = function(tune, space) tune.evaluate(42) end }' >odd.lua
    fails 3 "odd.lua" lathe tune tiny $RUN --strategy odd.lua
    echo 'return 42' >none.lua
    fails 3 "none.lua" lathe tune tiny $RUN --strategy none.lua
    echo 'syntax error here' >syntax.lua
    fails 3 "syntax.lua" lathe tune tiny $RUN --strategy syntax.lua
}

@test "what a script or an argument says does not drive the terminal" {
    printf 'return strategy { name = "x", summary = "", run = function(tune, space) error("a\\27[31mred\\r\\0b") end }' >x.lua
    fails 3 'a\x1b[31mred\x0d' lathe tune tiny $RUN --strategy x.lua
    not grep -q "[[:cntrl:]]" .errors
    fails 2 'x\x1b[2Jy\xff' lathe space $'x\e[2Jy\xff'
    fails 2 "'été'" lathe space été
    printf 'A,time_ms\n1,2\n1,3\n' >$'x\e[31m.csv'
    split lathe import $'x\e[31m.csv' --db x.db       # with a note on what is there twice
    [[ "$errors" == 'note: x\x1b[31m.csv: 1 configurations are there more than once'* ]]
    not grep -q "$(printf '\e')" .out .errors
    split lathe report 1 --db x.db -o $'x\e[31m.html'
    [[ "$errors" == 'wrote x\x1b[31m.html: '* ]] || [[ "$errors" == *"make charts"* ]]
    split lathe export --campaign 1 --db x.db --format csv -o $'y\e[31m.csv'
    [[ "$errors" == 'wrote y\x1b[31m.csv: '* ]]
}

@test "a C++ compiler that is none" {
    printf '#!/bin/sh\necho version 1\n' >nothing
    chmod +x nothing
    fails 5 "nothing ended without an error, but wrote nothing: is it a C++ compiler?" \
        env CXX="$PWD/nothing" LATHE_CACHE="$PWD/cache" "$LATHE_BIN" tune tiny $RUN --db none.db -q
}

@test "a device that there is not" {
    fails 2 "no device 'gpu'" lathe tune tiny --device gpu
    split lathe doctor --json
    [ "$(json .out "j ->> 'cuda_usable'")" = 0 ] || skip "this machine has a GPU"
    fails 4 "" lathe tune tiny --device cuda:0
    [[ "$errors" == *"--device host"* ]]
}

@test "a kernel that the device cannot run" {
    fails 1 "kernel later cannot run on host: sm >= 90: 0 >= 90" lathe tune tiny --device host --kernel later
}

@test "a database that is none, is another's, is newer, has no folder" {
    echo "hello" >text.db
    fails 6 "text.db" lathe tune tiny $RUN --db text.db
    [ "$(cat text.db)" = hello ]
    sqlite3 other.db "CREATE TABLE t (a)"
    fails 6 "other.db" lathe tune tiny $RUN --db other.db
    lathe tune tiny $RUN --db newer.db >/dev/null
    sqlite3 newer.db "PRAGMA user_version = 999" >/dev/null
    fails 6 "newer.db" lathe tune tiny $RUN --db newer.db
    fails 6 "newer.db" lathe best --db newer.db
    fails 6 "nowhere" lathe tune tiny $RUN --db nowhere/x.db
    mkdir folder
    fails 6 "folder" lathe tune tiny $RUN --db folder
}

@test "a database or specification that is no regular file" {
    mkfifo pipe.db
    ln -s loop.db loop.db
    fails 6 "pipe.db: is a pipe" timeout 20 "$LATHE_BIN" best --db pipe.db
    fails 6 "pipe.db: is a pipe" timeout 20 "$LATHE_BIN" tune tiny $RUN --db pipe.db
    fails 6 "loop.db: cannot open: Too many levels" lathe show --db loop.db
    mv pipe.db pipe.lua
    mv loop.db loop.lua
    fails 2 "pipe.lua: is no regular file" timeout 20 "$LATHE_BIN" space pipe.lua
    ln -sf loop.lua loop.lua
    fails 2 "loop.lua: cannot open: Too many levels" lathe space loop.lua
}

@test "nothing that is read waits for a pipe's writer or a device's end" {
    mkfifo x.lua x.json
    local command
    for command in "recording x.json" "import x.json" "compare --spaces x.json --strategies random" \
        "tune --device replay:x.json --db none" \
        "tune tiny --strategy ./x.lua --device host" "tune-strategy random --spaces x.json --db none" \
            "export --db x.json" \
        "recording /dev/zero" "import /dev/zero" "tune tiny --strategy /dev/zero --device host"; do
        split timeout 20 "$LATHE_BIN" $command
        if [[ $status != [67] ]] || ! [[ "$errors" =~ is\ a\ (pipe|device),\ expected\ a ]]; then
            echo "$command: exit code $status: $errors"
            return 1
        fi
    done
    fails 2 "is no regular file" timeout 20 "$LATHE_BIN" tune x.json \
        --device "replay:$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" --db none
}

@test "a damaged database is told as that" {
    lathe tune tiny $RUN --db d.db >/dev/null
    local version="$(sqlite3 d.db "PRAGMA user_version")"
    cp d.db values.db
    sqlite3 values.db "UPDATE trial SET outcome = 'odd' WHERE number > 0"
    fails 6 "a trial ended as 'odd', which this lathe does not know" lathe tune --resume 1 --top 2 -q --db values.db
    cp d.db values.db
    sqlite3 values.db "PRAGMA ignore_check_constraints = on; UPDATE device SET target = '{'"
    fails 6 "values.db: the database is damaged (malformed JSON; " lathe tune --resume 1 --top 2 --db values.db
    sqlite3 d.db "PRAGMA user_version = 0" >/dev/null
    fails 6 "d.db: the database is damaged (its user_version is 0" lathe best --db d.db
    fails 6 "d.db: the database is damaged (its user_version is 0" lathe tune tiny $RUN --db d.db
    sqlite3 d.db "PRAGMA user_version = $version; DROP TABLE sample" >/dev/null
    fails 6 "d.db: the database is damaged (no such table: " lathe tune tiny $RUN --db d.db
    sqlite3 d.db "DROP TABLE campaign" >/dev/null
    fails 6 "d.db: the database is damaged (no such table: " lathe show --db d.db
}

@test "a database that is read-only" {
    lathe tune tiny $RUN --db r.db >/dev/null
    chmod a-w r.db
    lathe best --db r.db >/dev/null
    [ "$(id -u)" -ne 0 ] || skip "root may write everything"
    fails 6 "r.db" lathe tune tiny $RUN --db r.db
}

@test "a database that another process has locked" {
    lathe tune tiny $RUN --db l.db >/dev/null
    mkfifo hold
    sqlite3 l.db <hold >/dev/null &
    holder=$!
    exec 9>hold
    echo "BEGIN EXCLUSIVE;" >&9
    sleep 0.5
    fails 6 "l.db" lathe tune tiny $RUN --db l.db
    exec 9>&-
    wait $holder || true
    split lathe tune tiny $RUN --db l.db
    [ "$status" -eq 0 ]
}

@test "a winner that cannot be written does not cost the result" {
    lathe tune tiny $RUN --db w.db >/dev/null
    fails 7 "/dev/full/x.cu" lathe export --db w.db -o /dev/full/x.cu
    [ "$(lathe best --db w.db --json | grep -c '"outcome": "ok"')" -eq 1 ]
}

@test "an export tells the time that its winner was chosen by" {
    lathe tune tiny $RUN --db w.db >/dev/null
    split lathe export --db w.db -o w.cu
    [[ "$errors" == "wrote w.cu: trial "*", kernel plain, "*" ms, "* ]]
    lathe tune tiny --device host --kernel plain --strategy exhaustive --trials 1 --top 1 --quiet --db c.db >/dev/null
    split lathe export --db c.db -o c.cu
    [[ "$errors" == "wrote c.cu: trial "*", kernel plain, "*" ms cold, "* ]]
}

# What a message suggests is about the same database: each `lathe COMMAND` in the output of a call with --db names it.
suggests() {
    local said command
    said="$(lathe "$@" --db o.db 2>&1 </dev/null)" || true
    command="$(grep -oE '(`|next: )lathe [^`]*' <<<"$said")" || { echo "nothing is suggested: $*: $said"; return 1; }
    if grep -vE -e '--db o\.db( |$)' -e 'lathe (doctor|help)' <<<"$command"; then
        echo "$*: $said"
        return 1
    fi
}

@test "a command that a message suggests names the database where it is not the default" {
    "$LATHE_BIN" tune tiny $RUN --db o.db
    suggests show 7
    suggests report 7 --json
    suggests tune --resume 7
    suggests explain 4711
    suggests export --trial 4711
    suggests tune tiny $RUN --where "FLAW == 'wrong'"
    [ "$(sqlite3 o.db "SELECT count(*) FROM campaign")" -eq 2 ]
    sqlite3 o.db "UPDATE trial SET outcome = 'wrong', score_ms = NULL"
    suggests explain
    suggests export --trial 1
    suggests best --pareto time,energy
    sqlite3 o.db "DELETE FROM campaign"
    suggests best
    suggests show
    suggests explain
    rm o.db
    suggests best
    suggests import "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz"
    suggests best
    suggests explain
    suggests export
    suggests export --campaign 1
    if lathe report 1 --db o.db --json >page.json 2>said; then
        [[ "$(json page.json "j->>'campaigns[0].winner.why_not'")" == \
            "o.db, trial 64: "*'`lathe export --campaign 1 --format t4 --db o.db`'* ]]
    else
        grep -q 'without the chart library' said
    fi
}

@test "a campaign that is not there; what is there is listed with numbers" {
    lathe tune tiny $RUN
    lathe tune tiny $RUN
    fails 1 "there is no campaign 77 in lathe.db" lathe best --campaign 77
    [[ "$errors" == *"campaigns there: 2: tiny M=5 N=7 K=9 on "*"; 1: tiny M=5 N=7 K=9 on "* ]]
    fails 1 "there is no campaign 77 in lathe.db" lathe export --campaign 77
    fails 1 "no verified configuration for --kernel gone --campaign 2" lathe best --campaign 2 --kernel gone
    [[ "$errors" == *"campaigns there: 2: tiny "* ]]
}

@test "explain where nothing was measured here says how to ask for what is there" {
    lathe import "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz"
    fails 1 "nothing in lathe.db was measured here" lathe explain
    [[ "$errors" == *'`lathe explain TRIAL` takes a trial of that: `lathe show 1` lists them'* ]]
}
