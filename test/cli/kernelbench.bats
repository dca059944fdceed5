# kernelbench.bats: the problems of kernels/kernelbench at sizes that fit nothing, on the host device; and compiled.
load helper

problems="9 12 29 40 53 59 63 68 70 76 81 86 95"

# tune_all SIZE SEED: every problem, two configurations of each kernel of float32 arithmetic, all of which must be right
tune_all() {
    for n in $problems; do
        for kernel in simt epilogue; do
            rm -f k.db*
            if ! lathe tune "kernelbench/$n" --kernel $kernel --device host --strategy random --trials 2 --size "$1" \
                --seed "$2" --top 0 --compile-workers 2 --db k.db --json >tune.json 2>log; then
                echo "kernelbench/$n, $kernel:"
                cat log
                return 1
            fi
            [ "$(json tune.json "j ->> 'note' IS NULL")" = 1 ]      # its check values tell kernels apart
            if [ "$(json tune.json "j ->> 'outcomes' ->> 'ok'")" != 2 ]; then
                lathe query --db k.db "SELECT problem.name, outcome, kernel, configuration, reason FROM trial, problem"
                return 1
            fi
        done
    done
}

@test "the names are the files" {
    [ "$(cd "$TREE/kernels/kernelbench" && ls ./*.lua | sed 's|./\(.*\).lua|\1|' | sort -n | xargs)" = "$problems" ]
    fails 2 "did you mean 'kernelbench/59'?" lathe space kernlbench/59
}

@test "right at odd sizes" { tune_all M=19,N=37,K=45 3; }

@test "every epilogue compiles for GPUs" {
    for n in $problems; do
        split lathe check "kernelbench/$n" --kernel epilogue --target sm_80 --target sm_90a --sample 1 --json --quiet
        [ "$status" -ne 5 ] || skip "no NVRTC here: $errors"
        [ "$status" -eq 0 ]
    done
}
