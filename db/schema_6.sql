-- schema_6.sql: what takes a database of version 5 to version 6. docs/schema.md explains every column.
--
-- What a final refused is refused in every campaign: the same configuration of the same kernel, until a later final
-- lets it stand (db/store_refusals.c).
ALTER TABLE trial ADD COLUMN refused_by INTEGER;
CREATE INDEX trial_refused ON trial (refused_by) WHERE refused_by IS NOT NULL;
CREATE TABLE refusal (
    trial_id INTEGER PRIMARY KEY REFERENCES trial (id) ON DELETE CASCADE,
    configuration TEXT NOT NULL         -- the trial's, to be found by
) STRICT;
CREATE INDEX refusal_configuration ON refusal (configuration);

-- Two trials ran the same, verified against the same, if this is the same. Of a kernel's definition what chooses among
-- configurations says nothing of one of them; its text is its source's.
CREATE VIEW trial_identity AS
SELECT t.id AS trial_id,
       json_array(t.kernel, t.configuration, t.source_id, c.size, c.tolerance, c.inputs, d.kind, d.name, d.arch, p.name,
                  json_extract(p.specification, '$.epilogue'), json_extract(p.specification, '$.scalars'),
                  json_extract(p.specification, '$.reference'),
                  (SELECT json_group_array(coalesce(json_extract(x.value, '$."#"'), x.value))
                   FROM json_each(p.specification, '$.tensors') x),
                  (SELECT json_remove(k.value, '$.params', '$.constraints', '$.requires', '$.summary', '$.source',
                                      '$.source_text')
                   FROM json_each(p.specification, '$.kernels') k
                   WHERE json_extract(k.value, '$."#"[0]') = t.kernel)) AS identity
FROM trial t
JOIN campaign c ON c.id = t.campaign_id
JOIN problem p ON p.id = c.problem_id
JOIN device d ON d.id = c.device_id;

-- One that was in a final, and in no way refused, is among the leaders. What the machine may have done at that moment
-- (other programs had its memory, or its time) says nothing of a configuration.
INSERT INTO refusal (trial_id, configuration)
SELECT r.id, r.configuration FROM trial r
WHERE r.role = 'candidate'
  AND r.id IN (SELECT trial_id FROM verification WHERE phase = 'final' AND passed = 0 AND detail NOT GLOB 'unstable: *'
               AND detail NOT GLOB 'launch: *' AND detail NOT GLOB 'resources: *')
  AND NOT EXISTS (SELECT 1 FROM trial l INDEXED BY trial_leader
                  WHERE l.score_ms IS NOT NULL AND l.behind IS NULL AND l.final_rank IS NOT NULL
                    AND l.campaign_id > r.campaign_id AND l.configuration = r.configuration
                    AND (SELECT identity FROM trial_identity WHERE trial_id = l.id) =
                        (SELECT identity FROM trial_identity WHERE trial_id = r.id));
UPDATE trial SET refused_by =
    (SELECT max(f.trial_id) FROM refusal f WHERE f.configuration = trial.configuration
     AND (SELECT identity FROM trial_identity WHERE trial_id = f.trial_id) =
         (SELECT identity FROM trial_identity WHERE trial_id = trial.id))
WHERE score_ms IS NOT NULL AND configuration IN (SELECT configuration FROM refusal);
UPDATE trial SET score_ms = NULL WHERE refused_by IS NOT NULL;
UPDATE trial SET behind = NULL WHERE behind IS NOT NULL AND id IN
    (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY campaign_id, kernel
                                                   ORDER BY score_ms, time_ms, id) AS place
                     FROM trial WHERE score_ms IS NOT NULL AND campaign_id IN
                         (SELECT campaign_id FROM trial WHERE refused_by IS NOT NULL)) WHERE place <= 64);

DROP VIEW trial_report;
CREATE VIEW trial_report AS
SELECT t.id AS trial_id, t.campaign_id, t.number, t.kernel, t.configuration, t.outcome,
       CASE WHEN t.outcome = 'ok' AND v.passed = 0 THEN 'refused by the final: ' || v.detail
            WHEN t.refused_by IS NOT NULL THEN
                 (SELECT 'refused by the final of campaign ' || r.campaign_id || ' (trial ' || r.id || '): ' ||
                         coalesce((SELECT w.detail FROM verification w WHERE w.trial_id = r.id AND w.phase = 'final'
                                   AND w.passed = 0 ORDER BY w.id DESC LIMIT 1), '')
                  FROM trial r WHERE r.id = t.refused_by)
            ELSE t.reason END AS reason,
       t.role, t.eligible,
       (t.eligible = 1 AND t.outcome <> 'inaccurate' AND (t.outcome <> 'ok' OR t.score_ms IS NOT NULL)) AS may_win,
       t.time_ms, cold.median_ms AS cold_ms, sustained.median_ms AS sustained_ms, t.score_ms, t.final_rank,
       v.frobenius AS error, v.max_abs, v.max_rel, v.mismatches, v.deterministic,
       b.time_ms AS baseline_ms, bcold.median_ms AS baseline_cold_ms,
       coalesce(bcold.median_ms / cold.median_ms, b.time_ms / t.time_ms) AS speedup,
       c.flops / (coalesce(cold.median_ms, t.time_ms) * 1e9) AS tflops,
       c.bytes / (coalesce(cold.median_ms, t.time_ms) * 1e6) AS gbps,
       t.registers, t.local_bytes, t.shared_static + t.shared_dynamic AS shared_bytes, t.occupancy,
       t.compile_seconds, t.load_seconds, t.verify_seconds, t.measure_seconds,
       t.strategy_seconds, t.store_seconds, t.device_seconds, t.energy_mj,
       p.name AS problem, c.size, d.name AS device, c.tolerance, c.inputs, c.objective, t.started, t.ended,
       c.problem_id, c.device_id, t.refused_by,
       (SELECT r.name FROM campaign_worker r WHERE r.campaign_id = c.id AND r.position = t.device_position) AS ran_on
FROM trial t
JOIN campaign c ON c.id = t.campaign_id
JOIN problem p ON p.id = c.problem_id
JOIN device d ON d.id = c.device_id
LEFT JOIN measurement cold
       ON cold.id = (SELECT max(m.id) FROM measurement m WHERE m.trial_id = t.id AND m.regime = 'cold')
LEFT JOIN measurement sustained
       ON sustained.id = (SELECT max(m.id) FROM measurement m WHERE m.trial_id = t.id AND m.regime = 'sustained')
LEFT JOIN verification v
       ON v.id = (SELECT w.id FROM verification w WHERE w.trial_id = t.id
                  ORDER BY w.phase = 'final' DESC, w.id DESC LIMIT 1)
LEFT JOIN trial b
       ON b.id = (SELECT x.id FROM trial x WHERE x.campaign_id = t.campaign_id AND x.number <= 0 AND x.checked = 1
                  AND coalesce(x.device_position, 0) = coalesce(t.device_position, 0)
                  ORDER BY x.number DESC LIMIT 1)
LEFT JOIN measurement bcold
       ON bcold.id = (SELECT max(m.id) FROM measurement m WHERE m.regime = 'cold' AND m.trial_id =
                      (SELECT x.id FROM trial x WHERE x.campaign_id = t.campaign_id AND x.number <= 0 AND x.checked = 1
                       AND coalesce(x.device_position, 0) = coalesce(cold.device_position, 0)
                       ORDER BY x.number DESC LIMIT 1));
