# kernels_doc.bats: the worked example of docs/kernels.md, made and tuned as the page says.
load helper

# The code block that follows the line "`NAME`:".
block() {
    awk -v name="\`$1\`:" '$0 == name { found = 1 } found && /^```/ { if (inside) exit; inside = 1; next } inside' \
        "$TREE/docs/kernels.md"
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p kernels/rectified
    for file in spec.lua tile.cu plain.cu; do block "rectified/$file" >"kernels/rectified/$file"; done
    export LATHE_KERNELS="$PWD/kernels:$TREE/kernels"
}

@test "the example's files are all there" {
    for file in spec.lua tile.cu plain.cu; do [ "$(wc -l <"kernels/rectified/$file")" -gt 5 ]; done
}

@test "the page's commands, those that need a GPU on the host and small" {
    n=0
    while IFS= read -r line; do
        case "$line" in
        *"--explain"*) expected=1 ;;
        *) expected=0 ;;
        esac
        case "$line" in
        "lathe check rectified") continue ;; # NVRTC: below
        *"--seconds 60") line="${line%--seconds 60}--device host --size M=9,N=8,K=7 --trials 3" ;;
        esac
        n=$((n + 1))
        split eval "$line"
        if [ "$status" -ne "$expected" ]; then
            echo "exit code $status: $line"
            echo "$out$errors"
            return 1
        fi
    done < <(awk '/^```/ { inside = $0 == "```sh"; next } inside { sub(/ +#.*/, ""); print }' "$TREE/docs/kernels.md")
    [ "$n" -eq 7 ]
    [ -s rectified.cu ]
    lathe query "SELECT outcome, configuration, reason FROM trial WHERE role = 'candidate' AND outcome <> 'ok'"
    [ "$(lathe query --csv "SELECT count(*) FROM trial WHERE role = 'candidate' AND outcome <> 'ok'" | tail -1)" = 0 ]
    [ "$(lathe query --csv "SELECT count(*) FROM trial WHERE role = 'candidate' AND outcome = 'ok'" | tail -1)" = 11 ]
}

@test "the example compiles for GPUs" {
    split lathe check rectified --sample 6 --quiet
    [ "$status" -ne 5 ] || skip "no NVRTC here: $errors"
    echo "$out"
    [ "$status" -eq 0 ]
}
