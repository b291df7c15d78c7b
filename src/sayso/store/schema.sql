-- The whole schema as it is now; migrations/ brings an older store to the same shape.
-- Written once for SQLite and PostgreSQL: TEXT, BIGINT and INTEGER only, times in milliseconds.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE asks (
    id TEXT PRIMARY KEY,
    version BIGINT NOT NULL,
    state TEXT NOT NULL,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    agent TEXT NOT NULL,
    client TEXT NOT NULL,
    project TEXT NOT NULL,
    owner TEXT NOT NULL,
    host TEXT NOT NULL,
    run_id TEXT,
    body TEXT NOT NULL,
    outcome TEXT,
    words TEXT NOT NULL,
    timeout_ms BIGINT,
    wait_id TEXT,
    wait_process TEXT,
    wait_since BIGINT,
    wait_until BIGINT,
    unattended_at BIGINT,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    ended_at BIGINT,
    delivered_at BIGINT,
    put_by TEXT NOT NULL DEFAULT '',
    permission INTEGER NOT NULL DEFAULT 0,
    deciders TEXT NOT NULL DEFAULT ''
);

-- The two parts of the inbox of all people: whoever looks at one reads nothing of the other. A query for one person does not say
-- `version > 0`, which is always so, and cannot be drawn to these.
CREATE INDEX asks_inbox_attended ON asks (created_at, id) WHERE wait_id IS NOT NULL AND state = 'pending' AND version > 0;
CREATE INDEX asks_inbox_unattended ON asks (created_at, id)
WHERE state IN ('pending', 'timed_out') AND (state = 'timed_out' OR wait_id IS NULL) AND version > 0;
CREATE INDEX asks_owners ON asks (owner, created_at, id) WHERE state IN ('pending', 'timed_out');
CREATE INDEX asks_deciders ON asks (created_at, id) WHERE state IN ('pending', 'timed_out') AND deciders <> '';
CREATE INDEX asks_crowds ON asks (put_by, client, project, created_at, id) WHERE state IN ('pending', 'timed_out') AND put_by <> '';
CREATE INDEX asks_ended ON asks (ended_at, id, state) WHERE ended_at IS NOT NULL;
CREATE INDEX asks_waits ON asks (wait_process, state) WHERE wait_process IS NOT NULL;
CREATE INDEX asks_unattended ON asks (unattended_at) WHERE unattended_at IS NOT NULL;
CREATE INDEX asks_alike ON asks (fingerprint, created_at) WHERE delivered_at IS NULL OR state = 'timed_out';
CREATE INDEX asks_undelivered ON asks (agent, client, project, host, created_at) WHERE delivered_at IS NULL OR state = 'timed_out';
CREATE INDEX asks_late ON asks (agent, client, project, host, created_at) WHERE delivered_at IS NULL AND wait_id IS NULL AND ended_at IS NOT NULL;
CREATE INDEX asks_runs ON asks (run_id, tool, created_at) WHERE run_id IS NOT NULL;

-- Where words stand in the history, for the search: the asks that have ended, in blocks, each of them all that ended after
-- one moment up to another. What has ended since, or is in no block, is read through.
CREATE TABLE history_blocks (
    block BIGINT PRIMARY KEY,
    after_time BIGINT NOT NULL,
    after_id TEXT NOT NULL,
    last_time BIGINT NOT NULL,
    last_id TEXT NOT NULL,
    finished BIGINT NOT NULL,
    units BIGINT NOT NULL DEFAULT 1
);

CREATE INDEX history_blocks_times ON history_blocks (last_time, last_id);

-- Which asks of a block have these letters in a row.
CREATE TABLE history_grams (
    block BIGINT NOT NULL,
    gram TEXT NOT NULL,
    members TEXT NOT NULL,
    PRIMARY KEY (block, gram)
);

CREATE TABLE history_members (
    number BIGINT PRIMARY KEY,
    ask_id TEXT NOT NULL
);

