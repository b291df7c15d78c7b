-- What one process asks is counted for each client and project by itself.
DROP INDEX asks_crowds;
CREATE INDEX asks_crowds ON asks (put_by, client, project, created_at, id) WHERE state IN ('pending', 'timed_out') AND put_by <> '';
