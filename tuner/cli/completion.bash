# bash completion of lathe; made by `lathe completion bash`. Load it with:  source <(lathe completion bash)
_lathe() {
    local words=() rest=$COMP_LINE word lead last i line value
    # bash breaks words at = and : too; what stands together is one word
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        lead=${rest%%[![:space:]]*}
        rest=${rest#"$lead"}
        rest=${rest#"$word"}
        if ((i > 0)) && [[ -z $lead ]]; then words[${#words[@]} - 1]+=$word; else words+=("$word"); fi
    done
    word=${words[${#words[@]} - 1]} last=${COMP_WORDS[COMP_CWORD]}
    [[ $last == [=:] ]] && last=
    local before=${word%"$last"}
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :file | :folder)
                [[ $line == :file ]] && i=-f || i=-d
                compopt -o filenames 2>/dev/null
                while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen $i -- "$last")
                ;;
            *)
                value=${line%%$'\t'*}
                [[ $value == *[=:] ]] && compopt -o nospace 2>/dev/null
                COMPREPLY+=("${value#"$before"}")
                ;;
        esac
    done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
}
complete -F _lathe lathe
