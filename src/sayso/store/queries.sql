-- Every statement about asks, by name. `:name` marks a parameter; both databases run the same text.

-- name: insert_ask
INSERT INTO asks (id, version, state, call_id, tool, fingerprint, agent, client, project, owner, host, body, words,
                  timeout_ms, wait_id, wait_process, wait_since, wait_until, unattended_at, created_at, changed_at)
VALUES (:id, 1, 'pending', :call_id, :tool, :fingerprint, :agent, :client, :project, :owner, :host, :body,
        :words, :timeout_ms, :wait_id, :wait_process, :wait_since, :wait_until, :unattended_at, :now, :now);

-- name: change_ask
UPDATE asks
SET version = version + 1, state = :state, body = :body, outcome = :outcome, words = :words, wait_id = :wait_id,
    wait_process = :wait_process, wait_since = :wait_since, wait_until = :wait_until,
    unattended_at = CASE WHEN CAST(:unattended_at AS BIGINT) IS NOT NULL
                         THEN coalesce(unattended_at, :unattended_at) END,
    changed_at = :now, ended_at = :ended_at, delivered_at = :delivered_at
WHERE id = :id AND version = :version;

-- name: insert_event
INSERT INTO events (ask_id, version, at, kind, state_before, state_after, person, surface, detail)
VALUES (:ask_id, :version, :at, :kind, :state_before, :state_after, :person, :surface, :detail);

-- name: ask_by_id
SELECT * FROM asks WHERE id = :id;

-- name: asks_by_prefix
SELECT id FROM asks WHERE id >= :prefix AND id < :beyond ORDER BY id LIMIT 10;

-- name: alike
SELECT * FROM asks
WHERE fingerprint = :fingerprint
  AND (state = 'timed_out'
       OR (delivered_at IS NULL AND state IN ('pending', 'answered', 'rejected', 'declined', 'cancelled')))
ORDER BY created_at;

-- name: inbox
SELECT * FROM asks
WHERE state IN ('pending', 'timed_out')
  AND (CAST(:project AS TEXT) IS NULL OR project = :project)
  AND (CAST(:person AS TEXT) IS NULL OR owner IN ('', :person))
  AND (created_at, id) > (:after_time, :after_id)
ORDER BY created_at, id LIMIT :most;

-- name: inbox_size
SELECT count(*) AS size FROM asks WHERE state IN ('pending', 'timed_out');

-- name: asks_by_state
-- In two parts, each from its own index: an index on the state alone would draw the inbox away from its own.
SELECT state, count(*) AS size FROM asks WHERE ended_at IS NOT NULL GROUP BY state
UNION ALL
SELECT state, count(*) AS size FROM asks
WHERE state IN ('pending', 'timed_out') AND state = 'pending' AND ended_at IS NULL GROUP BY state;

-- name: history
SELECT * FROM asks
WHERE ended_at IS NOT NULL
  AND (CAST(:project AS TEXT) IS NULL OR project = :project)
  AND (CAST(:person AS TEXT) IS NULL OR owner IN ('', :person))
  AND (CAST(:pattern AS TEXT) IS NULL OR words LIKE :pattern ESCAPE '!')
  AND (ended_at, id) < (:before_time, :before_id)
ORDER BY ended_at DESC, id DESC LIMIT :most;

-- name: undelivered
SELECT * FROM asks
WHERE client = :client AND project = :project AND agent = :agent AND host = :host
  AND (state = 'timed_out'
       OR (delivered_at IS NULL AND state IN ('pending', 'answered', 'rejected', 'declined', 'cancelled')))
ORDER BY created_at LIMIT :most;

-- name: waits_ended
SELECT * FROM asks WHERE wait_process = :process AND state <> 'pending';

-- name: waiting_processes
SELECT DISTINCT wait_process FROM asks WHERE wait_process IS NOT NULL;

