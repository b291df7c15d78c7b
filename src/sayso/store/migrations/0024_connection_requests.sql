-- Programs that want to connect, until a person has decided; `said` is what, and what was asked is then forgotten. `until`
-- is how long it waits, or is known.
CREATE TABLE connection_requests (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    mark TEXT NOT NULL,
    name TEXT NOT NULL,
    issuer TEXT NOT NULL,
    query TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    until BIGINT NOT NULL,
    said TEXT NOT NULL
);
