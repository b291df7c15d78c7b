-- Every statement about asks, by name. `:name` marks a parameter; both databases run the same text. A `part` stands
-- where its name is in braces.

-- name: insert_ask
INSERT INTO asks (id, version, state, call_id, tool, fingerprint, agent, client, project, owner, host, run_id, body,
                  words, timeout_ms, wait_id, wait_process, wait_since, wait_until, unattended_at, created_at, changed_at,
                  put_by, permission, deciders)
VALUES (:id, 1, 'pending', :call_id, :tool, :fingerprint, :agent, :client, :project, :owner, :host, :run_id, :body,
        :words, :timeout_ms, :wait_id, :wait_process, :wait_since, :wait_until, :unattended_at, :now, :now,
        :put_by, :permission, :deciders);

-- name: open_asks_of
SELECT count(*) AS size FROM asks WHERE put_by = :put_by AND put_by <> '' AND state IN ('pending', 'timed_out');

-- name: change_ask
UPDATE asks
SET version = version + 1, state = :state, body = :body, outcome = :outcome, words = :words, run_id = :run_id,
    put_by = :put_by, deciders = :deciders,
    wait_id = :wait_id, wait_process = :wait_process, wait_since = :wait_since, wait_until = :wait_until,
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
SELECT id, state FROM asks WHERE id >= :prefix AND id < :beyond ORDER BY id;

-- name: alike
SELECT * FROM asks
WHERE fingerprint = :fingerprint
  AND (state = 'timed_out'
       OR (delivered_at IS NULL AND state IN ('pending', 'answered', 'rejected', 'declined', 'cancelled')))
ORDER BY created_at;

-- name: asks_of_run
SELECT * FROM asks WHERE run_id IS NOT NULL AND run_id = :run_id AND tool = :tool
ORDER BY created_at DESC, CASE state WHEN 'superseded' THEN 1 ELSE 0 END, id;

-- name: undelivered_of_runs
SELECT * FROM asks WHERE run_id IS NOT NULL AND tool = :tool AND (delivered_at IS NULL OR state = 'timed_out')
ORDER BY created_at LIMIT :most;

-- name: version_of_ask
SELECT version FROM asks WHERE id = :id;

-- name: runs_that_wait
SELECT DISTINCT run_id FROM asks
WHERE run_id IS NOT NULL AND {attended} AND owner = :owner;

-- part: awake
AND (CAST(:awake_for AS TEXT) IS NULL
       OR id NOT IN (SELECT ask_id FROM snoozes WHERE snoozes.person = :awake_for AND snoozes.until > :now))

-- part: questions_open
FROM asks WHERE state IN ('pending', 'timed_out') AND put_by <> '' AND permission = 0
  {awake}

-- part: their_questions_open
-- Not said as in the index of crowds, to which it would be drawn from that of the person.
FROM asks WHERE state IN ('pending', 'timed_out') AND length(put_by) > 0 AND permission = 0 AND owner IN ('', :person)
  {awake}

-- part: page_of_inbox
AND (CAST(:project AS TEXT) IS NULL OR project = :project)
  AND (CAST(:put_by AS TEXT) IS NULL
       OR (put_by = :put_by AND client = :of_client AND project = :of_project AND permission = 0))
  {awake}
  AND (CAST(:pattern AS TEXT) IS NULL OR words LIKE :pattern ESCAPE '!'
       OR lower(client) LIKE :pattern ESCAPE '!' OR lower(project) LIKE :pattern ESCAPE '!')
  AND (CAST(:few AS BIGINT) IS NULL OR permission = 1
       OR (put_by, client, project) NOT IN (SELECT put_by, client, project FROM crowded))
  AND (created_at, id) > (:after_time, :after_id)
ORDER BY created_at, id LIMIT :most

-- part: crowded
WITH crowded AS (SELECT put_by, client, project {questions_open}
                 GROUP BY put_by, client, project HAVING count(*) > :few)

-- part: crowded_of
WITH crowded AS (SELECT put_by, client, project {their_questions_open}
                 GROUP BY put_by, client, project HAVING count(*) > :few)

-- part: decided_by
deciders <> '' AND replace(deciders, ',' || CAST(:person AS TEXT) || ',', '') <> deciders

-- part: waited_for
wait_id IS NOT NULL AND state = 'pending'

-- part: attended
wait_process IS NOT NULL AND {waited_for}

-- part: unattended
state IN ('pending', 'timed_out') AND (state = 'timed_out' OR wait_id IS NULL)

-- name: inbox_attended
-- The first part of the inbox: agents that are blocked until somebody answers.
{crowded}
SELECT * FROM asks WHERE version > 0 AND {waited_for} {page_of_inbox};

-- name: inbox_unattended
-- The other part: what nobody waits for.
{crowded}
SELECT * FROM asks WHERE version > 0 AND {unattended} {page_of_inbox};

-- name: inbox_attended_of
-- Of a person: what is asked of anybody, of them, and what they are to decide about, each from an index of its own.
{crowded_of}
SELECT * FROM (SELECT * FROM asks WHERE state IN ('pending', 'timed_out') AND owner = ''
               AND {waited_for} {page_of_inbox}) AS of_anybody
UNION ALL
SELECT * FROM (SELECT * FROM asks WHERE state IN ('pending', 'timed_out') AND owner = :person AND owner <> ''
               AND {waited_for} {page_of_inbox}) AS of_them
UNION ALL
SELECT * FROM (SELECT * FROM asks WHERE state IN ('pending', 'timed_out') AND {decided_by}
               AND owner NOT IN ('', :person) AND {waited_for} {page_of_inbox}) AS decided_by_them
ORDER BY created_at, id LIMIT :most;

-- name: inbox_unattended_of
{crowded_of}
SELECT * FROM (SELECT * FROM asks WHERE owner = ''
               AND {unattended} {page_of_inbox}) AS of_anybody
UNION ALL
SELECT * FROM (SELECT * FROM asks WHERE owner = :person AND owner <> ''
               AND {unattended} {page_of_inbox}) AS of_them
UNION ALL
SELECT * FROM (SELECT * FROM asks WHERE {decided_by}
               AND owner NOT IN ('', :person) AND {unattended} {page_of_inbox}) AS decided_by_them
ORDER BY created_at, id LIMIT :most;

-- part: open_crowds
SELECT put_by, client, project, count(*) AS size, min(created_at) AS first_at,
       count(CASE WHEN state = 'pending' THEN wait_id END) AS attended,
       min(CASE WHEN state = 'pending' AND wait_id IS NOT NULL THEN created_at END) AS attended_at

-- part: newest_of_crowd
SELECT newest.id FROM asks AS newest
WHERE newest.put_by = crowd.put_by AND newest.client = crowd.client AND newest.project = crowd.project
  AND newest.permission = 0 AND newest.state IN ('pending', 'timed_out') AND newest.put_by <> ''
  {awake}

