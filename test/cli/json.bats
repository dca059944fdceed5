# json.bats: docs/json.md lists the keys that --json has, no more and no less.
load helper

# documented SECTION: the keys in the first column of the section's table, sorted, with blanks between
documented() {
    sed -n "/^## $1\$/,/^## /p" "$TREE/docs/json.md" | sed -n 's/^| \(`[^|]*\) |.*/\1/p' | grep -o '`[^`]*`' |
        tr -d '`' | sort -u | tr '\n' ' '
}

# explained: those of the table in docs/report.md, likewise
explained() {
    sed -n '/^## One trial/,/^## /p' "$TREE/docs/report.md" | sed -n 's/^| `\([a-z]*\)` |.*/\1/p' | tr '\n' ' '
}

# has FILE PATH KEY...: the object there has those keys
has() {
    local there wanted
    there="$(keys "$1" "$2") "
    wanted="$(printf '%s\n' "${@:3}" | LC_ALL=C sort -u | tr '\n' ' ')"
    if [ "$there" != "$wanted" ]; then echo "$1 $2 has: $there"; echo "documented: $wanted"; return 1; fi
}

@test "the keys are those that are documented" {
    local recorded="$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz" trial campaign one
    trial="$(documented "A trial")"
    campaign="$(documented "lathe show --json")"
    one="$(documented "lathe show N --json")"
    lathe tune tiny --device host --kernel plain --strategy exhaustive --trials 6 --top 2 --quiet --json >ended
    has ended '$' event $campaign baselines outcomes reasons pace drift best
    has ended '$.best[0]' $trial
    lathe best --json >file
    has file '$[0]' $trial
    lathe show --json >file
    has file '$[0]' $campaign
    lathe show 1 --json >file
    has file '$' $campaign $one
    has file '$.trials[0]' $trial
    lathe export --format json >file
    has file '$' $(documented "lathe export --format json")
    lathe explain --json >file
    has file '$' $(explained)
    for key in $(keys file '$.launches[0]') $(keys file '$.roofline') $(keys file '$.neighbours[0]'); do
        grep '^| `\(launches\|roofline\|neighbours\)`' "$TREE/docs/report.md" | grep -q "[\`{ ]$key[,}\`]" ||
            { echo "docs/report.md: $key"; return 1; }
    done
    lathe recording "$recorded" --json >file
    has file '$' $(documented "lathe recording --json")
    lathe tune --device "replay:$recorded" --trials 2 --db none --quiet --json >file
    has file '$' event recording format problem device recorded space trials seconds outcomes best
    lathe compare random local --seeds 1 --spaces "$recorded" --quiet --json >file
    has file '$' $(documented "lathe compare --json")
    lathe tune-strategy random --seeds 1 --trials 1 --spaces "$recorded" --db none --quiet --json >file
    has file '$' $(documented "lathe tune-strategy --json")
    lathe space tiny --target host --json >file
    has file '$' $(documented "lathe space --json")
    lathe doctor --json >file
    has file '$' $(documented "lathe doctor --json")
    lathe check tiny --target host --sample 1 --quiet --json >file || [ $? = 2 ]
    has file '$[0]' $(documented "lathe check --json")
    lathe verify tiny --kernel plain --config BLOCK=64,UNROLL=1,FLAW=none --inputs default --device host --quiet \
        --json >file
    has file '$[0]' $(documented "lathe verify --json")
}
