# energy.bats: campaigns that look for the least energy, and fronts of time and energy. The host device's counter is
# /proc/uptime here, which no load keeps from moving: a microjoule a second.
load helper

RUN="--device host --size M=6,N=7,K=9 --kernel plain --strategy exhaustive --trials 9"

counter() {
    export LATHE_POWERCAP="$PWD/powercap"
    mkdir -p "$LATHE_POWERCAP/intel-rapl:0" "$LATHE_POWERCAP/intel-rapl:0:0" "$LATHE_POWERCAP/dtpm"
    echo 7 >"$LATHE_POWERCAP/intel-rapl:0:0/energy_uj"      # a part of the package: not counted twice
    ln -s /proc/uptime "$LATHE_POWERCAP/intel-rapl:0/energy_uj"
}

@test "tune --objective energy: the least energy wins, and it is told and ranked by" {
    counter
    lathe tune tiny $RUN --top 2 --objective energy --db e.db --json >out.json 2>log
    [ "$(sqlite3 e.db "SELECT objective FROM campaign")" = energy ]
    grep -Eq "best so far [0-9.e-]+ mJ, [0-9.]+ ms" log
    # every right trial has an energy; a run of t ms takes about 1e-6 t mJ, and its outputs' filling (half is allowed:
    # the machine may have been busier before)
    [ "$(sqlite3 e.db "SELECT count(*) > 0 AND min(energy_mj) > 0 FROM trial WHERE outcome = 'ok'
        AND role = 'candidate'")" = 1 ]
    [ "$(sqlite3 e.db "SELECT min(energy_mj >= 0.5e-6 * time_ms) FROM trial WHERE outcome = 'ok' AND role = 'candidate'
        AND final_rank IS NULL")" = 1 ]
    # the final's places are those of the sustained energy
    [ "$(sqlite3 e.db "SELECT group_concat(final_rank, ' ') FROM (SELECT t.final_rank FROM trial t JOIN measurement m
        ON m.trial_id = t.id AND m.regime = 'sustained' WHERE t.final_rank IS NOT NULL ORDER BY m.energy_mj)")" = \
            "1 2" ]
    [ "$(sqlite3 e.db "SELECT min(energy_launches) > 0 FROM measurement WHERE regime = 'sustained'")" = 1 ]
    [ "$(json out.json "(j ->> '$.best[0].rank') || (j ->> '$.best[0].objective')")" = 1energy ]
    # best --campaign ranks by what the campaign looked for; else by time
    lathe best --campaign 1 --db e.db --json >best.json
    [ "$(json best.json "j ->> '\$[0].rank'")" = 1 ]
    lathe export --campaign 1 --db e.db -o winner.cu 2>said
    grep -q "trial $(sqlite3 e.db "SELECT id FROM trial WHERE final_rank = 1") of campaign 1" said
    lathe best --objective energy --db e.db --json >best.json
    [ "$(json best.json "(SELECT min(a.value ->> 'energy_mj' <= (b.value ->> 'energy_mj')) FROM json_each(j) a
        JOIN json_each(j) b
        ON b.key = a.key + 1)")" = 1 ]
    lathe best --db e.db >best
    head -3 best | grep -q "energy mJ"
    lathe show 1 --db e.db --json >shown.json
    [ "$(json shown.json "j ->> '$.trials[0].objective'")" = energy ]
    # a report says so, since its charts are of times
    lathe report 1 --db e.db --json >report.json
    [ "$(json report.json "j ->> '$.campaigns[0].objective'")" = energy ]
    [ "$(json report.json "j ->> '$.campaigns[0].winner.trial'")" = \
        "$(sqlite3 e.db "SELECT id FROM trial WHERE final_rank = 1")" ]
    python3 -c "import sys; sys.path.insert(0, '$TREE/test/browser'); import chromium; sys.exit(not chromium.find())" ||
        return 0
    lathe report 1 --db e.db -o report.html || return 0     # built without the chart library
    python3 "$TREE/test/browser/check_report.py" summary report.html ", for the least energy"
    sqlite3 e.db "UPDATE trial SET energy_mj = 4e9 * energy_mj; UPDATE measurement SET energy_mj = 4e9 * energy_mj"
    lathe report 1 --db e.db -o report.html
    python3 "$TREE/test/browser/check_report.py" energy report.html e.db
}

@test "tune --objective energy: resumed, the strategy is told the energies that were recorded" {
    counter
    lathe tune tiny ${RUN/--trials 9/--trials 4} --where "FLAW == 'none'" --strategy local --top 1 --objective energy \
        --db r.db --quiet >/dev/null
    lathe tune --resume 1 --trials 6 --db r.db --quiet >/dev/null
    [ "$(sqlite3 r.db "SELECT objective || resumed FROM campaign")" = energy1 ]
    [ "$(sqlite3 r.db "SELECT count(*) FROM trial WHERE role = 'candidate'")" = 6 ]
    [ "$(sqlite3 r.db "SELECT count(*) FROM trial WHERE final_rank = 1 AND energy_mj > 0")" = 1 ]
}

