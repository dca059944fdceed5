# explain.bats: `lathe explain`: limits and neighbours, against what the database says.
load helper

recorded() { gzip -dc "$TREE/test/data/linear-h200.db.gz" >h200.db; }

# computes JSON: what simt says of its units in the recorded campaigns, as if it had been written there
computes() {
    sqlite3 h200.db "UPDATE problem SET specification = json_set(specification, '$.kernels[0].computes', json('$1'))"
}

@test "explain: the best of the newest campaign" {
    recorded
    run lathe explain --db h200.db
    [ "$status" -eq 0 ]
    [[ "$output" == "trial 737 of campaign 3: simt, linear on NVIDIA H200"* ]]
    [[ "$output" == *"53.48 TFLOP/s, 79.9 % of the float32 units' peak of 66.91 (its specification names no others)"* ]]
    [[ "$output" == *"63.5 FLOPs a byte, so the float32 units' rate would bound it"* ]]
    [[ "$output" == *"nothing is spilled"* ]]
    [[ "$output" == *"an SM holds 1 (occupancy 12.5 %), limited by the registers"* ]]
    [[ "$output" == *"1.00 waves: the last keeps the device 100 % busy"* ]]
}

@test "explain: computed occupancy is the driver's" {
    recorded
    local n=0 id
    # one launch each: no second kernel, a different shape of block each
    for id in $(lathe query --db h200.db --csv \
        "SELECT min(id) FROM trial WHERE kernel = 'simt' AND configuration NOT LIKE '%second_kernel%'
        GROUP BY occupancy, registers / 40, shared_dynamic / 16384" | tail -n +2); do
        lathe explain "$id" --db h200.db --json >x.json
        if [ "$(json x.json \
            "json_extract(j, '$.launches[0].occupancy') = json_extract(j, '$.trial.occupancy')")" != 1 ]; then
            echo "trial $id: $(json x.json "json_extract(j, '$.launches[0]')")"
            return 1
        fi
        n=$((n + 1))
    done
    [ "$n" -ge 20 ]
}

@test "explain: neighbours differ in one parameter, and are all of those" {
    recorded
    lathe explain 737 --db h200.db --json >x.json
    # parameters in which the trials of campaign 3 differ from it, by SQL
    sqlite3 h200.db "SELECT count(*) FROM trial t WHERE t.campaign_id = 3 AND t.role = 'candidate' AND t.kernel = 'simt'
        AND 1 = (SELECT count(*)
        FROM (SELECT name FROM parameter_value WHERE trial_id IN (t.id, 737) GROUP BY name
              HAVING count(*) = 1 OR min(value) <> max(value)))" >want
    [ "$(json x.json "json_array_length(j, '$.neighbours')")" = "$(cat want)" ]
    [ "$(cat want)" -gt 5 ]
    [ "$(json x.json "json_extract(j, '$.neighbours[0].parameter') || ' ' || json_extract(j, '$.neighbours[0].from')
        || ' ' ||
        json_extract(j, '$.neighbours[0].to') || ' ' || json_extract(j, '$.neighbours[0].trial')")" = \
            "LANES_M 2 8 778" ]
}

@test "explain: a baseline, a failed trial, the host device" {
    recorded
    run lathe explain 2 --db h200.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"wrong: 855129 of 4194304 elements differ"* ]]
    [[ "$output" == *"0 differ in one parameter"* ]]
    lathe tune linear --size M=48,N=80,K=96 --kernel simt --strategy random --trials 3 --seed 1 --db host.db
    run lathe explain --db host.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"not placed on the roofline: the device's peak rate, the device's memory bandwidth are not recorded"* ]]
    lathe explain --db host.db --json >x.json
    [ "$(json x.json "json_type(j, '$.launches[0].resident')")" = null ]
    [ "$(json x.json "json_type(j, '$.roofline.of_roofline')")" = null ]
}