-- name: held_by
SELECT * FROM asks WHERE wait_process = :process ORDER BY id LIMIT :most;

-- name: events_of
SELECT * FROM events WHERE ask_id = :ask_id ORDER BY version;

-- name: expirable
-- The first condition is the one of the index asks_inbox: without it all ended asks would be read.
SELECT * FROM asks
WHERE state IN ('pending', 'timed_out') AND state = 'pending' AND wait_id IS NULL AND unattended_at < :unattended_before
ORDER BY created_at LIMIT :most;

-- name: overdue
-- Whether there is anything to expire, delete or forget: found out without keeping anyone from writing.
SELECT 1 AS found FROM asks
WHERE state IN ('pending', 'timed_out') AND state = 'pending' AND wait_id IS NULL AND unattended_at < :unattended_before
UNION ALL
SELECT 1 AS found FROM asks
WHERE ended_at < :ended_before AND wait_id IS NULL
  AND (delivered_at IS NOT NULL OR state <> 'answered' OR ended_at < :undelivered_before)
UNION ALL
SELECT 1 AS found FROM claims WHERE claimed_at < :claimed_before
LIMIT 1;

-- name: delete_ended
DELETE FROM asks WHERE id IN (
    SELECT id FROM asks
    WHERE ended_at < :ended_before AND wait_id IS NULL
      AND (delivered_at IS NOT NULL OR state <> 'answered' OR ended_at < :undelivered_before)
    ORDER BY ended_at LIMIT :most);

-- name: put_draft
INSERT INTO drafts (ask_id, person, body, changed_at) VALUES (:ask_id, :person, :body, :now)
ON CONFLICT (ask_id, person) DO UPDATE SET body = excluded.body, changed_at = excluded.changed_at;

-- name: draft
SELECT body FROM drafts WHERE ask_id = :ask_id AND person = :person;

-- name: drop_draft
DELETE FROM drafts WHERE ask_id = :ask_id AND person = :person;

-- name: drop_drafts
DELETE FROM drafts WHERE ask_id = :ask_id;

-- name: put_surface
INSERT INTO surfaces (process, surface, person, since) VALUES (:process, :surface, :person, :now)
ON CONFLICT (process) DO UPDATE SET surface = excluded.surface, person = excluded.person;

-- name: surfaces
SELECT * FROM surfaces ORDER BY since;

-- name: drop_surface
DELETE FROM surfaces WHERE process = :process;

-- name: put_meta_once
INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO NOTHING;

-- name: meta
SELECT value FROM meta WHERE key = :key;

-- name: claim
INSERT INTO claims (key, claimed_at) VALUES (:key, :now) ON CONFLICT (key) DO NOTHING;

-- name: forget_claims
DELETE FROM claims WHERE claimed_at < :before;

-- name: insert_user
INSERT INTO users (name, created_at) VALUES (:name, :now) ON CONFLICT (name) DO UPDATE SET revoked_at = NULL;

-- name: users
SELECT * FROM users ORDER BY name;

-- name: user
SELECT * FROM users WHERE name = :name AND revoked_at IS NULL;

-- name: revoke_user
UPDATE users SET revoked_at = :now WHERE name = :name AND revoked_at IS NULL;

-- name: insert_link
INSERT INTO links (hash, user_name, expires_at) VALUES (:hash, :user_name, :expires_at);

-- name: link
SELECT * FROM links WHERE hash = :hash;

-- name: use_link
UPDATE links SET used_at = :now WHERE hash = :hash AND used_at IS NULL AND expires_at > :now;

-- name: drop_links_of
DELETE FROM links WHERE user_name = :user_name;

-- name: insert_session
INSERT INTO sessions (hash, user_name, created_at, expires_at) VALUES (:hash, :user_name, :now, :expires_at);

-- name: session
SELECT sessions.* FROM sessions JOIN users ON users.name = sessions.user_name
WHERE sessions.hash = :hash AND sessions.expires_at > :now AND users.revoked_at IS NULL;

