-- The browsers that are told of things by push, each with its session: gone when that ends.
CREATE TABLE pushes (
    session TEXT PRIMARY KEY REFERENCES sessions (hash) ON DELETE CASCADE,
    endpoint TEXT NOT NULL,
    public_key TEXT NOT NULL,
    auth TEXT NOT NULL,
    wishes TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
