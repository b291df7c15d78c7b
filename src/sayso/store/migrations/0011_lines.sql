-- The run that started the agent's process, and how much was said to that process: in all, and not yet taken up.
ALTER TABLE runs ADD COLUMN line TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN said BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN untaken BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN choices TEXT NOT NULL DEFAULT '{}';