CREATE TABLE events (
    ask_id TEXT NOT NULL REFERENCES asks (id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    state_before TEXT,
    state_after TEXT NOT NULL,
    person TEXT NOT NULL,
    surface TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (ask_id, version)
);

-- What a person has typed so far, so that it survives the crash of what they typed it in.
CREATE TABLE drafts (
    ask_id TEXT NOT NULL REFERENCES asks (id) ON DELETE CASCADE,
    person TEXT NOT NULL,
    body TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (ask_id, person)
);

-- What people have put off, each for themselves: not in their inbox until then. Nothing else about an ask depends on it.
CREATE TABLE snoozes (
    ask_id TEXT NOT NULL REFERENCES asks (id) ON DELETE CASCADE,
    person TEXT NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (ask_id, person)
);

CREATE INDEX snoozes_of ON snoozes (person, until);

-- Pictures and files that go with an ask: those of the question have no person, the others are of whoever added them to
-- an answer. Their ids are made of what is in them.
CREATE TABLE attachments (
    ask_id TEXT NOT NULL REFERENCES asks (id) ON DELETE CASCADE,
    person TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    media TEXT NOT NULL,
    size BIGINT NOT NULL,
    width BIGINT NOT NULL,
    height BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ask_id, person, id)
);

-- What is in them, in parts; as base64.
CREATE TABLE attachment_parts (
    ask_id TEXT NOT NULL,
    person TEXT NOT NULL,
    attachment_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (ask_id, person, attachment_id, number),
    FOREIGN KEY (ask_id, person, attachment_id) REFERENCES attachments (ask_id, person, id) ON DELETE CASCADE
);

-- The surfaces that are open, each with the people who look at it, one a line: an ask that none of them shows must find
-- another way to its person.
CREATE TABLE surfaces (
    process TEXT PRIMARY KEY,
    surface TEXT NOT NULL,
    person TEXT NOT NULL,
    since BIGINT NOT NULL
);

-- What people last said of themselves: that they are away, or back.
CREATE TABLE presence (
    person TEXT PRIMARY KEY,
    away INTEGER NOT NULL,
    since BIGINT NOT NULL,
    until BIGINT,
    surface TEXT NOT NULL
);

-- The agents at work: each session that a gate or a server has seen, until it is known to have ended.
CREATE TABLE roster (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    process TEXT NOT NULL,
    body TEXT NOT NULL,
    doing TEXT NOT NULL,
    since BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);
CREATE INDEX roster_owners ON roster (owner);

-- What may be done once only; `made` names what came of it, where that has a name.
CREATE TABLE claims (
    key TEXT PRIMARY KEY,
    claimed_at BIGINT NOT NULL,
    made TEXT NOT NULL DEFAULT ''
);

-- People who may sign in to the web inbox. Secrets are kept as hashes only.
CREATE TABLE users (
    name TEXT PRIMARY KEY,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT,
    account TEXT NOT NULL DEFAULT ''
);

CREATE TABLE links (
    hash TEXT PRIMARY KEY,
    user_name TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
);

CREATE TABLE sessions (
    hash TEXT PRIMARY KEY,
    user_name TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    device TEXT NOT NULL DEFAULT '',
    seen_at BIGINT NOT NULL DEFAULT 0
);

