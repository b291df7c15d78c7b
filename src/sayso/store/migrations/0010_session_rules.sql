-- Rules that a person has given to one session of an agent: they hold there and nowhere else.
CREATE TABLE session_rules (
    id TEXT PRIMARY KEY,
    patterns TEXT NOT NULL,
    ask TEXT NOT NULL,
    person TEXT NOT NULL,
    client TEXT NOT NULL,
    host TEXT NOT NULL,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    process TEXT NOT NULL,
    owner TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    ended_at BIGINT
);

CREATE INDEX session_rules_held ON session_rules (session, created_at) WHERE ended_at IS NULL;