-- name: crowds
-- Each agent that has more than a few questions open in a project: which is the newest, how many there are and since
-- when they stand in the inbox. Permissions are never among them.
SELECT crowd.size, crowd.attended, crowd.first_at, crowd.attended_at,
       ({newest_of_crowd} ORDER BY newest.created_at DESC, newest.id DESC LIMIT 1) AS newest
FROM ({open_crowds} {questions_open} GROUP BY put_by, client, project HAVING count(*) > :few) AS crowd;

-- name: crowds_of
SELECT crowd.size, crowd.attended, crowd.first_at, crowd.attended_at,
       ({newest_of_crowd} AND newest.owner IN ('', :person)
        ORDER BY newest.created_at DESC, newest.id DESC LIMIT 1) AS newest
FROM ({open_crowds} {their_questions_open}
      GROUP BY put_by, client, project HAVING count(*) > :few) AS crowd;

-- name: inbox_versions
SELECT created_at, id, version FROM asks WHERE version > 0 AND {waited_for}
UNION ALL
SELECT created_at, id, version FROM asks WHERE version > 0 AND {unattended}
ORDER BY created_at, id;

-- part: asked_at
CASE WHEN state = 'pending' THEN created_at ELSE 0 END AS asked_at

-- name: open_for
-- All that waits for a person, each part from an index of its own.
SELECT id, created_at, {asked_at} FROM asks WHERE state IN ('pending', 'timed_out') AND owner = ''
UNION ALL
SELECT id, created_at, {asked_at} FROM asks
WHERE state IN ('pending', 'timed_out') AND owner = :person AND owner <> ''
UNION ALL
SELECT id, created_at, {asked_at} FROM asks
WHERE state IN ('pending', 'timed_out') AND {decided_by} AND owner NOT IN ('', :person)
ORDER BY created_at, id;

-- part: whose
agent, client, put_by, project, json_extract(body, '$.asker.session') AS session, CASE WHEN state = 'pending' THEN wait_id END AS waits

-- name: open_by_session
-- How much each session of an agent has open, and how much of that it waits for, however much that is.
SELECT agent, client, put_by, project, session, count(*) AS size, count(waits) AS attended FROM (
  SELECT {whose} FROM asks WHERE state IN ('pending', 'timed_out')
) AS every GROUP BY agent, client, put_by, project, session;

-- name: open_by_session_of
SELECT agent, client, put_by, project, session, count(*) AS size, count(waits) AS attended FROM (
  SELECT {whose} FROM asks WHERE state IN ('pending', 'timed_out') AND owner = ''
  UNION ALL
  SELECT {whose} FROM asks WHERE state IN ('pending', 'timed_out') AND owner = :person AND owner <> ''
  UNION ALL
  SELECT {whose} FROM asks
  WHERE state IN ('pending', 'timed_out') AND {decided_by} AND owner NOT IN ('', :person)
) AS theirs GROUP BY agent, client, put_by, project, session;

-- name: open_askers
-- A token names its agent on whatever machine, and has none beside it.
SELECT body FROM asks WHERE state IN ('pending', 'timed_out') AND host IN ('', :host);

-- name: inbox_size
SELECT count(*) AS size FROM asks WHERE state IN ('pending', 'timed_out');

-- name: asks_by_state
-- In two parts, each from its own index: an index on the state alone would draw the inbox away from its own.
SELECT state, count(*) AS size FROM asks WHERE ended_at IS NOT NULL GROUP BY state
UNION ALL
SELECT state, count(*) AS size FROM asks
WHERE state IN ('pending', 'timed_out') AND state = 'pending' AND ended_at IS NULL GROUP BY state;

-- part: shown_in_history
AND (CAST(:project AS TEXT) IS NULL OR project = :project)
  AND (CAST(:person AS TEXT) IS NULL OR owner IN ('', :person)
       OR (deciders <> '' AND replace(deciders, ',' || CAST(:person AS TEXT) || ',', '') <> deciders))
  AND (CAST(:pattern AS TEXT) IS NULL OR words LIKE :pattern ESCAPE '!')
  AND (ended_at, id) < (:before_time, :before_id)

-- name: history
SELECT * FROM asks
WHERE ended_at IS NOT NULL
  {shown_in_history}
  AND (ended_at, id) > (:after_time, :after_id)
ORDER BY ended_at DESC, id DESC LIMIT :most;

-- name: history_blocks
SELECT block, units, after_time, after_id, last_time, last_id FROM history_blocks
WHERE finished >= :finished ORDER BY last_time, last_id;

-- name: unfinished_history_blocks
SELECT block, units FROM history_blocks WHERE finished = 0;

-- name: finish_history_block
UPDATE history_blocks SET finished = :finished WHERE block = :block;

-- name: history_block_with
SELECT block, units FROM history_blocks
WHERE (last_time, last_id) >= (:time, :id) AND (after_time, after_id) < (:time, :id);

-- name: history_blocks_before
SELECT block, units FROM history_blocks WHERE after_time < :time;

-- name: history_grams
-- From block to block, and in each by its index.
SELECT history_grams.block, gram, members FROM history_blocks CROSS JOIN history_grams
WHERE history_grams.block = history_blocks.block AND finished = 1 AND last_time BETWEEN :oldest AND :newest
  AND gram IN (:gram_a, :gram_b, :gram_c, :gram_d, :gram_e, :gram_f, :gram_g, :gram_h, :gram_i);

-- name: history_members
SELECT asks.*, number FROM history_members JOIN asks ON asks.id = history_members.ask_id
WHERE number IN (:number_a, :number_b, :number_c, :number_d, :number_e, :number_f, :number_g, :number_h,
                 :number_i, :number_j, :number_k, :number_l, :number_m, :number_n, :number_o, :number_p)
  AND ended_at IS NOT NULL
  {shown_in_history};

-- name: history_to_index
SELECT id, version, project, owner, deciders, words, ended_at FROM asks
WHERE ended_at IS NOT NULL AND (ended_at, id) > (:after_time, :after_id) AND (ended_at, id) <= (:last_time, :last_id)
ORDER BY ended_at, id LIMIT :most;

-- name: grams_of_history_block
SELECT gram, members FROM history_grams WHERE block = :block;

-- name: copy_history_members
INSERT INTO history_members (number, ask_id)
SELECT number + :further, ask_id FROM history_members WHERE number >= :first AND number < :beyond;

-- name: drop_history_block
DELETE FROM history_blocks WHERE block = :block;

-- name: drop_history_grams
DELETE FROM history_grams WHERE block = :block;

-- name: drop_history_members
DELETE FROM history_members WHERE number >= :first AND number < :beyond;

-- name: undelivered
SELECT * FROM asks
WHERE client = :client AND project = :project AND agent = :agent AND host = :host
  AND (delivered_at IS NULL OR state = 'timed_out')
  AND state IN ('pending', 'timed_out', 'answered', 'rejected', 'declined', 'cancelled')
