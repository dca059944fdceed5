# bench.bats: scripts/bench_kernelbench on the host device, where it can be seen to work but measures nothing.
load helper

bench() { "$TREE/scripts/bench_kernelbench" --lathe "$LATHE_BIN" --out o "$@"; }
needs_python() { python3 -c 'import json' || skip "no python3 here"; }

# record NUMBER SUSTAINED_EAGER COLD_MS ERROR: o/NUMBER.json as if it had been measured
record() {
    mkdir -p o
    cat >"o/$1.json" <<END
{"problem": $1, "size": {"M": 1, "N": 2, "K": 3}, "most_error": 2,
 "eager": {"cold_ms": 5, "sustained_ms": 5},
 "winner": {"id": 1, "kernel": "simt", "text": "BM=16", "cold_ms": $3, "sustained_ms": 1, "error": $4},
 "times_eager_cold": 5, "times_eager_sustained": $2, "times_sgemm_cold": 4, "times_sgemm_sustained": 4,
 "of_tf32_cold": 1.2, "of_tf32_sustained": 1.2, "times_sgemm_error": $4}
END
}

@test "a dry run, and what it leaves; those that are there are not measured again" {
    needs_python
    bench --dry-run 86 59 -- --kernel simt >out
    grep -q "^without PyTorch$" out
    grep -q "^59: tuning$" out
    grep -q "^| 59 | 13x24x20 | simt | " out
    grep -q "^| mean of 2 |" out
    grep -q "^Not measured: 9 12 29 40 53 63 68 70 76 81 95.$" out
    grep -q "^- 86: simt .*BM=" out
    cmp <(sed -n '/^| problem/,$p' out) o/table.md
    [ "$(json o/59.json "j ->> 'problem'")" = 59 ]
    [ "$(json o/59.json "j ->> 'tune_options' ->> 0")" = --kernel ]
    [ "$(json o/59.json "(j ->> 'winner' ->> 'cold_ms') > 0 AND (j ->> 'times_sgemm_cold') > 0")" = 1 ]
    [ "$(json o/59.json "j ->> 'eager'")" = "" ]
    [ "$(json o/table.json "json_array_length(j, '$.problems')")" = 2 ]
    [ "$(json o/table.json "(j ->> 'geometric_mean' ->> 'times_sgemm_cold') > 0")" = 1 ]
    bench --dry-run 59 >out
    grep -q "^59: measured already" out
    not grep -q "tuning" out
    [ "$("$LATHE_BIN" show --db o/kernelbench.db --json | grep -c '"kernelbench_59"')" = 1 ]
}

@test "what failed is told, and not kept" {
    needs_python
    status=0
    bench --dry-run 68 -- --kernel nosuch >out || status=$?
    [ "$status" = 1 ]
    grep -q "^| 68 | - .*lathe tune: exit code 2: .*has no kernel 'nosuch'.*, see 68.log |$" out
    grep -q "has no kernel 'nosuch'" o/68.log
    [ ! -e o/68.json ]
    [[ "$(json o/table.json "json_extract(j, '\$.missed.\"68\"[0]')")" == \
        "lathe tune: exit code 2: "*"has no kernel 'nosuch'"* ]]
}

@test "all stages: each once, and what is left to do" {
    needs_python
    bench_all() { LATHE_BIN=$LATHE_BIN "$TREE/scripts/bench_all" --dry-run --out "$PWD/all" "$@"; }
    split bench_all nosuch
    [ "$status" -eq 2 ]
    [[ "$errors" == "bench_all: there is no stage 'nosuch'; there are check measuring"* ]]
    bench_all exports >out && return 1
    grep -q "^exports: .* exit code 1$" out             # there is nothing to export yet
    bench_all busy >out
    grep -q "^busy [0-9]* % of the search .* times one compiler's [0-9]* (asked: 8)$" out
    bench_all accurate exports >out
    grep -q "^accurate: [0-9]* s, exit code 0$" out
    grep -q "class ModelNew" all/59.py all/12.py
    bench_all --seconds 1 exports record >out && return 1
    grep -qx "exports: done before" out
    grep -qx "record: no time left: the same command goes on with it" out
}

