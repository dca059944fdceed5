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

@test "each as a problem of 16-bit tensors" {
    for n in $problems; do
        for type in f16 bf16; do
            lathe space "kernelbench/$n" --set "type=$type" --kernel epilogue --target sm_90a --json >space
            [ "$(json space "j ->> 'problem'")" = "kernelbench_${n}_$type" ]
            [ "$(json space "j ->> 'kernels' ->> 0 ->> 'valid' > 0")" = 1 ]
        done
    done
    for n in 68 76 95; do       # those with a parameter of their own
        lathe tune "kernelbench/$n" --set type=f16 --kernel mma --device host --strategy random --trials 1 --top 0 \
            --size M=19,N=36,K=48 --db k.db --json -q >tune.json
        [ "$(json tune.json "j ->> 'outcomes' ->> 'ok'")" = 1 ]
        [ "$(json tune.json "j ->> 'problem'")" = "kernelbench_${n}_f16" ]
    done
    lathe query --db k.db --csv \
        "SELECT DISTINCT value ->> '#' ->> 1 FROM problem, json_each(specification, '$.tensors')" >types
    [ "$(sed 1d types)" = f16 ]
}

@test "settings that are none" {
    fails 2 "--set type=f17: type is one of f32, f16, bf16" lathe tune kernelbench/59 --set type=f17
    fails 2 "--set: there is no setting 'typ' (did you mean 'type'?); there are: type (f32, f16, bf16)" lathe space \
        kernelbench/59 --set typ=f16
    fails 2 "--set: there is no setting 'type'; this specification has none" lathe check tiny --set type=f16
    fails 2 "--set: there is no setting 'type'" lathe space linear_f16 --set type=bf16
    fails 2 "--set: 'type' is not a name and a value" lathe verify kernelbench/59 --kernel simt --set type
    fails 2 "--set: type is given twice" lathe space kernelbench/59 --set type=f16 --set type=f32
}
