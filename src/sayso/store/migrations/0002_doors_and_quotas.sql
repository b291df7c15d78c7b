-- Which session put an ask or started a command, so that none can crowd out the others.
ALTER TABLE asks ADD COLUMN put_by TEXT NOT NULL DEFAULT '';
CREATE INDEX asks_put_by ON asks (put_by) WHERE state IN ('pending', 'timed_out') AND put_by <> '';
ALTER TABLE operations ADD COLUMN put_by TEXT NOT NULL DEFAULT '';

-- What a person is told of each place where they are signed in. Cookies of before could be read by every server on the
-- machine, so whoever was signed in signs in once more.
DELETE FROM sessions;
ALTER TABLE sessions ADD COLUMN device TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN seen_at BIGINT NOT NULL DEFAULT 0;

-- What agents tried in order to become somebody, and were refused.
CREATE TABLE refusals (
    id TEXT PRIMARY KEY,
    at BIGINT NOT NULL,
    wanted TEXT NOT NULL,
    why TEXT NOT NULL
);

CREATE INDEX refusals_recent ON refusals (at);
