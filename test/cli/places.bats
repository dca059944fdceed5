# places.bats: where files are, can't be, or are full; and environments that are not the usual one.
load helper

RUN="--device host --kernel plain --strategy exhaustive --trials 2 --top 0"

# on_disk OPTIONS COMMAND: runs the command text in the folder `disk`, a file system of its own
on_disk() {
    mkdir -p disk
    local script="mount -t tmpfs -o $1,mode=755 tmpfs disk && $2"
    if unshare -m sh -c "mount -t tmpfs -o $1,mode=755 tmpfs disk" 2>/dev/null; then
        unshare -m sh -c "$script"
    elif unshare -rm sh -c "mount -t tmpfs -o $1,mode=755 tmpfs disk" 2>/dev/null; then
        unshare -rm sh -c "$script"
    else
        skip "no right to mount a file system"
    fi
}

images() { find "$1" -name '*.image' | wc -l; }

@test "a database on a full file system" {
    on_disk size=200k "
        '$LATHE_BIN' tune tiny $RUN --quiet --db disk/x.db >out 2>&1; echo \$? >code
        cp disk/x.db* . ; true"
    cat out
    [ "$(cat code)" -eq 6 ]
    grep -q "disk/x.db: the disk is full" out
    # whatever went in is whole
    [ "$(sqlite3 x.db "PRAGMA integrity_check")" = ok ]
}

@test "a database that is full before the campaign is recorded: nothing is said to be kept" {
    "$LATHE_BIN" tune tiny $RUN --quiet --db warm.db >warm.out
    local none=0 size
    for size in 232 264 296 328 360 392; do
        rm -f code
        on_disk size=${size}k "
            '$LATHE_BIN' tune tiny $RUN --quiet --db disk/x.db >out 2>&1; echo \$? >code
            '$LATHE_BIN' show --db disk/x.db >show.out 2>&1; true"
        echo "$size:"; cat out code show.out
        [ "$(cat code)" -eq 6 ] || continue
        # a baseline or a trial of it is in the table, or nothing is said to be kept
        if grep -q "what was measured is kept: campaign 1" out; then
            grep -q "^ *1 .* [0-9.]*$" show.out
        else
            none=$((none + 1))
            not grep -q "what was measured" out
            not grep -q "^ *1 .* [0-9.]*$" show.out
        fi
        if grep -q "campaign 1" out; then grep -q "^ *1 " show.out; else not grep -q "^ *1 " show.out; fi
    done
    [ $none -gt 1 ]
}

@test "a database that becomes full in the middle of a campaign" {
    cp -r "$TREE/test/cli/kernels/tiny" own
    sed -i -e 's/{ 32, 64, 128 }/(function() local t = {} for i = 1, 256 do t[i] = i end return t end)()/' \
        -e 's/"none", "wrong", "compile"/"none"/' own/spec.lua
    on_disk size=700k "
        '$LATHE_BIN' tune own --device host --kernel plain --strategy exhaustive --trials 400 --top 0 --quiet \
            --db disk/x.db >out 2>&1; echo \$? >code
        '$LATHE_BIN' best --db disk/x.db --top 1000 --json >best.json
        cp disk/x.db* . ; true"
    cat out
    [ "$(cat code)" -eq 6 ]
    grep -q "disk/x.db: the disk is full" out
    grep -q "what was measured is kept: campaign 1 of disk/x.db" out
    [ "$(sqlite3 x.db "PRAGMA integrity_check")" = ok ]
    n="$(sqlite3 x.db "SELECT count(*) FROM trial WHERE outcome = 'ok' AND role = 'candidate'")"
    [ "$n" -gt 3 ]
    [ "$(json best.json "json_array_length(j)")" = "$n" ]
}

@test "a cache folder that cannot be made or written" {
    export LATHE_CACHE="$PWD/file/cache"
    : >file
    fails 7 "set LATHE_CACHE" lathe tune tiny $RUN --quiet
    [[ "$errors" == *"$PWD/file"* ]]
    on_disk ro "LATHE_CACHE=disk '$LATHE_BIN' tune tiny $RUN --quiet >out 2>&1; echo \$? >code"
    [ "$(cat code)" -eq 7 ]
    grep -q "set LATHE_CACHE to another.*disk: cannot write there: Read-only file system" out
    on_disk size=12k "LATHE_CACHE=disk '$LATHE_BIN' tune tiny $RUN --quiet >out 2>&1; echo \$? >code"
    cat out
    [ "$(cat code)" -ne 0 ]
    grep -q "disk/.*No space left on device" out
}

