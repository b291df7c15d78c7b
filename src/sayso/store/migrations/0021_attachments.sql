-- Pictures and files that go with an ask: those of the question have no person, the others are of whoever added them to
-- an answer. Their ids are made of what is in them.
CREATE TABLE attachments (
    ask_id TEXT NOT NULL REFERENCES asks (id) ON DELETE CASCADE,
    person TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    media TEXT NOT NULL,
    size BIGINT NOT NULL,
    width BIGINT NOT NULL,
    height BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ask_id, person, id)
);

-- What is in them, in parts; as base64.
CREATE TABLE attachment_parts (
    ask_id TEXT NOT NULL,
    person TEXT NOT NULL,
    attachment_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (ask_id, person, attachment_id, number),
    FOREIGN KEY (ask_id, person, attachment_id) REFERENCES attachments (ask_id, person, id) ON DELETE CASCADE
);
