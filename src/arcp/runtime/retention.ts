/** Removal of what a runtime need not store any longer: ended jobs, messages, and sessions that no client can resume. */
import { every } from '../../async/timers.js';
import { LIVE_STATES, type TrimReport } from '../store/store.js';
import type { Core } from './core.js';
import { type Page, pagesOf } from './pages.js';
import { changeSession, SESSIONS, sessionOf, sessionRecord } from './sessions/session.js';
import { removeMailOfEnded } from './status.js';

const TRIM_INTERVAL_MS = 10 * 60 * 1000;
/** Answers to stateless sessions are stored for this time, so that repeated commands find them. */
const TRANSIENT_RETENTION_MS = 60_000;

/** Starts to remove expired data, and to update the last use of sessions, at intervals. @returns the functions that stop it */
export function startRetention(core: Core): readonly (() => void)[] {
  const { onError, resumeWindowMs } = core.settings;
  const touchIntervalMs = Math.min(TRIM_INTERVAL_MS, Math.max(1000, resumeWindowMs / 4));
  return [
    every(TRIM_INTERVAL_MS, () => void removeExpired(core).catch(onError)),
    every(touchIntervalMs, () => void touchSessions(core).catch(onError)),
  ];
}

/** Removes expired data in batches, and frees its space. @throws StoreError if a store fails; what was removed before stays removed */
export async function removeExpired(core: Core): Promise<TrimReport> {
  const { settings, durable, transient } = core;
  const passed = transient.now() - TRANSIENT_RETENTION_MS;
  const storedBefore = Math.min(passed, transient.uploads.oldestAt);
  await transient.store.trim({ endedBefore: passed, storedBefore });
  await touchSessions(core);
  await removeMailOfEnded(durable.store);
  const ofSessions = await removeSessions(core);
  const before = durable.now() - settings.retentionMs;
  const { jobs, events, records } = await durable.store.trim({ endedBefore: before, storedBefore: before });
  return { jobs, events: events + ofSessions.events, records: records + ofSessions.records };
}

/** Updates the last use of connected sessions, so that a crash of the process does not expire them. */
async function touchSessions({ connections, durable }: Core): Promise<void> {
  for (const [id, connection] of [...connections]) {
    const { engine, subscription, session } = connection;
    if (session.epoch === 0 || connections.get(id) !== connection) continue;
    await changeSession(engine.log, id, { seenAt: durable.now() }, subscription.sent);
  }
}

/** Removes sessions that have neither a connection nor live jobs, and can no longer be resumed. */
async function removeSessions({ settings, connections, durable }: Core): Promise<Omit<TrimReport, 'jobs'>> {
  const { store, log, now } = durable;
  const { retentionMs, resumeWindowMs } = settings;
  let [events, records] = [0, 0];
  const list = (page: Page) => store.listRecords(SESSIONS, page);
  for await (const page of pagesOf(list, ({ key }) => key)) {
    for (const record of page) {
      const session = sessionOf(record);
      const storedMs = session.closedAt === undefined ? Math.max(retentionMs, resumeWindowMs) : retentionMs;
      if (connections.has(record.key) || now() - session.seenAt <= storedMs) continue;
      const [live] = await store.listJobs({ sessionId: record.key, states: LIVE_STATES, limit: 1 });
      if (live !== undefined) continue;
      // A closed session cannot be resumed while its data are removed.
      const closed = sessionRecord(record.key, { ...session, closedAt: session.closedAt ?? now() }, record.version);
      if ((await log.commit({ records: [closed] })).outcome !== 'done') continue;
      const removed = await store.trim({ sessionId: record.key });
      events += removed.events;
      records += removed.records;
    }
  }
  return { events, records };
}