ORDER BY created_at LIMIT :most;

-- name: undelivered_of_session
-- What in `undelivered` names a session. A new one comes for what it has left, however much its neighbours wait for.
SELECT * FROM asks
WHERE client = :client AND project = :project AND agent = :agent AND host = :host
  AND (delivered_at IS NULL OR state = 'timed_out')
  AND state IN ('pending', 'timed_out', 'answered', 'rejected', 'declined', 'cancelled')
  AND body LIKE :named ESCAPE '!'
ORDER BY created_at;

-- name: late_answers
-- What nobody waits for any more. However much else is open, only this is read: it has an index of its own.
SELECT * FROM asks
WHERE client = :client AND project = :project AND agent = :agent AND host = :host
  AND delivered_at IS NULL AND wait_id IS NULL AND ended_at IS NOT NULL
  AND state IN ('answered', 'rejected', 'declined', 'cancelled')
ORDER BY created_at LIMIT :most;

-- name: anything_owed
SELECT 1 AS found FROM asks
WHERE client = :client AND project = :project AND agent = :agent AND host = :host
  AND (delivered_at IS NULL OR state = 'timed_out')
  AND state IN ('pending', 'timed_out', 'answered', 'rejected', 'declined', 'cancelled')
LIMIT 1;

-- name: waits_ended
-- All states but one, by name: by exclusion every ask that is held would be read.
SELECT * FROM asks
WHERE wait_process = :process AND wait_id IS NOT NULL
  AND state IN ('answered', 'rejected', 'declined', 'cancelled', 'timed_out', 'superseded', 'expired');

-- name: waiting_processes
-- From one to the next by the index, however many asks each of them holds.
WITH RECURSIVE found(process) AS (
    SELECT min(wait_process) FROM asks WHERE wait_process IS NOT NULL
    UNION ALL
    SELECT (SELECT min(wait_process) FROM asks WHERE wait_process IS NOT NULL AND wait_process > process)
    FROM found WHERE process IS NOT NULL)
SELECT process AS wait_process FROM found WHERE process IS NOT NULL;

-- name: wait_ids
SELECT wait_id FROM asks WHERE wait_process = :process AND wait_id IS NOT NULL;

-- name: held_by
-- What its calls hold, and what agents will come for through it.
SELECT * FROM asks WHERE wait_process = :process ORDER BY id LIMIT :most;

-- name: events_of
SELECT * FROM events WHERE ask_id = :ask_id ORDER BY version;

-- name: expirable
SELECT * FROM asks
WHERE unattended_at IS NOT NULL AND unattended_at < :unattended_before AND created_at < :unattended_before
  AND state = 'pending' AND wait_id IS NULL
ORDER BY unattended_at LIMIT :most;

-- name: overdue
-- Whether there is anything to expire, delete or forget: found out without keeping anyone from writing.
SELECT 1 AS found FROM asks
WHERE unattended_at IS NOT NULL AND unattended_at < :unattended_before AND created_at < :unattended_before
  AND state = 'pending' AND wait_id IS NULL
UNION ALL
SELECT 1 AS found FROM asks
WHERE ended_at < :ended_before AND created_at < :ended_before AND wait_id IS NULL
  AND (delivered_at IS NOT NULL OR state <> 'answered'
       OR (ended_at < :undelivered_before AND created_at < :undelivered_before))
UNION ALL
SELECT 1 AS found FROM claims WHERE claimed_at < :claimed_before
LIMIT 1;

-- name: delete_ended
-- What ended before it was asked was settled by a clock that had been set back, and is as old as the question.
DELETE FROM asks WHERE id IN (
    SELECT id FROM asks
    WHERE ended_at < :ended_before AND created_at < :ended_before AND wait_id IS NULL
      AND (delivered_at IS NOT NULL OR state <> 'answered'
           OR (ended_at < :undelivered_before AND created_at < :undelivered_before))
    ORDER BY ended_at LIMIT :most);

-- name: delete_ask
DELETE FROM asks WHERE id = :id AND tool = :tool AND permission = 0;

-- name: put_draft
INSERT INTO drafts (ask_id, person, body, changed_at) VALUES (:ask_id, :person, :body, :now)
ON CONFLICT (ask_id, person) DO UPDATE SET body = excluded.body, changed_at = excluded.changed_at;

-- name: draft
SELECT body FROM drafts WHERE ask_id = :ask_id AND person = :person;

-- name: drafts_of
SELECT ask_id FROM drafts WHERE person = :person;

-- name: drop_draft
DELETE FROM drafts WHERE ask_id = :ask_id AND person = :person;

-- name: drop_drafts
DELETE FROM drafts WHERE ask_id = :ask_id;

-- name: put_snooze
INSERT INTO snoozes (ask_id, person, until) VALUES (:ask_id, :person, :until)
ON CONFLICT (ask_id, person) DO UPDATE SET until = excluded.until;

-- name: snoozes_of
SELECT asks.*, snoozes.until AS snoozed_until FROM snoozes JOIN asks ON asks.id = snoozes.ask_id
WHERE snoozes.person = :person AND snoozes.until > :now AND asks.state IN ('pending', 'timed_out')
ORDER BY snoozes.until, asks.id;

-- name: back_from_snooze
SELECT asks.*, snoozes.until AS snoozed_until FROM snoozes JOIN asks ON asks.id = snoozes.ask_id
WHERE snoozes.person = :person AND snoozes.until > :since AND snoozes.until <= :now
  AND asks.state IN ('pending', 'timed_out')
ORDER BY snoozes.until, asks.id;

-- name: drop_snooze
DELETE FROM snoozes WHERE ask_id = :ask_id AND person = :person;

-- name: end_snoozes
UPDATE snoozes SET until = :now WHERE ask_id = :ask_id AND until > :now;

-- name: lock_ask
-- Whoever adds a file to an ask waits for whoever else adds one, so that both are counted.
UPDATE asks SET id = id WHERE id = :id;

-- name: insert_attachment
INSERT INTO attachments (ask_id, person, id, name, media, size, width, height, created_at)
VALUES (:ask_id, :person, :id, :name, :media, :size, :width, :height, :now)
ON CONFLICT (ask_id, person, id) DO NOTHING;

-- name: insert_attachment_part
INSERT INTO attachment_parts (ask_id, person, attachment_id, number, data)
VALUES (:ask_id, :person, :attachment_id, :number, :data);

-- name: attachments_of
SELECT * FROM attachments WHERE ask_id = :ask_id AND person = :person ORDER BY created_at, id;

-- name: attachment_parts
SELECT data FROM attachment_parts
WHERE ask_id = :ask_id AND person = :person AND attachment_id = :attachment_id ORDER BY number;

-- name: drop_attachment
DELETE FROM attachments WHERE ask_id = :ask_id AND person = :person AND id = :id;

-- name: drop_attachments
DELETE FROM attachments WHERE ask_id = :ask_id;

