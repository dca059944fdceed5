# fish completion of lathe; made by `lathe completion fish`. Put it into ~/.config/fish/completions as lathe.fish, or
# load it with:  lathe completion fish | source
function __lathe_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete -- $words[2..-1] 2>/dev/null)
        switch $line
            case :file :folder
                set -l word (commandline -ct)
                set -l before (string match -r -- '^-[^=]*=' $word)
                string replace -r -- '^' "$before" (__fish_complete_path (string replace -- "$before" '' $word))
            case '*'
                echo $line
        end
    end
end
complete -c lathe -f -a '(__lathe_complete)'
