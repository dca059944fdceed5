# docs.bats: the documents' code blocks. What each may be, and that all are one of it, is in test/docs/blocks.py;
# README.md's commands are in readme.bats, those of docs/kernels.md in kernels_doc.bats.

load helper

BLOCKS="$TREE/test/docs/blocks.py"

# A folder like the repository's, whose files may be read and where what is made lies beside them; lathe on the path.
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    ln -s "$TREE"/{docs,examples,kernels,scripts,search,test,db,Makefile} .
    mkdir bin
    ln -s "$LATHE_BIN" bin/lathe
    PATH="$PWD/bin:$PATH"
    unset LATHE_KERNELS
    unset -f lathe
}

# The H200's campaigns with what docs/schema.md says was put in, as lathe.db.
h200() {
    gunzip -c "$TREE/test/data/linear-h200.db.gz" >lathe.db
    cat "$TREE"/db/schema_[23456].sql "$TREE/test/docs/database.sql" | sqlite3 lathe.db
}

# marks: those of nvrtc, nvcc and jq that are here
marks() {
    local nvrtc
    nvrtc="$("$LATHE_BIN" doctor --json 2>/dev/null | tr -d ' \n')" || true
    [[ "$nvrtc" != *'"what":"NVRTC","found":true'* ]] || echo nvrtc
    for name in nvcc jq; do ! command -v $name >/dev/null || echo $name; done
}

# runs DOCUMENT LEAST [SED [build]]: its commands in their order, each changed by the sed script; LEAST of them at
# least. build: those of its blocks `sh build` in place of the others
runs() {
    local n=0 line
    while IFS= read -r line; do
        if [[ "$line" == *"lathe report"* ]] && ! lathe report -o .page >.said 2>&1 &&
            grep -q 'without the chart library' .said; then
            continue # a build without npm
        fi
        if ! bash -o pipefail -c "$line" </dev/null >.said 2>&1; then
            echo "$1: $line"; tail -40 .said
            return 1
        fi
        n=$((n + 1))
    done < <("$BLOCKS" "${4:-lines}" "$TREE/$1" $([ -n "${4:-}" ] || marks) | sed "${3:-}")
    [ "$n" -ge "$2" ] || { echo "$1: $n commands"; return 1; }
}

