# recorded.bats: questions to the campaigns recorded on a GPU (test/data/linear-h200.db.gz), which no machine without
# one could answer otherwise. The figures are those of docs/results.md.

load helper

setup_file() { gunzip -c "${BATS_TEST_DIRNAME}/../data/linear-h200.db.gz" >"$BATS_FILE_TMPDIR/linear-h200.db"; }
setup() {
    cd "$BATS_TEST_TMPDIR"
    db=$BATS_FILE_TMPDIR/linear-h200.db
}

@test "three campaigns, 1500 trials, every one verified against fp64" {
    run lathe query --db "$db" --csv "SELECT count(*), count(DISTINCT campaign_id) FROM trial WHERE role = 'candidate'"
    [ "${lines[1]}" = "1500,3" ]
    run lathe query --db "$db" --csv \
        "SELECT count(*) FROM trial t WHERE role = 'candidate' AND outcome = 'ok' AND NOT EXISTS
        (SELECT 1 FROM verification v WHERE v.trial_id = t.id AND v.reference = 'fp64' AND v.mismatches = 0)"
    [ "${lines[1]}" = 0 ]
}

@test "the winner beats its baselines in both regimes" {
    lathe best --db "$db" --top 1 --json >best
    [ "$(json best "json_extract(j, '\$[0].kernel')")" = simt ]
    [ "$(json best "json_extract(j, '\$[0].speedup') > 1.02")" = 1 ]
    run lathe query --db "$db" --csv "SELECT min(b.median_ms) > min(w.median_ms) FROM measurement b, measurement w
        JOIN trial tb ON tb.id = b.trial_id AND tb.kernel IN ('sgemm', 'sgemm_alone') AND tb.campaign_id = 3
        JOIN trial tw ON tw.id = w.trial_id AND tw.final_rank = 1 AND tw.campaign_id = 3
        WHERE b.regime = 'sustained' AND w.regime = 'sustained'"
    [ "${lines[1]}" = 1 ]
}

@test "the winner is exported with its provenance, from the database alone" {
    LATHE_KERNELS=/nonexistent lathe export --db "$db" -o winner.cu
    grep -q "NVIDIA H200, target sm_90a, driver 580.159.04" winner.cu
    grep -q "SCHEDULE=stream" winner.cu
    if command -v nvcc >/dev/null; then nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -DLATHE_SELFTEST -o t \
        winner.cu; fi
}
