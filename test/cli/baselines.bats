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

@test "one that fails in the final has no times there, and that is said and noted" {
    cp "$TREE"/test/specs/sleep.* .
    cat >baseline.cu <<'END'
extern "C" int access(const char *, int), creat(const char *, unsigned);
extern "C" __global__ void nap(const float *x, float *y, int n)
{
    static bool loaded;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0 && !loaded) {
        loaded = true;
        if (!access("ran", 0) && access("well", 0)) __builtin_trap();
        creat("ran", 0600);
    }
    if (i < n) y[i] = 2.0f * x[i];
}
END
    sed -i '$d' sleep.lua
    echo 'baselines = { { "once", source = "baseline.cu",
        steps = { launch { "nap", grid = 1, block = 64, args = { "x", "y", "N" } } } } } }' >>sleep.lua
    split lathe tune sleep.lua --device host --trials 2 --top 1 --db t.db
    [ "$status" -eq 0 ]
    [ "$(grep -c "final: baseline once has no times: crash: " <<<"$errors")" = 1 ]
    not grep -q "final, baseline once" <<<"$errors"
    [[ "$(sqlite3 t.db "SELECT note FROM campaign")" == "final: baseline once has no times: crash: "* ]]
    [ "$(sqlite3 t.db "SELECT count(*) FROM trial JOIN measurement ON trial_id = trial.id
        WHERE role = 'baseline' AND regime = 'cold'")" = 0 ]
    # the note goes with the final whose it is
    touch well
    lathe tune --resume 1 --trials 3 --db t.db -q >out
    not grep -q "no times" out
    [ "$(sqlite3 t.db "SELECT count(*) FROM campaign WHERE note IS NULL")" = 1 ]
    [ "$(sqlite3 t.db "SELECT count(*) FROM trial JOIN measurement ON trial_id = trial.id
        WHERE role = 'baseline' AND regime = 'cold'")" = 1 ]
}
