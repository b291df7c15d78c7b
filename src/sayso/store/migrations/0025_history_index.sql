-- Where words stand in the history, for the search: the asks that have ended, in blocks, each of them all that ended after
-- one moment up to another. What has ended since, or is in no block, is read through.
CREATE TABLE history_blocks (
    block BIGINT PRIMARY KEY,
    after_time BIGINT NOT NULL,
    after_id TEXT NOT NULL,
    last_time BIGINT NOT NULL,
    last_id TEXT NOT NULL,
    finished BIGINT NOT NULL
);

CREATE INDEX history_blocks_times ON history_blocks (last_time, last_id);

-- Which asks of a block have these letters in a row.
CREATE TABLE history_grams (
    block BIGINT NOT NULL,
    gram TEXT NOT NULL,
    members TEXT NOT NULL,
    PRIMARY KEY (block, gram)
);

CREATE TABLE history_members (
    number BIGINT PRIMARY KEY,
    ask_id TEXT NOT NULL
);
