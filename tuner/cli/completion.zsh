#compdef lathe
# zsh completion of lathe; made by `lathe completion zsh`. Put it into a folder of $fpath as _lathe, or load it with:
#   source <(lathe completion zsh)
_lathe() {
    local line value text
    local -a values texts open open_texts
    local files=
    while IFS= read -r line; do
        case $line in
            :file) files=_files ;;
            :folder) files='_files -/' ;;
            *)
                value=${line%%$'\t'*} text=${line#*$'\t'}
                [[ -n $text ]] && text="$value  -- $text" || text=$value
                if [[ $value == *[=:] ]]; then open+=("$value") open_texts+=("$text")
                else values+=("$value") texts+=("$text"); fi
                ;;
        esac
    done < <(${words[1]} complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( $#values )) && compadd -l -d texts -a values
    (( $#open )) && compadd -l -S '' -d open_texts -a open
    if [[ -n $files ]]; then
        [[ $PREFIX == -*=* ]] && compset -P '*='
        eval $files
    fi
    return 0
}
if [[ $funcstack[1] == _lathe ]]; then _lathe "$@"; else compdef _lathe lathe; fi
