-- Each part of the inbox has an index of its own: whoever looks at one reads nothing of the other.
DROP INDEX asks_inbox;
CREATE INDEX asks_inbox_attended ON asks (created_at, id) WHERE wait_id IS NOT NULL AND state = 'pending' AND version > 0;
CREATE INDEX asks_inbox_unattended ON asks (created_at, id)
WHERE state IN ('pending', 'timed_out') AND (state = 'timed_out' OR wait_id IS NULL) AND version > 0;
