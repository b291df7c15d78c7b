-- By which permission a command was run, so that its entry in the log is missed when it is taken out.
ALTER TABLE operations ADD COLUMN allowed_by TEXT NOT NULL DEFAULT '';
