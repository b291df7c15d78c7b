-- The chats by which people are told of asks and answer them: how Sayso gets in, and which process is there for all.
CREATE TABLE chats (
    kind TEXT PRIMARY KEY,
    access TEXT NOT NULL,
    held_by TEXT NOT NULL DEFAULT '',
    read_to TEXT NOT NULL DEFAULT '',
    trouble TEXT NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL
);

-- Who is whom in a chat.
CREATE TABLE chat_links (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL REFERENCES chats (kind) ON DELETE CASCADE,
    account TEXT NOT NULL,
    room TEXT NOT NULL,
    label TEXT NOT NULL,
    user_name TEXT NOT NULL REFERENCES users (name),
    wishes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (kind, account)
);

-- Codes by which somebody in a chat says who they are, once.
CREATE TABLE chat_codes (
    hash TEXT PRIMARY KEY,
    kind TEXT NOT NULL REFERENCES chats (kind) ON DELETE CASCADE,
    user_name TEXT NOT NULL REFERENCES users (name),
    room TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
);

-- What was sent to whom about which ask, as long as it can change.
CREATE TABLE chat_messages (
    id TEXT PRIMARY KEY,
    link TEXT NOT NULL REFERENCES chat_links (id) ON DELETE CASCADE,
    ask_id TEXT NOT NULL,
    shown TEXT NOT NULL,
    digest TEXT NOT NULL,
    place TEXT NOT NULL DEFAULT '',
    confirming_since BIGINT,
    created_at BIGINT NOT NULL,
    closed_at BIGINT
);

CREATE INDEX chat_messages_open ON chat_messages (link, created_at) WHERE closed_at IS NULL;
CREATE INDEX chat_messages_places ON chat_messages (link, place);