-- name: drop_session
DELETE FROM sessions WHERE hash = :hash;

-- name: drop_sessions_of
DELETE FROM sessions WHERE user_name = :user_name;

-- name: drop_old_access
DELETE FROM sessions WHERE expires_at < :now;

-- name: drop_old_links
DELETE FROM links WHERE expires_at < :now;

-- name: insert_token
INSERT INTO tokens (name, hash, user_name, project, created_at) VALUES (:name, :hash, :user_name, :project, :now)
ON CONFLICT (name) DO NOTHING;

-- name: tokens
SELECT * FROM tokens ORDER BY name;

-- name: token
SELECT * FROM tokens WHERE hash = :hash AND revoked_at IS NULL;

-- name: revoke_token
UPDATE tokens SET revoked_at = :now WHERE name = :name AND revoked_at IS NULL;

-- name: insert_operation
INSERT INTO operations (id, version, state, tool, parent, background, agent, client, project, owner, host, process,
                        lock_name, body, bytes, created_at, changed_at, started_at)
VALUES (:id, 1, :state, :tool, :parent, :background, :agent, :client, :project, :owner, :host, :process,
        :lock_name, :body, 0, :now, :now, :started_at);

-- name: change_operation
UPDATE operations
SET version = version + 1, state = :state, process = :process, result = :result, bytes = :bytes,
    cancelled_by = :cancelled_by, changed_at = :now, started_at = :started_at, ended_at = :ended_at,
    delivered_at = :delivered_at
WHERE id = :id AND version = :version;

-- name: operation_by_id
SELECT * FROM operations WHERE id = :id;

-- name: operations_by_prefix
SELECT id FROM operations WHERE id >= :prefix AND id < :beyond ORDER BY id LIMIT 200;

-- name: steps_of
SELECT * FROM operations WHERE parent <> '' AND parent = :parent ORDER BY length(id), id;

-- name: operations_ahead
SELECT * FROM operations
WHERE lock_name = :lock_name AND project = :project AND host = :host AND ended_at IS NULL AND id <> :id
ORDER BY created_at, id;

-- name: open_operations
SELECT * FROM operations WHERE ended_at IS NULL AND host = :host ORDER BY created_at, id;

-- name: cancelled_operations
SELECT * FROM operations WHERE ended_at IS NULL AND process = :process AND cancelled_by IS NOT NULL;

-- name: recent_operations
SELECT * FROM operations
WHERE parent = ''
  AND (CAST(:project AS TEXT) IS NULL OR project = :project)
  AND (CAST(:person AS TEXT) IS NULL OR owner IN ('', :person))
  AND (CAST(:agent AS TEXT) IS NULL OR (agent = :agent AND client = :client AND host = :host AND background = 1))
  AND (created_at < :before_time OR (created_at = :before_time AND id < :before_id))
ORDER BY created_at DESC, id DESC LIMIT :most;

-- name: undelivered_operations
SELECT * FROM operations
WHERE ended_at IS NOT NULL AND delivered_at IS NULL AND parent = ''
  AND agent = :agent AND client = :client AND project = :project AND host = :host
ORDER BY ended_at LIMIT :most;

-- name: old_operations
SELECT * FROM operations WHERE ended_at < :ended_before AND host = :host ORDER BY ended_at LIMIT :most;

-- name: crowded_operations
-- The oldest of those that, with all newer ones, take more than is allowed.
SELECT * FROM operations WHERE id IN (
    SELECT id FROM (
        SELECT id, ended_at, sum(bytes) OVER (ORDER BY ended_at DESC, id DESC) AS taken
        FROM operations WHERE ended_at IS NOT NULL AND host = :host) AS newest_first
    WHERE taken > :total_bytes ORDER BY ended_at, id LIMIT :most);

-- name: delete_operation
DELETE FROM operations WHERE id = :id;
