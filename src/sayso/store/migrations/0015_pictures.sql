-- Pictures that were sent with a message, or that came of a tool, with the event that they belong to; as base64.
CREATE TABLE pictures (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    number BIGINT NOT NULL,
    media TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run_id, seq, number)
);
