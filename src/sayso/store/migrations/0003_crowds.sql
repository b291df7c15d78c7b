-- Agents that have many asks open are counted after every ring, and how many of these are permissions.
ALTER TABLE asks ADD COLUMN permission INTEGER NOT NULL DEFAULT 0;
DROP INDEX asks_put_by;
CREATE INDEX asks_crowds ON asks (put_by, created_at, id) WHERE state IN ('pending', 'timed_out') AND put_by <> '';