-- name: put_surface
INSERT INTO surfaces (process, surface, person, since) VALUES (:process, :surface, :person, :now)
ON CONFLICT (process) DO UPDATE SET surface = excluded.surface, person = excluded.person;

-- name: surfaces
SELECT * FROM surfaces ORDER BY since;

-- name: drop_surface
DELETE FROM surfaces WHERE process = :process;

-- name: put_presence
INSERT INTO presence (person, away, since, until, surface) VALUES (:person, :away, :now, :until, :surface)
ON CONFLICT (person) DO UPDATE
SET away = excluded.away, since = excluded.since, until = excluded.until, surface = excluded.surface;

-- name: presence
SELECT * FROM presence WHERE person = :person;

-- name: put_on_roster
INSERT INTO roster (id, owner, process, body, doing, since, seen_at)
VALUES (:id, :owner, :process, :body, :doing, :since, :now)
ON CONFLICT (id) DO UPDATE
SET owner = excluded.owner, body = excluded.body, seen_at = excluded.seen_at,
    process = CASE WHEN excluded.process = '' THEN roster.process ELSE excluded.process END,
    doing = CASE WHEN excluded.doing = '' THEN roster.doing ELSE excluded.doing END;

-- name: roster
SELECT * FROM roster ORDER BY since, id;

-- name: on_roster
SELECT * FROM roster WHERE id = :id;

-- name: roster_of
SELECT * FROM roster WHERE owner IN ('', :person) ORDER BY since, id;

-- name: end_on_roster
DELETE FROM roster WHERE id = :id;

-- name: drop_from_roster
DELETE FROM roster WHERE id = :id AND seen_at = :seen_at;

-- name: asks_of_agent
SELECT * FROM asks
WHERE ended_at IS NOT NULL AND ended_at >= :since AND put_by = :put_by
  AND (CAST(:person AS TEXT) IS NULL OR owner IN ('', :person))
ORDER BY ended_at DESC, id DESC LIMIT :most;

-- name: operations_of_agent
SELECT * FROM operations
WHERE ended_at IS NOT NULL AND ended_at >= :since AND put_by = :put_by AND parent = ''
  AND (CAST(:person AS TEXT) IS NULL OR owner IN ('', :person))
ORDER BY ended_at DESC, id DESC LIMIT :most;

-- name: put_meta_once
INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO NOTHING;

-- name: put_meta
INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: meta
SELECT value FROM meta WHERE key = :key;

-- name: claim
INSERT INTO claims (key, claimed_at) VALUES (:key, :now) ON CONFLICT (key) DO NOTHING;

-- name: claimed
SELECT key, made FROM claims WHERE key = :key;

-- name: note_made
UPDATE claims SET made = :made WHERE key = :key;

-- name: forget_claims
DELETE FROM claims WHERE claimed_at < :before;

-- name: insert_user
INSERT INTO users (name, created_at) VALUES (:name, :now) ON CONFLICT (name) DO UPDATE SET revoked_at = NULL;

-- name: note_account
UPDATE users SET account = :account WHERE name = :name AND account <> :account;

-- name: users
SELECT name, created_at, revoked_at, account FROM users ORDER BY name;

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
INSERT INTO sessions (hash, user_name, device, created_at, seen_at, expires_at)
VALUES (:hash, :user_name, :device, :now, :now, :expires_at);

-- name: session
SELECT sessions.*, users.created_at AS user_since FROM sessions JOIN users ON users.name = sessions.user_name
WHERE sessions.hash = :hash AND sessions.expires_at > :now AND users.revoked_at IS NULL;

-- name: signed_in
SELECT sessions.hash FROM sessions JOIN users ON users.name = sessions.user_name
WHERE sessions.expires_at > :now AND users.revoked_at IS NULL;

-- name: see_session
UPDATE sessions SET seen_at = :now WHERE hash = :hash;

-- name: sessions_of
SELECT sessions.*, users.created_at AS user_since FROM sessions JOIN users ON users.name = sessions.user_name
WHERE sessions.user_name = :user_name AND sessions.expires_at > :now
ORDER BY sessions.seen_at DESC, sessions.created_at DESC;

-- name: drop_session_of
DELETE FROM sessions WHERE hash = :hash AND user_name = :user_name;

-- name: drop_session
DELETE FROM sessions WHERE hash = :hash;

-- name: drop_sessions_of
DELETE FROM sessions WHERE user_name = :user_name;

-- name: put_push
INSERT INTO pushes (session, endpoint, public_key, auth, wishes, created_at)
VALUES (:session, :endpoint, :public_key, :auth, :wishes, :now)
ON CONFLICT (session) DO UPDATE SET endpoint = excluded.endpoint, public_key = excluded.public_key, auth = excluded.auth;

-- name: put_push_wishes
UPDATE pushes SET wishes = :wishes WHERE session = :session;

-- name: drop_push_at
DELETE FROM pushes WHERE endpoint = :endpoint AND session <> :session;

-- name: drop_push_of
DELETE FROM pushes WHERE session = :session
AND EXISTS (SELECT 1 FROM sessions WHERE sessions.hash = pushes.session AND sessions.user_name = :user_name);

-- name: pushes
SELECT pushes.*, sessions.user_name, users.account FROM pushes
JOIN sessions ON sessions.hash = pushes.session JOIN users ON users.name = sessions.user_name
WHERE sessions.expires_at > :now AND users.revoked_at IS NULL ORDER BY pushes.created_at;

-- name: put_chat
INSERT INTO chats (kind, access, created_at) VALUES (:kind, :access, :now)
ON CONFLICT (kind) DO UPDATE SET access = excluded.access, trouble = '';

-- name: chats
SELECT * FROM chats ORDER BY kind;

-- name: chat
SELECT * FROM chats WHERE kind = :kind;

-- name: drop_chat
DELETE FROM chats WHERE kind = :kind;

-- name: hold_chat
UPDATE chats SET held_by = :process WHERE kind = :kind AND held_by = :before;

-- name: note_chat_trouble
UPDATE chats SET trouble = :trouble WHERE kind = :kind AND trouble <> :trouble;

-- name: note_chat_read
UPDATE chats SET read_to = :read_to WHERE kind = :kind;

-- name: put_chat_code
INSERT INTO chat_codes (hash, kind, user_name, room, expires_at) VALUES (:hash, :kind, :user_name, :room, :expires_at);

-- name: chat_code
SELECT chat_codes.* FROM chat_codes JOIN users ON users.name = chat_codes.user_name
WHERE hash = :hash AND kind = :kind AND users.revoked_at IS NULL;

-- name: use_chat_code
UPDATE chat_codes SET used_at = :now WHERE hash = :hash AND used_at IS NULL AND expires_at > :now;

-- name: drop_chat_codes_of
DELETE FROM chat_codes WHERE kind = :kind AND user_name = :user_name;

-- name: drop_all_chat_codes_of
DELETE FROM chat_codes WHERE user_name = :user_name;

