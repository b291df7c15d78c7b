-- The agents at work: each session that a gate or a server has seen, until it is known to have ended.
CREATE TABLE roster (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    process TEXT NOT NULL,
    body TEXT NOT NULL,
    doing TEXT NOT NULL,
    since BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);
