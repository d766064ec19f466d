/**
 * The functions of the database. `arcp_commit` applies a group of commits, and `arcp_claim` gives jobs to a worker, each in one round trip.
 *
 * A group of commits has the id of its writer and a number that increases. A caller without an answer, because the connection was lost, repeats the
 * call with the same number: the second call waits for the first, and returns its result. So a group is applied once, and its outcome is never
 * guessed. A writer has one call at a time, so that one row for each is enough.
 *
 * Numbers of events are taken while the row of their session is locked. Within a session they thus increase in the order of the commits, so
 * that a reader can continue after the last one that it has seen; a sequence alone does not guarantee that. Sessions do not wait for each other.
 * The rows of jobs are locked for their events, too, since those of one job may be sent to several sessions.
 *
 * All locks are taken in one order: writer, sessions, records, jobs, each by their keys. Two transactions that add the same record may still wait
 * for each other; PostgreSQL ends one of them, which is repeated.
 */

/** The number of times that a commit is applied after another transaction has added one of its records. The second one finds the record. */
const TRIES = 3;

/** The class of the advisory locks of slots, which a connection holds until it ends. */
const SLOT_LOCK = 0x50_45_47;

/**
 * Settings of functions that find rows by indexes. Their statements are planned once for each connection, perhaps while the tables are small, and
 * must not scan them later; nor must short lists be planned each time.
 */