@test "every code block says what it is, and excerpts stand in their files" {
    run "$BLOCKS" rule
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "the rule sees a block without a word, an excerpt that is none, an unknown mark, a question without an answer" {
    rm docs
    mkdir -p copy/docs copy/test copy/examples
    cp -r "$TREE/test/docs" copy/test/
    echo "# none" >copy/README.md
    printf '```\nx\n```\n```lua examples/a.lua\nx = 2\n```\n```sh someday\nx\n```\n```sql\nSELECT 1;\n```\n```text\n1\n```\n' >copy/docs/a.md
    printf '```sql\nSELECT 1;\n```\n```text\n```\n```text\nx\n```\n```sql\nSELECT 2;\n```\n' >copy/docs/b.md
    printf '```sh gpu\nscripts/absent x\n```\n' >copy/docs/c.md
    echo 'x = 1' >copy/examples/a.lua
    run copy/test/docs/blocks.py rule
    [ "$status" -eq 1 ]
    [[ "$output" == *"docs/a.md:1: what is it?"* &&
        "$output" == *"docs/a.md:4: these lines do not stand in examples/a.lua"* ]]
    [[ "$output" == *"docs/a.md:7: sh may be marked"* && "$output" == *"docs/b.md:9: no answer follows"* ]]
    [[ "$output" == *"docs/c.md:1: there is no scripts/absent"* ]]
    [ "${#lines[@]}" -eq 5 ]
}

@test "docs/schema.md: twenty questions, with their answers" {
    h200
    run "$BLOCKS" answers "$TREE/docs/schema.md" "$LATHE_BIN" lathe.db
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^```sql' "$TREE/docs/schema.md")" -eq 20 ]
    sed 's/^```sql$/&\nSELECT 1 AS other UNION ALL SELECT 2 UNION/; ' "$TREE/docs/schema.md" >other.md # an answer that is wrong is seen
    run "$BLOCKS" answers other.md "$LATHE_BIN" lathe.db
    [ "$status" -eq 1 ]
}

@test "docs/tutorial.md: from a formula to the tuned kernel in a program" {
    runs docs/tutorial.md 10
    [ "$(sqlite3 odd.db "SELECT count(*) FROM trial WHERE outcome <> 'ok'")" -eq 0 ]
    [ "$(sqlite3 lathe.db "SELECT count(*) FROM trial WHERE outcome <> 'ok'")" -eq 0 ]
    [ "$(sqlite3 lathe.db "SELECT count(*) FROM trial WHERE role = 'candidate'")" -eq 80 ]
    grep -q 'return lathe_finish(z, z, torch.float32)' winner.py
    for file in winner.py examples/softmax/use.py; do python3 -c "compile(open('$file').read(), '$file', 'exec')"; done
}

@test "docs/tutorial.md: a program alone, without the repository, tunes the kernel too" {
    mkdir alone
    cp "$LATHE_BIN" alone/lathe
    cp -r "$TREE/examples/softmax" alone/mine
    cd alone
    ./lathe tune ./mine --device host --size M=2,N=8 --strategy random --trials 1 --db a.db -q >said
    [ "$(sqlite3 a.db "SELECT group_concat(DISTINCT outcome) FROM trial")" = ok ]
}

@test "docs/tutorial.md: without its barrier the kernel is wrong, and every trial says so" {
    cp -r "$TREE/examples/softmax" broken
    sed -i '/__syncthreads();/d' broken/softmax.cu
    run lathe tune ./broken --device host --size M=5,N=150 --where "LANES > 32" --strategy random --trials 6 \
        --db b.db -q
    [ "$status" -eq 1 ]
    [ "$(sqlite3 b.db "SELECT group_concat(DISTINCT outcome) || count(*) FROM trial WHERE role = 'candidate'")" = \
        wrong6 ]
}

# said COMMAND FILE: an exported file says itself that it is compiled so, but for its name and a library too many
said() {
    local line="${1/winner.cu/FILE.cu}"
    [ -n "$1" ] && grep -qF "${line% -lcublas}" "$2" || { echo "not what $2 says: $1"; return 1; }
}

@test "docs/export.md, then docs/liblathe.md, with its campaigns" {
    runs docs/export.md 7
    said "$(grep '^nvcc .*SELFTEST' "$TREE/docs/export.md")" winner.cu
    runs docs/liblathe.md 0
}

@test "docs/json.md and docs/report.md" {
    h200
    runs docs/json.md 0
    runs docs/report.md 2
}

@test "docs/compare.md: small" {
    h200
    mkdir recordings train other
    ln -s "$TREE"/test/data/recorded/*.json.gz recordings
    cp "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" train/
    cp "$TREE/test/data/recorded/convolution-RTX_3090.ktt.json.gz" other/c.json.gz
    cp "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" gemm.json.gz
    cp "$TREE/search/strategies/random.lua" my.lua
    runs docs/compare.md 5 's/--seeds 50/--seeds 2/; s/local,gp /local /; s/gp,gp:batch=4,kappa=1/local,local:batch=4/
        s/--trials 100/--trials 2 --seeds 2/; s/^lathe compare .*/& --seeds 2/; s/--strategy gp/--strategy random/
        s/tune-strategy gp .*/tune-strategy local --spaces train\/*.json.gz --values batch=1 --seeds 2 --trials 2/
        s/--seeds 2\(.*\)--seeds 2/\1--seeds 2/'
}

@test "docs/replay.md" {
    h200
    cp "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" pnpoly.json.gz
    runs docs/replay.md 3 '/gemm.t1.json/d'
}

# The first block of that language in a document.
first() { awk -v lang="\`\`\`$1" '/^```/ { if (inside) exit; inside = $0 == lang; next } inside' "$TREE/$2"; }

@test "docs/strategies.md: its strategy searches" {
    first lua docs/strategies.md >climb.lua
    lathe tune --device replay:test/data/recorded/pnpoly-RTX_3090.json.gz --strategy climb.lua --trials 50 --db none
}

@test "docs/specification.md: its example is a specification" {
    first lua docs/specification.md >spec.lua
    for f in tiled tiled_reduce plain; do echo "extern \"C\" __global__ void $f(LatheEpilogue epilogue) {}"
    done >tiled.cu
    lathe space ./spec.lua >said
    grep -q '^tiled ' said
}

@test "docs/write-a-strategy.md: thirty lines, tried and compared" {
    first lua docs/write-a-strategy.md >coordinate.lua
    [ "$(wc -l <coordinate.lua)" -le 30 ]
    runs docs/write-a-strategy.md 5
    # the page's scores are those of this program
    local name page got
    lathe compare --spaces test/data/recorded/pnpoly-RTX_3090.json.gz --strategies coordinate.lua,random,local \
        --seeds 30 -o scored >.said
    for name in random local coordinate.lua; do
        page="$(awk -v name="$name" '$1 == name && NF == 10 { print $2; exit }' docs/write-a-strategy.md)"
        got="$(awk -F, -v name="$name" '$1 == name && $2 == "pnpoly-RTX_3090" { printf "%.3f", $4 }' scored/scores.csv)"
        if [ -z "$page" ] || [ "$page" != "$got" ]; then echo "$name: $got, the page has $page"; return 1; fi
    done
}

@test "docs/first-campaign.md: from the doctor to the winner" {
    runs docs/first-campaign.md 10
    [ "$(sqlite3 lathe.db "SELECT count(*) FROM trial WHERE role = 'candidate'")" -eq 50 ]
    [ -s winner.cu ]
    said "$(grep '^nvcc .*SELFTEST' "$TREE/docs/first-campaign.md")" winner.cu
}

# The folder as `git clone` and `make` leave it, with the tools of this one's program; nothing is installed anywhere.
clone() {
    [ -z "${LATHE_SANITIZE:-}" ] || skip "make would build another program"
    local f
    ln -s "$TREE"/{tuner,VERSION,README.md,CHANGELOG.md,CONTRIBUTING.md,LICENSE,THIRD-PARTY.md,CITATION.cff} .
    [ ! -e "$TREE/third-party" ] || ln -s "$TREE/third-party" .
    ln -s "$(dirname "$LATHE_BIN")" build
    rm scripts
    mkdir scripts
    for f in "$TREE"/scripts/*; do ln -s "$f" scripts/; done
    rm scripts/setup
    printf '#!/bin/sh\n' | tee scripts/setup >bin/apt-get
    printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
    chmod +x scripts/setup bin/*
    export DESTDIR="$PWD/root"
}

@test "README.md: the three commands of a first result, and the installation" {
    clone
    runs README.md 2 '' build
    [ -s winner.cu ] && [ -s lathe.db ]
    [ -x root/usr/local/bin/lathe ]
    # those of docs/first-campaign.md are the same
    diff <("$BLOCKS" build "$TREE/README.md" | grep -E '^(make demo|build/)') \
        <("$BLOCKS" build "$TREE/docs/first-campaign.md" | grep -E '^(make demo|build/)')
}

@test "docs/install.md, docs/tutorial.md, CONTRIBUTING.md, docs/liblathe.md: to build, to test, to install" {
    clone
    runs docs/tutorial.md 1 '' build
    runs docs/install.md 2 '' build
    [ -x root/usr/local/bin/lathe ]
    runs CONTRIBUTING.md 4 '' build
    local cuda=/usr/local/cuda
    printf '#include <%s.h>\n' cuda lathe >main.c
    echo 'int main(void) { return (int)cuInit(0) + lathe_api_version(); }' >>main.c
    [ -e $cuda/include/cuda.h ] && [ -e $cuda/lib64/stubs/libcuda.so ] || skip "no CUDA toolkit here"
    CPATH=$cuda/include LIBRARY_PATH=$cuda/lib64/stubs runs docs/liblathe.md 2 '' build
}