@test "explain: the ceiling is that of the units that compute, over their products" {
    recorded
    computes '[{"#": ["bf16"], "products": "select(BM >= 16, 3, 1)", "when": "true"}, ["f32"]]'
    split lathe explain 737 --db h200.db
    [[ "$out" == *"63.5 FLOPs a byte, so memory's bandwidth bounds it"* ]]
    [[ "$out" == *"53.48 TFLOP/s, 15.0 % of 356.8, the tensor cores' peak in bf16 of 1071 over 3 products each"* ]]
    [[ "$out" == *"17.5 % of the roofline"* ]]
    lathe explain 737 --db h200.db --json >x.json
    [ "$(json x.json "(j -> 'roofline' ->> 'unit') || (j -> 'roofline' ->> 'products') || (j -> 'roofline' ->> 'unit_from')
        || (j -> 'roofline' ->> 'bound') || round(j -> 'roofline' ->> 'unit_tflops')
        || round(j -> 'roofline' ->> 'peak_tflops') || round(j -> 'roofline' ->> 'f32_tflops')")" = \
        bf163.0specificationmemory1071.0357.067.0 ]
    # fewer products of a slower unit: compute bounds it
    computes '[["f32"]]'
    split lathe explain 737 --db h200.db
    [[ "$out" == *"so the float32 units' rate bounds it"*"79.9 % of the float32 units' peak of 66.91"$'\n'* ]]
    # a baseline that is a gemm of tf32 need not say
    split lathe explain 2 --db h200.db
    [[ "$out" == *"% of the tensor cores' peak in tf32 of 535.3"$'\n'* ]]
    [ "$(lathe explain 2 --db h200.db --json >x.json; json x.json "j -> 'roofline' ->> 'unit_from'")" = gemm ]
}

@test "explain: what is faster than the float32 units, of which nothing else is said" {
    recorded
    sqlite3 h200.db "UPDATE device SET target = json_set(target, '$.peak_tflops_f32', 20)"
    split lathe explain 737 --db h200.db
    [[ "$out" == *"63.5 FLOPs a byte, for which memory's bandwidth allows 305.7 TFLOP/s"* ]]
    [[ "$out" == *"53.48 TFLOP/s, more than the float32 units' peak of 20: it computes with others, which its specification does not name, so that peak is no ceiling"* ]]
    [[ "$out" == *"842.2 GB/s, 17.5 % of the bandwidth"* ]]
    not grep -q "of the roofline" <<<"$out"
    lathe explain 737 --db h200.db --json >x.json
    [ "$(json x.json "(j -> 'roofline' ->> 'unit_from') || json_type(j, '$.roofline.unit')
        || json_type(j, '$.roofline.bound') || json_type(j, '$.roofline.of_roofline')")" = unknownnullnullnull ]
}

@test "explain: of a pipeline whose largest shared memory leaves no room for a launch, how many fit is not known" {
    recorded
    id="$(sqlite3 h200.db "SELECT id FROM trial WHERE configuration LIKE '%second_kernel%' AND outcome = 'ok' LIMIT 1")"
    lathe explain "$id" --db h200.db | grep -q "an SM holds at least [1-9]"
    sqlite3 h200.db "UPDATE trial SET shared_static = 232448 WHERE id = $id"
    split lathe explain "$id" --db h200.db
    [[ "$out" == *"how many an SM holds is not known: only the pipeline's largest"* ]]
    not grep -q "an SM holds at least" <<<"$out"
    [ "$(lathe explain "$id" --db h200.db --json >x.json; json x.json "json_type(j, '$.launches[0].resident')")" = null ]
}

@test "explain: more than a ceiling, and a peak that is not known, are told" {
    recorded
    computes '[{"#": ["f32"], "products": 2}]'
    split lathe explain 737 --db h200.db
    [[ "$out" == *"159.9 % of 33.45, the float32 units' peak of 66.91 over 2 products each: it uses others, or does less than its specification's \`flops\`"* ]]
    sqlite3 h200.db "UPDATE device SET target = json_set(target, '$.peak_gbps', 500)"
    split lathe explain 737 --db h200.db
    [[ "$out" == *"168.4 % of the bandwidth of 500: caches hold part of its bytes, or it moves less than its specification's \`bytes\`"* ]]
    computes '[["tf32"]]'
    sqlite3 h200.db "UPDATE device SET target = json_set(target, '$.limits.sm', 190)"
    split lathe explain 737 --db h200.db
    [[ "$out" == *"of the tensor cores' peak in tf32, which is not known for this device"* ]]
    not grep -q "of the roofline" <<<"$out"
}

@test "explain: each figure that a roofline lacks is named" {
    recorded
    sqlite3 h200.db "UPDATE campaign SET bytes = NULL"
    split lathe explain --db h200.db
    [[ "$out" == *"not placed on the roofline: the problem's bytes (\`bytes\` in its specification) is not recorded"* ]]
    sqlite3 h200.db "UPDATE campaign SET flops = NULL; UPDATE device SET target = json_set(target, '\$.peak_gbps', 0)"
    split lathe explain --db h200.db
    [[ "$out" == *"not placed on the roofline: the device's memory bandwidth, the problem's FLOPs (\`flops\` in its specification), the problem's bytes"*" are not recorded"* ]]
}

