-- large.sql: adds campaign 1000 to the database of test/data/linear-h200.db.gz: 100 000 trials of its kernel simt, made
-- of campaign 3's in turn, each with its parameters, a measurement, five samples and a verification.
INSERT INTO campaign (id, problem_id, device_id, strategy_id, size, flops, bytes, strategy_options, kernels, seed,
       space_size, tool_version,
                      command_line, environment, tolerance, inputs, restrictions, state, created, ended, seconds)
SELECT 1000, problem_id, device_id, strategy_id, size, flops, bytes, strategy_options, kernels, seed, space_size,
       tool_version,
       command_line, environment, tolerance, inputs, restrictions, state, created, '2026-11-30T16:00:00.000Z', 30000
FROM campaign WHERE id = 3;
INSERT INTO campaign_dim SELECT 1000, name, value, position FROM campaign_dim WHERE campaign_id = 3;
CREATE TEMP TABLE made AS
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
SELECT 1000000 + i AS id, i AS number, 610 + (i * 7919) % 897 AS source, 1 + (i * 104729 % 1009) / 2018.0 AS factor,
       i % 17 = 0 AS failed FROM n;
INSERT INTO trial (id, campaign_id, number, role, eligible, checked, kernel, source_id, configuration, outcome, reason,
       time_ms,
                   time_low_ms, time_high_ms, score_ms, image_key, registers, local_bytes, shared_static,
                   shared_dynamic,
                   occupancy, compile_seconds, load_seconds, verify_seconds, measure_seconds, compile_cached, started,
                   ended)
SELECT m.id, 1000, m.number, 'candidate', 1, 1, t.kernel, t.source_id, t.configuration,
       CASE WHEN m.failed THEN 'wrong' ELSE 'ok' END,
       CASE WHEN m.failed THEN m.number || ' of 4194304 elements differ from the reference' ELSE '' END,
       CASE WHEN NOT m.failed THEN t.time_ms * m.factor END, CASE WHEN NOT m.failed THEN t.time_low_ms * m.factor END,
       CASE WHEN NOT m.failed THEN t.time_high_ms * m.factor END, CASE WHEN NOT m.failed THEN t.time_ms * m.factor END,
       t.image_key,
       t.registers, t.local_bytes, t.shared_static, t.shared_dynamic, t.occupancy, t.compile_seconds, t.load_seconds,
       t.verify_seconds, t.measure_seconds, t.compile_cached, t.started,
       strftime('%Y-%m-%dT%H:%M:%fZ', julianday(c.created) + m.number * 0.3 / 86400)
FROM made m JOIN trial t ON t.id = m.source JOIN campaign c ON c.id = 1000 WHERE t.campaign_id = 3;
INSERT INTO parameter_value SELECT m.id, p.name, p.value, p.type, p.position FROM made m
       JOIN parameter_value p ON p.trial_id = m.source;
INSERT INTO measurement (id, trial_id, regime, median_ms, low_ms, high_ms, count, sm_mhz, mem_mhz, power_w,
       temperature_c,
                         throttle_reasons, taken)
SELECT t.id, t.id, 'trial', t.time_ms, t.time_low_ms, t.time_high_ms, 5, 1980, 3201, 300.5, 45, 0, t.ended FROM trial t
WHERE t.campaign_id = 1000 AND t.outcome = 'ok';
INSERT INTO sample SELECT m.id, k.value, m.median_ms * (0.98 + 0.01 * k.value)
       FROM measurement m, json_each('[1,2,3,4,5]') k
WHERE m.trial_id > 1000000;
INSERT INTO verification (trial_id, phase, reference, seed, max_abs, max_rel, frobenius, frobenius_limit, elements,
       mismatches,
                          deterministic, passed, detail, taken)
SELECT m.id, 'trial', v.reference, v.seed, v.max_abs, v.max_rel, v.frobenius * m.factor, v.frobenius_limit, v.elements,
       CASE WHEN m.failed THEN m.number ELSE 0 END, v.deterministic, NOT m.failed, '', v.taken
FROM made m JOIN verification v ON v.id = (SELECT max(w.id) FROM verification w WHERE w.trial_id = m.source);
