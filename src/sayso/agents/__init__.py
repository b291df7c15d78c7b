"""Talk: headless agents in registered projects, one run per turn, every event of theirs kept in the store."""
