-- schema.sql: the database, version 1 (PRAGMA user_version). docs/schema.md explains every column; names of tables and
-- columns are a public contract. Embedded in the binary and run once, in the transaction that creates the file. A later
-- version is a further text that is run after this one (db/store.c), so this one never changes once released.
--
-- What could change a number is a row: problem, source, device and strategy are told apart by their content, so that
-- an edited kernel or another driver never meets old numbers. Times are in milliseconds, stages in seconds, moments are
-- UTC in ISO 8601. A number that is not finite is NULL. Seeds are 64-bit unsigned, so they are decimal text.

CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY,     -- 'created', 'written_by'
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE problem (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    summary TEXT NOT NULL,
    specification TEXT NOT NULL CHECK (json_valid(specification)),
    created TEXT NOT NULL
) STRICT;

CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;

CREATE TABLE device (
    id INTEGER PRIMARY KEY,
    handle TEXT NOT NULL,               -- 'cuda:0', 'host'
    kind TEXT NOT NULL,                 -- 'cuda', 'host'
    name TEXT NOT NULL,
    uuid TEXT NOT NULL,
    arch TEXT NOT NULL,
    driver TEXT NOT NULL,
    toolchain TEXT NOT NULL,
    host TEXT NOT NULL,
    target TEXT NOT NULL CHECK (json_valid(target)),
    UNIQUE (handle, name, uuid, arch, driver, toolchain, host, target)
) STRICT;

CREATE TABLE strategy (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;

CREATE TABLE campaign (
    id INTEGER PRIMARY KEY,
    problem_id INTEGER NOT NULL REFERENCES problem (id),
    device_id INTEGER NOT NULL REFERENCES device (id),
    strategy_id INTEGER NOT NULL REFERENCES strategy (id),
    size TEXT NOT NULL,
    flops REAL,
    bytes REAL,
    strategy_options TEXT NOT NULL,
    kernels TEXT NOT NULL,
    seed TEXT NOT NULL,
    budget_trials INTEGER,
    budget_seconds REAL,
    space_size INTEGER NOT NULL,
    tool_version TEXT NOT NULL,
    command_line TEXT NOT NULL,
    environment TEXT NOT NULL CHECK (json_valid(environment)),
    tolerance TEXT NOT NULL CHECK (json_valid(tolerance)),
    inputs TEXT NOT NULL,
    restrictions TEXT NOT NULL CHECK (json_valid(restrictions)),
    state TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'finished', 'interrupted', 'failed')),
    note TEXT,
    created TEXT NOT NULL,
    ended TEXT,
    seconds REAL
) STRICT;
CREATE INDEX campaign_problem ON campaign (problem_id);
CREATE INDEX campaign_device ON campaign (device_id);
CREATE INDEX campaign_strategy ON campaign (strategy_id);

