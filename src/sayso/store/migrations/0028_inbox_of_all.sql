-- One person's inbox is never read from the index of all people's, which a planner may take for the better one.
DROP INDEX asks_inbox;
CREATE INDEX asks_inbox ON asks (created_at, id) WHERE state IN ('pending', 'timed_out') AND version > 0;
