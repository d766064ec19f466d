/**
 * The tables of runtimes in PostgreSQL.
 *
 * The rows of sessions give events their order, and those of writers make a repeated commit harmless (see `functions.ts`).
 */
import type { PostgresFormat } from '../../../storage/postgres/migrate.js';
import { functions } from './functions.js';

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
  -- connection uses one.
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
`,
    functions,
  ],
};
