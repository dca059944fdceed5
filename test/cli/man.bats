# man.bats: the man pages, made from the tables that --help and the parser use.
load helper

pages() { # into ./man, as make install has them
    mkdir -p man
    lathe help --man >man/lathe.1
    for c in $(lathe help --list); do lathe help --man "$c" >"man/lathe-$c.1"; done
}

@test "help --list: the commands of the help, one a line" {
    listed=$(lathe help --list)
    helped=$(lathe help | sed -n '/^commands:/,/^$/p' | grep -oE '^  [a-z][a-z-]+' | tr -d ' ')
    [ "$listed" = "$helped" ]
    [ "$(wc -l <<<"$listed")" -ge 15 ]
    fails 2 "--list: goes with nothing else" lathe help --list tune
    fails 2 "--list: goes with nothing else" lathe help --list --man
    fails 2 "did you mean 'tune'?" lathe help --man tuen
}

@test "every option and argument of every command is in its page, every command in lathe(1)" {
    pages
    for c in $(lathe help --list); do
        grep -qF ".BR lathe\\-${c//-/\\-} (1)" man/lathe.1 || { echo "lathe.1 lacks $c"; return 1; }
        # the words in the left column of the help
        lathe help "$c" | grep -oE '^  +(-[a-z], )?(--)?[A-Za-z][A-Za-z_-]*' | sed 's/^ *//' | sort -u >words
        [ -s words ]
        while IFS= read -r w; do
            grep -qF -- "${w//-/\\-}" "man/lathe-$c.1" || { echo "lathe-$c.1 lacks '$w'"; return 1; }
        done <words
    done
    for word in LATHE_KERNELS NO_COLOR 'lathe.db' 130; do grep -qF "$word" man/lathe.1; done
    for word in portfolio 'kind=hamming' 'outliers'; do grep -qF "$word" man/lathe-tune.1; done
}

@test "groff and mandoc have nothing to say against them" {
    command -v groff >/dev/null && command -v mandoc >/dev/null || skip "no groff, no mandoc"
    pages
    for f in man/*.1; do
        groff -man -ww -z -Tutf8 "$f" >said 2>&1
        mandoc -Tlint -W warning "$f" >>said 2>&1 || true
        [ ! -s said ] || { cat said; return 1; }
    done
}

@test "what a page looks like" {
    command -v groff >/dev/null || skip "no groff"
    lathe help --man tune | groff -man -Tascii -P-c -P-b -P-u >page
    grep -qE '^ +-q, --quiet$' page
    grep -qE '^ +lathe-tune - searches for the fastest' page
    grep -q "lathe $(lathe version | cut -d' ' -f2)" page
    # roff's own characters come out as they were typed
    lathe help --man space | groff -man -Tascii -P-c -P-b -P-u >page
    tr -s ' \n' '  ' <page | grep -qF "\"FORMAT == 'tf32x1'\""
}
