# meant.bats: "did you mean": near misses of words that a user types, wherever there is a list of what there is.

load helper

# meant WORD COMMAND...: refused, and WORD is suggested
meant() {
    local word="$1"
    shift
    split "$@"
    [ "$status" -ne 0 ]
    if [[ "$errors" != *"did you mean "*"$word"* ]]; then echo "no '$word': $errors"; return 1; fi
}

@test "commands, options, formats, shells" {
    meant best lathe bets
    meant --top lathe best --tpo 3
    meant kernel-tuner lathe export --format kernel-tunr
    meant bundle lathe export --format bundel
    meant t4 lathe recording x --format t5
    meant bash lathe completion bsh
}

@test "specifications, kernels, baselines, dimensions, settings, devices, targets, inputs, tolerances, objectives" {
    meant linear lathe space linera
    meant simt lathe tune linear --kernel smit --device host
    meant sgemm lathe tune linear --baseline sgem --device host
    meant M lathe tune tiny --device host --size MM=3
    meant type lathe tune linear --set tpye=f16 --device host
    meant host lathe tune tiny --device hots
    meant host lathe space tiny --target hots
    meant normal lathe tune tiny --device host --inputs nromal
    meant rtol lathe tune tiny --device host --tolerance rtl=1
    meant energy lathe tune tiny --device host --objective enrgy
}

@test "parameters in --where, --explain and --config" {
    meant BLOCK lathe space tiny --where "BLCOK > 3"
    meant BLOCK lathe space tiny --kernel plain --explain BLCOK=64
    meant BLOCK lathe verify tiny --kernel plain --config BLCOK=64 --device host
}

@test "strategies, their options and an option's words" {
    meant portfolio lathe tune tiny --device host --strategy protfolio
    meant batch lathe tune tiny --device host --strategy random --option btach=3
    meant hamming lathe tune tiny --device host --strategy ils --option kind=hammin
}

@test "what is in the database: problems, kernels, devices, figures, tables" {
    printf 'a,time_ms,kernel,device\n1,2,convolution,NVIDIA A100\n' >table.csv
    lathe import table.csv
    meant "--problem convolution" lathe best --problem convoluton
    meant "--kernel convolution" lathe best --kernel convoluton
    meant "--device 'NVIDIA A100 (imported)'" lathe best --device "NVIDIA A100 (importd)"
    meant convolution lathe export --format csv --kernel convoluton
    meant energy lathe best --pareto time,enrgy
    meant time lathe best --objective tmie
    meant trial lathe query "SELECT * FROM trail"
    # what is right is not doubted
    split lathe best --problem convolution --kernel nothing_like_it
    [[ "$errors" != *"did you mean"* ]]
}
