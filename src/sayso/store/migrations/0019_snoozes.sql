-- What people have put off, each for themselves: not in their inbox until then. Nothing else about an ask depends on it.
CREATE TABLE snoozes (
    ask_id TEXT NOT NULL REFERENCES asks (id) ON DELETE CASCADE,
    person TEXT NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (ask_id, person)
);

CREATE INDEX snoozes_of ON snoozes (person, until);
