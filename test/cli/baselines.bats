# baselines.bats: which baselines a campaign times.
load helper

# tune OPTION...: one trial of linear, loosely verified; prints its baselines with their outcomes
tune() {
    rm -f t.db*
    lathe tune linear --size M=64,N=64,K=64 --device host --kernel simt --strategy random --trials 1 --top 1 -q \
        --db t.db --json \
        --tolerance atol=0.1,rtol=0.1,times_sgemm_error=0 "$@" >tune.json
    json tune.json "(SELECT group_concat(value ->> 'kernel' || ' ' || (value ->> 'outcome'), ', ')
        FROM json_each(j, '$.baselines'))"
}

@test "the usual ones, or those that are named, in the specification's order" {
    [ "$(tune)" = "sgemm ok, sgemm_tf32 ok, sgemm_alone ok" ]
    [ "$(tune --baseline sgemm_bf16_alone --baseline sgemm_f16 --baseline sgemm_bf16 --baseline sgemm)" = \
        "sgemm ok, sgemm_bf16 ok, sgemm_f16 ok, sgemm_bf16_alone ok" ]
    # each rounds as its name says
    [ "$(json tune.json "(SELECT group_concat(CASE WHEN value ->> 'error' > 1e-3 THEN 'coarse'
        WHEN value ->> 'error' > 1e-5 THEN 'fine' ELSE 'exact' END) FROM json_each(j, '$.baselines')
        WHERE value ->> 'error' IS NOT NULL)")" = exact,coarse,fine ]
    # all were timed in the final
    [ "$(json tune.json "(SELECT count(*) FROM json_each(j, '$.baselines') WHERE value ->> 'cold_ms' > 0)")" = 4 ]
}

@test "names that are none" {
    fails 2 "has no baseline 'sgem'" lathe tune linear --baseline sgem
    [[ "$errors" == *"did you mean 'sgemm'?"* ]]
    fails 2 "has no baseline 'simt': that is a candidate" lathe tune linear --baseline simt
    fails 2 "'sgemm' is a baseline" lathe tune linear --kernel sgemm
    [ ! -e lathe.db ]
}