-- The browsers that are told of things by push, each with its session: gone when that ends.
CREATE TABLE pushes (
    session TEXT PRIMARY KEY REFERENCES sessions (hash) ON DELETE CASCADE,
    endpoint TEXT NOT NULL,
    public_key TEXT NOT NULL,
    auth TEXT NOT NULL,
    wishes TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- Who decides in whose place, and until when.
CREATE TABLE delegations (
    person TEXT PRIMARY KEY,
    delegate TEXT NOT NULL,
    since BIGINT NOT NULL,
    until BIGINT NOT NULL
);

-- What agents tried in order to become somebody, and were refused.
CREATE TABLE refusals (
    id TEXT PRIMARY KEY,
    at BIGINT NOT NULL,
    wanted TEXT NOT NULL,
    why TEXT NOT NULL
);

CREATE INDEX refusals_recent ON refusals (at);

-- Agents that come over HTTP. One with a user asks that user alone.
CREATE TABLE tokens (
    name TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    user_name TEXT,
    project TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

-- Agents that people have let in by signing in: who, which program, and for which address. Tokens are kept as hashes.
CREATE TABLE connections (
    id TEXT PRIMARY KEY,
    user_name TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    agent TEXT NOT NULL UNIQUE,
    client TEXT NOT NULL,
    client_name TEXT NOT NULL,
    resource TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);

-- Single-use codes that become connections; `connection` says which one, once it has.
CREATE TABLE connection_codes (
    hash TEXT PRIMARY KEY,
    user_name TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    consent TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    connection TEXT
);

CREATE TABLE connection_tokens (
    hash TEXT PRIMARY KEY,
    connection TEXT NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    replaced_at BIGINT
);

CREATE INDEX connection_tokens_of ON connection_tokens (connection);

-- Programs that want to connect, until a person has decided; `said` is what, and what was asked is then forgotten. `until`
-- is how long it waits, or is known.
CREATE TABLE connection_requests (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    mark TEXT NOT NULL,
    name TEXT NOT NULL,
    issuer TEXT NOT NULL,
    query TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    until BIGINT NOT NULL,
    said TEXT NOT NULL
);

-- One run of a command each. What it printed is in its folder on `host`.
CREATE TABLE operations (
    id TEXT PRIMARY KEY,
    version BIGINT NOT NULL,
    state TEXT NOT NULL,
    tool TEXT NOT NULL,
    parent TEXT NOT NULL,
    background INTEGER NOT NULL,
    agent TEXT NOT NULL,
    client TEXT NOT NULL,
    project TEXT NOT NULL,
    owner TEXT NOT NULL,
    host TEXT NOT NULL,
    process TEXT NOT NULL,
    lock_name TEXT,
    body TEXT NOT NULL,
    result TEXT,
    bytes BIGINT NOT NULL,
    cancelled_by TEXT,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT,
    delivered_at BIGINT,
    put_by TEXT NOT NULL DEFAULT '',
    say_so TEXT NOT NULL DEFAULT '',
    allowed_by TEXT NOT NULL DEFAULT ''
);

CREATE INDEX operations_open ON operations (created_at, id) WHERE ended_at IS NULL;
CREATE INDEX operations_recent ON operations (created_at, id);
CREATE INDEX operations_ended ON operations (ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX operations_undelivered ON operations (client, project, ended_at) WHERE ended_at IS NOT NULL AND delivered_at IS NULL;
CREATE INDEX operations_steps ON operations (parent) WHERE parent <> '';

-- Directories in which the web page may start agents. Each is one user's, on one machine.
CREATE TABLE projects (
    id BIGINT PRIMARY KEY,
    owner TEXT NOT NULL,
    host TEXT NOT NULL,
    directory TEXT NOT NULL,
    name TEXT NOT NULL,
    options TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    removed_at BIGINT,
    UNIQUE (owner, host, directory)
);

-- One turn of a headless agent each. While it is on, it has a stream token, and what it prints is in its folder on
-- `host`.
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    version BIGINT NOT NULL,
    state TEXT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    user_name TEXT NOT NULL,
    conversation TEXT NOT NULL,
    turn INTEGER NOT NULL,
    token TEXT,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    host TEXT NOT NULL,
    process TEXT NOT NULL,
    prompt TEXT NOT NULL,
    ending TEXT,
    stopped_by TEXT,
    seen BIGINT NOT NULL,
    events BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    ended_at BIGINT,
    -- The run that started the agent's process, and how much was said to that process: in all, and not yet taken up.
    line TEXT NOT NULL DEFAULT '',
    said BIGINT NOT NULL DEFAULT 0,
    untaken BIGINT NOT NULL DEFAULT 0,
    choices TEXT NOT NULL DEFAULT '{}'
);

CREATE UNIQUE INDEX runs_turns ON runs (conversation, turn);
CREATE UNIQUE INDEX runs_active ON runs (token) WHERE token IS NOT NULL;
CREATE INDEX runs_open ON runs (user_name, started_at, id) WHERE ended_at IS NULL;
CREATE INDEX runs_recent ON runs (user_name, started_at, id);
CREATE INDEX runs_ended ON runs (ended_at, id) WHERE ended_at IS NOT NULL;

CREATE TABLE run_events (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
);

-- Pictures that were sent with a message, or that came of a tool, with the event that they belong to; as base64.
CREATE TABLE pictures (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    number BIGINT NOT NULL,
    media TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run_id, seq, number)
);

-- Parts of a text that is still being written: few, and dropped at every whole one.
CREATE INDEX run_events_deltas ON run_events (run_id) WHERE kind = 'delta';

-- What people said to agents at work: few events among many, for the search in conversations.
CREATE INDEX run_events_said ON run_events (run_id) WHERE kind = 'said';

-- What a person has made of a conversation, which is known by its first run: its name, when it was put away, and how much
-- of it they have seen.
CREATE TABLE conversations (
    id TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    title TEXT NOT NULL DEFAULT '""',
    archived_at BIGINT,
    seen_at BIGINT NOT NULL DEFAULT 0
);

-- Messages that wait until the agent is done with the run after which they are meant.
CREATE TABLE queued_messages (
    id TEXT PRIMARY KEY,
    conversation TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    after_run TEXT NOT NULL,
    text TEXT NOT NULL,
    at BIGINT NOT NULL
);

CREATE INDEX queued_messages_of ON queued_messages (conversation, at, id);

-- Pictures that go with a message that waits; as base64.
CREATE TABLE queued_pictures (
    message_id TEXT NOT NULL REFERENCES queued_messages (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    media TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (message_id, number)
);

-- What happened with permissions, each row with the hash of the one before: a gap or a change shows.
CREATE TABLE permission_log (
    seq BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    ask_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    project TEXT NOT NULL,
    owner TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    body TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);

CREATE INDEX permission_log_asks ON permission_log (ask_id, seq) WHERE ask_id <> '';
CREATE INDEX permission_log_digests ON permission_log (digest) WHERE digest <> '';
CREATE INDEX permission_log_operations ON permission_log (operation_id) WHERE operation_id <> '';
CREATE INDEX permission_log_times ON permission_log (at);

-- The one row that says where the log ends; whoever adds to it holds on to this row.
CREATE TABLE permission_log_end (
    id INTEGER PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL
);

-- Each whole action that the log speaks of, once.
CREATE TABLE permission_actions (
    digest TEXT PRIMARY KEY,
    body TEXT NOT NULL
);

-- Rules that a person has given to one session of an agent: they hold there and nowhere else.
CREATE TABLE session_rules (
    id TEXT PRIMARY KEY,
    patterns TEXT NOT NULL,
    ask TEXT NOT NULL,
    person TEXT NOT NULL,
    client TEXT NOT NULL,
    host TEXT NOT NULL,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    process TEXT NOT NULL,
    owner TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    ended_at BIGINT
);

CREATE INDEX session_rules_held ON session_rules (session, created_at) WHERE ended_at IS NULL;

-- The chats by which people are told of asks and answer them: how Sayso gets in, and which process is there for all.
CREATE TABLE chats (
    kind TEXT PRIMARY KEY,
    access TEXT NOT NULL,
    held_by TEXT NOT NULL DEFAULT '',
    read_to TEXT NOT NULL DEFAULT '',
    trouble TEXT NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL
);

-- Who is whom in a chat.
CREATE TABLE chat_links (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL REFERENCES chats (kind) ON DELETE CASCADE,
    account TEXT NOT NULL,
    room TEXT NOT NULL,
    label TEXT NOT NULL,
    user_name TEXT NOT NULL REFERENCES users (name),
    wishes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (kind, account)
);

-- Codes by which somebody in a chat says who they are, once.
CREATE TABLE chat_codes (
    hash TEXT PRIMARY KEY,
    kind TEXT NOT NULL REFERENCES chats (kind) ON DELETE CASCADE,
    user_name TEXT NOT NULL REFERENCES users (name),
    room TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
);

-- What was sent to whom about which ask, as long as it can change.
CREATE TABLE chat_messages (
    id TEXT PRIMARY KEY,
    link TEXT NOT NULL REFERENCES chat_links (id) ON DELETE CASCADE,
    ask_id TEXT NOT NULL,
    shown TEXT NOT NULL,
    digest TEXT NOT NULL,
    place TEXT NOT NULL DEFAULT '',
    confirming_since BIGINT,
    created_at BIGINT NOT NULL,
    closed_at BIGINT
);

CREATE INDEX chat_messages_open ON chat_messages (link, created_at) WHERE closed_at IS NULL;
CREATE INDEX chat_messages_places ON chat_messages (link, place);
