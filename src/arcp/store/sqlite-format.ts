/** The tables of runtime files. */
import type { Format } from '../../storage/migrate.js';

export const RUNTIME_FORMAT: Format = {
  name: 'ARCP runtimes',
  applicationId: 0x41_52_43_50,
  migrations: [
    `CREATE TABLE event (
       -- Never used twice, even when the last events are removed: clients go on behind a number.
       sequence INTEGER PRIMARY KEY AUTOINCREMENT,
       id TEXT NOT NULL UNIQUE,
       type TEXT NOT NULL,
       session_id TEXT NOT NULL,
       job_id TEXT,
       stream_id TEXT,
       trace_id TEXT,
       terminal INTEGER NOT NULL,
       body TEXT NOT NULL,
       -- Milliseconds since 1970.
       at REAL NOT NULL
     ) STRICT;
     CREATE INDEX event_of_session ON event (session_id);
     CREATE INDEX event_of_job ON event (job_id) WHERE job_id IS NOT NULL;
     CREATE INDEX event_of_trace ON event (trace_id) WHERE trace_id IS NOT NULL;
     -- A job ends once, whoever writes.
     CREATE UNIQUE INDEX one_terminal ON event (job_id) WHERE terminal = 1;

     CREATE TABLE job (
       number INTEGER PRIMARY KEY,
       job_id TEXT NOT NULL UNIQUE,
       session_id TEXT NOT NULL,
       principal TEXT NOT NULL,
       queue TEXT NOT NULL,
       priority REAL NOT NULL,
       state TEXT NOT NULL,
       attempt INTEGER NOT NULL,
       run_after REAL NOT NULL,
       lease_owner TEXT,
       lease_until REAL,
       spec TEXT NOT NULL,
       status TEXT NOT NULL,
       created_at REAL NOT NULL,
       ended_at REAL
     ) STRICT;
     CREATE INDEX job_queued ON job (queue, priority DESC, run_after) WHERE state = 'queued';
     CREATE INDEX job_leased ON job (lease_until) WHERE lease_until IS NOT NULL;
     CREATE INDEX job_live ON job (session_id) WHERE ended_at IS NULL;
     CREATE INDEX job_ended ON job (ended_at) WHERE ended_at IS NOT NULL;

     CREATE TABLE record (
       scope TEXT NOT NULL,
       key TEXT NOT NULL,
       value TEXT NOT NULL,
       version INTEGER NOT NULL,
       owner TEXT,
       -- Milliseconds since 1970.
       at REAL NOT NULL,
       PRIMARY KEY (scope, key)
     ) STRICT, WITHOUT ROWID;
     CREATE INDEX record_of_owner ON record (owner) WHERE owner IS NOT NULL;`,

    // Names of traces are random: an index of them writes a page for each event. Who asks for a trace, which is seldom, looks through a
    // table of which traces the events of a job belong to, which is narrow.
    `DROP INDEX event_of_trace;
     CREATE INDEX event_of_trace ON event (trace_id) WHERE job_id IS NULL AND trace_id IS NOT NULL;
     CREATE TABLE trace (
       job_id TEXT NOT NULL,
       trace_id TEXT NOT NULL,
       PRIMARY KEY (job_id, trace_id)
     ) STRICT, WITHOUT ROWID;
     INSERT INTO trace SELECT DISTINCT job_id, trace_id FROM event WHERE job_id IS NOT NULL AND trace_id IS NOT NULL;`,

    // An index for each filter of jobs, in the order of their numbers; one for each rule by which something is removed.
    `DROP INDEX job_live;
     CREATE INDEX job_of_session ON job (session_id, state);
     CREATE INDEX job_of_principal ON job (principal, state);
     CREATE INDEX job_in_state ON job (state);
     CREATE INDEX event_of_no_job ON event (at) WHERE job_id IS NULL;
     CREATE INDEX event_of_session_alone ON event (session_id) WHERE job_id IS NULL;
     CREATE INDEX record_of_nobody ON record (at) WHERE owner IS NULL;

     -- A session goes with itself: its age alone does not remove it.
     UPDATE record SET owner = key WHERE scope = 'session';

     -- How many jobs wait in each queue: counting them takes longer the more there are.
     CREATE TABLE queue (
       queue TEXT PRIMARY KEY,
       queued INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID;
     INSERT INTO queue SELECT queue, count(*) FROM job WHERE state = 'queued' GROUP BY queue;
     CREATE TRIGGER job_added AFTER INSERT ON job WHEN new.state = 'queued' BEGIN
       INSERT INTO queue VALUES (new.queue, 1) ON CONFLICT DO UPDATE SET queued = queued + 1;
     END;
     CREATE TRIGGER job_moved AFTER UPDATE OF state ON job WHEN (old.state = 'queued') <> (new.state = 'queued') BEGIN
       INSERT INTO queue VALUES (new.queue, iif(new.state = 'queued', 1, -1)) ON CONFLICT DO UPDATE SET queued = queued + excluded.queued;
     END;
     CREATE TRIGGER job_dropped AFTER DELETE ON job WHEN old.state = 'queued' BEGIN
       UPDATE queue SET queued = queued - 1 WHERE queue = old.queue;
     END;`,
  ],
};
