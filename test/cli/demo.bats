# demo.bats: what `make demo` says in the end (scripts/demo), with a lathe that does nothing.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir scripts
    cp "$TREE/scripts/demo" scripts/
    cat >lathe <<'END'
#!/bin/sh
[ "$1" = report ] && [ -e lacking ] || exit 0
printf 'lathe: built without the chart library\ninstall npm\n' >&2
exit 5
END
    chmod +x lathe
    touch winner.cu
    mkdir bin
    ln -s "$(command -v dirname)" "$(command -v grep)" "$(command -v rm)" bin/      # no nvcc
}

demo() { PATH="$PWD/bin" /bin/sh scripts/demo "$PWD/lathe"; }

@test "demo: how to have a page with charts" {
    split demo
    [ "$status" -eq 0 ]
    [[ "$out" == *"A page with charts of all that was found: $PWD/lathe report"* ]]
}

@test "demo: what a page with charts lacks" {
    touch lacking
    split demo
    [ "$status" -eq 0 ]
    [[ "$out" == *"lathe: built without the chart library"$'\n'"install npm"* ]]
    [[ "$out" != *"lathe report"* ]]
}
