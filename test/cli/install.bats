# install.bats: make install into a folder of its own, and the program from there with nothing of the source tree at
# hand.
load helper

# As a user has it: no LATHE_KERNELS, no build folder's caches, another folder.
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    unset LATHE_KERNELS
    build=$(dirname "$LATHE_BIN")
}
install_to() { "$TREE/scripts/install" "$build" "$1" "${2:-}" >said; }

@test "installed, then moved: it finds its own kernels, tunes, exports" {
    [ -z "${LATHE_SANITIZE:-}" ] || skip "the program is the same"
    install_to /opt/lathe "$PWD/staging"
    grep -q "installed below $PWD/staging/opt/lathe" said
    mv staging/opt/lathe moved          # the folder that it was installed into is gone
    rmdir staging/opt staging
    mkdir work && cd work
    # the source tree can't be seen either, where that can be arranged
    hide=(env)
    if unshare -m true 2>/dev/null; then hide=(unshare -m sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$TREE"); fi
    PATH="$BATS_TEST_TMPDIR/moved/bin:$PATH" run "${hide[@]}" sh -c '
        set -e
        lathe space linear --count --target sm_90a >/dev/null
        lathe tune linear --device host --size M=8,N=16,K=32 --trials 3 --strategy local -q
        lathe best
        lathe export -o winner.cu
        lathe doctor | grep specifications'
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"moved/bin/../share/lathe/kernels"* ]]
    [[ "$output" != *"$TREE"* ]]
    grep -q __global__ winner.cu
}

@test "what is there: man pages, completion, documents, and links between them that lead somewhere" {
    install_to /usr "$PWD/d"
    for c in $(lathe help --list); do [ -s "d/usr/share/man/man1/lathe-$c.1" ]; done
    [ -s d/usr/share/man/man1/lathe.1 ]
    grep -q 'complete -F _lathe' d/usr/share/bash-completion/completions/lathe
    head -1 d/usr/share/zsh/site-functions/_lathe | grep -q '^#compdef lathe'
    [ -s d/usr/share/fish/vendor_completions.d/lathe.fish ]
    cd d/usr/share/doc/lathe
    [ -s LICENSE ] && [ -s THIRD-PARTY.md ]
    for f in $(grep -ohE '\]\((docs/[^)#]+|LICENSE|[A-Z-]+\.md)' README.md | sed 's/^](//'); do [ -e "$f" ] ||
        { echo "no $f"; return 1; }; done
    # nothing that only tests or builds need
    [ -z "$(find "$BATS_TEST_TMPDIR/d" -name '*.db' -o -name '*.bats' -o -name '*.o' -o -name '*.c' ! -path \
        '*/examples/*')" ]
}

@test "uninstall takes what install put there, and nothing else" {
    install_to "$PWD/p"
    before=$(find p -type f | wc -l)
    [ "$before" -gt 60 ]
    mkdir -p p/share/lathe/kernels/mine p/share/doc/other
    touch p/share/lathe/kernels/mine/spec.lua p/bin/other p/share/doc/other/README
    "$TREE/scripts/install" --remove "$build" "$PWD/p"
    [ "$(find p -type f | sort)" = "$(printf '%s\n' p/bin/other p/share/doc/other/README \
        p/share/lathe/kernels/mine/spec.lua)" ]
    [ ! -e p/share/doc/lathe ]
    # twice is no error
    "$TREE/scripts/install" --remove "$build" "$PWD/p"
}

@test "the order of kernels directories: LATHE_KERNELS, ./kernels, those that came with it" {
    install_to "$PWD/p"
    for d in named/kernels work/kernels; do
        mkdir -p "$d/linear"
        echo "error('$d')" >"$d/linear/spec.lua"
    done
    cd work
    fails 2 "work/kernels" ../p/bin/lathe space linear
    export LATHE_KERNELS="$BATS_TEST_TMPDIR/named/kernels"
    fails 2 "named/kernels" ../p/bin/lathe space linear
    unset LATHE_KERNELS
    rm -r kernels
    split ../p/bin/lathe space linear --kernel epilogue
    [ "$status" -eq 0 ]
}

@test "wrong calls" {
    run "$TREE/scripts/install" "$build" usr "$PWD/d"
    [ "$status" -eq 2 ]
    [[ "$output" == *"PREFIX=usr: must be an absolute path"* ]]
    mkdir empty
    run "$TREE/scripts/install" "$PWD/empty" /usr "$PWD/d"
    [ "$status" -eq 2 ]
    [[ "$output" == *"make builds it"* ]]
    [ ! -e d ]
}

@test "the library, where it was built" {
    [ -z "${LATHE_SANITIZE:-}" ] || skip "the library is never sanitized"
    make -s -C "$TREE" O="$build" lib >/dev/null
    install_to "$PWD/p"
    grep -q ', liblathe$' said
    [ "$(readlink p/lib/liblathe.so)" = liblathe.so.0 ]
    cat >use.c <<-'END'
		#include <lathe.h>
		#include <stdio.h>
		int main(void)
		{
		    printf("%d\n", LATHE_API_VERSION - lathe_api_version());
		    return 0;
		}
	END
    cc -Ip/include -o use use.c -Lp/lib -llathe -Wl,-rpath,"$PWD/p/lib"
    [ "$(./use)" = 0 ]
    cc -Ip/include -o use use.c p/lib/liblathe.a -lm
    [ "$(./use)" = 0 ]
    "$TREE/scripts/install" --remove "$build" "$PWD/p"
    [ -z "$(find p -type f -o -type l)" ]
}

@test "Ctrl-C leaves no temporary file" {
    slow_lathe
    interrupted "$TREE/scripts/install" "$PWD/slow" "$PWD/p"
}
