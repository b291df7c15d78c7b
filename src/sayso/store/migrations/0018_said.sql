-- What people said to agents at work: few events among many, for the search in conversations.
CREATE INDEX run_events_said ON run_events (run_id) WHERE kind = 'said';
