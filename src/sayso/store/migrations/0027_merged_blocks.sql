-- Blocks of the history are merged as they grow old. How their members are kept has changed, so all are made anew.
DELETE FROM history_grams;
DELETE FROM history_members;
DELETE FROM history_blocks;
ALTER TABLE history_blocks ADD COLUMN units BIGINT NOT NULL DEFAULT 1;
