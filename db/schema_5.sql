-- schema_5.sql: what takes a database of version 4 to version 5. docs/schema.md explains every column.
--
-- Indexes over the scores of all trials get their entries in no order, so that each trial recorded changed pages all over a
-- file that grew. Now a trial that cannot be among the 64 best of its campaign and kernel is marked as behind, and the
-- indexes hold the others: some hundreds of a million. The number is one with STORE_LEADERS (db/sqlite_util.h).
ALTER TABLE trial ADD COLUMN behind INTEGER CHECK (behind = 1);
DROP INDEX trial_score;
DROP INDEX trial_campaign_score;
UPDATE trial SET behind = 1 WHERE final_rank IS NULL AND id IN
    (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY campaign_id, kernel ORDER BY score_ms, time_ms, id) AS place
                     FROM trial WHERE score_ms IS NOT NULL) WHERE place > 64);
CREATE INDEX trial_leader ON trial (score_ms, time_ms, id, campaign_id, kernel)
    WHERE score_ms IS NOT NULL AND behind IS NULL;
CREATE INDEX trial_campaign_leader ON trial (campaign_id, score_ms, time_ms, id, kernel)
    WHERE score_ms IS NOT NULL AND behind IS NULL;

DROP VIEW best;
CREATE VIEW best AS
SELECT u.place, r.problem, r.size, r.device, r.kernel, r.configuration, r.time_ms, r.cold_ms, r.sustained_ms,
       r.final_rank, r.error, r.speedup, r.tflops, r.gbps, r.score_ms, r.trial_id, r.campaign_id, r.problem_id,
       r.device_id, r.tolerance, r.inputs
FROM (SELECT t.id, row_number() OVER (PARTITION BY c.problem_id, c.size, c.device_id, c.tolerance, c.inputs
                                      ORDER BY t.score_ms, t.time_ms, t.id) AS place
      FROM campaign c
      JOIN trial t ON t.id = (SELECT x.id FROM trial x WHERE x.campaign_id = c.id AND x.score_ms IS NOT NULL
                              AND x.behind IS NULL ORDER BY x.score_ms, x.time_ms, x.id LIMIT 1)) AS u
JOIN trial_report r ON r.trial_id = u.id
WHERE u.place = 1;
