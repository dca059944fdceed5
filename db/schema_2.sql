-- schema_2.sql: what takes a database of version 1 to version 2: what a campaign needs to be resumed. docs/schema.md
-- explains every column.
ALTER TABLE campaign ADD COLUMN request TEXT CHECK (request IS NULL OR json_valid(request));
ALTER TABLE campaign ADD COLUMN coordinator TEXT;
ALTER TABLE campaign ADD COLUMN resumed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trial ADD COLUMN total_seconds REAL;
ALTER TABLE trial ADD COLUMN campaign_seconds REAL;
ALTER TABLE trial ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
UPDATE campaign SET coordinator = json_extract(environment, '$.host') || ' - - ' || json_extract(environment, '$.pid') || ' -'
WHERE state = 'running';
