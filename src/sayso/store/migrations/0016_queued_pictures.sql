-- Pictures that go with a message that waits; as base64.
CREATE TABLE queued_pictures (
    message_id TEXT NOT NULL REFERENCES queued_messages (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    media TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (message_id, number)
);