const BY_KEYS = `SET plan_cache_mode = force_generic_plan SET jit = off
      SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

/** Returns the statements that create the functions. @param s the quoted schema */
export const functions = (s: string): string => `
  -- Those of version 1.
  DROP TRIGGER IF EXISTS arcp_count ON ${s}.arcp_job;
  DROP FUNCTION IF EXISTS ${s}.arcp_now, ${s}.arcp_count, ${s}.arcp_apply, ${s}.arcp_commit, ${s}.arcp_forget;

  -- The clock of all runtimes, in milliseconds since 1970.
  CREATE FUNCTION ${s}.arcp_now() RETURNS double precision LANGUAGE sql VOLATILE AS
    'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::double precision';

  -- Each connection has a slot of its own, so that none waits for another one.
  CREATE FUNCTION ${s}.arcp_count() RETURNS trigger LANGUAGE plpgsql AS $count$
    DECLARE
      change integer := -1;
      v_slot integer := nullif(current_setting('arcp.slot', true), '');
    BEGIN
      IF v_slot IS NULL THEN
        v_slot := 0;
        WHILE NOT pg_try_advisory_lock(${SLOT_LOCK}, v_slot) LOOP v_slot := v_slot + 1; END LOOP;
        PERFORM set_config('arcp.slot', v_slot::text, false);
      END IF;
      IF TG_OP <> 'DELETE' AND NEW.state = 'queued' THEN change := 1; END IF;
      INSERT INTO ${s}.arcp_queue AS q VALUES (coalesce(NEW.queue, OLD.queue), v_slot, change)
        ON CONFLICT (queue, slot) DO UPDATE SET queued = q.queued + change;
      RETURN NULL;
    END $count$;
  CREATE TRIGGER arcp_count_new AFTER INSERT ON ${s}.arcp_job
    FOR EACH ROW WHEN (NEW.state = 'queued') EXECUTE FUNCTION ${s}.arcp_count();
  CREATE TRIGGER arcp_count_changed AFTER UPDATE OF state ON ${s}.arcp_job
    FOR EACH ROW WHEN ((OLD.state = 'queued') <> (NEW.state = 'queued')) EXECUTE FUNCTION ${s}.arcp_count();
  CREATE TRIGGER arcp_count_removed AFTER DELETE ON ${s}.arcp_job
    FOR EACH ROW WHEN (OLD.state = 'queued') EXECUTE FUNCTION ${s}.arcp_count();

  -- Applies one commit, whose rows are locked. All expectations are checked before any change. Loops over numbers are faster than those over queries.
  CREATE FUNCTION ${s}.arcp_apply(c jsonb, v_now double precision) RETURNS jsonb LANGUAGE plpgsql AS $apply$
    DECLARE
      x jsonb;
      v_records integer := coalesce(jsonb_array_length(c->'records'), 0) - 1;
      v_new_jobs integer := coalesce(jsonb_array_length(c->'newJobs'), 0) - 1;
      v_jobs integer := coalesce(jsonb_array_length(c->'jobs'), 0) - 1;
      v_record ${s}.arcp_record;
      v_job ${s}.arcp_job;
      v_queued bigint;
      v_session text;
      v_sequence bigint;
      v_previous bigint;
      v_positions jsonb[] := '{}';
    BEGIN
      FOR i IN 0..v_records LOOP
        x := jsonb_extract_path(c, 'records', i::text);
        CONTINUE WHEN NOT x ? 'expect';
        SELECT * INTO v_record FROM ${s}.arcp_record WHERE scope = x->>'scope' AND key = x->>'key';
        IF coalesce(v_record.version, 0) <> (x->>'expect')::integer THEN
          RETURN jsonb_build_object('outcome', 'conflict', 'scope', x->'scope', 'key', x->'key',
            'found', CASE WHEN v_record.key IS NOT NULL THEN to_jsonb(v_record) END);
        END IF;
      END LOOP;
      FOR i IN 0..v_jobs LOOP
        x := jsonb_extract_path(c, 'jobs', i::text);
        SELECT * INTO v_job FROM ${s}.arcp_job WHERE job_id = x->>'jobId';
        IF v_job.job_id IS NULL OR NOT (x->'states' ? v_job.state)
            OR v_job.attempt <> (x->>'attempt')::integer OR v_job.status <> x->>'status' THEN
          RETURN jsonb_build_object('outcome', 'fenced', 'jobId', x->'jobId',
            'found', CASE WHEN v_job.job_id IS NOT NULL THEN to_jsonb(v_job) END);
        END IF;
      END LOOP;
      IF c ? 'maxQueued' THEN
        FOR i IN 0..v_new_jobs LOOP
          SELECT coalesce(sum(queued), 0) INTO v_queued FROM ${s}.arcp_queue
            WHERE queue = jsonb_extract_path_text(c, 'newJobs', i::text, 'queue');
          IF v_queued >= (c->>'maxQueued')::double precision THEN
            RETURN jsonb_build_object('outcome', 'full', 'queued', v_queued);
          END IF;
        END LOOP;
      END IF;

      FOR i IN 0..v_records LOOP
        x := jsonb_extract_path(c, 'records', i::text);
        CONTINUE WHEN NOT x ? 'value';
        IF jsonb_typeof(x->'value') = 'null' THEN
          DELETE FROM ${s}.arcp_record WHERE scope = x->>'scope' AND key = x->>'key';
        ELSE
          INSERT INTO ${s}.arcp_record AS r VALUES (x->>'scope', x->>'key', x->>'value', 1, x->>'owner', v_now)
            ON CONFLICT (scope, key) DO UPDATE SET value = excluded.value, version = r.version + 1,
              owner = coalesce(excluded.owner, r.owner), at = excluded.at
              WHERE NOT x ? 'expect' OR r.version = (x->>'expect')::integer;
          IF NOT FOUND THEN
            -- Another transaction has added the record since.
            RAISE unique_violation USING CONSTRAINT = 'arcp_record_key';
          END IF;
        END IF;
      END LOOP;
      FOR i IN 0..v_new_jobs LOOP
        x := jsonb_extract_path(c, 'newJobs', i::text);
        INSERT INTO ${s}.arcp_job (job_id, session_id, principal, queue, priority, state, attempt, due_at, lease_owner,
            lease_expires_at, spec, status, created_at, ended_at)
          VALUES (x->>'jobId', x->>'sessionId', x->>'principal', x->>'queue', (x->>'priority')::double precision, x->>'state',
            (x->>'attempt')::integer, v_now + coalesce((x->>'delayMs')::double precision, 0), x->'lease'->>'worker',
            v_now + (x->'lease'->>'leaseMs')::double precision, x->>'spec', x->>'status', v_now,
            CASE WHEN x->>'state' IN ('completed', 'failed', 'cancelled') THEN v_now END);
      END LOOP;
      FOR i IN 0..v_jobs LOOP
        x := jsonb_extract_path(c, 'jobs', i::text);
        CONTINUE WHEN x->'set' = '{}';
        UPDATE ${s}.arcp_job SET
            state = coalesce(x->'set'->>'state', state),
            status = coalesce(x->'set'->>'status', status),
            due_at = coalesce(v_now + (x->'set'->>'delayMs')::double precision, due_at),
            lease_owner = CASE WHEN coalesce(x->'set'->>'state', state) IN ('running', 'blocked') THEN lease_owner END,
            lease_expires_at = CASE WHEN coalesce(x->'set'->>'state', state) IN ('running', 'blocked') THEN lease_expires_at END,
            ended_at = CASE WHEN coalesce(x->'set'->>'state', state) IN ('completed', 'failed', 'cancelled')
              THEN coalesce(ended_at, v_now) END
          WHERE job_id = x->>'jobId';
      END LOOP;
      FOR i IN 0..coalesce(jsonb_array_length(c->'events'), 0) - 1 LOOP
        x := jsonb_extract_path(c, 'events', i::text);
        IF v_session IS DISTINCT FROM x->>'sessionId' THEN
          IF v_session IS NOT NULL THEN
            UPDATE ${s}.arcp_session SET last = v_sequence WHERE session_id = v_session;
          END IF;
          v_session := x->>'sessionId';
          SELECT last INTO v_sequence FROM ${s}.arcp_session WHERE session_id = v_session;
        END IF;
        v_previous := v_sequence;
        v_sequence := nextval('${s}.arcp_number');
        INSERT INTO ${s}.arcp_event VALUES (v_sequence, x->>'id', x->>'type', v_session, x->>'jobId', x->>'streamId',
          x->>'traceId', coalesce((x->>'isTerminal')::boolean, false), x->>'body', v_now);
        v_positions := v_positions || jsonb_build_object('sequence', v_sequence, 'previous', v_previous);
      END LOOP;
      IF v_session IS NOT NULL THEN
        UPDATE ${s}.arcp_session SET last = v_sequence WHERE session_id = v_session;
      END IF;
      RETURN jsonb_build_object('outcome', 'done', 'positions', to_jsonb(v_positions));
    END $apply$;

  -- Applies a group of commits, or returns its result if it was applied before; NULL for a late call of an earlier group. If v_apart, a commit
  -- with invalid values fails alone; otherwise, it fails the call, since savepoints cost much. The other parameters are the rows to lock.
  CREATE FUNCTION ${s}.arcp_commit(v_writer text, v_number bigint, v_apart boolean, v_sessions text[], v_scopes text[], v_keys text[],
      v_jobs text[], v_commits jsonb) RETURNS jsonb LANGUAGE plpgsql
      ${BY_KEYS} AS $commit$
    DECLARE
      c jsonb;
      v_now double precision;
      v_last ${s}.arcp_writer;
      v_locked integer;
      v_result jsonb;
      v_results jsonb[] := '{}';
      v_constraint text;
    BEGIN
      LOOP
        -- Waits while another call of the writer is being applied.
        SELECT * INTO v_last FROM ${s}.arcp_writer WHERE id = v_writer FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO ${s}.arcp_writer VALUES (v_writer, 0, NULL, ${s}.arcp_now()) ON CONFLICT DO NOTHING;
      END LOOP;
      IF v_last.number >= v_number THEN
        RETURN CASE WHEN v_last.number = v_number THEN v_last.result END;
      END IF;
      WHILE v_sessions <> '{}' LOOP
        -- A new row is locked, and so comes before the locks of the others.
        IF (SELECT count(*) FROM ${s}.arcp_session WHERE session_id = ANY(v_sessions)) < cardinality(v_sessions) THEN
          INSERT INTO ${s}.arcp_session SELECT unnest(v_sessions), 0 ON CONFLICT DO NOTHING;
        END IF;
        PERFORM 1 FROM ${s}.arcp_session WHERE session_id = ANY(v_sessions) ORDER BY session_id FOR UPDATE;
        GET DIAGNOSTICS v_locked = ROW_COUNT;
        -- A session without events may have been removed in between.
        EXIT WHEN v_locked = cardinality(v_sessions);
      END LOOP;
      IF v_scopes <> '{}' THEN
        PERFORM 1 FROM unnest(v_scopes, v_keys) AS k(scope, key) JOIN ${s}.arcp_record AS r USING (scope, key)
          ORDER BY r.scope, r.key FOR UPDATE OF r;
      END IF;
      IF v_jobs <> '{}' THEN
        PERFORM 1 FROM ${s}.arcp_job WHERE job_id = ANY(v_jobs) ORDER BY job_id FOR UPDATE;
      END IF;
      v_now := ${s}.arcp_now();
      FOR i IN 0..jsonb_array_length(v_commits) - 1 LOOP
        c := v_commits->i;
        IF NOT v_apart THEN
          v_results := v_results || ${s}.arcp_apply(c, v_now);
          CONTINUE;
        END IF;
        FOR v_try IN 1..${TRIES} LOOP
          BEGIN
            v_result := ${s}.arcp_apply(c, v_now);
            EXIT;
          EXCEPTION WHEN integrity_constraint_violation OR data_exception OR program_limit_exceeded THEN
            GET STACKED DIAGNOSTICS v_constraint = CONSTRAINT_NAME;
            -- Other errors than that of a second record with the key have the name, too.
            IF SQLSTATE <> '23505' OR v_constraint IS DISTINCT FROM 'arcp_record_key' OR v_try = ${TRIES} THEN
              v_result := jsonb_build_object('outcome', 'failed', 'message', SQLERRM);
              EXIT;
            END IF;
          END;
        END LOOP;
        v_results := v_results || v_result;
      END LOOP;
      v_result := jsonb_build_object('now', v_now, 'results', to_jsonb(v_results));
      UPDATE ${s}.arcp_writer SET number = v_number, result = v_result, at = v_now WHERE id = v_writer;
      RETURN v_result;
    END $commit$;

  CREATE FUNCTION ${s}.arcp_claim(v_worker text, v_queues text[], v_lease_ms double precision, v_limit bigint)
      RETURNS SETOF ${s}.arcp_job LANGUAGE plpgsql
      ${BY_KEYS} AS $claim$
    DECLARE
      v_now double precision := ${s}.arcp_now();
    BEGIN
      -- For each queue, an index has the order.
      RETURN QUERY WITH due AS (
        SELECT queued.* FROM unnest(v_queues) AS each(name) CROSS JOIN LATERAL (SELECT job_id, priority, due_at FROM ${s}.arcp_job
          WHERE state = 'queued' AND queue = each.name AND due_at <= v_now
          ORDER BY priority DESC, due_at, number LIMIT v_limit FOR UPDATE SKIP LOCKED) AS queued
        UNION ALL
        SELECT lost.* FROM (SELECT job_id, priority, due_at FROM ${s}.arcp_job
          WHERE lease_expires_at <= v_now AND queue = ANY(v_queues)
          ORDER BY lease_expires_at LIMIT v_limit FOR UPDATE SKIP LOCKED) AS lost
      )
      UPDATE ${s}.arcp_job AS j SET state = 'running', attempt = j.attempt + 1, lease_owner = v_worker,
        lease_expires_at = v_now + v_lease_ms
      WHERE j.job_id = ANY(ARRAY(SELECT due.job_id FROM due ORDER BY due.priority DESC, due.due_at LIMIT v_limit))
      RETURNING j.*;
    END $claim$;

  -- Removes the rows of sessions that have no events.
  CREATE FUNCTION ${s}.arcp_forget(v_sessions text[]) RETURNS void LANGUAGE plpgsql AS $forget$
    BEGIN
      PERFORM 1 FROM ${s}.arcp_session WHERE session_id = ANY(v_sessions) ORDER BY session_id FOR UPDATE;
      -- This statement sees the events of those who had the locks before.
      DELETE FROM ${s}.arcp_session AS t WHERE session_id = ANY(v_sessions)
        AND NOT EXISTS (SELECT 1 FROM ${s}.arcp_event AS e WHERE e.session_id = t.session_id);
    END $forget$;
`;
