# versions.bats: the numbers that docs/versioning.md promises, VERSION, and what says the same elsewhere.
load helper

promised() { sed -n "s/^| $1[^|]* | \([^|]*\) |.*/\1/p" "$TREE/docs/versioning.md"; }

@test "one version: VERSION, the program, the changelog, the citation" {
    version=$(cat "$TREE/VERSION")
    [[ "$version" =~ ^[0-9]+\.[0-9]+\.[0-9]+ ]]
    split lathe --version
    [[ "$out" == "lathe $version" || "$out" =~ ^"lathe $version"\+[0-9a-f]+(\.changed)?$ ]]
    number=${version%%+*}
    [ "$(sed -n 's/^version: *//p' "$TREE/CITATION.cff")" = "$number" ]
    grep -qF "## [$number]" "$TREE/CHANGELOG.md" || grep -qF "What $number will be" "$TREE/CHANGELOG.md"
}

@test "scripts/version: a commit, a change, a tag, no checkout, somebody else's checkout" {
    mkdir -p tree/scripts
    cp "$TREE/scripts/version" tree/scripts/
    echo 1.2.3 >tree/VERSION
    [ "$(tree/scripts/version)" = 1.2.3 ]
    git init -q outer
    mv tree outer/
    [ "$(outer/tree/scripts/version)" = 1.2.3 ]
    mv outer/tree mine
    cd mine
    git init -q .
    [ "$(scripts/version)" = 1.2.3 ]    # no commit yet
    git add .
    git -c user.name=a -c user.email=a@b commit -qm one
    commit=$(git rev-parse --short HEAD)
    [ "$(scripts/version)" = "1.2.3+$commit" ]
    git tag v1.2.3
    [ "$(scripts/version)" = 1.2.3 ]
    touch VERSION
    [ "$(scripts/version)" = 1.2.3 ]
    echo >>scripts/version
    [ "$(scripts/version)" = "1.2.3+$commit.changed" ]
}

@test "the database schema: code, migrations, documents and a new file say one number" {
    n=$(sed -n 's/.*SCHEMA_VERSION = \([0-9]*\),.*/\1/p' "$TREE/db/sqlite_util.h")
    [ "$n" -ge 3 ]
    [ "$(promised "database schema")" = "$n" ]
    grep -q "the schema's version, $n\." "$TREE/docs/schema.md"
    [ "$(ls "$TREE"/db/schema.sql "$TREE"/db/schema_*.sql | wc -l)" = "$n" ]
    [ -e "$TREE/db/schema_$n.sql" ]
    lathe tune tiny --device host --trials 5 -q >/dev/null
    [ "$(sqlite3 lathe.db "PRAGMA user_version")" = "$n" ]
}

@test "the C interface: the header has the number that is promised" {
    cd "$TREE"
    header=$(grep -rlE '^#define LATHE_API_VERSION [0-9]+' --include=lathe.h --exclude-dir='build*' . | head -1)
    n=$(sed -n 's/^#define LATHE_API_VERSION \([0-9]*\)$/\1/p' "$header")
    [ -n "$n" ]
    promised "C interface (liblathe)" | grep -qF "\`LATHE_API_VERSION\`, $n;"
    n=$(sed -n 's/.*BUNDLE_VERSION = \([0-9]*\).*/\1/p' tuner/model/bundle.h)
    [ -n "$n" ]
    promised bundles | grep -q "^$n,"
}

@test "what is linked in has its notice" {
    missing=
    for lib in $(sed -n 's/^LIBS .*=//p' "$TREE/Makefile" | grep -oP -- '-l:\Klib[a-z0-9_.]*(?=\.a)'); do
        grep -qF "\`$lib\`" "$TREE/THIRD-PARTY.md" || missing="$missing $lib"
    done
    [ -z "$missing" ] || { echo "THIRD-PARTY.md lacks$missing"; return 1; }
    charts=$(sed -n 's/.*"echarts": *"\([^"]*\)".*/\1/p' "$TREE/tuner/report/web/package.json")
    grep -qF "Apache ECharts $charts" "$TREE/THIRD-PARTY.md"
    head -3 "$TREE/LICENSE" | grep -q "Apache License"
    [ "$(wc -l <"$TREE/LICENSE")" -ge 200 ]
}
