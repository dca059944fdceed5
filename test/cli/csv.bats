# csv.bats: --json and --csv of the commands that print tables.

load helper

# The commands that have both say so.
@test "who is asked for both refuses" {
    for command in "best" "show" "explain" "space tiny" "check tiny" "verify tiny --kernel plain" "import x"; do
        fails 2 "--csv and --json exclude each other" lathe $command --csv --json
    done
}

@test "space --csv: the counts are those of --json" {
    lathe space tiny --target host --csv >counts.csv
    lathe space tiny --target host --json >counts
    [ "$(head -1 counts.csv)" = kernel,cartesian,valid,bytes,runs_here ]
    [ "$(sed -n 's/^plain,54,\([0-9]*\),.*/\1/p' counts.csv)" = "$(json counts "j -> 'kernels' -> 0 ->> 'valid'")" ]
    fails 2 "--explain is no table" lathe space tiny --explain BLOCK=32 --csv
}

@test "space --list --csv: a row a configuration, a column a parameter of any kernel, nothing where it is not active" {
    lathe space tiny --target host --list --csv >all.csv
    lathe space tiny --target host --list --json >all
    sqlite3 :memory: ".import --csv all.csv t" "SELECT count(*), count(DISTINCT kernel || \"index\"), sum(\"ORDER\" = '') FROM t" >imported
    [ "$(cat imported)" = "$(json all "json_array_length(j) || '|' || json_array_length(j) || '|' ||
        (SELECT count(*) FROM json_each(j) WHERE value -> 'configuration' ->> 'ORDER' IS NULL)")" ]
    lathe space linear --target sm_90a --sample 3 --csv >some.csv
    [ "$(awk -F, '{ print NF }' some.csv | sort -u | wc -l)" = 1 ]
    [ "$(cut -d, -f1 some.csv | sort -u | grep -c .)" -gt 3 ]
}

@test "fields with commas, quotes and line ends are read back as they were" {
    cat >spec.json <<'J'
{"cache": {"1": {"a": 1, "time": "InvalidConfig", "lathe_failure": "resources: say \"no\", or\nyes"}, "2": {"a": 2, "time": 1.5}},
 "tune_params_keys": ["a"], "tune_params": {"a": [1, 2]}}
J
    lathe import spec.json --csv >imported.csv
    [ "$(sqlite3 :memory: ".import --csv imported.csv t" "SELECT configurations FROM t")" = 2 ]
    lathe show 1 --csv >trials.csv
    [ "$(sqlite3 :memory: ".import --csv trials.csv t" "SELECT reason FROM t WHERE number = 1")" = 'say "no", or
yes' ]
    lathe explain 2 --csv >neighbours.csv
    [ "$(head -1 neighbours.csv)" = trial,parameter,from,to,outcome,time_ms,ratio ]
    [ "$(sed -n 2p neighbours.csv)" = 1,a,2,1,resources,, ]
}

@test "check --csv and verify --csv: the rows of --json" {
    lathe check tiny --target host --sample 2 --csv --quiet >checked.csv
    lathe check tiny --target host --sample 2 --json --quiet >checked
    [ "$(sqlite3 :memory: ".import --csv checked.csv t" "SELECT group_concat(kernel || tried || compiled) FROM t")" = \
        "$(json checked "(SELECT group_concat((value ->> 'kernel') || (value ->> 'tried') || (value ->> 'compiled')) FROM json_each(j))")" ]
    lathe verify tiny --kernel plain --config BLOCK=64,UNROLL=1,FLAW=none --device host --csv --quiet >verified.csv
    [[ "$(head -1 verified.csv)" == inputs,* ]]
    [ "$(sqlite3 :memory: ".import --csv verified.csv t" "SELECT count(*) > 1 AND count(*) = sum(outcome = 'ok') FROM t")" = 1 ]
}
