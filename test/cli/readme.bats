# readme.bats: the commands in README.md run as they stand there, on the host device with a small size.

load helper

# The lines of the README's shell blocks that call lathe, comments cut off.
commands() { sed -n '/^```sh/,/^```/p' "$TREE/README.md" | grep '^lathe ' | sed 's/  *#.*//'; }

# having OPTION: the commands whose help has it, sorted
having() {
    local command
    lathe help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' | while read -r command; do
        lathe help "$command" | grep -q -e "^  $1 " && echo "$command"
    done | sort
}

@test "which commands have --json and --csv is what the README says" {
    local said
    said="$(tr '\n' ' ' <"$TREE/README.md")"
    names() { grep -o '`[a-z-]*`' | tr -d '`' | sort; }
    [ "$(having --csv | grep -c .)" -ge 9 ]
    diff <(having --csv) <(grep -o '`--json`; [^.]* have `--csv`' <<<"$said" | sed 's/^[^;]*;//; s/ have .*//' | names)
    diff <(lathe help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' | sort | comm -23 - <(having --json)) \
        <(grep -o 'All commands but [^.]* have `--json`' <<<"$said" | sed 's/ have .*//' | names)
}

@test "every lathe command in the README works" {
    local n=0
    mkdir bin
    ln -s "$LATHE_BIN" bin/lathe
    PATH="$PWD/bin:$PATH"
    while IFS= read -r line; do
        # no GPU here: the campaigns are made small; everything else runs as written
        case $line in
            "lathe compare"* | "lathe tune-strategy"* | "lathe import"*) line="${line/ test/ $TREE/test}" ;;
            "lathe tune --resume"*) line="${line/--trials 400/--trials 6}" ;;
            "lathe tune"*cuda:all*) line="${line/cuda:all/host,host} --size M=8,N=16,K=32"
            line="${line/--seconds 60/--trials 4}" ;;
            "lathe tune"*"--size"*) line="${line/--seconds 60/--trials 3} --device host" ;;
            "lathe tune"*) line="${line/--trials 300/--trials 4} --device host --size M=8,N=16,K=32" ;;
            "lathe doctor --selftest"*) line="$line --device host --time-limit 2" ;;
            "lathe verify"*) line="$line --device host" ;;
            "lathe check"*) line="${line/sm_80/host}"; line="${line/--sample 20/--sample 2}" ;;
        esac
        run bash -c "$line </dev/null"
        # a page needs the chart library, which a build without npm does not have: it then says so
        [[ "$line" == "lathe report"* && "$output" == *"without the chart library"* ]] && continue
        # doctor's exit code is 0 wherever a device is usable: the host's compiler is there, or nothing else would work
        if [ "$status" -ne 0 ]; then echo "$line: exit $status: $output"; return 1; fi
        n=$((n + 1))
    done < <(commands)
    [ "$n" -ge 10 ]
    [ -s winner.cu ]
}

@test "every file that the README and the documents name exists" {
    cd "$TREE"
    local missing=0 f
    # kernels/rectified is the folder that docs/kernels.md tells the reader to make
    for f in $(grep -ohE '\]\([^)#]+\)|`(tuner|search|db|kernels|scripts|docs|test)/[A-Za-z0-9_./-]+`' README.md \
        docs/*.md |
        tr -d '`()' | sed 's/^]//' | grep -v -e '^kernels/rectified' -e '^https:' | sort -u); do
        [ -e "$f" ] || [ -e "docs/$f" ] || { echo "no such file: $f"; missing=1; }
    done
    [ "$missing" = 0 ]
}
