-- Which permission a command waits for, so that nobody takes it for one that waits for its turn.
ALTER TABLE operations ADD COLUMN say_so TEXT NOT NULL DEFAULT '';
