-- What a person has made of a conversation, which is known by its first run: its name, when it was put away, and how much
-- of it they have seen.
CREATE TABLE conversations (
    id TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    title TEXT NOT NULL DEFAULT '""',
    archived_at BIGINT,
    seen_at BIGINT NOT NULL DEFAULT 0
);

-- Messages that wait until the agent is done with the run after which they are meant.
CREATE TABLE queued_messages (
    id TEXT PRIMARY KEY,
    conversation TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    after_run TEXT NOT NULL,
    text TEXT NOT NULL,
    at BIGINT NOT NULL
);

CREATE INDEX queued_messages_of ON queued_messages (conversation, at, id);