-- name: drop_old_chat_codes
DELETE FROM chat_codes WHERE expires_at < :before;

-- name: put_chat_link
INSERT INTO chat_links (id, kind, account, room, label, user_name, wishes, created_at)
VALUES (:id, :kind, :account, :room, :label, :user_name, :wishes, :now);

-- name: chat_links
SELECT chat_links.*, users.account AS system_account FROM chat_links JOIN users ON users.name = chat_links.user_name
WHERE users.revoked_at IS NULL ORDER BY chat_links.created_at, chat_links.id;

-- name: put_chat_wishes
UPDATE chat_links SET wishes = :wishes WHERE id = :id AND user_name = :user_name;

-- name: drop_chat_link
DELETE FROM chat_links WHERE id = :id;

-- name: drop_chat_account
DELETE FROM chat_links WHERE kind = :kind AND account = :account;

-- name: drop_chat_links_of
DELETE FROM chat_links WHERE user_name = :user_name;

-- name: put_chat_message
INSERT INTO chat_messages (id, link, ask_id, shown, digest, created_at)
VALUES (:id, :link, :ask_id, :shown, :digest, :now);

-- name: chat_message
SELECT * FROM chat_messages WHERE id = :id;

-- name: chat_message_at
SELECT * FROM chat_messages WHERE link = :link AND place = :place;

-- name: note_chat_place
UPDATE chat_messages SET place = :place WHERE id = :id;

-- name: open_chat_messages
SELECT chat_messages.* FROM chat_messages JOIN chat_links ON chat_links.id = chat_messages.link
WHERE chat_messages.closed_at IS NULL AND chat_links.kind = :kind ORDER BY chat_messages.created_at;

-- name: confirm_chat_message
UPDATE chat_messages SET confirming_since = :since WHERE id = :id;

-- name: close_chat_message
UPDATE chat_messages SET closed_at = :now WHERE id = :id AND closed_at IS NULL;

-- name: drop_old_chat_messages
DELETE FROM chat_messages WHERE created_at < :before AND closed_at IS NOT NULL;

-- name: drop_old_access
DELETE FROM sessions WHERE expires_at < :now;

-- name: drop_old_links
DELETE FROM links WHERE expires_at < :now;

-- name: delegate
INSERT INTO delegations (person, delegate, since, until) VALUES (:person, :delegate, :now, :until)
ON CONFLICT (person) DO UPDATE SET delegate = excluded.delegate, since = excluded.since, until = excluded.until;

-- name: delegations
SELECT person, delegate, since, until FROM delegations WHERE until > :now ORDER BY person;

-- name: end_delegation
UPDATE delegations SET until = :now WHERE person = :person AND until > :now;

-- name: open_permissions
SELECT * FROM asks WHERE state IN ('pending', 'timed_out') AND permission = 1 AND deciders <> '' ORDER BY created_at, id;

-- name: insert_refusal
INSERT INTO refusals (id, at, wanted, why) VALUES (:id, :now, :wanted, :why);

-- name: refusals
SELECT at, wanted, why FROM refusals ORDER BY at DESC, id LIMIT :most;

-- name: drop_old_refusals
DELETE FROM refusals WHERE at < :before;

-- name: insert_token
INSERT INTO tokens (name, hash, user_name, project, created_at) VALUES (:name, :hash, :user_name, :project, :now)
ON CONFLICT (name) DO NOTHING;

-- name: drop_token
DELETE FROM tokens WHERE hash = :hash;

-- name: tokens
SELECT * FROM tokens ORDER BY name;

-- name: valid_tokens
SELECT name FROM tokens WHERE revoked_at IS NULL;

-- name: token
SELECT * FROM tokens WHERE hash = :hash AND revoked_at IS NULL;

-- name: revoke_token
UPDATE tokens SET revoked_at = :now WHERE name = :name AND revoked_at IS NULL;

-- name: revoke_tokens_of
UPDATE tokens SET revoked_at = :now WHERE user_name = :user_name AND revoked_at IS NULL;

-- name: insert_code
INSERT INTO connection_codes (hash, user_name, consent, expires_at) VALUES (:hash, :user_name, :consent, :expires_at);

-- name: code
SELECT connection_codes.* FROM connection_codes JOIN users ON users.name = connection_codes.user_name
WHERE connection_codes.hash = :hash AND users.revoked_at IS NULL;

-- name: use_code
UPDATE connection_codes SET connection = :connection WHERE hash = :hash AND connection IS NULL AND expires_at > :now;

-- name: drop_codes_of
DELETE FROM connection_codes WHERE user_name = :user_name;

-- name: drop_old_codes
DELETE FROM connection_codes WHERE expires_at < :before;

-- name: insert_connection
INSERT INTO connections (id, user_name, agent, client, client_name, resource, created_at, seen_at)
VALUES (:id, :user_name, :agent, :client, :client_name, :resource, :now, :now);

-- name: see_connection
UPDATE connections SET seen_at = :now WHERE id = :id;

-- name: connections
SELECT connections.* FROM connections JOIN users ON users.name = connections.user_name
WHERE users.revoked_at IS NULL ORDER BY connections.seen_at DESC, connections.id;

-- name: drop_connection
DELETE FROM connections WHERE id = :id;

-- name: drop_connection_of
DELETE FROM connections WHERE id = :id AND user_name = :user_name;

-- name: drop_connections_of
DELETE FROM connections WHERE user_name = :user_name;

-- name: drop_ended_connections
DELETE FROM connections
WHERE NOT EXISTS (SELECT 1 FROM connection_tokens WHERE connection = connections.id AND expires_at > :now);

-- name: insert_connection_token
INSERT INTO connection_tokens (hash, connection, kind, expires_at) VALUES (:hash, :connection, :kind, :expires_at);

-- name: connection_token
SELECT connections.*, connection_tokens.hash, connection_tokens.kind, connection_tokens.replaced_at
FROM connection_tokens JOIN connections ON connections.id = connection_tokens.connection
JOIN users ON users.name = connections.user_name
WHERE connection_tokens.hash = :hash AND connection_tokens.expires_at > :now AND users.revoked_at IS NULL;

-- name: replace_connection_token
UPDATE connection_tokens SET replaced_at = COALESCE(replaced_at, :now)
WHERE hash = :hash AND expires_at > :now AND (replaced_at IS NULL OR replaced_at > :since);

-- name: drop_old_connection_tokens
DELETE FROM connection_tokens WHERE expires_at < :now;

-- name: put_connection_request
INSERT INTO connection_requests (id, hash, mark, name, issuer, query, created_at, until, said)
VALUES (:id, :hash, :mark, :name, :issuer, :query, :now, :until, :said) ON CONFLICT (hash) DO NOTHING;

-- name: connection_request
SELECT * FROM connection_requests WHERE id = :id AND until > :now;

-- name: connection_request_like
SELECT * FROM connection_requests WHERE hash = :hash AND until > :now;