@test "best --pareto: what no other beats in time and energy" {
    counter
    lathe tune tiny $RUN --top 0 --objective energy --db p.db --quiet >/dev/null
    # four right ones: a is fastest, b takes less energy, c neither, d is as fast as a and takes more
    sqlite3 p.db "UPDATE trial SET time_ms = 9, score_ms = 9, energy_mj = 9 WHERE outcome = 'ok' AND role = 'candidate';
        CREATE TEMP TABLE k AS SELECT id, row_number() OVER (ORDER BY id) AS n FROM trial WHERE score_ms IS NOT NULL;
        UPDATE trial SET (time_ms, energy_mj) = (SELECT CASE n WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END,
            CASE n WHEN 1 THEN 5 WHEN 2 THEN 4 ELSE 6 END FROM k WHERE k.id = trial.id) WHERE id IN (SELECT id FROM k)"
    lathe best --pareto time,energy --db p.db --json >front.json
    [ "$(json front.json "(SELECT group_concat((value ->> 'time_ms') || ':' || (value ->> 'energy_mj'), ' ')
        FROM json_each(j))")" = \
        "1.0:5.0 2.0:4.0" ]
    # three figures: an error that is lower than both puts another on the front
    sqlite3 p.db "UPDATE verification SET frobenius = 1e-6;
        UPDATE verification SET frobenius = 1e-7 WHERE trial_id = (SELECT max(id) FROM trial
            WHERE score_ms IS NOT NULL)"
    lathe best --pareto time,error,energy --db p.db --json >front.json
    [ "$(json front.json "json_array_length(j)")" = 3 ]
    lathe best --pareto time,error --db p.db >pareto
    lathe best --front --db p.db >front
    diff pareto front
    fails 2 "--pareto: 'time,speed'" lathe best --pareto time,speed --db p.db
    fails 2 "--pareto: 'time,time'" lathe best --pareto time,time --db p.db
    fails 2 "name two at least" lathe best --pareto energy --db p.db
    fails 2 "--front is --pareto time,error" lathe best --front --pareto time,energy --db p.db
    fails 2 "is not an objective" lathe best --objective speed --db p.db
}

@test "show: how the energies that were looked for fell" {
    counter
    lathe tune tiny ${RUN/--trials 9/--trials 24} --top 2 --objective energy --db s.db --quiet >/dev/null
    # as the trials had them; what the final took is another regime's
    sqlite3 s.db "UPDATE measurement SET energy_mj = CASE regime WHEN 'trial' THEN 1e-9 * (100 - trial_id) ELSE 7 END
            WHERE energy_mj IS NOT NULL;
        UPDATE trial SET energy_mj = 7 WHERE energy_mj IS NOT NULL"
    lathe show 1 --db s.db >shown
    scored="FROM trial WHERE score_ms IS NOT NULL AND number > 0"
    fell="$(sqlite3 s.db "SELECT printf('%.4g to %.4g mJ, found after %d of 24 trials', 1e-9 * (100 - min(id)),
        1e-9 * (100 - max(id)), max(number)) $scored")"
    grep -qF "best so far  $fell" shown || { echo "$fell"; cat shown; return 1; }
    head -1 shown | grep -q ", for the least energy$"
    # what has no seven decimals is told by powers of ten
    sqlite3 s.db "UPDATE trial SET energy_mj = 1e-9 * id WHERE energy_mj IS NOT NULL"
    lathe show 1 --db s.db >shown
    not grep -qF 0.0000000 shown
    grep -Eq "^ +1 .* [0-9.]{5}e-0[789] " shown
    lathe best --db s.db >shown
    not grep -qF 0.0000000 shown
}

@test "tune --objective energy: refused where the device does not tell it" {
    export LATHE_POWERCAP=$PWD/nothing
    fails 2 "host does not tell what energy it takes" lathe tune tiny $RUN --objective energy --db n.db --quiet
    [ "$(sqlite3 n.db "SELECT count(*) FROM campaign")" = 0 ]     # nothing of it is kept
    fails 2 "is not an objective" lathe tune tiny $RUN --objective speed --db m.db --quiet
    fails 2 "--objective: nothing is run where a recording is replayed" lathe tune --objective energy --db none \
        --device "replay:$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz"
    lathe tune tiny $RUN --db t.db --quiet >/dev/null
    fails 1 "no energy is known of what was measured in t.db" lathe best --pareto time,energy --db t.db
    fails 1 "no energy is known of what was measured in t.db" lathe best --objective energy --db t.db
    gzip -dc "$TREE/test/data/linear-h200.db.gz" >old.db
    fails 2 "recorded no energy yet" lathe best --objective energy --db old.db
    fails 2 "recorded no energy yet" lathe best --pareto time,energy --db old.db
}
