# completion.bats: what `lathe complete` offers, and that bash, zsh and fish show it.
load helper

# offers WORD...: the words alone, one a line
offers() { lathe complete -- "$@" | cut -f1; }
has() { grep -qxF -- "$1" <<<"$offered"; }

@test "commands, and nothing else" {
    offered=$(offers "")
    [ "$offered" = "$(lathe help --list)" ]
    [ "$(offers ver)" = $'verify\nversion' ]
    [ "$(offers --v)" = --version ]
    [ -z "$(offers nonsense "")" ]
    [ -z "$(offers nonsense)" ]
    [ "$(offers help sho)" = show ]
}

@test "every option of every command" {
    for c in $(lathe help --list); do
        offers "$c" -- "" >/dev/null
        offered=$(offers "$c" -)
        for o in $(lathe help "$c" | grep -oE '^  (-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
            has "$o" || { echo "$c lacks $o"; return 1; }
        done
    done
}

@test "specifications and files, kernels, dimensions, baselines" {
    offered=$(offers tune "")
    has linear && has kernelbench/59 && has tiny && has :file
    offered=$(offers tune linear --kernel "")
    has simt && has wgmma && not has sgemm
    offered=$(offers check linear --kernel "")
    has simt && has sgemm
    [ "$(offers tune linear --baseline sgemm_t)" = $'sgemm_tf32\nsgemm_tf32_alone' ]
    [ "$(offers tune linear --size "")" = $'M=\nN=\nK=' ]
    [ "$(offers tune linear --size M=1,)" = $'M=1,N=\nM=1,K=' ]
    [ "$(offers tune linear --size=M=1,K)" = --size=M=1,K= ]
    [ -z "$(offers tune nothing --kernel "")" ]
    [ -z "$(offers tune --kernel "")" ]
}

@test "strategies, their options and values; devices, classes, formats" {
    offered=$(offers tune --strategy "")
    has gp && has portfolio && has :file
    [ "$(offers tune --strategy ils --option ki)" = $'kick=\nkind=' ]
    [ "$(offers tune --strategy ils --option kind=)" = $'kind=adjacent\nkind=hamming' ]
    [ "$(offers tune --strategy=ils --option=kind=a)" = --option=kind=adjacent ]
    offered=$(offers tune --option "")
    has patience=    # portfolio's, the default
    [ "$(offers tune-strategy local --option k)" = kappa= ]    # gp's, that command's default
    [ "$(offers compare --strategies random,g)" = $'random,genetic\nrandom,gp\n:file' ]
    offered=$(offers tune --device "")
    has host && has cuda:all && has replay: && has mpi:all && has mpi:
    [ "$(offers tune --device mpi:0,mpi:a)" = mpi:0,mpi:all ]
    offered=$(offers verify --device "")
    has host && not has mpi:all
    [ "$(offers tune --device host,h)" = host,host ]
    [ "$(offers verify --inputs ones,w)" = ones,wide ]
    offered=$(offers check --target "")
    has sm_90a && has host
    [ "$(offers tune --tolerance rt)" = rtol= ]
    [ "$(offers completion "")" = $'bash\nzsh\nfish' ]
    [ "$(offers report -o "")" = :file ]
    [ "$(offers compare -o "")" = :folder ]
}

@test "choices are those that the commands know" {
    lathe tune tiny --device host --trials 5 -q >/dev/null
    fails 2 "expected" lathe export --format nonsense
    for format in $(offers export --format ""); do
        [[ "$errors" == *"$format"* ]] || { echo "--format $format: $errors"; return 1; }
    done
    for word in $(grep -oE "expected .*, got" <<<"$errors" | sed 's/expected //; s/, got//; s/ or /, /' | tr -d ,); do
        offered=$(offers export --format "") && has "$word"
    done
    for o in $(offers best --objective ""); do
        split lathe best --objective "$o"
        [ "$status" -ne 2 ]
    done
    for o in $(offers best --pareto ""); do
        split lathe best --pareto "$o"
        [ "$status" -ne 2 ]
    done
    for shell in $(offers completion ""); do lathe completion "$shell" | grep -q lathe; done
    fails 2 "SHELL is bash, zsh or fish" lathe completion tcsh
}

@test "parameters of the specification's kernels, and their values" {
    [ "$(offers space tiny --kernel plain --explain "")" = $'BLOCK=\nUNROLL=\nORDER=\nFLAW=' ]
    [ "$(offers verify tiny --kernel plain --config BLOCK=)" = $'BLOCK=32\nBLOCK=64\nBLOCK=128' ]
    [ "$(offers space tiny --explain=BLOCK=32,UN)" = --explain=BLOCK=32,UNROLL= ]
    [ "$(offers space tiny --kernel plain --explain BLOCK=32,ORDER=u)" = BLOCK=32,ORDER=up ]
    [ "$(offers space tiny --kernel plain --explain BLOCK=32,FLAW=none,)" = $'BLOCK=32,FLAW=none,UNROLL=\nBLOCK=32,FLAW=none,ORDER=' ]
    offered=$(offers space linear --explain "")
    has BM= && has TRANSPOSED= && [ "$(grep -cx BM= <<<"$offered")" = 1 ]
    [ -z "$(offers space nothing --explain "")" ]
}

@test "settings of the specification, and their values" {
    [ "$(offers space linear --set "")" = type= ]
    [ "$(offers space linear --set type=)" = $'type=f32\ntype=f16\ntype=bf16' ]
    [ "$(offers space linear --set=type=b)" = --set=type=bf16 ]
    lathe complete -- tune linear --set "" | grep -qxF $'type=\tf32|f16|bf16'
    [ -z "$(offers space tiny --set "")" ]
    [ -z "$(offers space linear --set typ=)" ]
    [ -z "$(offers space nothing --set "")" ]
    echo 'local a, b = setting { "b", { "1", "2" } }, setting { "a", { "x" } } error("late")' >late.lua
    [ -z "$(offers space late.lua --set "")" ]
    sed -i 's/error.*/return space { params = { { "p", { a, b } } } }/' late.lua
    [ "$(offers space late.lua --set "")" = $'a=\nb=' ]
    [ "$(offers space late.lua --set a=x --set b=)" = $'b=1\nb=2' ]
}

@test "campaigns and problems of the database" {
    [ -z "$(offers show "")" ] || [ "$(offers show "")" = "$(offers show -)" ]
    [ ! -e lathe.db ]
    lathe tune tiny --device host --trials 2 --db my.db -q >/dev/null || true
    [ "$(offers show --db my.db "")" = 1 ]
    [ "$(offers best --db=my.db --campaign "")" = 1 ]
    offered=$(offers compare --db my.db "")
    has 1 && has random
    [ "$(offers tune --db my.db --resume "")" = 1 ]
    [ "$(offers best --db my.db --problem "")" = tiny ]
    lathe complete -- show --db my.db "" | grep -q $'^1\ttiny .* on .*, finished$'
}

@test "values that were begun, ends of options, wrong use" {
    [ -z "$(offers tune --trials "")" ]
    [ -z "$(offers tune --trials 5 linear again "" | grep -v '^--')" ]
    [ -z "$(offers tune -- --tri)" ] || [ "$(offers tune -- --tri)" = :file ]
    offered=$(offers compare --spaces a b "")
    has :file
    [ "$(offers compare --spaces a b --see)" = $'--seeds\n--seed' ]
    fails 2 "lathe complete -- WORD" "$LATHE_BIN" complete
    fails 2 "lathe complete -- WORD" "$LATHE_BIN" complete tune
}

# bash_completes LINE: what bash would put in, one a line
bash_completes() {
    PATH="$PWD/bin:$PATH" bash --norc --noprofile -c '
        source <(lathe completion bash)
        compopt() { :; }    # only while bash itself completes
        COMP_LINE=$1 COMP_POINT=${#1}
        # as readline splits it: at blanks, and around runs of = and :
        IFS=$'"'\n'"' read -r -d "" -a COMP_WORDS < <(grep -oE "[^[:space:]=:]+|[=:]+" <<<"$1"; printf "\0")
        [[ $1 != *[[:space:]] ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _lathe
        printf "%s\n" "${COMPREPLY[@]}"' - "$1"
}

@test "bash: words, words with = and :, files" {
    mkdir bin && ln -s "$LATHE_BIN" bin/lathe
    [ "$(bash_completes "lathe ver")" = $'verify\nversion' ]
    [ "$(bash_completes "lathe tune --strat")" = --strategy ]
    [ "$(bash_completes "lathe tune --strategy=portf")" = portfolio ]
    [ "$(bash_completes "lathe completion ")" = $'bash\nzsh\nfish' ]
    [ "$(bash_completes "lathe best --objective=")" = $'time\nenergy' ]
    [ "$(bash_completes "lathe tune --device cuda:a")" = all ]
    [ "$(bash_completes "lathe tune --device cuda:")" = all ]
    [ "$(bash_completes "lathe tune --strategy ils --option kind=h")" = hamming ]
    [ "$(bash_completes "lathe tune linear --size M=1,N")" = 1,N= ]
    touch "my file.lua"
    [ "$(bash_completes "lathe tune my")" = "my file.lua" ]
    [ "$(bash_completes "lathe tune --strategy=my")" = "my file.lua" ]
}

@test "bash: at a real terminal, the tab key" {
    script -qc true /dev/null >/dev/null 2>&1 </dev/null || skip "no script(1), or no terminal to be had"
    mkdir bin && ln -s "$LATHE_BIN" bin/lathe
    cat >rc <<-'END'
		source <(lathe completion bash)
		PS1='> '
		bind 'set enable-bracketed-paste off'
	END
    # the line is completed twice, then run: its answer tells what it became
    { sleep 1; printf 'lathe vers\t\n'; sleep 1; printf 'lathe help --ma\tcomple\t | head -2\n'; sleep 1; echo exit; } |
        PATH="$PWD/bin:$PATH" TERM=dumb timeout 20 script -qc "bash --noprofile --rcfile rc" /dev/null >typed 2>&1
    grep -q "^lathe $(lathe version | cut -d' ' -f2)" typed
    grep -q 'TH LATHE.*COMPLETION' typed
}

@test "zsh: the script is right, and shows what lathe offers" {
    command -v zsh >/dev/null || skip "no zsh"
    mkdir bin && ln -s "$LATHE_BIN" bin/lathe
    lathe completion zsh >_lathe
    zsh -n _lathe
    cat >try.zsh <<-'END'
		autoload -Uz compinit && compinit -D -u
		source ./_lathe
		compadd() {
		    local -a a
		    local i
		    for ((i = 1; i <= $#; i++)); do [[ $argv[i] == -a ]] && a=("${(@P)argv[i + 1]}"); done
		    print -l -- $a
		}
		_files() { print files }
		try() { words=(lathe "$@") CURRENT=$#words PREFIX=$words[-1]; _lathe }
		try ver
		try tune --strategy ils --option ki
		try report -o ""
	END
    PATH="$PWD/bin:$PATH" run zsh -f try.zsh
    [ "$output" = $'verify\nversion\nkick=\nkind=\nfiles' ]
}

@test "fish: the script is right, and shows what lathe offers" {
    command -v fish >/dev/null || skip "no fish"
    mkdir bin && ln -s "$LATHE_BIN" bin/lathe
    lathe completion fish >lathe.fish
    fish --no-execute lathe.fish
    export PATH="$PWD/bin:$PATH" HOME=$PWD XDG_CONFIG_HOME=$PWD/config
    ask() { fish --no-config -c "source lathe.fish; complete -C '$1'" | cut -f1; }
    [ "$(ask 'lathe ver')" = $'verify\nversion' ]
    [ "$(ask 'lathe tune --strategy ils --option ki')" = $'kick=\nkind=' ]
    touch one.lua
    [ "$(ask 'lathe tune one')" = one.lua ]
    [ "$(ask 'lathe tune --strategy=one')" = --strategy=one.lua ]
}