@test "explain: an imported trial, without its launches, with its neighbours" {
    printf 'a,b,time_ms\n1,1,2\n1,2,1\n2,1,4\n2,2,3\n' >table.csv
    lathe import table.csv
    split lathe explain 2
    [ "$status" -eq 0 ]
    [[ "$out" == "trial 2 of campaign 1: "*"resources
  not known"*"2 differ in one parameter, 0 of them faster"* ]]
    lathe explain 3 --json >x.json
    [ "$(json x.json "(SELECT group_concat((value ->> 'parameter') || (value ->> 'from') || (value ->> 'to')
        || (value ->> 'ratio')) FROM json_each(j, '\$.neighbours'))")" = a210.5,b120.75 ]
}

@test "a campaign that failed before its first trial is not the newest" {
    recorded
    sqlite3 h200.db "INSERT INTO campaign SELECT 9, problem_id, device_id, strategy_id, size, flops, bytes,
        strategy_options, kernels, seed, budget_trials,
        budget_seconds, space_size, tool_version, command_line, environment, tolerance, inputs, restrictions, 'failed',
            'why', created, ended, seconds
        FROM campaign WHERE id = 3"
    run lathe explain --db h200.db
    [[ "$output" == "trial 737 of campaign 3"* ]]
    lathe report --db h200.db --json >page.json
    [ "$(json page.json "j -> 'campaigns' -> 0 ->> 'id'")" = 3 ]
    lathe show --db h200.db | grep -q "^ *9 .*failed"
}

@test "explain: what is wrong with the command line" {
    recorded
    fails 1 "there is no trial 999999" lathe explain 999999 --db h200.db
    fails 2 "TRIAL" lathe explain best --db h200.db
    fails 2 "--top" lathe explain --top 0 --db h200.db
    fails 6 "there is no such database" lathe explain --db absent.db
    sqlite3 h200.db "UPDATE trial SET score_ms = NULL"
    fails 1 "no verified configuration" lathe explain --db h200.db
}

@test "what nobody tells is not known: no registers or spills on the host, nothing of what did not compile" {
    lathe tune tiny --device host --kernel plain --strategy exhaustive --trials 3 --top 0 --db h.db -q >/dev/null
    [ "$(sqlite3 h.db "SELECT count(*) FROM trial WHERE registers NOTNULL OR local_bytes NOTNULL OR shared_static NOTNULL")" = 0 ]
    [ "$(sqlite3 h.db "SELECT count(*) FROM trial WHERE outcome = 'compile' AND shared_dynamic NOTNULL")" = 0 ]
    id=$(sqlite3 h.db "SELECT min(id) FROM trial WHERE outcome = 'compile'")
    [ "$(sqlite3 h.db "SELECT reason NOT LIKE '%' || char(10) FROM trial WHERE id = $id")" = 1 ]
    lathe explain "$id" --db h.db >said
    not grep -q spilled said
    # a compiler's message ends its line, and the next part stands one line below
    [ "$(sed -n 4p said)" = "" ]
    [ "$(sed -n 5p said)" = ceilings ]
}

@test "explain --problem: the best of the newest campaign of that problem" {
    recorded
    lathe tune "$TREE/test/specs/late.lua" --device host --strategy exhaustive --top 0 --db h200.db -q
    [[ "$(lathe explain --db h200.db)" == "trial "*" of campaign 4: late, late on "* ]]
    [[ "$(lathe explain --problem late --db h200.db)" == "trial "*" of campaign 4: late, late on "* ]]
    [[ "$(lathe explain --problem linear --db h200.db)" == "trial 737 of campaign 3: simt, linear on NVIDIA H200"* ]]
    sqlite3 h200.db "UPDATE trial SET score_ms = NULL, outcome = 'wrong' WHERE campaign_id = 3"
    [[ "$(lathe explain --problem linear --db h200.db)" == "trial "*" of campaign 2: "*", linear on NVIDIA H200"* ]]
    fails 1 "no verified configuration for --problem liner" lathe explain --problem liner --db h200.db
    [[ "$errors" == *"did you mean --problem linear?"* ]]
    fails 2 "TRIAL already says which one" lathe explain 737 --problem linear --db h200.db
}
