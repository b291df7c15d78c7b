-- What came of something that may be done once only, for a page that has heard nothing of it.
ALTER TABLE claims ADD COLUMN made TEXT NOT NULL DEFAULT '';