-- name: waiting_connection_requests
SELECT * FROM connection_requests WHERE said = '' AND until > :now ORDER BY created_at, id;

-- name: decide_connection_request
UPDATE connection_requests SET said = :said, until = :until, query = '' WHERE hash = :hash AND said = '';

-- name: send_connection_requests_away
UPDATE connection_requests SET said = :said, until = :until, query = '' WHERE said = '';

-- name: drop_old_connection_requests
DELETE FROM connection_requests WHERE until <= :now;

-- name: insert_operation
INSERT INTO operations (id, version, state, tool, parent, background, agent, client, project, owner, host, process,
                        lock_name, body, bytes, created_at, changed_at, started_at, put_by, say_so)
VALUES (:id, 1, :state, :tool, :parent, :background, :agent, :client, :project, :owner, :host, :process,
        :lock_name, :body, 0, :now, :now, :started_at, :put_by, :say_so);

-- name: open_commands_of
SELECT count(*) AS size FROM operations WHERE ended_at IS NULL AND parent = '' AND put_by = :put_by;

-- name: change_operation
UPDATE operations
SET version = version + 1, state = :state, process = :process, result = :result, bytes = :bytes, say_so = :say_so,
    cancelled_by = :cancelled_by, changed_at = :now, started_at = :started_at, ended_at = :ended_at,
    delivered_at = :delivered_at
WHERE id = :id AND version = :version;

-- name: operation_by_id
SELECT * FROM operations WHERE id = :id;

-- name: operations_by_prefix
SELECT id FROM operations WHERE id >= :prefix AND id < :beyond ORDER BY id;

-- name: steps_of
SELECT * FROM operations WHERE parent <> '' AND parent = :parent ORDER BY length(id), id;

-- name: operations_ahead
-- A step that goes on after its sequence keeps the lock of that.
SELECT * FROM operations
WHERE project = :project AND host = :host AND ended_at IS NULL AND id <> :id
  AND (lock_name = :lock_name OR EXISTS (
    SELECT 1 FROM operations AS whole WHERE whole.id = operations.parent AND whole.lock_name = :lock_name
  ))
ORDER BY created_at, id;

-- name: open_operations
SELECT * FROM operations WHERE ended_at IS NULL AND host = :host ORDER BY created_at, id;

-- name: cancelled_operations
SELECT * FROM operations WHERE ended_at IS NULL AND process = :process AND cancelled_by IS NOT NULL;

-- name: recent_operations
-- A step that goes on after its sequence stands for itself.
SELECT * FROM operations
WHERE (parent = '' OR (ended_at IS NULL AND EXISTS (
    SELECT 1 FROM operations AS whole WHERE whole.id = operations.parent AND whole.ended_at IS NOT NULL
  )))
  AND (CAST(:project AS TEXT) IS NULL OR project = :project)
  AND (CAST(:person AS TEXT) IS NULL OR owner IN ('', :person))
  AND (CAST(:agent AS TEXT) IS NULL OR (agent = :agent AND client = :client AND host = :host AND background = 1))
  AND (created_at < :before_time OR (created_at = :before_time AND id < :before_id))
ORDER BY created_at DESC, id DESC LIMIT :most;

-- part: under_way
FROM operations
WHERE ended_at IS NULL AND (CAST(:person AS TEXT) IS NULL OR owner IN ('', :person))
  AND (CAST(:project AS TEXT) IS NULL OR project = :project)
  AND (CAST(:agent AS TEXT) IS NULL OR (agent = :agent AND client = :client AND host = :host AND background = 1))
  AND (parent = '' OR EXISTS (
    SELECT 1 FROM operations AS whole WHERE whole.id = operations.parent AND whole.ended_at IS NOT NULL
  ))

-- name: operations_under_way
SELECT * {under_way}
ORDER BY created_at DESC, id DESC LIMIT :most;

-- name: operations_under_way_size
SELECT count(*) AS size {under_way};

-- name: operations_ended
SELECT * FROM operations
WHERE ended_at IS NOT NULL AND parent = '' AND (CAST(:person AS TEXT) IS NULL OR owner IN ('', :person))
  AND (CAST(:project AS TEXT) IS NULL OR project = :project)
  AND (ended_at < :before_time OR (ended_at = :before_time AND id < :before_id))
ORDER BY ended_at DESC, id DESC LIMIT :most;

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

-- name: add_project
INSERT INTO projects (id, owner, host, directory, name, options, created_at)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM projects), :owner, :host, :directory, :name, :options, :now)
ON CONFLICT (owner, host, directory)
DO UPDATE SET name = excluded.name, options = excluded.options, removed_at = NULL;

-- name: project_at
SELECT * FROM projects WHERE owner = :owner AND host = :host AND directory = :directory;

-- name: project_by_id
SELECT * FROM projects WHERE id = :id;

-- name: projects
SELECT * FROM projects
WHERE removed_at IS NULL AND host = :host AND (CAST(:owner AS TEXT) IS NULL OR owner = :owner)
ORDER BY name, id;

-- name: remove_project
UPDATE projects SET removed_at = :now WHERE id = :id AND removed_at IS NULL;

-- name: lock_user
-- Whoever starts a run waits for whoever else starts one for the same user, so that both are counted.
UPDATE users SET name = name WHERE name = :name;

-- name: insert_run
INSERT INTO runs (id, version, state, project_id, user_name, conversation, turn, token, agent, session, host, process,
                  prompt, seen, events, started_at, changed_at, line, said, untaken, choices)
VALUES (:id, 1, 'running', :project_id, :user_name, :conversation, :turn, :token, :agent, :session, :host, :process,
        :prompt, :seen, 0, :now, :now, :line, :said, :untaken, :choices);

-- name: change_run
UPDATE runs
SET version = version + 1, state = :state, token = :token, session = :session, process = :process, ending = :ending,
    stopped_by = :stopped_by, changed_at = :now, ended_at = :ended_at
WHERE id = :id AND version = :version;

-- name: say_to_run
UPDATE runs SET said = said + 1, untaken = untaken + :messages, choices = :choices, version = version + 1, changed_at = :now
WHERE id = :id AND ended_at IS NULL RETURNING said;

-- name: choose_for_run
UPDATE runs SET choices = :choices, version = version + 1 WHERE id = :id;

-- name: start_line
UPDATE runs SET line = id, token = :token, said = :said, untaken = :messages, seen = 0, version = version + 1, changed_at = :now
WHERE id = :id AND ended_at IS NULL;

-- name: take_in
-- Hands out the numbers of new events; the row stays locked until they are there, so that none is seen before another.
UPDATE runs SET events = events + :count, seen = :seen, untaken = untaken - :taken
WHERE id = :id AND process = :process RETURNING events;

-- name: append_events
UPDATE runs SET events = events + :count WHERE id = :id RETURNING events;

-- name: run_by_id
SELECT * FROM runs WHERE id = :id;