CREATE TABLE campaign_dim (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value INTEGER NOT NULL CHECK (value >= 1),
    position INTEGER NOT NULL,
    PRIMARY KEY (campaign_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE trial (
    id INTEGER PRIMARY KEY,
    campaign_id INTEGER NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,            -- candidates 1, 2, ... as proposed; baselines 0, -1, -2, ...
    role TEXT NOT NULL CHECK (role IN ('candidate', 'baseline')),
    eligible INTEGER NOT NULL CHECK (eligible IN (0, 1)),
    checked INTEGER NOT NULL CHECK (checked IN (0, 1)),
    kernel TEXT NOT NULL,
    source_id INTEGER REFERENCES source (id),
    configuration TEXT NOT NULL,
    outcome TEXT NOT NULL DEFAULT 'in_flight',
    reason TEXT NOT NULL DEFAULT '',
    time_ms REAL,
    time_low_ms REAL,
    time_high_ms REAL,
    score_ms REAL,                      -- what `best` ranks by; NULL: may not win. Kept by db/store_write.c
    final_rank INTEGER CHECK (final_rank >= 1),
    image_key TEXT NOT NULL,
    registers INTEGER,
    local_bytes INTEGER,
    shared_static INTEGER,
    shared_dynamic INTEGER,
    occupancy REAL,
    compile_seconds REAL,
    load_seconds REAL,
    verify_seconds REAL,
    measure_seconds REAL,
    compile_cached INTEGER CHECK (compile_cached IN (0, 1)),
    started TEXT NOT NULL,
    ended TEXT,
    UNIQUE (campaign_id, number),
    CHECK ((role = 'baseline') = (number <= 0))
) STRICT;
CREATE INDEX trial_source ON trial (source_id);
CREATE INDEX trial_outcome ON trial (campaign_id, role, outcome);
-- `best` walks trial_score, which holds its order and what it filters by, so nothing is sorted; one campaign's best is
-- the first entry of trial_campaign_score
CREATE INDEX trial_score ON trial (score_ms, time_ms, id, campaign_id, kernel) WHERE score_ms IS NOT NULL;
CREATE INDEX trial_campaign_score ON trial (campaign_id, score_ms, time_ms) WHERE score_ms IS NOT NULL;

CREATE TABLE parameter_value (
    trial_id INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value ANY NOT NULL,                 -- a boolean is 0 or 1
    type TEXT NOT NULL CHECK (type IN ('boolean', 'integer', 'float', 'string')),
    position INTEGER NOT NULL,
    PRIMARY KEY (trial_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE measurement (
    id INTEGER PRIMARY KEY,
    trial_id INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    regime TEXT NOT NULL CHECK (regime IN ('trial', 'cold', 'sustained')),
    median_ms REAL,
    low_ms REAL,
    high_ms REAL,
    count INTEGER NOT NULL,
    sm_mhz REAL,
    mem_mhz REAL,
    power_w REAL,
    temperature_c REAL,
    throttle_reasons INTEGER,
    taken TEXT NOT NULL
) STRICT;
CREATE INDEX measurement_trial ON measurement (trial_id, regime);

CREATE TABLE sample (
    measurement_id INTEGER NOT NULL REFERENCES measurement (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    ms REAL,
    PRIMARY KEY (measurement_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE verification (
    id INTEGER PRIMARY KEY,
    trial_id INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    phase TEXT NOT NULL CHECK (phase IN ('trial', 'final')),
    reference TEXT NOT NULL,
    seed TEXT NOT NULL,
    max_abs REAL,
    max_rel REAL,
    frobenius REAL,
    frobenius_limit REAL,
    scaled REAL,
    scaled_limit REAL,
    elements INTEGER NOT NULL,
    mismatches INTEGER NOT NULL,
    deterministic INTEGER NOT NULL CHECK (deterministic IN (0, 1)),
    passed INTEGER NOT NULL CHECK (passed IN (0, 1)),
    detail TEXT NOT NULL,
    taken TEXT NOT NULL
) STRICT;
CREATE INDEX verification_trial ON verification (trial_id, phase);

-- One row a trial with what is usually asked of it. The latest measurement of a regime counts; of verifications the
-- latest of the final, else the latest. speedup: the campaign's first checked baseline over this trial, cold against
-- cold where both have it. tflops and gbps are at the cold time where there is one.
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
       p.name AS problem, c.size, d.name AS device, c.tolerance, c.inputs, t.started, t.ended, c.problem_id, c.device_id
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
                  ORDER BY x.number DESC LIMIT 1)
LEFT JOIN measurement bcold
       ON bcold.id = (SELECT max(m.id) FROM measurement m WHERE m.trial_id = b.id AND m.regime = 'cold');

-- Every configuration that may win, once (at its best), with its place within its problem, size, device, tolerance and
-- inputs. Places are given before the rest is looked up, so that asking for the first few does not report on all.
CREATE VIEW leaderboard AS
SELECT u.place, r.problem, r.size, r.device, r.kernel, r.configuration, r.time_ms, r.cold_ms, r.sustained_ms,
       r.final_rank, r.error, r.speedup, r.tflops, r.gbps, r.score_ms, r.trial_id, r.campaign_id, r.problem_id,
       r.device_id, r.tolerance, r.inputs
FROM (SELECT o.id, row_number() OVER (PARTITION BY o.problem_id, o.size, o.device_id, o.tolerance, o.inputs
                                      ORDER BY o.score_ms, o.time_ms, o.id) AS place
      FROM (SELECT t.id, t.score_ms, t.time_ms, c.problem_id, c.size, c.device_id, c.tolerance, c.inputs,
                   row_number() OVER (PARTITION BY c.problem_id, c.size, c.device_id, c.tolerance, c.inputs, t.kernel,
                                      t.configuration ORDER BY t.score_ms, t.time_ms, t.id) AS repeat
            FROM trial t JOIN campaign c ON c.id = t.campaign_id WHERE t.score_ms IS NOT NULL) AS o
      WHERE o.repeat = 1) AS u
JOIN trial_report r ON r.trial_id = u.id;

-- The winner of each problem, size, device, tolerance and inputs: the leaderboard's first places, from each campaign's
-- best.
CREATE VIEW best AS
SELECT u.place, r.problem, r.size, r.device, r.kernel, r.configuration, r.time_ms, r.cold_ms, r.sustained_ms,
       r.final_rank, r.error, r.speedup, r.tflops, r.gbps, r.score_ms, r.trial_id, r.campaign_id, r.problem_id,
       r.device_id, r.tolerance, r.inputs
FROM (SELECT t.id, row_number() OVER (PARTITION BY c.problem_id, c.size, c.device_id, c.tolerance, c.inputs
                                      ORDER BY t.score_ms, t.time_ms, t.id) AS place
      FROM campaign c
      JOIN trial t ON t.id = (SELECT x.id FROM trial x WHERE x.campaign_id = c.id AND x.score_ms IS NOT NULL
                              ORDER BY x.score_ms, x.time_ms, x.id LIMIT 1)) AS u
JOIN trial_report r ON r.trial_id = u.id
WHERE u.place = 1;

-- What went wrong, counted, with an example.
CREATE VIEW failure AS
SELECT p.name AS problem, c.size, d.name AS device, t.kernel, t.outcome, t.reason, count(*) AS count,
       min(t.id) AS example_trial_id
FROM trial t
JOIN campaign c ON c.id = t.campaign_id
JOIN problem p ON p.id = c.problem_id
JOIN device d ON d.id = c.device_id
WHERE t.outcome NOT IN ('ok', 'in_flight', 'skipped')
GROUP BY c.problem_id, c.size, c.device_id, t.kernel, t.outcome, t.reason;
