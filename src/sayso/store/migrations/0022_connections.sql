-- Agents that people have let in by signing in: who, which program, and for which address. Tokens are kept as hashes.
CREATE TABLE connections (
    id TEXT PRIMARY KEY,
    user_name TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    agent TEXT NOT NULL UNIQUE,
    client TEXT NOT NULL,
    client_name TEXT NOT NULL,
    resource TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);

-- Single-use codes that become connections; `connection` says which one, once it has.
CREATE TABLE connection_codes (
    hash TEXT PRIMARY KEY,
    user_name TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    consent TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    connection TEXT
);

CREATE TABLE connection_tokens (
    hash TEXT PRIMARY KEY,
    connection TEXT NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    replaced_at BIGINT
);

CREATE INDEX connection_tokens_of ON connection_tokens (connection);
