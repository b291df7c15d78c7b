-- What happened with permissions, each row with the hash of the one before: a gap or a change shows.
CREATE TABLE permission_log (
    seq BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    ask_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    project TEXT NOT NULL,
    owner TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    body TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);

CREATE INDEX permission_log_asks ON permission_log (ask_id, seq) WHERE ask_id <> '';
CREATE INDEX permission_log_digests ON permission_log (digest) WHERE digest <> '';
CREATE INDEX permission_log_operations ON permission_log (operation_id) WHERE operation_id <> '';
CREATE INDEX permission_log_times ON permission_log (at);

-- The one row that says where the log ends; whoever adds to it holds on to this row.
CREATE TABLE permission_log_end (
    id INTEGER PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL
);

-- Each whole action that the log speaks of, once.
CREATE TABLE permission_actions (
    digest TEXT PRIMARY KEY,
    body TEXT NOT NULL
);
