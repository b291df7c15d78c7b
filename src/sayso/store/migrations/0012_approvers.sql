-- Who is asked by name for a permission, so that they see it whosever agent asks: each name between commas.
ALTER TABLE asks ADD COLUMN deciders TEXT NOT NULL DEFAULT '';

-- Who decides in whose place, and until when.
CREATE TABLE delegations (
    person TEXT PRIMARY KEY,
    delegate TEXT NOT NULL,
    since BIGINT NOT NULL,
    until BIGINT NOT NULL
);