-- name: run_by_token
SELECT * FROM runs WHERE token IS NOT NULL AND token = :token;

-- name: open_runs
SELECT * FROM runs WHERE ended_at IS NULL AND user_name = :user_name ORDER BY started_at, id;

-- name: open_runs_here
SELECT * FROM runs WHERE ended_at IS NULL AND host = :host ORDER BY started_at, id;

-- name: latest_on_line
SELECT * FROM runs WHERE conversation = (SELECT conversation FROM runs WHERE id = :line) AND line = :line
ORDER BY turn DESC LIMIT 1;

-- name: latest_in_session
SELECT * FROM runs WHERE user_name = :user_name AND session = :session ORDER BY started_at DESC, id DESC LIMIT 1;

-- name: taken_over_from
SELECT id FROM runs WHERE user_name = :user_name AND id = conversation AND choices LIKE :named
ORDER BY started_at DESC, id DESC LIMIT 10;

-- name: turns_of
SELECT * FROM runs WHERE conversation = :conversation ORDER BY turn;

-- name: conversations
SELECT latest.*, first.prompt AS first_prompt, marks.title, marks.archived_at, marks.seen_at
FROM runs AS latest JOIN runs AS first ON first.id = latest.conversation
LEFT JOIN conversations AS marks ON marks.id = latest.conversation
WHERE latest.user_name = :user_name
  AND (latest.started_at < :before_time OR (latest.started_at = :before_time AND latest.id < :before_id))
  AND NOT EXISTS (SELECT 1 FROM runs AS later WHERE later.conversation = latest.conversation AND later.turn > latest.turn)
  AND CASE WHEN marks.archived_at IS NULL THEN 0 ELSE 1 END = :archived
ORDER BY latest.started_at DESC, latest.id DESC LIMIT :most;

-- name: conversation_by_id
SELECT latest.*, first.prompt AS first_prompt, marks.title, marks.archived_at, marks.seen_at
FROM runs AS latest JOIN runs AS first ON first.id = latest.conversation
LEFT JOIN conversations AS marks ON marks.id = latest.conversation
WHERE latest.conversation = :id ORDER BY latest.turn DESC LIMIT 1;

-- name: conversation_versions
-- What tells whether that list has changed, without the texts in it.
SELECT latest.id, latest.version, latest.events, marks.title, marks.seen_at
FROM runs AS latest LEFT JOIN conversations AS marks ON marks.id = latest.conversation
WHERE latest.user_name = :user_name
  AND NOT EXISTS (SELECT 1 FROM runs AS later WHERE later.conversation = latest.conversation AND later.turn > latest.turn)
  AND marks.archived_at IS NULL
ORDER BY latest.started_at DESC, latest.id DESC LIMIT :most;

-- name: conversation_stamp
-- What tells whether there is anything new in one, without any of it.
SELECT count(*) AS turns, sum(version) AS versions, sum(events) AS events,
       (SELECT id FROM runs WHERE conversation = :conversation ORDER BY turn DESC LIMIT 1) AS latest,
       (SELECT count(*) FROM queued_messages WHERE conversation = :conversation) AS queued
FROM runs WHERE conversation = :conversation;

-- name: texts_of_conversations
SELECT runs.id, runs.started_at, runs.conversation, runs.prompt, marks.title
FROM runs LEFT JOIN conversations AS marks ON marks.id = runs.conversation
WHERE runs.user_name = :user_name AND (runs.started_at, runs.id) < (:before_time, :before_id)
ORDER BY runs.started_at DESC, runs.id DESC LIMIT :most;

-- name: said_in_conversations
SELECT runs.conversation, said.body
FROM runs JOIN run_events AS said ON said.run_id = runs.id AND said.kind = 'said'
WHERE runs.user_name = :user_name AND (runs.started_at, runs.id) < (:before_time, :before_id)
  AND (runs.started_at, runs.id) >= (:last_time, :last_id);

-- name: latest_offers
-- An agent tells them as its process begins. Of some that begin, it is known by now.
SELECT * FROM run_events
WHERE kind = 'offers' AND run_id IN (
    SELECT id FROM runs
    WHERE user_name = :user_name AND agent = :agent AND line = id
      AND (CAST(:project_id AS BIGINT) IS NULL OR project_id = :project_id)
    ORDER BY started_at DESC, id DESC LIMIT 5)
ORDER BY at DESC, run_id DESC LIMIT 1;

-- name: marks_of_conversation
SELECT * FROM conversations WHERE id = :id;

-- name: name_conversation
INSERT INTO conversations (id, title) VALUES (:id, :title) ON CONFLICT (id) DO UPDATE SET title = excluded.title;

-- name: archive_conversation
INSERT INTO conversations (id, archived_at) VALUES (:id, :at)
ON CONFLICT (id) DO UPDATE SET archived_at = excluded.archived_at;

-- name: see_conversation
INSERT INTO conversations (id, seen_at) VALUES (:id, :at) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at;

-- name: old_runs
-- Whole conversations go, so that no turn stands without those before it.
SELECT * FROM runs AS old
WHERE old.ended_at < :ended_before AND old.host = :host
  AND NOT EXISTS (SELECT 1 FROM runs AS other WHERE other.conversation = old.conversation
                  AND (other.ended_at IS NULL OR other.ended_at >= :ended_before))
ORDER BY old.ended_at LIMIT :most;

-- name: delete_run
DELETE FROM runs WHERE id = :id;

-- name: insert_run_event
INSERT INTO run_events (run_id, seq, at, kind, body) VALUES (:run_id, :seq, :at, :kind, :body);

-- name: insert_picture
INSERT INTO pictures (run_id, seq, number, media, data) VALUES (:run_id, :seq, :number, :media, :data);

-- name: picture
SELECT media, data FROM pictures WHERE run_id = :run_id AND seq = :seq AND number = :number;

-- name: run_events
SELECT * FROM run_events WHERE run_id = :run_id AND seq > :after ORDER BY seq LIMIT :most;

-- name: run_events_of_kind
SELECT * FROM run_events WHERE run_id = :run_id AND kind = :kind ORDER BY seq;

-- name: last_said_or_done
SELECT * FROM run_events WHERE run_id = :run_id AND kind IN ('text', 'tool', 'said') ORDER BY seq DESC LIMIT 1;

-- name: change_run_event
UPDATE run_events SET body = :body WHERE run_id = :run_id AND seq = :seq;

-- name: drop_deltas
DELETE FROM run_events WHERE run_id = :run_id AND kind = 'delta';

-- name: queue_message
INSERT INTO queued_messages (id, conversation, after_run, text, at) VALUES (:id, :conversation, :after_run, :text, :now);

-- name: queue_picture
INSERT INTO queued_pictures (message_id, number, media, data) VALUES (:message_id, :number, :media, :data);

-- name: queued_pictures
SELECT media, data FROM queued_pictures WHERE message_id = :message_id ORDER BY number;

