# dist.bats: make dist, and what a user does with the tarball: unpack, make, run; no network, no git.
load helper

@test "make dist: unpack, make, run" {
    [ -z "${LATHE_SANITIZE:-}" ] || skip "the tarball is the same"
    charts=$(dirname "$LATHE_BIN")/web/node_modules
    # this tree as a commit of its own, whatever is not committed yet
    mkdir tree
    (cd "$TREE" && { git ls-files -co --exclude-standard 2>/dev/null || find . -type f ! -path './build*'; } |
        tar -c -T - 2>/dev/null) | tar -x -C tree
    cd tree
    rm -rf third-party
    sed 's/+.*//' VERSION >v && mv v VERSION
    git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm one
    run scripts/dist build
    [ "$status" -eq 1 ]
    [[ "$output" == *"the chart library is not there: make charts"* ]]
    [ -s "$charts/echarts/dist/echarts.min.js" ] || skip "this build has no chart library"
    mkdir -p build/web && ln -s "$charts" build/web/node_modules
    tarball=$(scripts/dist build)
    name=lathe-$(cat VERSION)+$(git rev-parse --short HEAD)
    [ "$tarball" = "build/$name.tar.gz" ]
    sum=$(sha256sum <"$tarball")
    echo "not committed" >>README.md
    run scripts/dist build
    [[ "$output" == "dist: files differ from the last commit"* ]]
    [ "$(sha256sum <"$tarball")" = "$sum" ]     # the same commit, the same bytes

    cd ..
    mkdir elsewhere && tar -x -z -C elsewhere -f "tree/$tarball"
    rm -rf tree
    cd "elsewhere/$name"
    [ "$(scripts/version)" = "${name#lathe-}" ]
    [ -s LICENSE ] && [ -s third-party/echarts/LICENSE ] && [ -s third-party/echarts/NOTICE ] && [ ! -e .ci ]
    # npm would need a network
    mkdir bin && printf '#!/bin/sh\necho npm was called >>"%s"\nexit 1\n' "$PWD/npm.called" >bin/npm && chmod +x bin/npm
    PATH="$PWD/bin:$PATH" make -s -j2 OPT=-O0 >made 2>&1 || { cat made; return 1; }
    [ ! -e npm.called ]
    cd "$BATS_TEST_TMPDIR"
    unset LATHE_KERNELS
    new="$BATS_TEST_TMPDIR/elsewhere/$name/build/lathe"
    [ "$("$new" --version)" = "lathe ${name#lathe-}" ]
    "$new" tune linear --device host --size M=8,N=16,K=32 --trials 3 --strategy local -q
    "$new" report 1 -o report.html
    grep -q echarts report.html
}

@test "make help lists every target that a user calls" {
    cd "$TREE"
    run make -s help
    [ "$status" -eq 0 ]
    for target in $(sed -n 's/^\.PHONY: *//p' Makefile); do
        case $target in FORCE | unit-binaries | *-*-*) continue ;; esac
        [[ "$output" == *"make $target "* ]] || { echo "make help lacks $target"; return 1; }
    done
}

@test "no tarball without a checkout" {
    mkdir -p tree/scripts && cp "$TREE"/scripts/version "$TREE"/scripts/dist tree/scripts/ && cp "$TREE/VERSION" tree/
    run tree/scripts/dist build
    [ "$status" -eq 1 ]
    [[ "$output" == *"no git checkout"* ]]
}