@test "images in the cache that were cut short are made again" {
    export LATHE_CACHE="$PWD/cache"
    lathe tune tiny $RUN --quiet >/dev/null
    before="$(images cache)"
    [ "$before" -ge 4 ]
    # 9000 bytes open as a library that ends a process with a bus error
    size=0
    for f in cache/*.image; do truncate -s "$size" "$f"; size=$(((size + 9000) % 18000)); done
    split lathe tune tiny $RUN --quiet --json
    [ "$status" -eq 0 ]
    [ "$(json .out "j ->> 'outcomes' ->> 'ok'")" = 1 ]
    [ "$(images cache)" -eq "$before" ]
    [ "$(find cache -name '*.image' -size -10k | wc -l)" -eq 0 ]
    [ "$(sqlite3 lathe.db "SELECT count(*) FROM trial WHERE outcome = 'ok' AND role = 'candidate'")" -eq 2 ]
}

@test "without HOME" {
    unset LATHE_CACHE XDG_CACHE_HOME HOME
    split lathe tune tiny $RUN --quiet
    [ "$status" -eq 0 ]
    [ "$(stat -c %u "/tmp/lathe-cache-$(id -u)")" = "$(id -u)" ]
    [ "$(images "/tmp/lathe-cache-$(id -u)")" -ge 4 ]
    HOME="$PWD/home" split lathe tune tiny $RUN --quiet
    [ "$(images home/.cache/lathe)" -ge 4 ]
    HOME="$PWD/home" XDG_CACHE_HOME="$PWD/xdg" split lathe tune tiny $RUN --quiet
    [ "$(images xdg/lathe)" -ge 4 ]
}

@test "a cache folder that others may write" {
    mkdir -m 777 cache
    LATHE_CACHE="$PWD/cache" split lathe tune tiny $RUN --quiet
    [ "$status" -eq 0 ]
    [ "$(stat -c %a cache)" = 755 ]
    [ "$(id -u)" -eq 0 ] || skip "only root can give a folder away"
    chown 1 cache
    export LATHE_CACHE="$PWD/cache"
    fails 7 "$PWD/cache belongs to another user" lathe tune tiny $RUN --quiet
}

@test "other languages" {
    for locale in C C.UTF-8 de_DE.UTF-8 tr_TR.UTF-8; do
        LC_ALL="$locale" split lathe tune tiny $RUN --quiet --json
        [ "$status" -eq 0 ]
        [ "$(json .out "(j ->> 'outcomes' ->> 'ok') || ' ' || (j ->> 'best' ->> 0 ->> 'time_ms' > 0)")" = "1 1" ]
    done
    env -i "$LATHE_BIN" --version
}

@test "a binary that was moved finds kernels by LATHE_KERNELS" {
    mkdir elsewhere
    cp "$LATHE_BIN" elsewhere/l
    # not where the sources are, the current folder has no kernels/
    LATHE_KERNELS= split elsewhere/l space tiny
    [ "$status" -eq 2 ]
    [[ "$errors" == *"there is no specification 'tiny'"* ]]
    [[ "$errors" == *LATHE_KERNELS* ]]
    split elsewhere/l tune tiny $RUN --quiet
    [ "$status" -eq 0 ]
    (cd elsewhere && PATH="$PWD:$PATH" l tune tiny $RUN --quiet --db by-path.db)
    mkdir -p share/lathe/kernels bin
    cp -r "$TREE/test/cli/kernels/tiny" share/lathe/kernels
    cp "$LATHE_BIN" bin
    (cd / && LATHE_KERNELS= "$BATS_TEST_TMPDIR/bin/lathe" space tiny --count)
}

@test "names with blanks, quotes and letters beyond ASCII" {
    odd="a b'c \"d\" ü \$x;y"
    mkdir "$odd"
    cp -r "$TREE/test/cli/kernels/tiny" "$odd/my kernel"
    cp "$LATHE_BIN" "$odd/la the"
    export LATHE_CACHE="$PWD/$odd/cache"
    split "$odd/la the" tune "$odd/my kernel" $RUN --db "$odd/my results.db"
    echo "$errors"
    [ "$status" -eq 0 ]
    [[ "$out" == *$'\nnext: lathe export --campaign 1 --db '* ]]
    # the command that is named is one for a shell
    next="$(sed -n 's/^next: //p' .out)"
    eval "$next" 2>/dev/null
    [ -s winner.cu ]
    "$odd/la the" export --db "$odd/my results.db" -o "$odd/the winner.cu"
    cmp winner.cu "$odd/the winner.cu"
    cd "$odd"
    "./la the" tune "my kernel/spec.lua" $RUN --quiet --db r.db
    mkdir kernels
    mv "my kernel" kernels/
    LATHE_KERNELS= "./la the" space "my kernel" --count
}

@test "standard output that goes away, is closed, is full" {
    lathe tune tiny $RUN --top 1 --quiet >/dev/null
    for command in best "best --json" show "show 1" "query \"SELECT * FROM trial\"" export; do
        eval "lathe $command" 2>err | true
        [ ! -s err ]
        status=0
        eval "lathe $command" >/dev/full 2>err || status=$?
        [ "$status" -eq 7 ]
        grep -q "standard output.*No space" err
        status=0
        eval "lathe $command" >&- 2>err || status=$?
        [ "$status" -eq 7 ]
    done
    # a campaign whose table nobody can read was still made
    status=0
    lathe tune tiny $RUN --quiet >/dev/full 2>err || status=$?
    [ "$status" -eq 7 ]
    lathe tune tiny $RUN 2>/dev/full >/dev/null
    lathe tune tiny $RUN 2>&- >/dev/null <&-
    [ "$(sqlite3 lathe.db "SELECT count(*) FROM campaign WHERE state = 'finished'")" = 4 ]
}

@test "text for a terminal goes to terminals only" {
    lathe tune tiny $RUN --top 1 >out 2>log
    not grep -qP '[\x00-\x08\x0b-\x1f\x7f]' out log
    for command in best "show 1" doctor help "help tune"; do
        split lathe $command
        not grep -qP '[\x00-\x08\x0b-\x1f\x7f]' .out .errors
    done
}
