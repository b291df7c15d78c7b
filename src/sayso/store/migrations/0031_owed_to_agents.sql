-- What one agent is owed is read without that of all others with the same client: many tokens come from one program.
DROP INDEX asks_undelivered;
DROP INDEX asks_late;
CREATE INDEX asks_undelivered ON asks (agent, client, project, host, created_at) WHERE delivered_at IS NULL OR state = 'timed_out';
CREATE INDEX asks_late ON asks (agent, client, project, host, created_at)
WHERE delivered_at IS NULL AND wait_id IS NULL AND ended_at IS NOT NULL;
