-- schema_4.sql: what takes a database of version 3 to version 4. docs/schema.md explains every column.
--
-- What `lathe export --format bundle --into-database` compiled, for liblathe.
CREATE TABLE bundle (
    problem TEXT PRIMARY KEY,           -- its name
    data BLOB NOT NULL,                 -- a whole file of --format bundle
    tool_version TEXT NOT NULL,
    made TEXT NOT NULL
) STRICT;