-- name: queued_messages
SELECT queued.*, (SELECT COUNT(*) FROM queued_pictures WHERE message_id = queued.id) AS pictures
FROM queued_messages AS queued WHERE conversation = :conversation ORDER BY at, id;

-- name: change_queued
UPDATE queued_messages SET text = :text, after_run = :after_run WHERE id = :id AND conversation = :conversation;

-- name: remove_queued
DELETE FROM queued_messages WHERE id = :id AND conversation = :conversation;

-- name: take_queued
DELETE FROM queued_messages WHERE id = :id AND conversation = :conversation RETURNING text;

-- name: pass_queue_on
-- What was to follow one run follows the next.
UPDATE queued_messages SET after_run = :next_run WHERE conversation = :conversation AND after_run = :after_run;

-- name: due_messages
SELECT queued.*, 0 AS pictures FROM queued_messages AS queued JOIN runs ON runs.id = queued.after_run
WHERE runs.host = :host AND runs.state = 'completed'
  AND NOT EXISTS (SELECT 1 FROM runs AS later WHERE later.conversation = runs.conversation AND later.turn > runs.turn)
ORDER BY queued.at, queued.id;

-- name: lengthen_log
-- Hands out the next numbers of the log. The row stays locked until they are there, so that all writers form one chain.
INSERT INTO permission_log_end (id, seq, hash) VALUES (1, :count, '')
ON CONFLICT (id) DO UPDATE SET seq = permission_log_end.seq + excluded.seq RETURNING seq, hash;

-- name: end_log
UPDATE permission_log_end SET hash = :hash WHERE id = 1;

-- name: log_end
SELECT seq, hash FROM permission_log_end WHERE id = 1;

-- name: insert_log
INSERT INTO permission_log (seq, at, kind, ask_id, digest, project, owner, operation_id, body, previous, hash)
VALUES (:seq, :at, :kind, :ask_id, :digest, :project, :owner, :operation_id, :body, :previous, :hash);

-- name: keep_action
INSERT INTO permission_actions (digest, body) VALUES (:digest, :body) ON CONFLICT (digest) DO NOTHING;

-- name: kept_action
SELECT body FROM permission_actions WHERE digest = :digest;

-- name: log_outcomes
-- What was decided or refused, newest first.
SELECT * FROM permission_log
WHERE kind IN ('allowed', 'denied', 'undecided', 'decided_elsewhere', 'noted', 'too_late', 'refused', 'rule_added',
               'rule_ended', 'delegated', 'rules_changed', 'restored')
  AND seq < :before AND at >= :since
  AND (CAST(:only_refused AS INTEGER) IS NULL OR
       kind NOT IN ('allowed', 'rule_added', 'rule_ended', 'delegated', 'rules_changed', 'restored'))
  AND (CAST(:project AS TEXT) IS NULL OR project = :project)
  AND (CAST(:person AS TEXT) IS NULL OR owner IN ('', :person))
ORDER BY seq DESC LIMIT :most;

-- name: log_verdicts
-- What people and rules have decided since then, oldest first.
SELECT * FROM permission_log WHERE kind IN ('allowed', 'denied') AND at >= :since ORDER BY seq;

-- name: log_decisions
-- What was asked and what became of it since then, oldest first.
SELECT * FROM permission_log
WHERE kind IN ('asked', 'allowed', 'denied', 'undecided') AND at >= :since
  AND (CAST(:person AS TEXT) IS NULL OR owner IN ('', :person))
ORDER BY seq;

-- name: log_projects
SELECT DISTINCT project FROM permission_log
WHERE project <> '' AND (CAST(:person AS TEXT) IS NULL OR owner IN ('', :person))
ORDER BY project LIMIT :most;

-- name: log_of_ask
SELECT * FROM permission_log WHERE ask_id <> '' AND ask_id = :ask_id ORDER BY seq;

-- name: first_log_of_ask
SELECT * FROM permission_log WHERE ask_id <> '' AND ask_id = :ask_id ORDER BY seq LIMIT 1;

-- name: log_allowing
SELECT * FROM permission_log WHERE digest <> '' AND digest = :digest AND kind = 'allowed' ORDER BY seq DESC LIMIT :most;

-- name: log_of_run
SELECT * FROM permission_log WHERE operation_id <> '' AND operation_id = :operation_id AND kind = 'run' ORDER BY seq;

-- name: log_asks_by_prefix
SELECT DISTINCT ask_id FROM permission_log WHERE ask_id <> '' AND ask_id >= :prefix AND ask_id < :beyond
ORDER BY ask_id;

-- name: note_allowed_by
UPDATE operations SET allowed_by = :ask_id WHERE id = :id;

-- name: runs_not_logged
-- Commands that were run under a permission, and of which the log says nothing.
SELECT id FROM operations
WHERE allowed_by <> '' AND created_at >= :since AND NOT EXISTS (
  SELECT 1 FROM permission_log WHERE operation_id <> '' AND operation_id = operations.id AND kind = 'run'
)
ORDER BY id LIMIT :most;

-- name: permissions_after
SELECT * FROM asks WHERE permission = 1 AND created_at >= :since AND id > :after ORDER BY id LIMIT :most;

-- name: log_size
SELECT count(*) AS size FROM permission_log;

-- name: log_after
SELECT * FROM permission_log WHERE seq > :after ORDER BY seq LIMIT :most;

-- name: actions_after
SELECT digest, body FROM permission_actions WHERE digest > :after ORDER BY digest LIMIT :most;

-- name: log_overdue
SELECT 1 AS found FROM permission_log WHERE at < :overdue LIMIT 1;

-- name: log_front
-- The oldest rows, as far as no row before them is still to be kept.
SELECT * FROM permission_log
WHERE seq < coalesce((SELECT min(seq) FROM permission_log WHERE at >= :before), :beyond)
ORDER BY seq LIMIT :most;

-- name: drop_log_front
DELETE FROM permission_log WHERE seq <= :through;

-- name: drop_action
DELETE FROM permission_actions
WHERE digest = :digest AND NOT EXISTS (SELECT 1 FROM permission_log WHERE permission_log.digest = :digest AND permission_log.digest <> '');

-- name: insert_session_rule
INSERT INTO session_rules (id, patterns, ask, person, client, host, project, session, process, owner, created_at)
VALUES (:id, :patterns, :ask, :person, :client, :host, :project, :session, :process, :owner, :created_at);

-- name: rules_of_session
SELECT * FROM session_rules
WHERE ended_at IS NULL AND created_at >= :since AND session = :session AND process = :process
  AND client = :client AND host = :host AND project = :project
ORDER BY created_at, id;

-- name: session_rules
SELECT * FROM session_rules WHERE ended_at IS NULL AND created_at >= :since ORDER BY created_at, id;

-- name: end_session_rule
UPDATE session_rules SET ended_at = :now WHERE id = :id AND ended_at IS NULL;
