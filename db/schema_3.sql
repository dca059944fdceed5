-- schema_3.sql: what takes a database of version 2 to version 3. docs/schema.md explains every column.
--
-- A campaign on several devices of one kind: which of them a trial, or a measurement of the final, was on, as its position
-- in campaign_worker. NULL: 0, the first; or, of a trial, none.
ALTER TABLE trial ADD COLUMN device_position INTEGER;
ALTER TABLE measurement ADD COLUMN device_position INTEGER;
CREATE TABLE campaign_worker (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    device_id INTEGER NOT NULL REFERENCES device (id),
    name TEXT NOT NULL,                 -- 'cuda:1'; 'host (2)'
    taken_out TEXT,                     -- why; NULL: it took part to the end
    PRIMARY KEY (campaign_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX campaign_worker_device ON campaign_worker (device_id);
INSERT INTO campaign_worker (campaign_id, position, device_id, name)
SELECT c.id, 0, d.id, d.handle FROM campaign c JOIN device d ON d.id = c.device_id;

-- Where a campaign's time went, its objective, energy, and what the clock did while samples were taken.
ALTER TABLE campaign ADD COLUMN objective TEXT NOT NULL DEFAULT 'time' CHECK (objective IN ('time', 'energy'));
ALTER TABLE campaign ADD COLUMN setup_seconds REAL;
ALTER TABLE campaign ADD COLUMN baseline_seconds REAL;
ALTER TABLE campaign ADD COLUMN search_seconds REAL;
ALTER TABLE campaign ADD COLUMN final_seconds REAL;
ALTER TABLE trial ADD COLUMN strategy_seconds REAL;
ALTER TABLE trial ADD COLUMN store_seconds REAL;
ALTER TABLE trial ADD COLUMN device_seconds REAL;
ALTER TABLE trial ADD COLUMN energy_mj REAL;
ALTER TABLE measurement ADD COLUMN batch INTEGER NOT NULL DEFAULT 1 CHECK (batch >= 1);
ALTER TABLE measurement ADD COLUMN graph INTEGER NOT NULL DEFAULT 0 CHECK (graph IN (0, 1));
ALTER TABLE measurement ADD COLUMN throttled INTEGER NOT NULL DEFAULT 0 CHECK (throttled >= 0);
ALTER TABLE measurement ADD COLUMN sm_mhz_low REAL;
ALTER TABLE measurement ADD COLUMN energy_mj REAL;
ALTER TABLE measurement ADD COLUMN energy_launches INTEGER;
ALTER TABLE sample ADD COLUMN throttled INTEGER NOT NULL DEFAULT 0 CHECK (throttled IN (0, 1));

-- A baseline timed again and again in the course of a campaign.
CREATE TABLE drift (
    id INTEGER PRIMARY KEY,
    campaign_id INTEGER NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
    trial_id INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    device_position INTEGER,            -- NULL: 0
    phase TEXT NOT NULL CHECK (phase IN ('search', 'cold', 'sustained')),
    campaign_seconds REAL,
    median_ms REAL,
    low_ms REAL,
    high_ms REAL,
    count INTEGER NOT NULL,
    sm_mhz REAL,
    power_w REAL,
    temperature_c REAL,
    throttle_reasons INTEGER,
    taken TEXT NOT NULL
) STRICT;
CREATE INDEX drift_campaign ON drift (campaign_id, phase);
CREATE INDEX drift_trial ON drift (trial_id);

-- Times of two devices never meet in a ratio: a trial's baseline is that of its own device, the final's that of the
-- device of its latest cold measurement.
DROP VIEW trial_report;
CREATE VIEW trial_report AS
SELECT t.id AS trial_id, t.campaign_id, t.number, t.kernel, t.configuration, t.outcome,
       CASE WHEN t.outcome = 'ok' AND v.passed = 0 THEN 'refused by the final: ' || v.detail ELSE t.reason END AS reason,
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
       p.name AS problem, c.size, d.name AS device, c.tolerance, c.inputs, c.objective, t.started, t.ended, c.problem_id,
       c.device_id,
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

-- How fast a campaign's search went, and where its time went: one row a campaign. Seconds are sums over its candidates;
-- compiling goes on beside the device.
CREATE VIEW pace AS
SELECT c.id AS campaign_id, c.setup_seconds, c.baseline_seconds, c.search_seconds, c.final_seconds, count(t.id) AS trials,
       count(t.id) * 60.0 / c.search_seconds AS trials_per_minute,
       sum(t.device_seconds) / c.search_seconds / max(1, (SELECT count(*) FROM campaign_worker w
                                                           WHERE w.campaign_id = c.id)) AS device_share,
       sum(t.strategy_seconds) AS strategy_seconds, sum(t.compile_seconds) AS compile_seconds,
       sum(t.load_seconds) AS load_seconds, sum(t.verify_seconds) AS verify_seconds,
       sum(t.measure_seconds) AS measure_seconds, sum(t.store_seconds) AS store_seconds,
       sum(t.device_seconds) AS device_seconds
FROM campaign c LEFT JOIN trial t ON t.campaign_id = c.id AND t.role = 'candidate'
     AND t.outcome NOT IN ('in_flight', 'skipped')
GROUP BY c.id;
