# static.bats: make static: what the program needs, that it is the same program, and its tarball.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    [ -z "${LATHE_SANITIZE:-}" ] || skip "sanitizers need their own libraries"
    [ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
}

setup_file() {
    [ -z "${LATHE_SANITIZE:-}" ] || return 0
    make -s -C "$TREE" O="$(dirname "$LATHE_BIN")" static >"$BATS_FILE_TMPDIR/made" 2>&1 ||
        { cat "$BATS_FILE_TMPDIR/made"; return 1; }
    tar -x -z -C "$BATS_FILE_TMPDIR" -f "$TREE/$(tail -1 "$BATS_FILE_TMPDIR/made")" 2>/dev/null ||
        tar -x -z -C "$BATS_FILE_TMPDIR" -f "$(tail -1 "$BATS_FILE_TMPDIR/made")"
}
unpacked() { echo "$BATS_FILE_TMPDIR"/lathe-*-linux-x86_64; }

@test "it needs the C library alone, and an old one will do" {
    program=$(unpacked)/bin/lathe
    needed=$(objdump -p "$program" | awk '$1 == "NEEDED" { print $2 }' | sort | tr '\n' ' ')
    [ "$needed" = "libc.so.6 libdl.so.2 libm.so.6 libpthread.so.0 " ]
    newest=$(objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
    [ "$newest" = GLIBC_2.28 ]
    grep -q "glibc 2\.28" "$TREE/docs/install.md"
    # the check of the build sees what is newer, or foreign
    run "$TREE/scripts/old-glibc" --check 2.17 "$program"
    [ "$status" -eq 1 ]
    [[ "$output" == *"needs GLIBC_2.28, not GLIBC_2.17"* ]]
    run "$TREE/scripts/old-glibc" --check 9.9 "$(command -v git)"
    [ "$status" -eq 1 ]
    [[ "$output" == *"libpcre"* || "$output" == *"libz"* ]]
    # and what it cannot read
    run "$TREE/scripts/old-glibc" --check 2.28 "$TREE/README.md"
    [ "$status" -eq 1 ]
    [[ "$output" == *"README.md: no symbol of glibc is found in it" ]]
}

@test "unpacked anywhere it is a whole lathe: environment, threads, workers, loaded kernels" {
    unset LATHE_KERNELS
    export LATHE_CACHE=$PWD/cache PATH="$(unpacked)/bin:$PATH"
    lathe() { command lathe "$@"; }
    [[ "$(lathe --version)" == "lathe $(cat "$TREE/VERSION")"* ]]
    lathe tune linear --device host --size M=8,N=16,K=32 --trials 4 --strategy local -q >said
    grep -q "^finished" said
    recording="$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz"
    lathe compare --spaces "$recording" --strategies random,local --seeds 4 -j 4 --json -q >one.json
    "$LATHE_BIN" compare --spaces "$recording" --strategies random,local --seeds 4 -j 4 --json -q >two.json
    # the scores to the last digit; the strategies' own time is measured
    score="json_extract(j, '\$.strategies[0].score')"
    [ -n "$(json one.json "$score")" ]
    [ "$(json one.json "$score")" = "$(json two.json "$score")" ]
    man=$(unpacked)/share/man/man1/lathe-tune.1
    [ -s "$man" ]
}

@test "old-glibc: a program's variables of the C library are the C library's" {
    cat >program.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/stat.h>
		extern char **environ;
		static int constructed;
		__attribute__((constructor)) static void construct(void) { constructed++; }
		int main(void)
		{
		    struct stat s, t;
		    setenv("ADDED", "yes", 1);
		    int found = 0;
		    for (char **e = environ; e && *e; e++) found += !strcmp(*e, "ADDED=yes") || !strcmp(*e, "GIVEN=yes");
		    int failed = stat("/", &s) | fstat(0, &t), missing = stat("/none", &t);
		    return fprintf(stdout, "%d %d %d %d %d\n", found, constructed, failed, S_ISDIR(s.st_mode), missing) < 0;
		}
	END
    "$TREE/scripts/old-glibc" 2.28 libs
    cc -D_GNU_SOURCE -Llibs -Wl,--wrap=__libc_start_main -o program program.c "$TREE/scripts/old_glibc.c" \
        -Wl,--no-as-needed -lm -ldl -lpthread
    "$TREE/scripts/old-glibc" --check 2.28 program
    GIVEN=yes run ./program </dev/null
    [ "$output" = "2 1 0 1 -1" ] || { echo "$output"; return 1; }
}
