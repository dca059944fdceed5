-- database.sql: what makes the database of docs/schema.md's answers from test/data/linear-h200.db.gz, brought to
-- version 5: that one holds what an H200 measured, without a failure, and was recorded before energy and drift were.
-- Made up here.
UPDATE trial SET outcome = 'compile', reason = 'ptxas error: uses too much shared data (0x3c000 bytes, 0x38c00 max)', time_ms = NULL,
  time_low_ms = NULL, time_high_ms = NULL, score_ms = NULL, registers = NULL, occupancy = NULL
WHERE campaign_id = 2 AND number % 60 = 7 AND final_rank IS NULL;
UPDATE trial SET outcome = 'timeout', reason = 'no result within 30 s', time_ms = NULL, time_low_ms = NULL, time_high_ms = NULL,
  score_ms = NULL WHERE campaign_id = 2 AND number % 100 = 23 AND final_rank IS NULL;
UPDATE trial SET outcome = 'inaccurate', reason = 'error 3.1e-04, limit 6.9e-06', time_ms = 1.3, score_ms = NULL
WHERE campaign_id = 3 AND number = 100;
UPDATE verification SET frobenius = 3.1e-4, passed = 0 WHERE trial_id IN (SELECT id FROM trial WHERE campaign_id = 3 AND number = 100);
UPDATE trial SET energy_mj = time_ms * 698 + number WHERE campaign_id = 3 AND (final_rank > 0 OR number % 90 = 1);
UPDATE campaign SET setup_seconds = 2.5, baseline_seconds = 1.5, search_seconds = 170, final_seconds = 5.4 WHERE id = 3;
UPDATE trial SET strategy_seconds = 0.0005, store_seconds = 0.001, device_seconds = 0.15 WHERE campaign_id = 3 AND number > 0;
INSERT INTO drift (campaign_id, trial_id, phase, campaign_seconds, median_ms, low_ms, high_ms, count, sm_mhz, power_w, temperature_c, taken)
SELECT 3, (SELECT id FROM trial WHERE campaign_id = 3 AND number = 0), 'search', 30.0 * i, 5.34 + 0.004 * i, 5.33 + 0.004 * i,
       5.35 + 0.004 * i, 9, 1530 - 3 * i, 690, 58 + i, '2026-11-30T06:35:00.000Z' FROM (SELECT value AS i FROM json_each('[1,2,3,4,5]'));
PRAGMA user_version = 6;
