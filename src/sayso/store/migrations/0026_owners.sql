-- Each person looks at what is their own, however much there is of others.
CREATE INDEX asks_owners ON asks (owner, created_at, id) WHERE state IN ('pending', 'timed_out');
CREATE INDEX asks_deciders ON asks (created_at, id) WHERE state IN ('pending', 'timed_out') AND deciders <> '';
CREATE INDEX roster_owners ON roster (owner);
