/**
 * The tables of runtimes in PostgreSQL, and the function that commits.
 *
 * A group of commits is one call of `arcp_commit`, with the id of the writer and a number that increases. A caller without an answer, because the
 * connection was lost, repeats the call with the same number: the second call waits for the first, and returns its result. So a group is applied
 * once, and its outcome is never guessed. A writer has one call at a time, so that one row for each is enough.
 *
 * Numbers of events are taken while the row of their session is locked. Within a session they thus increase in the order of the commits, so
 * that a reader can continue after the last one that it has seen; a sequence alone does not guarantee that. Sessions do not wait for each other.
 * The rows of jobs are locked for their events, too, since those of one job may be sent to several sessions.
 *
 * All locks are taken in one order: writer, sessions, records, jobs, queues, each by their keys.
 */
import type { PostgresFormat } from '../../../storage/postgres/migrate.js';

/** The number of times that a commit is applied after another transaction has added one of its records. The second one finds the record. */
const TRIES = 3;

export const RUNTIME_FORMAT: PostgresFormat = {
  name: 'ARCP runtimes',
  prefix: 'arcp',
  migrations: [
    (s) => `
  CREATE SEQUENCE ${s}.arcp_number;
  CREATE TABLE ${s}.arcp_session (
    session_id text COLLATE "C" PRIMARY KEY,
    -- The number of its last event.
    last bigint NOT NULL
  ) WITH (fillfactor = 50);
  CREATE TABLE ${s}.arcp_event (
    sequence bigint PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    type text NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C",
    stream_id text,
    trace_id text COLLATE "C",
    terminal boolean NOT NULL,
    body text NOT NULL,
    -- Milliseconds since 1970.
    at double precision NOT NULL
  );
  CREATE INDEX ON ${s}.arcp_event (session_id, sequence);
  CREATE INDEX ON ${s}.arcp_event (job_id, sequence) WHERE job_id IS NOT NULL;
  CREATE INDEX ON ${s}.arcp_event (trace_id, sequence) WHERE trace_id IS NOT NULL;
  CREATE INDEX ON ${s}.arcp_event (at) WHERE job_id IS NULL;
  -- A job ends once, whichever process writes.
  CREATE UNIQUE INDEX ON ${s}.arcp_event (job_id) WHERE terminal;

  CREATE TABLE ${s}.arcp_job (
    number bigserial PRIMARY KEY,
    job_id text COLLATE "C" NOT NULL UNIQUE,
    session_id text COLLATE "C" NOT NULL,
    principal text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    priority double precision NOT NULL,
    state text NOT NULL,
    attempt integer NOT NULL,
    due_at double precision NOT NULL,
    lease_owner text,
    lease_expires_at double precision,
    spec text NOT NULL,
    status text NOT NULL,
    created_at double precision NOT NULL,
    ended_at double precision
  ) WITH (fillfactor = 50);
  CREATE INDEX ON ${s}.arcp_job (queue, priority DESC, due_at, number) WHERE state = 'queued';
  CREATE INDEX ON ${s}.arcp_job (queue, due_at) WHERE state = 'queued';
  CREATE INDEX ON ${s}.arcp_job (lease_expires_at) WHERE lease_expires_at IS NOT NULL;
  CREATE INDEX ON ${s}.arcp_job (session_id, number);
  CREATE INDEX ON ${s}.arcp_job (principal, number);
  CREATE INDEX ON ${s}.arcp_job (state, number) WHERE ended_at IS NULL;
  CREATE INDEX ON ${s}.arcp_job (ended_at) WHERE ended_at IS NOT NULL;

  CREATE TABLE ${s}.arcp_record (
    scope text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text NOT NULL,
    version integer NOT NULL,
    owner text COLLATE "C",
    -- Milliseconds since 1970.
    at double precision NOT NULL,
    CONSTRAINT arcp_record_key PRIMARY KEY (scope, key)
  ) WITH (fillfactor = 70);
  CREATE INDEX ON ${s}.arcp_record (owner) WHERE owner IS NOT NULL;
  CREATE INDEX ON ${s}.arcp_record (at) WHERE owner IS NULL;

  -- The number of waiting jobs, since counting them takes longer the more there are. It is the sum of several slots, of which each
  -- connection uses one, so that they seldom wait for each other.
  CREATE TABLE ${s}.arcp_queue (
    queue text COLLATE "C" NOT NULL,
    slot integer NOT NULL,
    queued bigint NOT NULL,
    PRIMARY KEY (queue, slot)
  ) WITH (fillfactor = 30);

  -- The last group of commits of each writer of the last day, with its result.
  CREATE TABLE ${s}.arcp_writer (
    id text COLLATE "C" PRIMARY KEY,
    number bigint NOT NULL,
    result jsonb,
    at double precision NOT NULL
  ) WITH (fillfactor = 30);

  -- The clock of all runtimes, in milliseconds since 1970.
  CREATE FUNCTION ${s}.arcp_now() RETURNS double precision LANGUAGE sql VOLATILE AS
    'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::double precision';

  CREATE FUNCTION ${s}.arcp_count() RETURNS trigger LANGUAGE plpgsql AS $count$
    DECLARE
      change integer := 0;
    BEGIN
      IF TG_OP <> 'DELETE' AND NEW.state = 'queued' THEN change := 1; END IF;
      IF TG_OP <> 'INSERT' AND OLD.state = 'queued' THEN change := change - 1; END IF;
      IF change <> 0 THEN
        INSERT INTO ${s}.arcp_queue AS q VALUES (coalesce(NEW.queue, OLD.queue), pg_backend_pid() % 16, change)
          ON CONFLICT (queue, slot) DO UPDATE SET queued = q.queued + change;
      END IF;
      RETURN NULL;
    END $count$;
  CREATE TRIGGER arcp_count AFTER INSERT OR DELETE OR UPDATE OF state ON ${s}.arcp_job
    FOR EACH ROW EXECUTE FUNCTION ${s}.arcp_count();

  -- Applies one commit, whose rows are locked. All expectations are checked before any change.
  CREATE FUNCTION ${s}.arcp_apply(c jsonb, v_now double precision) RETURNS jsonb LANGUAGE plpgsql AS $apply$
    DECLARE
      x jsonb;
      v_record ${s}.arcp_record;
      v_job ${s}.arcp_job;
      v_state text;
      v_queued bigint;
      v_sequence bigint;
      v_previous bigint;
      v_positions jsonb[] := '{}';
    BEGIN
      FOR x IN SELECT value FROM jsonb_array_elements(c->'records') WHERE value ? 'expect' LOOP
        SELECT * INTO v_record FROM ${s}.arcp_record WHERE scope = x->>'scope' AND key = x->>'key';
        IF coalesce(v_record.version, 0) <> (x->>'expect')::integer THEN
          RETURN jsonb_build_object('outcome', 'conflict', 'scope', x->'scope', 'key', x->'key',
            'found', CASE WHEN v_record.key IS NOT NULL THEN to_jsonb(v_record) END);
        END IF;
      END LOOP;
      FOR x IN SELECT value FROM jsonb_array_elements(c->'jobs') LOOP
        SELECT * INTO v_job FROM ${s}.arcp_job WHERE job_id = x->>'jobId';
        IF v_job.job_id IS NULL OR NOT (x->'states' ? v_job.state)
            OR v_job.attempt <> (x->>'attempt')::integer OR v_job.status <> x->>'status' THEN
          RETURN jsonb_build_object('outcome', 'fenced', 'jobId', x->'jobId',
            'found', CASE WHEN v_job.job_id IS NOT NULL THEN to_jsonb(v_job) END);
        END IF;
      END LOOP;
      IF c ? 'maxQueued' THEN
        FOR x IN SELECT value FROM jsonb_array_elements(c->'newJobs') LOOP
          SELECT coalesce(sum(queued), 0) INTO v_queued FROM ${s}.arcp_queue WHERE queue = x->>'queue';
          IF v_queued >= (c->>'maxQueued')::double precision THEN
            RETURN jsonb_build_object('outcome', 'full', 'queued', v_queued);
          END IF;
        END LOOP;
      END IF;

      FOR x IN SELECT value FROM jsonb_array_elements(c->'records') WHERE value ? 'value' LOOP
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
      FOR x IN SELECT value FROM jsonb_array_elements(c->'newJobs') LOOP
        INSERT INTO ${s}.arcp_job (job_id, session_id, principal, queue, priority, state, attempt, due_at, lease_owner,
            lease_expires_at, spec, status, created_at, ended_at)
          VALUES (x->>'jobId', x->>'sessionId', x->>'principal', x->>'queue', (x->>'priority')::double precision, x->>'state',
            (x->>'attempt')::integer, v_now + coalesce((x->>'delayMs')::double precision, 0), x->'lease'->>'worker',
            v_now + (x->'lease'->>'leaseMs')::double precision, x->>'spec', x->>'status', v_now,
            CASE WHEN x->>'state' IN ('completed', 'failed', 'cancelled') THEN v_now END);
      END LOOP;
      FOR x IN SELECT value FROM jsonb_array_elements(c->'jobs') WHERE value->'set' <> '{}' LOOP
        SELECT coalesce(x->'set'->>'state', state) INTO v_state FROM ${s}.arcp_job WHERE job_id = x->>'jobId';
        UPDATE ${s}.arcp_job SET
            state = v_state,
            status = coalesce(x->'set'->>'status', status),
            due_at = coalesce(v_now + (x->'set'->>'delayMs')::double precision, due_at),
            lease_owner = CASE WHEN v_state IN ('running', 'blocked') THEN lease_owner END,
            lease_expires_at = CASE WHEN v_state IN ('running', 'blocked') THEN lease_expires_at END,
            ended_at = CASE WHEN v_state IN ('completed', 'failed', 'cancelled') THEN coalesce(ended_at, v_now) END
          WHERE job_id = x->>'jobId';
      END LOOP;
      FOR x IN SELECT value FROM jsonb_array_elements(c->'events') LOOP
        v_sequence := nextval('${s}.arcp_number');
        UPDATE ${s}.arcp_session AS t SET last = v_sequence
          FROM ${s}.arcp_session AS before
          WHERE t.session_id = x->>'sessionId' AND before.session_id = t.session_id
          RETURNING before.last INTO v_previous;
        INSERT INTO ${s}.arcp_event VALUES (v_sequence, x->>'id', x->>'type', x->>'sessionId', x->>'jobId', x->>'streamId',
          x->>'traceId', coalesce((x->>'isTerminal')::boolean, false), x->>'body', v_now);
        v_positions := v_positions || jsonb_build_object('sequence', v_sequence, 'previous', v_previous);
      END LOOP;
      RETURN jsonb_build_object('outcome', 'done', 'positions', to_jsonb(v_positions));
    END $apply$;

  -- Applies a group of commits, or returns its result if it was applied before; NULL for a late call of an earlier group.
  CREATE FUNCTION ${s}.arcp_commit(v_writer text, v_number bigint, commits jsonb) RETURNS jsonb LANGUAGE plpgsql AS $commit$
    DECLARE
      c jsonb;
      v_now double precision;
      v_last ${s}.arcp_writer;
      v_sessions text[];
      v_locked integer;
      v_result jsonb;
      v_results jsonb[] := '{}';
      v_constraint text;
    BEGIN
      LOOP
        INSERT INTO ${s}.arcp_writer VALUES (v_writer, 0, NULL, ${s}.arcp_now()) ON CONFLICT DO NOTHING;
        -- Waits while another call of the writer is being applied.
        SELECT * INTO v_last FROM ${s}.arcp_writer WHERE id = v_writer FOR UPDATE;
        EXIT WHEN FOUND;
      END LOOP;
      IF v_last.number >= v_number THEN
        RETURN CASE WHEN v_last.number = v_number THEN v_last.result END;
      END IF;
      v_sessions := ARRAY(SELECT DISTINCT e->>'sessionId'
        FROM jsonb_array_elements(commits) AS g, jsonb_array_elements(g->'events') AS e ORDER BY 1);
      LOOP
        INSERT INTO ${s}.arcp_session SELECT unnest(v_sessions), 0 ON CONFLICT DO NOTHING;
        PERFORM 1 FROM ${s}.arcp_session WHERE session_id = ANY(v_sessions) ORDER BY session_id FOR UPDATE;
        GET DIAGNOSTICS v_locked = ROW_COUNT;
        -- A session without events may have been removed in between.
        EXIT WHEN v_locked = cardinality(v_sessions);
      END LOOP;
      PERFORM 1 FROM ${s}.arcp_record WHERE (scope, key) IN
        (SELECT r->>'scope', r->>'key' FROM jsonb_array_elements(commits) AS g, jsonb_array_elements(g->'records') AS r)
        ORDER BY scope, key FOR UPDATE;
      PERFORM 1 FROM ${s}.arcp_job WHERE job_id IN
        (SELECT x->>'jobId' FROM jsonb_array_elements(commits) AS g, jsonb_array_elements((g->'jobs') || (g->'events')) AS x)
        ORDER BY job_id FOR UPDATE;
      v_now := ${s}.arcp_now();
      FOR c IN SELECT value FROM jsonb_array_elements(commits) LOOP
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

  -- Removes the rows of sessions that have no events.
  CREATE FUNCTION ${s}.arcp_forget(sessions jsonb) RETURNS void LANGUAGE plpgsql AS $forget$
    BEGIN
      PERFORM 1 FROM ${s}.arcp_session WHERE session_id IN (SELECT jsonb_array_elements_text(sessions)) ORDER BY session_id FOR UPDATE;
      -- This statement sees the events of those who had the locks before.
      DELETE FROM ${s}.arcp_session AS t WHERE session_id IN (SELECT jsonb_array_elements_text(sessions))
        AND NOT EXISTS (SELECT 1 FROM ${s}.arcp_event AS e WHERE e.session_id = t.session_id);
    END $forget$;
`,
  ],
};
