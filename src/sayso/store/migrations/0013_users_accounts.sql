-- Which account of the system a user of the page is: the same person counts once, whatever they call themselves.
ALTER TABLE users ADD COLUMN account TEXT NOT NULL DEFAULT '';
