-- What people last said of themselves: that they are away, or back.
CREATE TABLE presence (
    person TEXT PRIMARY KEY,
    away INTEGER NOT NULL,
    since BIGINT NOT NULL,
    until BIGINT,
    surface TEXT NOT NULL
);