@test "no time is left for one" {
    needs_python
    status=0
    bench --dry-run --seconds 3 9 12 >out || status=$?
    [ "$status" = 1 ]
    grep -q "^no time left for 9 12: the same command goes on with them$" out
}

@test "means, and what is missed" {
    needs_python
    record 9 4 1 1.5
    record 59 3.5 1 2.5
    bench --dry-run 9 59 >out
    grep -q "^| 9 | 1x2x3 | simt | 1.000 / 1.000 | 1.50 | .* | 5.00 / 4.00 | 4.00 / 4.00 | 1.20 / 1.20 |  |$" out
    grep -q "^| 59 .* | cold: 1.20 of TF32 > 1.13; sustained: 3.50x of eager < 3.7x; error 2.50 > 2 |$" out
    grep -q "^| mean of 2 |.* | 5.00 / 3.74 | 4.00 / 4.00 | 1.20 / 1.20 | sustained: 3.74x < 4.0x |$" out
}

@test "other formats and types: dry runs, each with files of its own" {
    needs_python
    for mode in "--format tf32" "--format bf16" "--format f16" "--tensors f16" "--tensors bf16"; do
        bench --dry-run $mode 76 >out
        suffix="${mode##* }"
        [ "${mode% *}" = --format ] || suffix="tensors-$suffix"
        grep -q "^| 76 | 13x24x20 | mma | .* of cuBLAS' rate < 0.9" out
        [ "$(json "o/76-$suffix.json" "(j ->> 'of_cublas_cold') > 0 AND (j ->> 'of_gemm_cold') > 0")" = 1 ]
        [ "$(json "o/76-$suffix.json" "(j ->> 'cublas' ->> 'error') > 1e-5")" = 1 ]       # a library of that format
        [ -s "o/table-$suffix.md" ]
    done
    [ ! -e o/76.json ]
    [ "$(json o/76-f16.json "json_array_length(j, '$.baselines') IS NOT NULL
        AND j ->> 'baselines' ->> 'sgemm_f16' IS NOT NULL")" = 1 ]
    lathe query --db o/kernelbench.db --csv "SELECT problem.name, restrictions FROM campaign JOIN problem
        ON problem.id = problem_id ORDER BY campaign.id" >campaigns
    [ "$(sed 1d campaigns | tr -d '"[]')" = "kernelbench_76,FORMAT == 'tf32x1'
kernelbench_76,FORMAT == 'bf16x1'
kernelbench_76,FORMAT == 'fp16x3'
kernelbench_76_f16,
kernelbench_76_bf16," ]
    bench --dry-run --format tf32 76 >out
    grep -q "^76: measured already" out
}

@test "several GPUs share the problems, and one table has them all" {
    needs_python
    bench --dry-run --gpus 2 12 76 59 -- --kernel epilogue >out
    [ "$(lathe query --db o/kernelbench.db --csv "SELECT count(*) FROM campaign WHERE state = 'finished'" |
        sed 1d)" = 3 ]
    for n in 12 59 76; do grep -q "^| $n | 13x24x20 | epilogue |" o/table.md; done
}

@test "a wrong command line" {
    needs_python
    status=0
    bench 5 2>errors || status=$?
    [ "$status" = 2 ]
    grep -q "there is no problem 5; there are 9 12 29" errors
    status=0
    bench --format tf32 --tensors f16 2>errors || status=$?
    [ "$status" = 2 ]
    grep -q "exclude each other" errors
    bench --help | grep -q "^usage: bench_kernelbench"
}

@test "bench_engine: its own small form; neither memory nor open files grow" {
    needs_python
    run "$TREE/scripts/bench_engine" --lathe "$LATHE_BIN" --most 20000 --devices 1
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"nothing stored: 19999 trials, "*" a CPU second"* ]]
    [[ "$output" == *"database on: 19999 trials, "* ]]
    [[ "$output" == *"trials 10000 to 20000: "*"us of CPU each, storing it "* ]]
    [[ "$output" == *"1 device: "*" trials a minute (1.00x)"* ]]
}
